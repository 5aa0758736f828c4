/* SPDX-License-Identifier: 0BSD OR MIT */

#ifndef CPUCYCLES_COUNTS_H
#define CPUCYCLES_COUNTS_H

#include "include/cpucycles.h"

#include "tests/suites/one-cpu.h"

/* Returns 1 if the count increases within 10^8 reads, and does not decrease before. The thread
   stays on its CPU. */
static inline int count_increases(void)
{
  long long begin;
  int i;

  (void)stay_on_this_cpu();
  begin = cpucycles();
  for (i = 0; i < 100000000; i++) {
    long long difference = cpucycles() - begin;

    if (difference < 0)
      return 0;
    if (difference > 0)
      return 1;
  }
  return 0;
}

#endif
