/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the rates of counters against a clock, and verifies reported rates. A measurement reads
   a count and its time at both ends of a window of time. candidate.c decides which counters are
   scaled. */

#include "config.h"

#include "lib/calibrate.h"
#include "lib/scale.h"
#include "sys/clock-sample.h"
#include "sys/clock-wait.h"
#include "sys/os-clock.h"
#include "sys/step.h"

enum {
  SAMPLES = 16,             /* highest number at each end of a window */
  STUCK_READS = 4096,       /* the clock is stopped if this many reads in a row are equal */
  WINDOW_REPORTED = 200000, /* ns: 1 % is 2 us, which a clock of microseconds resolves */
  WINDOW_MULTIPLE = 400000, /* ns: 0.05 % is 200 ns, which a clock of nanoseconds resolves */
  WINDOW_RATE = 850000,     /* ns: less than a millisecond together with the samples */
  LONGEST_32 = 400000000,   /* ns: fewer than 2^32 counts at any rate up to 10 GHz */
  ESTIMATES = 3,            /* number of measured rates that must agree */
  TRIES = 3
};

/* A count, the time at which it was read, and the width of the interval that contains this time, in
   nanoseconds. The width is at least a step of the clock, and more if the read was interrupted. */
struct timed_count {
  long long count, time, width;
};

/* Reads the counter and the clock together. */
static enum cpuc_reason read_timed_count(const struct cpuc_calibrate_setup *calibration,
  struct timed_count *timed)
{
  struct cpuc_clock_sample sample = cpuc_clock_sample_take(calibration->now, calibration->read);
  int is_coarse = sample.width == 0, reads;

  /* If a coarse clock shows the same time twice, the loop repeats the read of the counter until the
     clock advances. The last read of the counter is then just before the clock advances. */
  for (reads = 1; sample.width == 0 && reads < STUCK_READS; reads++) {
    sample.inner = calibration->read();
    sample.width = calibration->now() - sample.outer;
  }
  if (sample.width <= 0)
    return sample.width < 0 ? CPUC_REASON_CLOCK_DECREASING : CPUC_REASON_CLOCK_NOT_INCREASING;
  timed->count = sample.inner;
  timed->time = sample.outer + (is_coarse ? sample.width : sample.width / 2);
  timed->width = sample.width;
  return CPUC_REASON_NONE;
}

/* Stores the narrowest of several timed counts, because reads of the others may have been
   interrupted. Stops when the narrowest width occurs a second time, because two interruptions
   hardly ever take the same time, so this width is as narrow as the clock allows. */
static enum cpuc_reason take_best_timed_count(
  const struct cpuc_calibrate_setup *calibration, struct timed_count *best)
{
  enum cpuc_reason error = read_timed_count(calibration, best);
  struct timed_count next;
  int i;

  for (i = 1; i < SAMPLES && !error; i++) {
    error = read_timed_count(calibration, &next);
    if (error || next.width == best->width)
      return error;
    if (next.width < best->width)
      *best = next;
  }
  return error;
}

/* Measures the rate in a window of `window` nanoseconds that begins with the count `from`. Stores
   the count at the end of the window in *to. */
static enum cpuc_reason measure_window(const struct cpuc_calibrate_setup *calibration,
  long long window, const struct timed_count *from, struct timed_count *to, long long *rate)
{
  enum cpuc_reason error
    = cpuc_clock_wait(calibration->now, from->time, from->time + window, STUCK_READS);
  long long counted;

  if (!error)
    error = take_best_timed_count(calibration, to);
  if (error)
    return error;
  if (to->time <= from->time)
    return CPUC_REASON_CLOCK_DECREASING;
  counted = cpuc_step_between(from->count, to->count);
  if (calibration->bits == 32)
    counted &= 0xffffffff;
  if (counted <= 0)
    return counted < 0 ? CPUC_REASON_DECREASING : CPUC_REASON_NOT_INCREASING;
  *rate = cpuc_scale_counts_per_second((unsigned long long)counted, to->time - from->time);
  /* No counter has a rate outside these limits. With such a rate, later calculations would overflow
     or divide by 0. */
  return *rate < 1 || *rate > CPUC_RATE_HIGHEST ? CPUC_REASON_RATE_MISMATCH
                                                : CPUC_REASON_NONE;
}

/* Measures `count` rates in adjacent windows. */
static enum cpuc_reason measure(const struct cpuc_calibrate_setup *calibration,
  long long window, long long *rates, int count)
{
  struct timed_count ends[ESTIMATES + 1];
  enum cpuc_reason error = take_best_timed_count(calibration, &ends[0]);
  int i;

  for (i = 0; i < count && !error; i++)
    error = measure_window(calibration, window, &ends[i], &ends[i + 1], &rates[i]);
  return error;
}

enum cpuc_reason cpuc_calibrate_verify(const struct cpuc_calibrate_setup *calibration,
  long long reported)
{
  enum cpuc_reason error;
  long long rate;
  int i;

  for (i = 0; i < TRIES; i++) {
    error = measure(calibration, WINDOW_REPORTED, &rate, 1);
    if (error || cpuc_scale_agree_within_1_percent(reported, rate))
      return error;
  }
  return CPUC_REASON_RATE_MISMATCH;
}

enum cpuc_reason cpuc_calibrate_find_sixteenths(const struct cpuc_calibrate_setup *calibration,
  long long persecond, long long *sixteenths)
{
  enum cpuc_reason error;
  long long rates[ESTIMATES];
  int i;

  for (i = 0; i < TRIES; i++) {
    error = measure(calibration, WINDOW_MULTIPLE, rates, ESTIMATES);
    if (error)
      return error;
    *sixteenths = cpuc_scale_find_sixteenths(rates[0], persecond);
    if (*sixteenths > 0 && cpuc_scale_find_sixteenths(rates[1], persecond) == *sixteenths
      && cpuc_scale_find_sixteenths(rates[2], persecond) == *sixteenths)
      return CPUC_REASON_NONE;
  }
  return CPUC_REASON_NO_MULTIPLE;
}

long long cpuc_calibrate_rate(long long (*read)(void), int bits)
{
  const struct cpuc_calibrate_setup calibration = { read, bits, cpuc_os_clock_raw };
  struct timed_count from, to;
  long long rate, start = cpuc_os_clock_raw();

  /* Begins just after a coarse clock has advanced. If it advanced between the first two clock reads
     of the first timed count, this count would have a less exact time. */
  if (cpuc_clock_wait(cpuc_os_clock_raw, start, start + 1, STUCK_READS)
    || take_best_timed_count(&calibration, &from)
    || measure_window(&calibration, WINDOW_RATE, &from, &to, &rate))
    return 0;
  /* An interruption may have been longer than a wraparound. */
  if (bits == 32 && to.time - from.time > LONGEST_32)
    return 0;
  return from.width / 2 + to.width / 2 <= (to.time - from.time) / 100 ? rate : 0;
}

long long cpuc_calibrate_accepted_rate(struct cpuc_rate reported, long long measured)
{
  if (measured == 0)
    return reported.hz;
  if (!cpuc_scale_agree_within_1_percent(measured, reported.hz))
    return 0;
  return reported.is_rounded ? measured : reported.hz;
}
