/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces sys/dependent-add.c, sys/environment.c, lib/frequency.c and, with one-clock.h,
   sys/os-clock.c. Tests the measurements of the core frequency, of the rate of a counter, and of
   its scale, and the selection of a single counter, on a simulated machine. */

#include "config.h"

#include "include/cpucycles/inline.h"
#include "lib/calibrate.h"
#include "lib/frequency.h"
#include "lib/scale.h"
#include "lib/select.h"
#include "lib/timer.h"
#include "sys/dependent-add.h"
#include "sys/environment.h"

#include "tests/suites/counters.h"
#include "tests/suites/one-clock.h"
#include "tests/suites/suite.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

/* The times that clock and counter show at first. */
#define START 1e15

/* A simulated machine: adds and reads of the clock take time, interruptions delay them, and the
   core frequency can change. Times are in nanoseconds. */
static struct {
  double nanoseconds;            /* since the start */
  double hz;                     /* of the core, and the estimate of it */
  double changed_hz, changes_at; /* frequency from changes_at on; changed_hz 0: no change */
  long long resolution;          /* of the clock */
  double phase;                  /* of the clock: time since its last step at the start */
  int interruptions;             /* in ten thousand passes */
  double length;                 /* longest interruption */
  double jump;    /* time passes by this much at once (an interruption), or steps back */
  double jump_at; /* time of the jump */
  double interrupted; /* of the time, in interruptions */
  double read_cost, counter_cost; /* time of a read of the clock, of the counter */
  double rate;                    /* of the counter, per nanosecond */
  enum { CLOCK_BACK, CLOCK_STOPS, COUNTER_STOPS, COUNTER_BACK, COUNTER_AHEAD, DEFECTS } defect;
  double defect_at; /* time at which clock or counter are set or stop; 0: never */
  double set;       /* by this much */
  int is_random;      /* the counter returns random counts */
  int checks_signals; /* adds must run while signals are blocked */
  double noise;       /* of the time of a read of the counter, as a share */
  double disturbance; /* of two of three chains; below 0: always this long */
} machine;

static void interrupt_for(double nanoseconds)
{
  machine.nanoseconds += nanoseconds;
  machine.interrupted += nanoseconds;
}

static void advance(double nanoseconds)
{
  machine.nanoseconds += nanoseconds;
  if (machine.jump != 0 && machine.nanoseconds > machine.jump_at) {
    interrupt_for(machine.jump);
    machine.jump = 0;
  }
}

static int has_defect(int defect)
{
  return machine.defect_at > 0 && machine.nanoseconds > machine.defect_at
    && (int)machine.defect == defect;
}

long long cpuc_os_clock_monotonic(void)
{
  double now;

  advance(machine.read_cost);
  now = has_defect(CLOCK_STOPS) ? machine.defect_at : machine.nanoseconds;
  now += START + machine.phase - (has_defect(CLOCK_BACK) ? machine.set : 0);
  return (long long)now / machine.resolution * machine.resolution;
}

int cpuc_dependent_add_run(long passes)
{
#ifdef CPUCYCLES_POSIX
  if (machine.checks_signals) {
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    ck_assert(sigismember(&blocked, SIGUSR1));
  }
#endif
  for (; passes > 0; passes--) {
    if (machine.changed_hz > 0 && machine.nanoseconds >= machine.changes_at)
      machine.hz = machine.changed_hz;
    advance(512 * 1e9 / machine.hz);
    if ((int)(random64() % 10000) < machine.interruptions)
      interrupt_for(machine.length * (double)(random64() % 1000) / 1000);
  }
  if (random64() % 3 != 0)
    advance(machine.disturbance < 0 ? -machine.disturbance
                                    : machine.disturbance * (double)(random64() % 1000) / 1000);
  return 0;
}

struct cpuc_frequency cpuc_frequency_estimate(long long least)
{
  (void)least;
  return (struct cpuc_frequency) { (long long)machine.hz, "the test", "", 1 };
}

const char *cpuc_environment(const char *name)
{
  (void)name;
  return NULL;
}

