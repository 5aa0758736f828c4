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

static enum cpuc_reason try_once(const struct cpuc_reader *reader, int differences,
  long long *smallest)
{
  struct cpuc_step step = { cpuc_reader_read(reader), 0 };

  while (differences-- > 0)
    if (cpuc_step_add(&step, cpuc_reader_read(reader)) < 0)
      return CPUC_REASON_DECREASING;
  *smallest = step.smallest;
  return step.smallest > 0 ? CPUC_REASON_NONE : CPUC_REASON_NOT_INCREASING;
}

enum cpuc_reason cpuc_trend_find(const struct cpuc_reader *reader, int quick, long long *step)
{
  enum cpuc_reason reason = CPUC_REASON_NOT_INCREASING;
  int i;

  if (quick && !try_once(reader, QUICK, step))
    return CPUC_REASON_NONE;
  for (i = 0; i < TRIES && reason; i++)
    reason = try_once(reader, FULL, step);
  return reason;
}
