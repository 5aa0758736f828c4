/* SPDX-License-Identifier: 0BSD OR MIT */
/* The generation number of the counters of a thread, which start_counters(), read_counters() and
   the functions that print or load costs return. */

#ifndef PERFEX_COUNT_H
#define PERFEX_COUNT_H

#include <limits.h>

/* Returns the calling thread's number, from 1 to 2147483647. */
int pfx_count_generation(void);

/* Returns the number that follows: 1 after the largest. */
static inline int pfx_count_generation_after(int generation)
{
  return generation == INT_MAX ? 1 : generation + 1;
}

#endif
