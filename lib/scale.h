/* SPDX-License-Identifier: 0BSD OR MIT */
/* Multiplies a counter up to cycles, exactly and without overflow. */

#ifndef CPUCYCLES_SCALE_H
#define CPUCYCLES_SCALE_H

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"

#pragma GCC visibility push(hidden)

struct cpucycles_scale {
  unsigned long long multiplier; /* 0: not scaled */
  int shift;                     /* 1..63 */
};

/* The scale that turns units of which there are `rate` a second into cycles of which there are
   `persecond`. Both from 1 to 2^62, and their ratio below 2^61. */
struct cpucycles_scale cpucycles_scale_between(long long rate, long long persecond);

/* A counter held against the OS clock. */
struct cpucycles_calibration {
  long long (*read)(void);
  int width;             /* of read(): 64 or 32 */
  long long (*now)(void); /* nanoseconds */
  long long left;        /* nanoseconds that measuring may take yet, for all counters together */
};

/* Enough for a counter without a stated rate at three tries, and for four with one. */
#define CPUCYCLES_CALIBRATION_TIME 4500000LL

/* Finds how a counter is to be scaled. stated: its units a second as hardware or kernel state them,
   which a measurement must confirm within 1 %; 0: nobody does. Then three measurements must show
   the same multiple of 1, 1/2, 1/4, 1/8 or 1/16, which goes to *sixteenths; else 0 does. Returns 0,
   or the reason for which the counter is to be dropped. */
const char *cpucycles_scale_find(struct cpucycles_calibration *calibration, long long stated,
  long long persecond, long long *sixteenths);

/* What the two are based on. The multiple, within 0.05 %, that a unit is in cycles, in sixteenths;
   0: it is none. Both from 1 to 10^12. */
long long cpucycles_scale_multiple(long long rate, long long persecond);
int cpucycles_rates_agree(long long stated, long long measured);

/* A counter's rate, measured; 0: cannot be said within 1 %. */
long long cpucycles_calibration_rate(struct cpucycles_calibration *calibration);

static inline long long cpucycles_scale_apply(struct cpucycles_scale scale, long long count)
{
  return cpucycles_inline_scale(count, scale.multiplier, scale.shift);
}

#pragma GCC visibility pop

#endif