static long long read_simulated(void)
{
  double count;

  advance(machine.counter_cost
    * (1 + machine.noise * ((double)(random64() % 2001) / 1000 - 1)));
  if (machine.is_random)
    return (long long)(random64() >> random64() % 64);
  count = START + (has_defect(COUNTER_STOPS) ? machine.defect_at : machine.nanoseconds);
  count *= machine.rate;
  if (has_defect(COUNTER_BACK) || has_defect(COUNTER_AHEAD))
    count += machine.defect == COUNTER_AHEAD ? 0x1p62 : -machine.set;
  return (long long)count;
}

static long long read_simulated_32(void)
{
  return read_simulated() & 0xffffffff;
}

/* The counter with all its bits, and with 32 bits. */
static const struct cpuc_calibrate_setup counters[] = {
  { read_simulated, 64, cpuc_os_clock_monotonic },
  { read_simulated_32, 32, cpuc_os_clock_monotonic },
};

/* Calibrates as the selection does: with a reported rate, or without one if it is 0. */
static enum cpuc_reason calibrate(const struct cpuc_calibrate_setup *counter, long long reported,
  long long persecond, long long *sixteenths)
{
  *sixteenths = 0;
  return reported ? cpuc_calibrate_verify(counter, reported)
                  : cpuc_calibrate_find_sixteenths(counter, persecond, sixteenths);
}

/* Begins with a core of this frequency, and a counter of 3 GHz. */
static void begin_at(double hz)
{
  memset(&machine, 0, sizeof machine);
  machine.hz = hz;
  machine.resolution = 1;
  machine.read_cost = 30;
  machine.rate = 3;
}

/* Begins with a core of 3 GHz, and a counter of this rate. */
static void begin_with_rate(double rate)
{
  begin_at(3e9);
  machine.rate = rate / 1e9;
  machine.counter_cost = 10;
}

/* The core frequency. */

/* Measures the core frequency, which must have at most this relative error. If the error is
   negative, the result may also be 0. */
static void expect_core(double error)
{
  double jump = machine.jump;
  long long measured = cpuc_frequency_measure_core();

  ck_assert_msg((measured == 0 && error < 0)
      || fabs((double)measured / machine.hz - 1) < fabs(error),
    "%lld for %g Hz, a clock of %lld ns, and a jump of %g ns after %g ns", measured, machine.hz,
    machine.resolution, jump, machine.jump_at);
}

/* Expects a bound that is 0.34 to 0.46 of the core frequency, within this time. */
static void expect_plausible(int is_by_counter, double limit)
{
  double bound, begin = machine.nanoseconds;

  machine.counter_cost = 10;
  bound = (double)(is_by_counter ? cpuc_frequency_least_plausible_by(read_simulated, 3000000000)
                                 : cpuc_frequency_least_plausible()) / machine.hz;
  ck_assert_msg(bound > 0.34 && bound < 0.46, "%g of %g Hz, by the counter: %d", bound, machine.hz,
    is_by_counter);
  ck_assert(machine.nanoseconds - begin < limit);
}

/* Against a clock of 1 us or less, a measurement must have a result. The last clock is stopped. */
TEST(simulated_frequencies_are_measured_within_2_percent_in_2_ms)
{
  static const double frequencies[] = { 16e6, 48e6, 100e6, 250e6, 933e6, 1.7e9, 2.4e9, 3.1e9,
    3.694e9, 6e9, 1e10, 2e10 };
  static const long long resolutions[] = { 1, 41, 100, 280, 838, 1000 /* gettimeofday() */, 3000,
    20000, 50000, 90000, 1000000, 1LL << 62 };
  int i, j, phase;

  for (i = 0; i < 12; i++)
    for (j = 0; j < 12; j++)
      for (phase = 0; phase < (j ? 10 : 1); phase++) {
        begin_at(frequencies[i]);
        machine.resolution = resolutions[j];
        machine.phase = (double)resolutions[j] * phase / 10;
        expect_core(j == 0 ? 0.005 : resolutions[j] > 1000 ? -0.02 : 0.02);
        ck_assert(machine.nanoseconds < 2000000);
        if (machine.hz < 1e9 || resolutions[j] > 100 || !cpuc_dependent_add_takes_one_cycle())
          continue;
        expect_plausible(0, 100000);
        expect_plausible(1, 20000);
      }
}

