/* SPDX-License-Identifier: 0BSD OR MIT */
/* Scaling of counts to cycles, exact and without overflow, and measurements to find the scale. */

#ifndef CPUCYCLES_SCALE_H
#define CPUCYCLES_SCALE_H

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"

#pragma GCC visibility push(hidden)

struct cpucycles_scale {
  unsigned long long multiplier; /* 0: not scaled */
  int shift;                     /* 1..63 */
};

/* The scale from a counter of `rate` units per second to `persecond` cycles per second. Both are
   from 1 to 2^62, and their ratio is below 2^61. */
struct cpucycles_scale cpucycles_scale_between(long long rate, long long persecond);

/* A counter to measure by the OS clock, and the time left for that. */
struct cpucycles_calibration {
  long long (*read)(void);
  int width;             /* of read(): 64 or 32 */
  long long (*now)(void); /* nanoseconds */
  long long left;         /* nanoseconds left for all measurements of the selection */
};

/* Enough for three tries of a counter without a stated rate, and for four counters with one. */
#define CPUCYCLES_CALIBRATION_TIME 4500000LL

/* Finds the scale of a counter. A measurement must confirm the stated rate (units per second, as
   hardware or kernel state it) within 1 %, unless no time is left; *sixteenths is 0 in both cases.
   If `stated` is 0, three measurements must show the same number of cycles per unit, a multiple of
   1, 1/2, 1/4, 1/8 or 1/16, which is stored in *sixteenths. Returns 0, or a reason code to drop the
   counter for. */
const char *cpucycles_scale_find(struct cpucycles_calibration *calibration, long long stated,
  long long persecond, long long *sixteenths);

/* Cycles per unit in sixteenths, if they are such a multiple within 0.05 %; else 0. Both rates are
   from 1 to 10^12. */
long long cpucycles_scale_multiple(long long rate, long long persecond);

/* True if `other` is within 1 % of `base`. */
int cpucycles_rates_agree(long long base, long long other);

/* The measured rate of a counter, in units per second; 0: not measurable within 1 %. */
long long cpucycles_calibration_rate(struct cpucycles_calibration *calibration);

static inline long long cpucycles_scale_apply(struct cpucycles_scale scale, long long count)
{
  return cpucycles_inline_scale(count, scale.multiplier, scale.shift);
}

#pragma GCC visibility pop

#endif
