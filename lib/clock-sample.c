/* SPDX-License-Identifier: 0BSD OR MIT */
/* A counter held against a clock. The callers decide which of the two is the outer one. */

#include "config.h"

#include "lib/clock-sample.h"

struct cpucycles_sample cpucycles_sample(long long (*outer)(void), long long (*inner)(void))
{
  struct cpucycles_sample sample;

  sample.outer = outer();
  sample.inner = inner();
  sample.width = (long long)((unsigned long long)outer() - (unsigned long long)sample.outer);
  return sample;
}

struct cpucycles_sample cpucycles_tightest_sample(long long (*outer)(void),
  long long (*inner)(void), int tries, long long enough)
{
  struct cpucycles_sample tightest = cpucycles_sample(outer, inner), next;
  int i;

  for (i = 1; i < tries && (unsigned long long)tightest.width > (unsigned long long)enough; i++) {
    next = cpucycles_sample(outer, inner);
    if ((unsigned long long)next.width < (unsigned long long)tightest.width)
      tightest = next;
  }
  return tightest;
}