/* One interruption, of any length and at any time, delays the result and does not change it. On a
   busy machine, many interruptions may leave no result, but never one that is too high. */
TEST(interruptions_lengthen_the_measurement_by_their_duration)
{
  static const double frequencies[] = { 48e6, 1e9, 3.694e9, 1e10 };
  struct suite_repeat repeat = suite_repeat(1000);
  long i, answers = 0;
  double length;

  while (suite_again(&repeat)) {
    for (i = 0; i < 4; i++)
      for (length = 20e3; length < 1e10; length *= 7) {
        begin_at(frequencies[i]);
        machine.jump = length;
        /* evenly spread after any round */
        machine.jump_at = (double)(repeat.begun * 1236067LL % 2000000);
        expect_core(0.02);
        ck_assert(machine.nanoseconds < 2000000 + length);
      }
    for (i = 10 * repeat.begun; i < 10 * repeat.begun + 10; i++) {
      begin_at(i % 2 ? 2.5e9 : 48e6);
      machine.interruptions = (int)(1 + i % 50);
      machine.length = 1e3 * (1 << i % 16);
      length = (double)cpuc_frequency_measure_core();
      ck_assert(machine.nanoseconds - machine.interrupted < 2000000);
      ck_assert(length < machine.hz * 1.02);
      answers += length > 0;
    }
    /* a clock that is set back is not mistaken for a fast CPU */
    for (i = repeat.begun; i < 2000; i += 1000) {
      begin_at(2.5e9);
      machine.resolution = 1000;
      machine.jump = -1000.0 * (double)(i * 1237 % 2000 % 150 + 10);
      machine.jump_at = 1000.0 * (double)(i * 1237 % 2000);
      expect_core(-0.02);
    }
  }
  ck_assert_int_gt(answers, 0);
}

/* The measured frequency is one of the core's two frequencies, not a mixture. */
TEST(changing_frequency_is_measured_as_one_of_the_two)
{
  static const double changes[] = { 0.3, 0.5, 0.8, 0.95, 1.05, 1.3, 2, 4 };
  const double before = 2e9;
  int i, at;

  for (i = 0; i < 8; i++)
    for (at = 0; at < 2000000; at += 3989) {
      double after = before * changes[i], measured;

      begin_at(before);
      machine.changed_hz = after;
      machine.changes_at = at;
      measured = (double)cpuc_frequency_measure_core();
      /* fewer than three windows ran at the higher frequency */
      if (measured == 0 && (after > before ? at > 1200000 : at < 150000))
        continue;
      ck_assert_msg(fabs(measured / before - 1) < 0.02 || fabs(measured / after - 1) < 0.02,
        "%g, where %g became %g after %d ns", measured, before, after, at);
      /* the higher frequency, if it lasted long enough for three whole windows */
      if (after > before ? at < 1200000 : at > 300000)
        ck_assert(fabs(measured / (after > before ? after : before) - 1) < 0.02);
    }
}

/* The first call also selects a counter. */
TEST(signals_wait_for_the_measurement_of_the_core)
{
  begin_with_rate(3e9);
  machine.checks_signals = 1;
  ck_assert_double_eq_tol((double)cpucycles_core_persecond(),
    cpuc_dependent_add_takes_one_cycle() ? 3e9 : 0, 0.01 * 3e9);
}

/* The rate of a counter. */

/* Measures the rate of the counter of 3 GHz, with an error like that of expect_core(). */
static long long expect_rate(int is_narrow, double error)
{
  double jump = machine.jump;
  long long rate = cpuc_calibrate_rate(counters[is_narrow].read, counters[is_narrow].bits);

  ck_assert_msg((rate == 0 && error < 0) || fabs((double)rate / 3e9 - 1) < fabs(error),
    "%lld against a clock of %lld ns, interrupted for %g ns after %g ns", rate,
    machine.resolution, jump, machine.jump_at);
  return rate;
}

