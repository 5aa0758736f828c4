/* SPDX-License-Identifier: 0BSD OR MIT */
/* The trend of a counter in adjacent reads, and its step. */

#ifndef CPUCYCLES_TREND_H
#define CPUCYCLES_TREND_H

#include "lib/reader.h"

#pragma GCC visibility push(hidden)

enum cpuc_trend {
  CPUC_TREND_UP,
  CPUC_TREND_DOWN,
  CPUC_TREND_FLAT
};

/* A try goes up if no read is below the read before it, and at least one read is above the read
   before it. Makes up to ten tries of 1001 reads, and stops after the first try that goes up. If
   `quick` is 1, first makes a try of 51 reads, and stops if this try goes up. Stores the step in
   *step if the last try went up. Returns the trend of the last try. */
enum cpuc_trend cpuc_trend_find(const struct cpuc_reader *reader, int quick, long long *step);

#pragma GCC visibility pop

#endif
