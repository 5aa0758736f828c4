/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the multiplier from units of a counter to cycles, by measurements of the counter's rate
   where needed. select.c decides which counters are scaled. */

#include "config.h"

#include "lib/scale.h"
#include "lib/frequency.h"
#include "sys/clock-sample.h"

#include <stddef.h>

enum {
  SAMPLES = 3,            /* at each end of a window */
  STILL = 4096,           /* after this many reads without a change, the clock stands still */
  WINDOW_STATED = 200000, /* ns: resolves 1 % with a clock of microseconds */
  WINDOW = 400000,        /* ns: resolves 0.05 % with a clock of nanoseconds */
  ESTIMATES = 3,          /* these must agree */
  TRIES = 3
};

struct cpucycles_scale cpucycles_scale_between(long long rate, long long persecond)
{
  struct cpucycles_scale scale = { 0, 0 };
  unsigned long long divisor = (unsigned long long)rate;
  unsigned long long quotient = (unsigned long long)persecond / divisor;
  unsigned long long remainder = (unsigned long long)persecond % divisor;

  /* Long division, bit by bit, until the multiplier has 63 bits or the shift is 63. */
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

/* True if |x| <= y / parts. */
static int is_part(long long x, long long y, int parts)
{
  return (x < 0 ? -x : x) <= y / parts;
}

long long cpucycles_scale_multiple(long long rate, long long persecond)
{
  long long denominator, numerator, excess;

  for (denominator = 1; denominator <= 16; denominator *= 2) {
    numerator = (persecond * denominator + rate / 2) / rate;
    excess = persecond * denominator - numerator * rate;
    /* The second is_part(): every rate is near some large multiple, which proves nothing. */
    if (numerator > 0 && is_part(excess, persecond * denominator, 2000)
      && is_part(excess, rate, 16))
      return numerator * (16 / denominator);
  }
  return 0;
}

int cpucycles_rates_agree(long long base, long long other)
{
  return is_part(other - base, base, 100);
}

/* A count, and the time at which it was read. */
struct timed_count {
  long long count, time, width;
};

/* Reads the counter and the clock together. Returns 0, or the reason code of a failure. */
static const char *read_timed_count(const struct cpucycles_calibration *calibration,
  struct timed_count *timed)
{
  struct clock_sample sample = take_clock_sample(calibration->now, calibration->read);
  int is_coarse = sample.width == 0, reads;

  /* Waits for the step of a coarse clock, which comes right after the last of these reads. */
  for (reads = 1; sample.width == 0 && reads < STILL; reads++) {
    sample.inner = calibration->read();
    sample.width = calibration->now() - sample.outer;
  }
  if (sample.width <= 0)
    return sample.width < 0 ? "clock-step" : "clock-stopped";
  timed->count = sample.inner;
  timed->time = sample.outer + (is_coarse ? sample.width : sample.width / 2);
  timed->width = sample.width;
  return NULL;
}

/* The narrowest of several, since others may have been interrupted. */
static const char *best_timed_count(const struct cpucycles_calibration *calibration,
  struct timed_count *best)
{
  const char *reason = read_timed_count(calibration, best);
  struct timed_count next;
  int i;