/* Against a clock of microseconds, the error is at most 100 ppm. The coarser clocks give no rate,
   because the measurement is too short for them. With the longer read costs, a coarse clock
   advances before it is taken for stopped. A measurement that an interruption of 95 ms has
   lengthened is too short for an exact rate. The library returns 0, but the test would also accept
   a rate that is right within 1 %. _i: whether the counter has 32 bits. */
TEST_LOOP(rate_against_a_coarse_clock_is_exact_or_0, 2)
{
  static const long long resolutions[] = { 1000, 100000, 1000000, 4000000, 10000000 };
  static const double costs[] = { 30, 300, 3000, 3000 };
  int i, j, phase;

  for (i = 0; i < 5; i++)
    for (j = 0; j < 4; j++)
      for (phase = 0; phase < 100; phase++) {
        begin_at(3e9);
        machine.resolution = resolutions[i];
        machine.read_cost = costs[j];
        machine.phase = (double)resolutions[i] * phase / 100;
        machine.jump = j == 3 ? 95e6 : 0;
        machine.jump_at = (double)resolutions[i] * (100 - phase) / 20;
        if (expect_rate(_i, i == 0 && j == 0 ? 0.0001 : -0.01) != 0)
          ck_assert(machine.nanoseconds >= 99.0 * (double)resolutions[i]);
      }
}

/* The interruption is a jump of time at one of the first reads of the clock, or later. A 32-bit
   counter wraps around in 1.4 s. If it may have wrapped around in the interruption, there is no
   result. If there is a result, it is within 0.1 %. cpucycles-internals(7) has the gaps between
   calls that this error allows. _i: whether the counter has 32 bits. */
TEST_LOOP(interruption_neither_hides_nor_falsifies_a_rate, 2)
{
  static const double interruptions[] = { 1e4, 1e6, 1e7, 1e8, 3e8, 5e8, 1e9, 1.4e9, 1.5e9, 5e9,
    1e12 };
  int i, at;

  for (i = 0; i < 11; i++)
    for (at = 1; at <= 200; at++) {
      begin_at(3e9);
      machine.jump = interruptions[i];
      machine.jump_at = at <= 100 ? 30.0 * at - 15 : 9000.0 * (at - 100);
      expect_rate(_i, _i && interruptions[i] > 4e8 ? -0.001 : 0.001);
    }
}

/* The scale of a counter: right to one part in 10^10, monotonic, and equal with and without a
   128-bit type. */

TEST(portable_multiply_equals_wide_multiply)
{
  static const uint64_t edges[] = { 0, 1, 2, 0xffffffff, 0x100000000, INT64_MAX, UINT64_MAX };
  struct suite_repeat repeat = suite_repeat(500000);

  while (suite_again(&repeat)) {
    uint64_t count = random64() % 2 ? edges[random64() % 7] : random64();
    uint64_t multiplier = random64() % 2 ? edges[random64() % 7] : random64();
    int shift = 1 + (int)(random64() % 63);

    ck_assert_int_eq(cpucycles_inline_scale_portable((long long)count, multiplier, shift),
      cpucycles_inline_scale((long long)count, multiplier, shift));
  }
}

TEST(scaled_clock_is_right_to_one_part_in_10_10)
{
  static const long long cpus[] = { 1000, 1000000, 266000000, 2399987654, 2596132000, 5000000000 };
  static const long long rates[] = { 1000000, 1000000000, 19200000, 512000000, 4096000000 };
  int c, r;

  for (c = 0; c < 6; c++)
    for (r = 0; r < 5; r++) {
      struct cpuc_scale scale = cpuc_scale_from_to(rates[r], cpus[c]);
      long long seconds = 100LL * 365 * 86400;

      /* where the cycles themselves exceed 63 bits, no result can be right */
      if (seconds > INT64_MAX / cpus[c])
        seconds = INT64_MAX / cpus[c] - 1;
      if (seconds > INT64_MAX / rates[r])
        seconds = INT64_MAX / rates[r] - 1;
      /* one part in 10^10: a tenth of a second in 30 years */
      ck_assert_int_le(llabs(cpuc_scale_apply(scale, seconds * rates[r]) - seconds * cpus[c]),
        seconds * cpus[c] / 10000000000 + 1);
      ck_assert_int_eq(cpuc_scale_apply(scale, 0), 0);
    }
}

