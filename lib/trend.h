/* SPDX-License-Identifier: 0BSD OR MIT */
/* The trend of a counter in adjacent reads, and its step. */

#ifndef CPUCYCLES_TREND_H
#define CPUCYCLES_TREND_H

#include "lib/reader.h"
#include "sys/diagnosis.h"

#pragma GCC visibility push(hidden)

/* A try goes up if no read is below the read before it, and at least one read is above the read
   before it. Makes up to ten tries of 1001 reads, and stops after the first try that goes up. If
   `quick` is 1, first makes a try of 51 reads, and stops if this try goes up. Stores the step in
   *step if the last try went up. Returns CPUC_REASON_NONE if the last try went up, else
   CPUC_REASON_DECREASING or CPUC_REASON_NOT_INCREASING. */
enum cpuc_reason cpuc_trend_find(const struct cpuc_reader *reader, int quick, long long *step);

#pragma GCC visibility pop

#endif
