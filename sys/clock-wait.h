/* SPDX-License-Identifier: 0BSD OR MIT */
/* Waits until a clock has advanced. Keeps the core busy, because the counter of a core may stop
   while the core sleeps. */

#ifndef CPUCYCLES_CLOCK_WAIT_H
#define CPUCYCLES_CLOCK_WAIT_H

enum cpuc_clock_wait {
  CPUC_CLOCK_WAIT_ENDED,
  CPUC_CLOCK_WAIT_STOPPED, /* the clock does not advance */
  CPUC_CLOCK_WAIT_BACK     /* the clock stepped back */
};

/* Waits until now() is at least `end`. `from` is an earlier time of the clock. Takes the clock for
   stopped after `reads` equal reads in a row. */
static inline enum cpuc_clock_wait cpuc_clock_wait(long long (*now)(void), long long from,
  long long end, int reads)
{
  int equal = 0;

  while (from < end) {
    long long time = now();

    if (time < from)
      return CPUC_CLOCK_WAIT_BACK;
    equal = time == from ? equal + 1 : 0;
    if (equal == reads)
      return CPUC_CLOCK_WAIT_STOPPED;
    from = time;
  }
  return CPUC_CLOCK_WAIT_ENDED;
}

#endif
