/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the measurements of the core frequency and of the rate of a counter on a simulated machine,
   whose functions replace sys/os-clock.c (os-clock-windows.c) and sys/dependent-add.c. */

#include "config.h"

#include "lib/calibrate.h"
#include "lib/frequency.h"
#include "sys/dependent-add.h"
#include "sys/os-clock.h"

#include "tests/suites/suite.h"

#include <math.h>
#include <string.h>

/* A simulated machine: adds and reads of the clock take time, interruptions delay them, and the
   core frequency can change. */
static struct {
  double hz, nanoseconds;
  double changed_hz, changes_at; /* frequency from changes_at on; changed_hz 0: no change */
  long long resolution; /* of the clock, nanoseconds */
  int interruptions;     /* in ten thousand passes */
  double length;         /* longest interruption, nanoseconds */
  double jump;           /* time passes by this much at once (an interruption), or steps back */
  double jump_at;        /* time of the jump */
  double read_cost;      /* time of a read of the clock */
  long passes, reads;    /* of adds, of the clock */
  unsigned int random;
} machine;

static unsigned int draw(unsigned int below)
{
  machine.random = machine.random * 1664525 + 1013904223;
  return (machine.random >> 8) % below;
}

static void advance(double nanoseconds)
{
  machine.nanoseconds += nanoseconds;
  if (machine.jump != 0 && machine.nanoseconds > machine.jump_at) {
    machine.nanoseconds += machine.jump;
    machine.jump = 0;
  }
}

static long long read_clock(void)
{
  machine.reads++;
  advance(machine.read_cost);
  return (long long)machine.nanoseconds / machine.resolution * machine.resolution;
}

long long cpuc_os_clock_monotonic(void)
{
  return read_clock();
}

long long cpuc_os_clock_coarse(void)
{
  return read_clock();
}

long long cpuc_os_clock_raw(void)
{
  return read_clock();
}

long long cpuc_os_clock_wall_microseconds(void)
{
  return read_clock() / 1000;
}

void cpuc_os_clock_try(void *unused)
{
  (void)unused;
}

void cpuc_os_clock_fall_back(void)
{
}

int cpuc_dependent_add_run(long passes)
{
  machine.passes += passes;
  for (; passes > 0; passes--) {
    if (machine.changed_hz > 0 && machine.nanoseconds >= machine.changes_at)
      machine.hz = machine.changed_hz;
    advance(512 * 1e9 / machine.hz);
    if ((int)draw(10000) < machine.interruptions)
      advance(machine.length * draw(1000) / 1000);
  }
  return 0;
}

static void begin_at(double hz)
{
  memset(&machine, 0, sizeof machine);
  machine.hz = hz;
  machine.nanoseconds = 1e15;
  machine.resolution = 1;
  machine.read_cost = 30;
}

static void expect_within(double percent)
{
  double begin = machine.nanoseconds, error;
  long long measured = cpuc_frequency_measure_core();

  error = ((double)measured / machine.hz - 1) * 100;
  ck_assert_msg(error < percent && error > -percent, "%g Hz: off by %g %%", machine.hz, error);
  ck_assert(machine.nanoseconds - begin < 2000000);
  if (machine.hz < 1e9 || machine.resolution > 100 || !cpuc_dependent_add_takes_one_cycle())
    return;
  begin = machine.nanoseconds;
  error = (double)cpuc_frequency_least_plausible() / machine.hz;
  ck_assert_msg(error > 0.34 && error < 0.46, "%g Hz: %g is plausible", machine.hz, error);
  ck_assert(machine.nanoseconds - begin < 100000);
}

TEST(simulated_frequencies_are_measured_within_2_percent_in_2_ms)
{
  static const double frequencies[] = { 16e6, 48e6, 100e6, 250e6, 933e6, 1.7e9, 2.4e9,
    3.694e9, 6e9, 1e10, 2e10 };
  static const long long coarse[] = { 41, 100, 838, 1000 }; /* 1000: gettimeofday() */
  size_t i, j;

  for (i = 0; i < sizeof frequencies / sizeof frequencies[0]; i++) {
    begin_at(frequencies[i]);
    expect_within(0.5);
    for (j = 0; j < 4; j++) {
      begin_at(frequencies[i]);
      machine.resolution = coarse[j];
      expect_within(2);
    }
  }
}

/* A clock of 1 us or less must give a result, but a coarser clock may give none. */
TEST(coarse_clock_gives_no_wrong_frequency)
{
  static const long long resolutions[] = { 280, 1000, 3000, 20000, 50000, 90000, 1000000 };
  int i, phase;

  for (i = 0; i < 7; i++)
    for (phase = 0; phase < 40; phase++) {
      long long measured;

      begin_at(3.1e9);
      machine.resolution = resolutions[i];
      machine.nanoseconds += (double)resolutions[i] * phase / 40;
      measured = cpuc_frequency_measure_core();
      ck_assert_msg(measured == 0 || (measured > 3038000000 && measured < 3162000000),
        "%lld against a clock of %lld ns", measured, resolutions[i]);
      ck_assert(measured != 0 || resolutions[i] > 1000);
    }
}