/* Counts are modulo 2^64, so nothing is undefined where cycles pass -2^63. */
TEST(scaled_clock_never_steps_back)
{
  struct cpuc_scale scale = cpuc_scale_from_to(1000000000, 2399987654);
  struct cpuc_scale twice = cpuc_scale_from_to(1, 2);
  struct suite_repeat repeat = suite_repeat(1000);
  int i, wrong;

  while (suite_again(&repeat)) {
    /* around a power of two, where the product gains a bit, or around 0 or a count below it */
    long long middle = repeat.begun == 1 ? 0 : (1LL << random64() % 61);
    long long count = (random64() % 2 ? middle : -middle) - 1000;
    long long now, before = cpuc_scale_apply(scale, count);

    for (i = wrong = 0; i < 2000; i++) {
      now = cpuc_scale_apply(scale, ++count);
      wrong += now <= before || now - before > 3;
      wrong += llabs(now + cpuc_scale_apply(scale, -count)) > 1;
      before = now;
    }
    ck_assert_msg(wrong == 0, "%d of the 2000 steps up to %lld are wrong", wrong, count);
  }
  for (i = -2; i < 3; i++)
    ck_assert_int_eq(cpuc_scale_apply(twice, INT64_MIN / 2 + i),
      (long long)((uint64_t)INT64_MIN + (uint64_t)(2 * i)));
  ck_assert_int_eq(cpuc_scale_apply(twice, INT64_MIN), 0);
}

/* Real hardware. sixteenths: the multiple, in sixteenths of a cycle per unit, that is found without
   a reported rate; 0: the counter is dropped. */
static const struct {
  long long rate, persecond, sixteenths;
} hardware[] = {
  { 24000000, 2064000000, 86 * 16 },
  { 19200000, 2457600000, 128 * 16 },
  { 25000000, 1200000000, 48 * 16 },
  { 1000000000, 3000000000, 3 * 16 },
  { 54000000, 1800000000, 0 }, /* 33 1/3 */
  { 62500000, 2596132000, 0 },
  { 2500000000, 2500000000, 16 },
  { 4096000000, 1024000000, 4 },
  { 2000000000, 2500000000, 20 },
  { 1600000000, 2500000000, 25 },
  { 3000000000, 1000000000, 0 },
  { 10000000, 2596132000, 0 }, /* a large multiple within 0.05 % proves nothing */
  /* The default is near a multiple of each of the next three rates. */
  { 24000000, CPUC_FREQUENCY_DEFAULT, 100 * 16 },
  { 25000000, CPUC_FREQUENCY_DEFAULT, 96 * 16 },
  { 19200000, CPUC_FREQUENCY_DEFAULT, 125 * 16 },
  { 1000000000, CPUC_FREQUENCY_DEFAULT, 0 },
  { 512000000, CPUC_FREQUENCY_DEFAULT, 75 },
  /* on both sides of 0.05 % */
  { 100000000, 1000499000, 10 * 16 },
  { 100000000, 1000501000, 0 },
  { 100000000, 999501000, 10 * 16 },
  { 100000000, 999499000, 0 },
};

