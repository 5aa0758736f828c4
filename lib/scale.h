/* SPDX-License-Identifier: 0BSD OR MIT */
/* Scaling of counts to cycles, exact and without overflow. */

#ifndef CPUCYCLES_SCALE_H
#define CPUCYCLES_SCALE_H

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"

#pragma GCC visibility push(hidden)

struct cpuc_scale {
  unsigned long long multiplier; /* 0: not scaled */
  int shift;                     /* 1..63 */
};

/* The scale from a counter of `rate` units per second to `persecond` cycles per second. Both are
   from 1 to 2^62, and their ratio is below 2^61. */
struct cpuc_scale cpuc_scale_between(long long rate, long long persecond);

/* The scale as a number with 53 bits, below 2^52. The program may trap inexact floating-point
   operations, or round in any direction: all operations are exact. */
double cpuc_scale_factor(struct cpuc_scale scale);

/* Counts per second, rounded to the nearest; 0 if that is above 10^15. nanoseconds: from 1. */
long long cpuc_scale_counts_per_second(unsigned long long counts, long long nanoseconds);

/* Cycles per unit in sixteenths, if they are such a multiple within 0.05 %; else 0. Both rates are
   from 1 to 10^12. */
long long cpuc_scale_multiple(long long rate, long long persecond);

/* True if `other` is within 1 % of `base`. */
int cpuc_scale_rates_agree(long long base, long long other);

static inline long long cpuc_scale_apply(struct cpuc_scale scale, long long count)
{
  return cpucycles_inline_scale(count, scale.multiplier, scale.shift);
}

#pragma GCC visibility pop

#endif
