/* SPDX-License-Identifier: 0BSD OR MIT */
/* The precision of a counter. */

#ifndef CPUCYCLES_PRECISION_H
#define CPUCYCLES_PRECISION_H

#include "lib/reader.h"

#pragma GCC visibility push(hidden)

enum cpucycles_steps { CPUCYCLES_STEPS_UP, CPUCYCLES_STEPS_DOWN, CPUCYCLES_STEPS_NOWHERE };

/* Reads 1001 times, and again, ten times at most, until no read is below the one before it and
   at least one is above. Then *smallest is the smallest nonzero difference. Returns what the
   last try saw. With quick, for a counter that cannot be chosen any more, 101 reads that go up
   are enough; where they do not, it is judged as any other. */
enum cpucycles_steps cpucycles_precision(const struct cpucycles_reader *reader, int quick,
  long long *smallest);

#pragma GCC visibility pop

#endif