/* One interruption, of any length and at any time, delays the result and does not change it. */
TEST(interruption_lengthens_the_measurement_by_its_duration)
{
  static const double frequencies[] = { 48e6, 1e9, 3.694e9, 1e10 };
  struct suite_repeat repeat = suite_repeat(1000);
  int i;

  while (suite_again(&repeat))
    for (i = 0; i < 4; i++) {
      int at = (int)(repeat.begun * 1236067LL % 2000000); /* evenly spread after any round */
      double length, begin;

      for (length = 20e3; length < 1e10; length *= 7) {
        long long measured;

        begin_at(frequencies[i]);
        machine.jump = length;
        begin = machine.nanoseconds;
        machine.jump_at = begin + at;
        measured = cpuc_frequency_measure_core();
        ck_assert_msg(fabs((double)measured / machine.hz - 1) < 0.02,
          "%lld for %g Hz, interrupted for %g ns at %d ns", measured, machine.hz, length, at);
        ck_assert(machine.nanoseconds - begin < 2000000 + length);
      }
    }
}

/* The measured frequency is one of the core's two frequencies, not a mixture. */
TEST(changing_frequency_is_measured_as_one_of_the_two)
{
  static const double changes[] = { 0.3, 0.5, 0.8, 0.95, 1.05, 1.3, 2, 4 };
  int i, at;

  for (i = 0; i < 8; i++)
    for (at = 0; at < 2000000; at += 3989) {
      double before = 2e9, after = before * changes[i];
      long long measured;

      begin_at(before);
      machine.changed_hz = after;
      machine.changes_at = machine.nanoseconds + at;
      measured = cpuc_frequency_measure_core();
      /* fewer than three windows ran at the higher frequency */
      if (measured == 0 && (after > before ? at > 1200000 : at < 150000))
        continue;
      ck_assert_msg(fabs((double)measured / before - 1) < 0.02
          || fabs((double)measured / after - 1) < 0.02,
        "%lld, where %g became %g after %d ns", measured, before, after, at);
      /* the higher frequency, if it lasted long enough for three whole windows */
      if (after > before ? at < 1200000 : at > 300000)
        ck_assert(fabs((double)measured / (after > before ? after : before) - 1) < 0.02);
    }
}

/* On a busy machine, the adds and reads themselves take 2 ms at most. */
TEST(interruptions_do_not_add_windows)
{
  struct suite_repeat repeat = suite_repeat(10000);
  long answers = 0;

  while (suite_again(&repeat)) {
    long i = repeat.begun - 1;
    long long measured;

    begin_at(i % 2 ? 2.5e9 : 48e6);
    machine.random = (unsigned int)i;
    machine.interruptions = (int)(1 + i % 50);
    machine.length = 1e3 * (1 << i % 16);
    measured = cpuc_frequency_measure_core();
    ck_assert((double)machine.passes * 512e9 / machine.hz < 2000000);
    ck_assert((double)measured < machine.hz * 1.02);
    answers += measured > 0;
  }
  ck_assert_int_gt(answers, 0);
}

TEST(clock_that_steps_back_is_not_mistaken_for_a_fast_cpu)
{
  struct suite_repeat repeat = suite_repeat(2000);

  while (suite_again(&repeat)) {
    int i = (int)(repeat.begun * 1237 % 2000); /* each number once, evenly spread after any round */
    long long measured;

    begin_at(2.5e9);
    machine.resolution = 1000;
    machine.jump = -1000.0 * (i % 150 + 10);
    machine.jump_at = machine.nanoseconds + 1000.0 * i;
    measured = cpuc_frequency_measure_core();
    ck_assert_msg(measured == 0 || (measured > 2450000000 && measured < 2550000000),
      "%lld after a jump of %d us at %d us", measured, i % 150 + 10, i);
  }
}

TEST(stopped_clock_ends_the_measurement)
{
  begin_at(2.5e9);
  machine.resolution = 1LL << 62;
  ck_assert_int_eq(cpuc_frequency_measure_core(), 0);
  ck_assert_int_lt(machine.passes, 6000);
}

/* The rate of a counter. */

/* A counter of 3 GHz on the simulated machine. */
static long long read_simulated(void)
{
  return (long long)(machine.nanoseconds * 3);
}

static long long read_simulated_32(void)
{
  return read_simulated() & 0xffffffff;
}

