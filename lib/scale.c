/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the multiplier that turns units of a counter into cycles. Whether a counter may be scaled at all,
   and between which rates, is the selection's matter. */

#include "config.h"

#include "lib/library.h"

struct cpucycles_scale cpucycles_scale_between(long long rate, long long persecond)
{
  struct cpucycles_scale scale = { 0, 0 };
  unsigned long long divisor = (unsigned long long)rate;
  unsigned long long quotient = (unsigned long long)persecond / divisor;
  unsigned long long remainder = (unsigned long long)persecond % divisor;

  /* Long division, bit after bit, until the multiplier has 63 bits or the shift is at its end. */
  while (scale.shift < 63 && quotient < 1ULL << 62) {
    remainder *= 2;
    quotient *= 2;
    if (remainder >= divisor) {
      remainder -= divisor;
      quotient++;
    }
    scale.shift++;
  }
  scale.multiplier = quotient + (remainder >= divisor - remainder); /* rounded */
  return scale;
}
