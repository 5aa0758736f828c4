/* SPDX-License-Identifier: 0BSD OR MIT */
/* Converts counts to cycles, rounded down and modulo 2^64, with a factor of up to 63 bits. */

#ifndef CPUCYCLES_SCALE_H
#define CPUCYCLES_SCALE_H

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"

#pragma GCC visibility push(hidden)

struct cpuc_scale {
  unsigned long long multiplier; /* 0: not scaled */
  int shift;                     /* 1..63; 0 if not scaled */
};

/* Returns the scale that multiplies by `to` / `from`. Both must be at least 1 and at most 2^62, and
   the ratio below 2^61. */
struct cpuc_scale cpuc_scale_from_to(long long from, long long to);

/* Returns the scale as a number, rounded to 53 bits. The number must be below 2^52. All
   floating-point operations are exact, because the program may trap inexact ones or round in any
   direction. */
double cpuc_scale_factor(struct cpuc_scale scale);

/* Returns the counts per second, rounded to the nearest integer; 0 if they are 10^15 or more.
   counts must be below 2^63, and nanoseconds at least 1. */
long long cpuc_scale_counts_per_second(unsigned long long counts, long long nanoseconds);

/* Let c be persecond / rate, the cycles per unit, and let f be the largest of the fractions 1, 1/2,
   1/4, 1/8 and 1/16 for which c differs from a multiple of f by at most f/16, and by at most 0.05 %
   of c. Returns this multiple of f, counted in sixteenths of a cycle, or 0 if there is no such f.
   Both rates must be from 1 to 10^12. */
long long cpuc_scale_find_sixteenths(long long rate, long long persecond);

/* Returns 1 if `other` is within 1 % of `base`. */
int cpuc_scale_agree_within_1_percent(long long base, long long other);

static inline long long cpuc_scale_apply(struct cpuc_scale scale, long long count)
{
  return cpucycles_inline_scale(count, scale.multiplier, scale.shift);
}

#pragma GCC visibility pop

#endif