/* By calculation, and in 4 ms at most by a measurement of a counter of 32 or 64 bits. */
TEST_LOOP(multiples_of_real_hardware_are_found, sizeof hardware / sizeof hardware[0])
{
  long long rate = hardware[_i].rate, persecond = hardware[_i].persecond, sixteenths;
  int j;

  sixteenths = cpuc_scale_find_sixteenths(rate, persecond);
  ck_assert_int_eq(sixteenths, hardware[_i].sixteenths);
  if (sixteenths)
    ck_assert_int_eq(cpuc_scale_apply(cpuc_scale_from_to(16, sixteenths), 16), sixteenths);
  for (j = 0; j < 2; j++) {
    begin_with_rate((double)rate);
    ck_assert_int_eq(calibrate(&counters[j], 0, persecond, &sixteenths),
      hardware[_i].sixteenths ? CPUC_REASON_NONE : CPUC_REASON_NO_MULTIPLE);
    ck_assert_int_eq(sixteenths, hardware[_i].sixteenths);
    ck_assert(machine.nanoseconds <= 4000000);
  }
}

/* At each nanosecond of the first samples, then every 777 ns in the first window, with a reported
   rate and without one, the measurement ends soon. COUNTER_AHEAD: more counts per second than fit
   in 63 bits. */
TEST_LOOP(clock_or_counter_that_stops_or_steps_back_ends_the_measurement, DEFECTS)
{
  static const enum cpuc_reason results[] = { CPUC_REASON_CLOCK_DECREASING,
    CPUC_REASON_CLOCK_NOT_INCREASING, CPUC_REASON_NOT_INCREASING,
    CPUC_REASON_DECREASING, CPUC_REASON_RATE_MISMATCH };
  static const long long first[] = { 100, 1, 1, 150000, 150000 };
  long long sixteenths, at, reported;
  double back;

  for (at = first[_i]; at < 190000; at += at < 1000 ? 1 : 777)
    for (back = 1e6; back < 1e14; back *= 1000)
      for (reported = 0; reported <= 24000000; reported += 24000000) {
        begin_with_rate(24e6);
        machine.defect = _i;
        machine.defect_at = (double)at;
        machine.set = back;
        ck_assert_int_eq(calibrate(counters, reported, 2400000000, &sixteenths),
          results[_i]);
        ck_assert(machine.nanoseconds - machine.defect_at <= (reported ? 1000000 : 1500000));
        if (_i >= COUNTER_STOPS)
          return;
      }
}

/* The greatest error of a rate that was measured in this window: at both ends a step of the clock,
   a unit, and, if the clock advances rarely, a read. */
static double window_error(double nanoseconds)
{
  double end = (double)machine.resolution + 1 / machine.rate;

  if ((double)machine.resolution > 2 * machine.read_cost)
    end += machine.read_cost;
  return 1.1 * end * 2 / nanoseconds;
}

/* Counters of any rate, clocks, costs of a read, and an interruption at any time. Some counters
   return random counts. */
TEST(random_machine_gives_no_wrong_scale_or_rate)
{
  static const long long resolutions[] = { 1, 10, 41, 100, 1000 };
  struct suite_repeat repeat = suite_repeat(30000);

  while (suite_again(&repeat)) {
    double rate = 1 + (double)(random64() % (1ULL << (1 + random64() % 33))), error;
    long long persecond = 1000 + (long long)(random64() % 5000000000), sixteenths, found, reported;
    int is_random = random64() % 8 == 0, i;

    if (random64() % 2)
      rate = (double)persecond * 16 / (double)(1 + random64() % 4096);
    reported = (long long)(rate * (0.95 + (double)(random64() % 100) / 1000)) + 1;
    for (i = 0; i < 3; i++) {
      begin_with_rate(rate);
      machine.resolution = resolutions[random64() % 5];
      machine.read_cost = machine.counter_cost = (double)(10 + random64() % 990);
      machine.jump = (double)(random64() % (1 << 24));
      machine.jump_at = (double)(random64() % 2000000);
      machine.is_random = is_random;
      if (i == 2) {
        found = cpuc_calibrate_rate(read_simulated, 64);
        error = fabs((double)found / rate - 1);
        ck_assert(found >= 0 && (is_random || found == 0 || error <= 0.01 + window_error(850000)));
      } else if (calibrate(counters, i ? reported : 0, persecond, &sixteenths)
        == CPUC_REASON_NONE && !is_random) {
        error = i ? fabs(rate / (double)reported - 1)
                  : fabs(rate * (double)sixteenths / 16 / (double)persecond - 1);
        ck_assert_msg(i ? error <= 0.01 + window_error(200000) * (1 + error)
                        : error <= 0.000501 + window_error(400000),
          "%g Hz, reported %lld: %lld sixteenths, off by %g", rate, i ? reported : 0, sixteenths,
          error);
      }
    }
  }
}

