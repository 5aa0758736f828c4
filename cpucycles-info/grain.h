/* SPDX-License-Identifier: 0BSD OR MIT */
/* The grain of a counter: the amount by which its count advances each time it advances. */

#ifndef CPUCYCLES_GRAIN_H
#define CPUCYCLES_GRAIN_H

enum { GRAIN_SAMPLES = 4096 };

/* The grain need not be a whole number: a clock of 24 MHz in nanoseconds advances by 41 or 42, on
   average by 41.67. */
struct grain {
  double units; /* 1: no larger grain was found */
  double share;  /* share of differences that are multiples of the grain */
};

/* Reads cpucycles() at intervals of many different lengths, and stores the differences of adjacent
   reads. */
void read_at_varied_intervals(long long differences[GRAIN_SAMPLES]);

/* Finds the grain in differences of adjacent reads, which are in the order of the reads. Changes
   and sorts the differences. Treats a count that is 1 above the previous count as equal to the
   previous count, because some CPUs add 1 to a count that would be returned twice. The share
   excludes steps back, differences above 2^40 and zeros, so that differences that are not multiples
   come from interruptions, and from counts that are 1 too high. */
struct grain find_grain(long long *differences, int count);

void sort_ascending(long long *numbers, int count);

#endif
