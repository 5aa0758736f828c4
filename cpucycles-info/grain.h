/* SPDX-License-Identifier: 0BSD OR MIT */
/* Grain of a counter: the amount by which its count changes at a time. */

#ifndef CPUCYCLES_GRAIN_H
#define CPUCYCLES_GRAIN_H

enum { GRAIN_SAMPLES = 4096 };

/* The grain need not be a whole number: a clock of 24 MHz that counts nanoseconds moves by 41 or
   42, that is, by 41.67. */
struct grain {
  double counts; /* 1: no coarser grain was found */
  double share;  /* of the differences that are multiples of the grain */
};

/* Reads cpucycles() at intervals of many different lengths, and stores the difference of each read
   from the one before. */
void read_at_varied_intervals(long long differences[GRAIN_SAMPLES]);

/* Finds the grain in these differences of adjacent reads, in the order of the reads, and sorts
   them. A count that is 1 above the one before is treated as equal to it: some CPUs add 1 to a
   count that would be returned twice. The share leaves out steps back, differences above 2^40 and
   zeros, so that the differences that are no multiples are interruptions and corrections. */
struct grain find_grain(long long *differences, int count);

void sort_counts(long long *values, int count); /* ascending */

#endif