  for (i = 1; i < SAMPLES && !reason; i++) {
    reason = read_timed_count(calibration, &next);
    if (!reason && next.width < best->width)
      *best = next;
  }
  return reason;
}

/* Busy-waits until the time has passed. Returns 0, or the reason code of a failure. */
static const char *wait_for(const struct cpucycles_calibration *calibration, long long from,
  long long nanoseconds)
{
  long long before = from, end = from + nanoseconds, now;
  int still = 0;

  while (before < end) {
    now = calibration->now();
    if (now < before)
      return "clock-step";
    still = now == before ? still + 1 : 0;
    if (still == STILL)
      return "clock-stopped";
    before = now;
  }
  return NULL;
}

/* Counts per second between two timed counts. Returns 0, or the reason code of a failure. */
static const char *rate_between(const struct cpucycles_calibration *calibration,
  const struct timed_count *from, const struct timed_count *to, long long *rate)
{
  long long counted = (long long)((unsigned long long)to->count - (unsigned long long)from->count);
  double persecond;

  if (calibration->width == 32)
    counted &= 0xffffffff;
  if (to->time <= from->time)
    return "clock-step";
  if (counted == 0)
    return "not-increasing";
  if (counted < 0)
    return "decreasing";
  persecond = (double)counted * 1e9 / (double)(to->time - from->time) + 0.5;
  /* no counter is that slow or fast, and later calculations would overflow */
  if (persecond < 1 || persecond >= (double)CPUCYCLES_FREQUENCY_HIGHEST + 1)
    return "rate-mismatch";
  *rate = (long long)persecond;
  return NULL;
}

/* Deducts time from the budget of all counters. Returns 0 if too little is left. A window that
   takes longer on a busy machine costs the same. */
static int spend(struct cpucycles_calibration *calibration, long long nanoseconds)
{
  if (calibration->left < nanoseconds)
    return 0;
  calibration->left -= nanoseconds;
  return 1;
}

/* Measures `count` rates in adjacent windows. Returns 0, or the reason code of a failure. */
static const char *measure(const struct cpucycles_calibration *calibration, long long window,
  long long *rates, int count)
{
  struct timed_count from, to;
  const char *reason = best_timed_count(calibration, &from);
  int i;

  for (i = 0; i < count && !reason; i++) {
    reason = wait_for(calibration, from.time, window);
    if (!reason)
      reason = best_timed_count(calibration, &to);
    if (!reason)
      reason = rate_between(calibration, &from, &to, &rates[i]);
    if (!reason)
      from = to;
  }
  return reason;
}

/* Confirms a stated rate. If the time is spent, accepts it unchecked. */
static const char *check_statement(struct cpucycles_calibration *calibration, long long stated)
{
  const char *reason;
  long long rate;
  int i;

  if (stated > CPUCYCLES_FREQUENCY_HIGHEST)
    return "rate-mismatch";
  for (i = 0; i < TRIES; i++) {
    if (!spend(calibration, WINDOW_STATED))
      return i == 0 ? NULL : "rate-mismatch";
    reason = measure(calibration, WINDOW_STATED, &rate, 1);
    if (reason)
      return reason;
    if (cpucycles_rates_agree(stated, rate))
      return NULL;
  }
  return "rate-mismatch";
}

static const char *find_multiple(struct cpucycles_calibration *calibration, long long persecond,
  long long *sixteenths)
{
  long long rates[ESTIMATES];
  const char *reason;
  int i;

  for (i = 0; i < TRIES; i++) {
    if (!spend(calibration, (long long)ESTIMATES * WINDOW))
      return i == 0 ? "no-time" : "no-multiple";
    reason = measure(calibration, WINDOW, rates, ESTIMATES);
    if (reason)
      return reason;
    *sixteenths = cpucycles_scale_multiple(rates[0], persecond);
    if (*sixteenths > 0 && cpucycles_scale_multiple(rates[1], persecond) == *sixteenths
      && cpucycles_scale_multiple(rates[2], persecond) == *sixteenths)
      return NULL;
  }
  return "no-multiple";
}

const char *cpucycles_scale_find(struct cpucycles_calibration *calibration, long long stated,
  long long persecond, long long *sixteenths)
{
  *sixteenths = 0;
  return stated > 0 ? check_statement(calibration, stated)
                    : find_multiple(calibration, persecond, sixteenths);
}

long long cpucycles_calibration_rate(struct cpucycles_calibration *calibration)
{
  long long rates[ESTIMATES];

  if (!spend(calibration, (long long)ESTIMATES * WINDOW)
    || measure(calibration, WINDOW, rates, ESTIMATES))
    return 0;
  if (!cpucycles_rates_agree(rates[0], rates[1]) || !cpucycles_rates_agree(rates[1], rates[2]))
    return 0;
  return (rates[0] + rates[1] + rates[2]) / ESTIMATES;
}
