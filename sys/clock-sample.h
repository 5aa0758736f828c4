/* SPDX-License-Identifier: 0BSD OR MIT */
/* Samples of a counter and a clock at one time: one of the two is read between two reads of the
   other. The caller decides which one is the outer one. */

#ifndef CPUCYCLES_CLOCK_SAMPLE_H
#define CPUCYCLES_CLOCK_SAMPLE_H

struct clock_sample {
  long long outer; /* first read of the outer one */
  long long inner;
  long long width; /* between the reads of the outer one, modulo 2^64: bounds the error */
};

/* Reads `inner` between two reads of `outer`. */
static inline struct clock_sample take_clock_sample(long long (*outer)(void),
  long long (*inner)(void))
{
  struct clock_sample sample;

  sample.outer = outer();
  sample.inner = inner();
  sample.width = (long long)((unsigned long long)outer() - (unsigned long long)sample.outer);
  return sample;
}

/* The tightest of `tries` samples, or the first that is not wider than `enough`. A sample in which
   `outer` ran backward is the widest. */
static inline struct clock_sample tightest_clock_sample(long long (*outer)(void),
  long long (*inner)(void), int tries, long long enough)
{
  struct clock_sample tightest = take_clock_sample(outer, inner), next;
  int i;

  for (i = 1; i < tries && (unsigned long long)tightest.width > (unsigned long long)enough; i++) {
    next = take_clock_sample(outer, inner);
    if ((unsigned long long)next.width < (unsigned long long)tightest.width)
      tightest = next;
  }
  return tightest;
}

#endif
