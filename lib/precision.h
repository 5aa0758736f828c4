/* SPDX-License-Identifier: 0BSD OR MIT */
/* The precision of a counter: the smallest difference that two reads can show. */

#ifndef CPUCYCLES_PRECISION_H
#define CPUCYCLES_PRECISION_H

#include "lib/reader.h"

#pragma GCC visibility push(hidden)

enum cpuc_trend { CPUC_TREND_UP, CPUC_TREND_DOWN, CPUC_TREND_FLAT };

/* Reads 1001 times, in up to ten tries, until no read is below the one before it and at least one
   is above. Then *smallest is the smallest nonzero difference. Returns the result of the last try.
   With `quick`, for a counter whose score decides nothing, 101 reads that go up are enough; if they
   do not go up, the counter is tested as any other. */
enum cpuc_trend cpuc_precision_measure(const struct cpuc_reader *reader, int quick,
  long long *smallest);

#pragma GCC visibility pop

#endif
