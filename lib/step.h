/* SPDX-License-Identifier: 0BSD OR MIT */
/* The step of a counter: the smallest positive difference between two adjacent reads. */

#ifndef CPUCYCLES_STEP_H
#define CPUCYCLES_STEP_H

#include "lib/reader.h"

#pragma GCC visibility push(hidden)

enum cpuc_step_trend {
  CPUC_STEP_UP,
  CPUC_STEP_DOWN,
  CPUC_STEP_FLAT
};

/* A try goes up if no read is below the read before it, and at least one read is above the read
   before it. Makes up to ten tries of 1001 reads, and stops after the first try that goes up. If
   `quick` is 1, first makes a try of 51 reads, and stops if this try goes up. Stores the step in
   *smallest if the last try went up. Returns the trend of the last try. */
enum cpuc_step_trend cpuc_step_measure(const struct cpuc_reader *reader, int quick,
  long long *smallest);

#pragma GCC visibility pop

#endif
