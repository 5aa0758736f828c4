/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the step of a counter. candidate.c adds the penalty of the kind to get the score. */

#include "config.h"

#include "lib/step.h"

enum {
  FULL = 1000,
  QUICK = 50, /* 51 reads of a clock take about a microsecond, the step of gettimeofday(2) */
  TRIES = 10
};

static enum cpuc_step_trend try_once(const struct cpuc_reader *reader, int differences,
  long long *smallest)
{
  long long before = 0, least = 0;
  int i;

  for (i = 0; i <= differences; i++) {
    long long now = cpuc_reader_read(reader);
    /* modulo 2^64, as programs subtract counts */
    long long step = i > 0 ? (long long)((unsigned long long)now - (unsigned long long)before) : 0;

    if (step < 0)
      return CPUC_STEP_DOWN;
    if (step > 0 && (least == 0 || step < least))
      least = step;
    before = now;
  }
  *smallest = least;
  return least > 0 ? CPUC_STEP_UP : CPUC_STEP_FLAT;
}

enum cpuc_step_trend cpuc_step_measure(const struct cpuc_reader *reader, int quick,
  long long *smallest)
{
  enum cpuc_step_trend trend = CPUC_STEP_FLAT;
  int i;

  if (quick && try_once(reader, QUICK, smallest) == CPUC_STEP_UP)
    return CPUC_STEP_UP;
  for (i = 0; i < TRIES && trend != CPUC_STEP_UP; i++)
    trend = try_once(reader, FULL, smallest);
  return trend;
}
