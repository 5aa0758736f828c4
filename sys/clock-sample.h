/* SPDX-License-Identifier: 0BSD OR MIT */
/* Samples a counter and a clock at one time: reads one of the two, `inner`, between two reads of
   the other, `outer`. The caller decides whether the counter or the clock is `outer`. */

#ifndef CPUCYCLES_CLOCK_SAMPLE_H
#define CPUCYCLES_CLOCK_SAMPLE_H

#include "sys/step.h"

struct cpuc_clock_sample {
  long long outer; /* first result of outer() */
  long long inner;
  long long width; /* second result of outer() minus the first, modulo 2^64; bounds the error */
};

/* Reads `inner` between two reads of `outer`. */
static inline struct cpuc_clock_sample cpuc_clock_sample_take(long long (*outer)(void),
  long long (*inner)(void))
{
  struct cpuc_clock_sample sample;

  sample.outer = outer();
  sample.inner = inner();
  sample.width = cpuc_step_between(sample.outer, outer());
  return sample;
}

/* Returns the tightest of `tries` samples, or the first one whose width is at most `enough`. A
   sample in which `outer` steps back counts as the widest. */
static inline struct cpuc_clock_sample cpuc_clock_sample_tightest(long long (*outer)(void),
  long long (*inner)(void), int tries, long long enough)
{
  struct cpuc_clock_sample tightest = cpuc_clock_sample_take(outer, inner), next;
  int i;

  for (i = 1; i < tries && (unsigned long long)tightest.width > (unsigned long long)enough; i++) {
    next = cpuc_clock_sample_take(outer, inner);
    if ((unsigned long long)next.width < (unsigned long long)tightest.width)
      tightest = next;
  }
  return tightest;
}

#endif
