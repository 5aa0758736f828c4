/* SPDX-License-Identifier: 0BSD OR MIT */
/* The step of a counter: the smallest nonzero difference between two adjacent reads. */

#ifndef CPUCYCLES_PRECISION_H
#define CPUCYCLES_PRECISION_H

#include "lib/reader.h"

#pragma GCC visibility push(hidden)

enum cpuc_trend { CPUC_TREND_UP, CPUC_TREND_DOWN, CPUC_TREND_FLAT };

/* Reads 1001 times, in up to ten tries, until no read is below the one before it and at least one
   is above. Stores the step in *smallest if the last try went up. Returns the trend of the last
   try. With `quick`, first tries 101 reads, and returns if these go up. */
enum cpuc_trend cpuc_precision_measure(const struct cpuc_reader *reader, int quick,
  long long *smallest);

#pragma GCC visibility pop

#endif
