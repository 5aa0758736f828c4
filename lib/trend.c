/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the trend and the step of a counter. candidate.c adds the penalty of the kind to the step
   to get the score. */

#include "config.h"

#include "lib/trend.h"
#include "sys/step.h"

enum {
  FULL = 1000,
  QUICK = 50, /* 51 reads of a clock take about a microsecond, the step of gettimeofday(2) */
  TRIES = 10
};

static enum cpuc_trend try_once(const struct cpuc_reader *reader, int differences,
  long long *smallest)
{
  struct cpuc_step step = { cpuc_reader_read(reader), 0 };

  while (differences-- > 0)
    if (cpuc_step_add(&step, cpuc_reader_read(reader)) < 0)
      return CPUC_TREND_DOWN;
  *smallest = step.smallest;
  return step.smallest > 0 ? CPUC_TREND_UP : CPUC_TREND_FLAT;
}

enum cpuc_trend cpuc_trend_find(const struct cpuc_reader *reader, int quick, long long *step)
{
  enum cpuc_trend trend = CPUC_TREND_FLAT;
  int i;

  if (quick && try_once(reader, QUICK, step) == CPUC_TREND_UP)
    return CPUC_TREND_UP;
  for (i = 0; i < TRIES && trend != CPUC_TREND_UP; i++)
    trend = try_once(reader, FULL, step);
  return trend;
}
