/* SPDX-License-Identifier: 0BSD OR MIT */
/* Waits until a clock has advanced. Keeps the core busy, because the counter of a core may stop
   while the core sleeps. */

#ifndef CPUCYCLES_CLOCK_WAIT_H
#define CPUCYCLES_CLOCK_WAIT_H

#include "sys/diagnosis.h"

/* Waits until now() is at least `end`. `from` is an earlier time of the clock. Takes the clock for
   stopped after `reads` equal reads in a row. Returns CPUC_REASON_NONE,
   CPUC_REASON_CLOCK_NOT_INCREASING or CPUC_REASON_CLOCK_DECREASING. */
static inline enum cpuc_reason cpuc_clock_wait(long long (*now)(void), long long from,
  long long end, int reads)
{
  int equal = 0;

  while (from < end) {
    long long time = now();

    if (time < from)
      return CPUC_REASON_CLOCK_DECREASING;
    equal = time == from ? equal + 1 : 0;
    if (equal == reads)
      return CPUC_REASON_CLOCK_NOT_INCREASING;
    from = time;
  }
  return CPUC_REASON_NONE;
}

#endif