/* A fake counter, alone in the selection. */

static struct cpuc_backend fake;
static struct cpuc_rate reported_rate;

/* A second call fails. */
static struct cpuc_rate report_rate_once(void)
{
  struct cpuc_rate rate = reported_rate;

  reported_rate.hz = 0;
  return rate;
}

/* Selects from the counter, on the machine that has begun. */
static struct cpuc_candidate *select_fake(struct cpuc_backend backend)
{
  static const struct cpuc_table_entry table = { "one", "the only one", &fake };
  static struct cpuc_candidate candidate;
  static struct cpuc_selection selection;

  fake = backend;
  enter_guard();
  cpuc_select(&table, 1, &candidate, &selection);
  leave_guard();
  return &candidate;
}

TEST_LOOP(selection_scales_by_multiple_or_reported_rate, 11)
{
  static const struct {
    long long reported, resolution;
    double hz, scaling;
    const char *reason; /* NULL: the counter is selected */
  } rows[] = {
    { 0, 1, 2064e6, 86, NULL },
    { 0, 1, 2000e6, 0, "no-multiple" },
    { 24000000, 1, 2000e6, 83 + 1.0 / 3, NULL },
    { 24000000, 1000, 2000e6, 83 + 1.0 / 3, NULL },
    /* a reported rate must agree within 1 % */
    { 23768000, 1, 2000e6, 2000 / 23.768, NULL },
    { 24236000, 1, 2000e6, 2000 / 24.236, NULL },
    { 23748000, 1, 2000e6, 0, "rate-mismatch" },
    { 24255000, 1, 2000e6, 0, "rate-mismatch" },
    { 23424000, 1000, 2000e6, 0, "rate-mismatch" },
    { 1, 1, 2000e6, 0, "rate-mismatch" },
    { INT64_MAX, 1, 2000e6, 0, "rate-mismatch" },
  };
  const struct cpuc_backend backend = { .kind = CPUC_KIND_SCALED,
    .read = read_simulated, .rate = report_rate_once };
  const struct cpucycles_counter_info *info;

  reported_rate = (struct cpuc_rate) { rows[_i].reported, NULL, 0 };
  begin_with_rate(24e6);
  machine.hz = rows[_i].hz;
  machine.resolution = rows[_i].resolution;
  info = &select_fake(backend)->info;
  ck_assert_pstr_eq(info->reason, rows[_i].reason);
  ck_assert_int_eq(info->state, rows[_i].reason ? CPUCYCLES_DROPPED : CPUCYCLES_SELECTED);
  if (!rows[_i].reason)
    ck_assert_double_eq_tol(info->scaling, rows[_i].scaling, 1e-9);
}

TEST(selection_extends_a_32_bit_counter)
{
  const struct cpuc_backend backend
    = { .kind = CPUC_KIND_CORE, .is_32_bit = 1, .read = read_simulated_32 };
  struct cpuc_candidate *candidate;
  long long first, count;
  double begin;
  int i;

  begin_with_rate(16e9);
  machine.hz = 16e9;
  candidate = select_fake(backend);
  begin = machine.nanoseconds;
  ck_assert_int_eq(candidate->info.state, CPUCYCLES_SELECTED);
  ck_assert(candidate->reader.is_extended || candidate->reader.scale.multiplier);
  first = cpuc_reader_read(&candidate->reader);
  for (i = 0; i < 3; i++) { /* more than a wraparound */
    advance(1e8);
    count = cpuc_reader_read(&candidate->reader) - first;
    ck_assert(count >= 16e8 * (i + 1) && count <= 16 * (machine.nanoseconds - begin));
  }
}

