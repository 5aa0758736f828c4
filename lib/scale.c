/* SPDX-License-Identifier: 0BSD OR MIT */
/* Arithmetic of scale factors and rates. calibrate.c measures rates. */

#include "config.h"

#include "lib/scale.h"

struct cpuc_scale cpuc_scale_from_to(long long from, long long to)
{
  struct cpuc_scale scale = { 0, 0 };
  unsigned long long divisor = (unsigned long long)from;
  unsigned long long quotient = (unsigned long long)to / divisor;
  unsigned long long remainder = (unsigned long long)to % divisor;

  /* Divides bit by bit, until the multiplier has 63 bits or the shift is 63. */
  while (scale.shift < 63 && quotient < 1ULL << 62) {
    remainder *= 2;
    quotient *= 2;
    if (remainder >= divisor) {
      remainder -= divisor;
      quotient++;
    }
    scale.shift++;
  }
  scale.multiplier = quotient;
  return scale;
}

double cpuc_scale_factor(struct cpuc_scale scale)
{
  unsigned long long half = 0;
  double factor;
  int excess = 0;

  for (; scale.multiplier >> excess >= 1ULL << 53; excess++)
    half = 1ULL << excess;
  factor = (double)(long long)((scale.multiplier + half) >> excess);
  for (; excess < scale.shift; excess++)
    factor /= 2;
  return factor;
}

long long cpuc_scale_counts_per_second(unsigned long long counts, long long nanoseconds)
{
  struct cpuc_scale scale = cpuc_scale_from_to(nanoseconds, 1000000000);

  if (counts / (unsigned long long)nanoseconds >= 1000000)
    return 0;
  scale.shift--; /* computes twice the result, to round it */
  return (cpuc_scale_apply(scale, (long long)counts) + 1) / 2;
}

/* Returns 1 if |x| <= y / parts. */
static int is_within_fraction(long long x, long long y, int parts)
{
  return (x < 0 ? -x : x) <= y / parts;
}

long long cpuc_scale_find_sixteenths(long long rate, long long persecond)
{
  long long denominator, numerator, excess;

  for (denominator = 1; denominator <= 16; denominator *= 2) {
    numerator = (persecond * denominator + rate / 2) / rate;
    excess = persecond * denominator - numerator * rate;
    /* For large multiples, a sixteenth of the rate is the stricter limit. It is needed because any
       rate is within 0.05 % of some large multiple. */
    if (numerator > 0 && is_within_fraction(excess, persecond * denominator, 2000)
      && is_within_fraction(excess, rate, 16))
      return numerator * (16 / denominator);
  }
  return 0;
}

int cpuc_scale_agree_within_1_percent(long long base, long long other)
{
  return is_within_fraction(other - base, base, 100);
}