/* Measures the counter of 64 bits, or if is_narrow is 1, that of 32 bits. */
static long long measure_rate(int is_narrow)
{
  return is_narrow ? cpuc_calibrate_rate(read_simulated_32, 32)
                   : cpuc_calibrate_rate(read_simulated, 64);
}

/* The coarser clocks give no rate, because the measurement is too short for them. With the longer
   read costs, a coarse clock advances before it is taken for stopped. _i: whether the counter has
   32 bits. */
TEST_LOOP(coarse_clock_gives_no_wrong_rate, 2)
{
  static const long long resolutions[] = { 1000, 100000, 1000000, 4000000, 10000000 };
  static const double costs[] = { 30, 300, 3000 };
  int i, j, phase;

  for (i = 0; i < 5; i++)
    for (j = 0; j < 3; j++)
      for (phase = 0; phase < 40; phase++) {
        double begin;
        long long rate;

        begin_at(3e9);
        machine.resolution = resolutions[i];
        machine.read_cost = costs[j];
        machine.nanoseconds += (double)resolutions[i] * phase / 40;
        begin = machine.nanoseconds;
        rate = measure_rate(_i);
        ck_assert_msg(rate == 0 || (rate > 2970000000 && rate < 3030000000),
          "%lld against a clock of %lld ns", rate, resolutions[i]);
        ck_assert(rate == 0 || machine.nanoseconds - begin >= 99.0 * (double)resolutions[i]);
      }
}

/* _i: whether the counter has 32 bits. */
TEST_LOOP(rate_against_a_clock_of_microseconds_is_within_100_ppm, 2)
{
  long long rate;
  int phase;

  for (phase = 0; phase < 1000; phase++) {
    begin_at(3e9);
    machine.resolution = 1000;
    machine.nanoseconds += phase;
    rate = measure_rate(_i);
    ck_assert_msg(rate > 2999700000 && rate < 3000300000, "%lld at %d ns", rate, phase);
  }
}

/* The interruption is a jump of time at one of the first reads of the clock. */
TEST(interruption_does_not_hide_a_rate)
{
  static const double interruptions[] = { 1e4, 1e6, 1e7, 5e8 };
  long long rate;
  int i, at;

  for (i = 0; i < 4; i++) {
    for (at = 1; at <= 100; at++) {
      begin_at(3e9);
      machine.jump = interruptions[i];
      machine.jump_at = machine.nanoseconds + 30 * at - 15;
      rate = measure_rate(0);
      ck_assert_msg(rate > 2980000000 && rate < 3020000000, "%lld, read %d takes %g ns", rate, at,
        interruptions[i]);
    }
  }
}

/* A 32-bit counter wraps around in 1.4 s. If the counter may have wrapped around in the
   interruption, there is no result. If there is a result, it is within 0.1 %. cpucycles-internals(7) has the
   gaps between calls that this error allows. */
TEST(interruption_does_not_falsify_the_rate_of_a_32_bit_counter)
{
  static const double interruptions[] = { 1e4, 1e6, 1e8, 3e8, 1e9, 1.4e9, 1.5e9, 5e9, 1e12 };
  long long rate;
  int i, at;

  for (i = 0; i < 9; i++)
    for (at = 1; at <= 100; at++) {
      begin_at(3e9);
      machine.jump = interruptions[i];
      machine.jump_at = machine.nanoseconds + 9000.0 * at;
      rate = measure_rate(1);
      ck_assert_msg(rate != 0 || interruptions[i] > 4e8, "no rate after %g ns", interruptions[i]);
      ck_assert_msg(rate == 0 || (rate > 2997000000 && rate < 3003000000),
        "%lld, interrupted for %g ns after %d ns", rate, interruptions[i], 9000 * at);
    }
}

/* A measurement that an interruption of 95 ms has lengthened is too short for an exact rate. The
   library returns 0, but the test would also accept a rate that is right within 1 %. _i: whether
   the counter has 32 bits. */
TEST_LOOP(interrupted_measurement_against_a_coarse_clock_gives_no_wrong_rate, 2)
{
  static const long long coarse[] = { 1000000, 4000000, 10000000 };
  long long rate;
  int i, at;

  for (i = 0; i < 3; i++) {
    for (at = 1; at <= 100; at++) {
      begin_at(3e9);
      machine.resolution = coarse[i];
      machine.nanoseconds -= (double)coarse[i] * at / 100;
      machine.read_cost = 3000; /* a clock of 10 ms advances before it is taken for stopped */
      machine.jump = 95e6;
      machine.jump_at = machine.nanoseconds + (double)coarse[i] * at / 20;
      rate = measure_rate(_i);
      ck_assert_msg(rate == 0 || (rate > 2970000000 && rate < 3030000000),
        "%lld against a clock of %lld ns", rate, coarse[i]);
    }
  }
}

SUITE("simulated_clock")
