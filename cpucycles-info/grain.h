/* SPDX-License-Identifier: 0BSD OR MIT */
/* The grain of a counter: by how much it moves when it moves. */

#ifndef CPUCYCLES_GRAIN_H
#define CPUCYCLES_GRAIN_H

enum { GRAIN_SAMPLES = 4096 };

/* Need not be a whole number: a clock of 24 MHz that counts nanoseconds moves by 41 or 42, that
   is, by 41.67. */
struct grain {
  double counts; /* 1: no coarser one was found */
  double share;  /* of the differences: so many are multiples of it */
};

/* Reads cpucycles() at intervals of many different lengths; stores how much each read differs from
   the one before. */
void read_apart(long long differences[GRAIN_SAMPLES]);

/* The grain of the counter that showed these differences of adjacent reads, in order; sorts them.
   A count that is 1 above the one before is taken for that one. Steps back and leaps do not count,
   nor does 0 in the share: interruptions and corrections are its rest. */
struct grain find_grain(long long *differences, int count);

#endif