/* Reads of 20 to 20,000 cycles, with a noise of 3 %, while two of three chains are interrupted for
   any time or, as by a timer of the hypervisor, always for this time. */
TEST(true_counter_of_core_cycles_is_proven_on_a_busy_machine)
{
  const struct cpuc_backend backend = { .kind = CPUC_KIND_CORE, .read = read_simulated };
  struct suite_repeat repeat = suite_repeat(1000);

  SKIP_IF(!cpuc_dependent_add_takes_one_cycle(), "adds prove nothing on this CPU");
  while (suite_again(&repeat)) {
    begin_with_rate(3e9);
    machine.noise = 0.03;
    machine.counter_cost = 20 / 3.0 * pow(1000, (double)(random64() % 1001) / 1000);
    machine.disturbance = 100 * pow(1000, (double)(random64() % 1001) / 1000)
      * (random64() % 2 ? 1 : -1);
    ck_assert_msg(!select_fake(backend)->is_unproven, "reads of %g ns, interruptions of %g ns",
      machine.counter_cost, machine.disturbance);
  }
}

/* Interrupts the reads at the beginning of one measurement. The interruptions differ by
   microseconds, because the library concludes from two equal times that nothing interrupted these
   reads. */
static long long read_interrupted_at_first(void)
{
  static int reads;

  machine.counter_cost = reads < 32 ? 50000 + 3000 * reads : 10;
  reads++;
  return read_simulated();
}

#define REFERENCE .kind = CPUC_KIND_REFERENCE, .read = read_simulated

/* The rate of a counter in use, which advances by hz, is from `low` to `high`. */
static const struct {
  double hz;
  struct cpuc_backend backend;
  struct cpuc_rate reported;
  long long low, high;
} rates[] = {
  { 1e6, { REFERENCE }, { 0 }, 980000, 1020000 },
  { 1000, { REFERENCE }, { 0 }, 0, 2500 }, /* coarse: at most 2 counts in a window */
  { 0, { REFERENCE }, { 0 }, 0, 0 },       /* stopped */
  /* the reported rate is 0.5 % too high, and only one that is rounded is refined */
  { 1e9, { REFERENCE, .rate = report_rate_once }, { 1005000000, "the test", 0 }, 1005000000,
    1005000000 },
  { 1e9, { REFERENCE, .rate = report_rate_once }, { 1005000000, "the test", 1 }, 999000000,
    1001000000 },
  /* an interrupted measurement is repeated */
  { 1e9, { .kind = CPUC_KIND_REFERENCE, .read = read_interrupted_at_first }, { 0 }, 980000000,
    1020000000 },
  /* the count of a thread that does not run most of the time: the core frequency, or the rate of
     the count if adds prove nothing */
  { 0.75e9, { .kind = CPUC_KIND_CORE, .is_of_thread = 1, .read = read_simulated }, { 0 },
    2970000000, 3030000000 },
};

TEST_LOOP(rate_in_use_is_the_reported_or_measured_one, sizeof rates / sizeof rates[0])
{
  static struct cpuc_candidate candidate = { .backend = &fake };
  static struct cpuc_selection selection = { .selected = &candidate };
  int is_of_core = rates[_i].backend.kind == CPUC_KIND_CORE;
  double share = is_of_core && !cpuc_dependent_add_takes_one_cycle() ? 0.25 : 1;
  double rate;

  begin_with_rate(rates[_i].hz);
  fake = rates[_i].backend;
  reported_rate = rates[_i].reported;
  cpuc_timer_find_info(&selection);
  ck_assert_int_eq(selection.timer.reported_rate, rates[_i].reported.hz);
  ck_assert_pstr_eq(selection.timer.reported_rate_source, rates[_i].reported.source);
  candidate.reader.read = fake.read;
  cpuc_timer_find_rate(&selection);
  rate = (double)selection.rate;
  ck_assert_msg(rate >= share * (double)rates[_i].low && rate <= share * (double)rates[_i].high,
    "%g", rate);
}

SUITE("simulated_clock")
