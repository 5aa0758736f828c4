/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the measurements: the frequency with dependent adds, against simulated clocks and on this
   CPU, and the rate of a counter, compared with the kernel's figure. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/calibrate.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/scale.h"
#include "lib/select.h"
#include "lib/timer.h"
#include "sys/dependent-add.h"
#include "sys/os-clock.h"

#include "tests/suites/guarded.h"
#include "tests/suites/suite.h"
#include "tests/suites/this-machine.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A simulated machine: adds and reads of the clock take time, interruptions delay them, and the
   core frequency can change. */
static struct {
  double hz, nanoseconds;
  double changed_hz, changes_at; /* frequency from that time on; 0: it does not change */
  double ramp;           /* relative change of the frequency per nanosecond */
  long long resolution; /* of the clock, nanoseconds */
  int interruptions;     /* in a hundred passes; if per_10000 is 1, in ten thousand */
  int per_10000;
  double length;         /* longest interruption, nanoseconds */
  double step;           /* a single step of the clock, */
  double step_at;        /* and its time */
  double last_read;      /* time of the last read of the clock */
  double longest[2];     /* the two longest intervals between two reads */
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
  if (machine.step != 0 && machine.nanoseconds > machine.step_at) {
    machine.nanoseconds += machine.step;
    machine.step = 0;
  }
}

static void record_interval(double interval)
{
  if (interval > machine.longest[0]) {
    machine.longest[1] = machine.longest[0];
    machine.longest[0] = interval;
  } else if (interval > machine.longest[1]) {
    machine.longest[1] = interval;
  }
}

static long long read_clock(void)
{
  advance(30);
  record_interval(machine.nanoseconds - machine.last_read);
  machine.last_read = machine.nanoseconds;
  return (long long)machine.nanoseconds / machine.resolution * machine.resolution;
}

static void run_passes(long passes)
{
  for (; passes > 0; passes--) {
    double before = machine.nanoseconds;

    if (machine.changed_hz > 0 && machine.nanoseconds >= machine.changes_at)
      machine.hz = machine.changed_hz;
    advance(512 * 1e9 / machine.hz);
    machine.hz *= 1 + machine.ramp * (machine.nanoseconds - before);
    if ((int)draw(machine.per_10000 ? 10000 : 100) < machine.interruptions)
      advance(machine.length * draw(1000) / 1000);
  }
}

static const struct cpuc_frequency_loop simulated = { read_clock, run_passes };

static void begin_at(double hz)
{
  memset(&machine, 0, sizeof machine);
  machine.hz = hz;
  machine.nanoseconds = machine.last_read = 1e15;
  machine.resolution = 1;
}

static void expect_within(double percent)
{
  double begin = machine.nanoseconds, error;
  long long measured = cpuc_frequency_measure_loop(&simulated);

  error = ((double)measured / machine.hz - 1) * 100;
  ck_assert_msg(error < percent && error > -percent, "%g Hz: off by %g %%", machine.hz, error);
  ck_assert(machine.nanoseconds - begin < 2000000);
}

START_TEST(simulated_frequencies_are_measured_within_2_percent_in_2_ms)
{
  static const double frequencies[] = { 2e6, 16e6, 48e6, 100e6, 250e6, 933e6, 1.7e9, 2.4e9,
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
END_TEST

/* A clock of 280 ns or less, or of 1 us, is fine enough; coarser ones may give no result. */
START_TEST(coarse_clock_gives_no_wrong_frequency)
{
  static const long long resolutions[] = { 280, 1000, 3000, 20000, 50000, 90000, 1000000 };
  int i, phase;

  for (i = 0; i < 7; i++)
    for (phase = 0; phase < 40; phase++) {
      long long measured;

      begin_at(3.1e9);
      machine.resolution = resolutions[i];
      machine.nanoseconds += (double)resolutions[i] * phase / 40;
      measured = cpuc_frequency_measure_loop(&simulated);
      ck_assert_msg(measured == 0 || (measured > 3038000000 && measured < 3162000000),
        "%lld against a clock of %lld ns", measured, resolutions[i]);
      ck_assert(measured != 0 || resolutions[i] > 1000);
    }
}
END_TEST

START_TEST(interruptions_do_not_lower_the_measured_frequency)
{
  int i;

  for (i = 0; i < 1000; i++) {
    begin_at(2.5e9);
    machine.random = (unsigned int)i;
    machine.interruptions = 1 + i % 2; /* a window has some thousand passes */
    machine.length = 100;
    machine.resolution = 1;
    expect_within(2);
  }
}
END_TEST

/* One interruption, of any length and at any time, delays the result and does not change it. */
START_TEST(interruption_lengthens_the_measurement_by_its_duration)
{
  static const double frequencies[] = { 48e6, 1e9, 3.694e9, 1e10 };
  struct suite_repeat repeat = suite_repeat(1000);
  int i;

  while (suite_again(&repeat))
    for (i = 0; i < 4; i++) {
      int at = (int)(repeat.done * 1236067LL % 2000000); /* evenly spread after any round */
      double length, begin;

      for (length = 20e3; length < 1e10; length *= 7) {
        long long measured;

        begin_at(frequencies[i]);
        machine.step = length;
        begin = machine.nanoseconds;
        machine.step_at = begin + at;
        measured = cpuc_frequency_measure_loop(&simulated);
        ck_assert_msg(fabs((double)measured / machine.hz - 1) < 0.02,
          "%lld for %g Hz, interrupted for %g ns at %d ns", measured, machine.hz, length, at);
        ck_assert(machine.nanoseconds - begin < 2000000 + length);
        if (at > 1000000) /* a result was found before: the interruption ends the measurement */
          ck_assert(machine.nanoseconds - begin < fmax(2000000, at + length + 300000));
      }
    }
}
END_TEST

/* The measured frequency is one of the core's two frequencies, not a mixture. */
START_TEST(changing_frequency_is_measured_as_one_of_the_two)
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
      measured = cpuc_frequency_measure_loop(&simulated);
      /* fewer than three windows ran at the higher frequency */
      if (measured == 0 && (after > before ? at > 1600000 : at < 150000))
        continue;
      ck_assert_msg(fabs((double)measured / before - 1) < 0.02
          || fabs((double)measured / after - 1) < 0.02,
        "%lld, where %g became %g after %d ns", measured, before, after, at);
      /* the higher frequency, if it lasted for three windows and their beginnings */
      if (after > before ? at < 1500000 : at > 300000)
        ck_assert(fabs((double)measured / (after > before ? after : before) - 1) < 0.02);
    }
}
END_TEST

/* The shortest windows of a steep ramp do not agree. */
START_TEST(frequency_on_a_ramp_is_within_the_ramp_or_not_known)
{
  static const double ramps[] = { -3e-7, -1e-7, -1e-8, 1e-8, 1e-7, 3e-7, 1e-6 };
  int i;

  for (i = 0; i < 7; i++) {
    double begin = 2e9;
    long long measured;

    begin_at(begin);
    machine.ramp = ramps[i];
    measured = cpuc_frequency_measure_loop(&simulated);
    ck_assert_msg(measured == 0
        || ((double)measured > fmin(begin, machine.hz) * 0.98
          && (double)measured < fmax(begin, machine.hz) * 1.02),
      "%lld, where %g became %g", measured, begin, machine.hz);
  }
}
END_TEST

/* A busy machine: a second interruption ends the measurement. */
START_TEST(many_interruptions_lengthen_the_measurement_by_two_windows_at_most)
{
  struct suite_repeat repeat = suite_repeat(10000);
  long answers = 0;

  while (suite_again(&repeat)) {
    long i = repeat.done - 1;
    double begin;
    long long measured;

    begin_at(i % 2 ? 2.5e9 : 48e6);
    machine.random = (unsigned int)i;
    machine.interruptions = (int)(1 + i % 50);
    machine.per_10000 = 1;
    machine.length = 1e3 * (1 << i % 16);
    begin = machine.nanoseconds;
    measured = cpuc_frequency_measure_loop(&simulated);
    ck_assert_msg(machine.nanoseconds - begin < 2000000 + machine.longest[0] + machine.longest[1],
      "%g ns, with windows of %g and %g ns", machine.nanoseconds - begin, machine.longest[0],
      machine.longest[1]);
    ck_assert((double)measured < machine.hz * 1.02);
    answers += measured > 0;
  }
  ck_assert_int_gt(answers, 0);
}
END_TEST

START_TEST(clock_set_back_is_not_mistaken_for_a_fast_cpu)
{
  struct suite_repeat repeat = suite_repeat(2000);

  while (suite_again(&repeat)) {
    int i = (int)(repeat.done * 1237 % 2000); /* each number once, evenly spread after any round */
    long long measured;

    begin_at(2.5e9);
    machine.resolution = 1000;
    machine.step = -1000.0 * (i % 150 + 10);
    machine.step_at = machine.nanoseconds + 1000.0 * i;
    measured = cpuc_frequency_measure_loop(&simulated);
    ck_assert_msg(measured == 0 || (measured > 2450000000 && measured < 2550000000),
      "%lld after a step of %d us at %d us", measured, i % 150 + 10, i);
  }
}
END_TEST

static long passes_run;

static long long read_stopped(void)
{
  return 12345;
}

static void count_passes(long passes)
{
  passes_run += passes;
}

START_TEST(stopped_clock_ends_the_measurement)
{
  const struct cpuc_frequency_loop stopped = { read_stopped, count_passes };

  ck_assert_int_eq(cpuc_frequency_measure_loop(&stopped), 0);
  ck_assert_int_lt(passes_run, 6000);
}
END_TEST

/* On this CPU: the median of several measurements, because other processes may use the CPU. */

enum { TRIES = 25 };

static int compare(const void *a, const void *b)
{
  long long x = *(const long long *)a, y = *(const long long *)b;

  return (x > y) - (x < y);
}

#if defined(__x86_64__) || defined(__i386__)

/* Is this one of Intel's CPUs that add twice per cycle? */
static int adds_twice_per_cycle(void)
{
  return system("grep -q GenuineIntel /proc/cpuinfo 2>/dev/null"
                " && grep -q '^cpu family.*: 15$' /proc/cpuinfo") == 0;
}

#else

static int adds_twice_per_cycle(void)
{
  return !cpuc_dependent_add_takes_one_cycle(); /* a constant */
}

#endif

/* Skips a test if adds do not show the core frequency here. Returns 1 if it is skipped. */
static int skip_where_adds_show_no_frequency(const char *test)
{
#ifndef __OPTIMIZE__
  skip(test, "the library was compiled unoptimized");
  return 1;
#endif
  ck_assert_int_eq(cpuc_dependent_add_takes_one_cycle(), !adds_twice_per_cycle());
  if (adds_twice_per_cycle()) {
    ck_assert_int_eq(cpucycles_core_persecond(), 0);
    skip(test, "a dependent add does not take one cycle on this CPU");
    return 1;
  }
  return skip_where_the_clock_is_slow(test)
    || skip_unless(test, chain_of_adds_can_be_timed, 0, "the times of one chain of adds differ");
}

/* Alternates with the underlying measurement, so that both see the core's same frequencies. */
START_TEST(core_persecond_is_the_measured_frequency)
{
  const char *test = "core_persecond_is_the_measured_frequency";
  long long values[TRIES], others[TRIES];
  int i, known = 0;

  if (skip_where_adds_show_no_frequency(test))
    return;
  for (i = 0; known < TRIES && i < 20 * TRIES; i++) {
    values[known] = cpucycles_core_persecond();
    others[known] = cpuc_frequency_measure_core();
    ck_assert(values[known] == 0
      || (values[known] >= CPUC_RATE_LOWEST && values[known] <= CPUC_RATE_HIGHEST));
    known += values[known] != 0 && others[known] != 0;
  }
  ck_assert_int_gt(known, 0);
  qsort(values, (size_t)known, sizeof values[0], compare);
  qsort(others, (size_t)known, sizeof others[0], compare);
  dprintf(suite_console(), "core persecond: %lld, quartiles %lld and %lld\n",
    values[known / 2], values[known / 4], values[known * 3 / 4]);
  ck_assert_double_eq_tol((double)values[known / 2] / (double)others[known / 2], 1, 0.2);
}
END_TEST

static void *measure_core(void *persecond)
{
  *(long long *)persecond = cpucycles_core_persecond();
  return persecond;
}

/* Each thread measures for itself: the threads share nothing, and none waits for another. */
START_TEST(core_persecond_may_be_the_first_call_of_any_thread)
{
  pthread_t threads[8];
  long long values[8];
  int i;

  for (i = 0; i < 8; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, measure_core, &values[i]), 0);
  for (i = 0; i < 8; i++) {
    pthread_join(threads[i], NULL);
    ck_assert(values[i] >= 0 && values[i] <= CPUC_RATE_HIGHEST);
  }
  ck_assert(cpuc_process_has_selected());
}
END_TEST

#if HAVE_BACKEND_amd64_tsc || HAVE_BACKEND_x86_tsc

#if HAVE_BACKEND_amd64_tsc
#define TSC cpuc_backend_amd64_tsc
#else
#define TSC cpuc_backend_x86_tsc
#endif
extern const struct cpuc_backend TSC;

/* 0 if RDTSC is permitted and counts. */
static int tsc_counts(void)
{
  unsigned long long begin = __builtin_ia32_rdtsc();

  return __builtin_ia32_rdtsc() <= begin;
}

/* The frequency of the CPU in /proc/cpuinfo. */
static long long kernel_rate(void)
{
  FILE *line = popen("grep -m 1 '^cpu MHz' /proc/cpuinfo", "r");
  double megahertz = 0;

  ck_assert_ptr_nonnull(line);
  ck_assert_int_eq(fscanf(line, "cpu MHz : %lf", &megahertz), 1);
  pclose(line);
  return (long long)(megahertz * 1e6);
}

START_TEST(rate_of_the_reference_counter_is_measured_within_1000_ppm)
{
  const char *test = "rate_of_the_reference_counter_is_measured_within_1000_ppm";
  long long values[TRIES], reported;
  int i, known = 0;

  if (skip_under("valgrind", test, "valgrind slows the measurement")
    || skip_unless(test, tsc_counts, 0, "RDTSC does not count")
    || skip_unless(test, cpuinfo_contains_the_tsc_rate, 0,
      "/proc/cpuinfo does not contain the rate of the time-stamp counter")
    || skip_where_the_clock_is_slow(test))
    return;
  reported = kernel_rate();
  for (i = 0; known < TRIES && i < 20 * TRIES; i++) {
    values[known] = cpuc_calibrate_rate(TSC.read);
    known += values[known] != 0;
  }
  ck_assert_int_gt(known, 0);
  qsort(values, (size_t)known, sizeof values[0], compare);
  dprintf(suite_console(), "measured rate: %lld Hz beside %lld Hz: %+.1f ppm\n",
    values[known / 2], reported, ((double)values[known / 2] / (double)reported - 1) * 1e6);
  ck_assert_int_le(llabs(values[known / 2] - reported), reported / 1000);
}
END_TEST

#endif

static long long read_constant(void)
{
  return 5;
}

static long long read_rarely(void)
{
  return cpuc_os_clock_raw() / 1000000;
}

static long long read_microseconds(void)
{
  return cpuc_os_clock_raw() / 1000;
}

START_TEST(counter_that_cannot_be_measured_has_no_rate)
{
  long long rate = cpuc_calibrate_rate(read_microseconds);

  ck_assert(rate == 0 || (rate > 980000 && rate < 1020000));
  ck_assert_int_eq(cpuc_calibrate_rate(read_constant), 0);
  rate = cpuc_calibrate_rate(read_rarely);
  ck_assert(rate >= 0 && rate <= 2500);
}
END_TEST

/* A clock of any resolution. */
static long long resolution, origin, clock_reads;

static long long read_coarse(void)
{
  clock_reads++;
  return (cpuc_os_clock_raw() - origin) / resolution * resolution;
}

static long long read_nanoseconds(void)
{
  return cpuc_os_clock_raw();
}

START_TEST(coarse_clock_gives_no_wrong_rate)
{
  static const long long resolutions[] = { 1000, 100000, 1000000, 4000000, 10000000 };
  size_t i;

  for (i = 0; i < 5 * 40; i++) {
    long long rate, took;

    resolution = resolutions[i % 5];
    origin = cpuc_os_clock_raw() - (long long)(i / 5) * resolution / 40;
    took = -cpuc_os_clock_raw();
    rate = cpuc_calibrate_rate_against(read_nanoseconds, read_coarse);
    took += cpuc_os_clock_raw();
    ck_assert_msg(rate == 0 || (rate > 990000000 && rate < 1010000000),
      "%lld against a clock of %lld ns", rate, resolution);
    /* An interrupted measurement can be long enough for that clock. */
    ck_assert(rate == 0 || took >= 99 * resolution);
  }
}
END_TEST

/* A counter of 3 GHz on the simulated machine. */
static long long read_simulated(void)
{
  return (long long)(machine.nanoseconds * 3);
}

START_TEST(rate_against_a_clock_of_microseconds_is_within_100_ppm)
{
  long long rate;
  int phase;

  for (phase = 0; phase < 1000; phase++) {
    begin_at(3e9);
    machine.resolution = 1000;
    machine.nanoseconds += phase;
    rate = cpuc_calibrate_rate_against(read_simulated, read_clock);
    ck_assert_msg(rate > 2999700000 && rate < 3000300000, "%lld at %d ns", rate, phase);
  }
}
END_TEST

/* The interruption is a step of the clock at one of its first reads. */
START_TEST(interruption_does_not_hide_a_rate)
{
  static const double interruptions[] = { 1e4, 1e6, 1e7, 5e8 };
  long long rate;
  int i, at;

  for (i = 0; i < 4; i++) {
    for (at = 1; at <= 100; at++) {
      begin_at(3e9);
      machine.step = interruptions[i];
      machine.step_at = machine.nanoseconds + 30 * at - 15;
      rate = cpuc_calibrate_rate_against(read_simulated, read_clock);
      ck_assert_msg(rate > 2980000000 && rate < 3020000000, "%lld, read %d takes %g ns", rate, at,
        interruptions[i]);
    }
  }
}
END_TEST

/* An interruption makes the measurement long enough for a finer clock than this one, or ends it. */
START_TEST(interruption_does_not_refine_a_coarse_clock)
{
  static const long long coarse[] = { 1000000, 4000000, 10000000 };
  long long rate;
  int i, at;

  for (i = 0; i < 3; i++) {
    for (at = 1; at <= 100; at++) {
      begin_at(3e9);
      machine.resolution = coarse[i];
      machine.nanoseconds -= (double)coarse[i] * at / 100;
      machine.step = 95e6;
      machine.step_at = machine.nanoseconds + 3000 + 700 * at;
      rate = cpuc_calibrate_rate_against(read_simulated, read_clock);
      ck_assert_msg(rate == 0 || (rate > 2970000000 && rate < 3030000000),
        "%lld against a clock of %lld ns", rate, coarse[i]);
    }
  }
}
END_TEST

START_TEST(stopped_clock_ends_the_measurement_of_a_rate)
{
  resolution = 1LL << 62;
  origin = 0;
  ck_assert_int_eq(cpuc_calibrate_rate_against(read_nanoseconds, read_coarse), 0);
  ck_assert_int_lt(clock_reads, 5000);
}
END_TEST

static long long read_backward(void)
{
  return -1000 * ++clock_reads;
}

START_TEST(clock_set_back_ends_the_measurement_of_a_rate)
{
  ck_assert_int_eq(cpuc_calibrate_rate_against(read_nanoseconds, read_backward), 0);
  ck_assert_int_lt(clock_reads, 50);
}
END_TEST

/* The public call. */

/* Returns true if the check holds in one of several fresh processes: the first call's measurement
   fails on a busy machine, but not always. */
static int holds_in_a_fresh_process(int (*check)(void))
{
  int i, status = -1;
  pid_t child;

  for (i = 0; i < 20 && status != 0; i++) {
    child = fork();
    if (child == 0)
      suite_exit(!check());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
  }
  return status == 0;
}

static int rate_is_that_of_the_kind(void)
{
  const struct cpucycles_counter_info *counter;
  long long rate = cpucycles_rate();
  int i = 0;

  while ((counter = cpucycles_counter(i)) != NULL && counter->state != CPUCYCLES_SELECTED)
    i++;
  if (!counter || cpucycles_rate() != rate) /* the rate is final */
    return 0;
  if (strcmp(counter->kind, "clock") == 0 || strcmp(counter->kind, "scaled") == 0)
    return rate == cpucycles_persecond();
  return strcmp(counter->kind, "none") == 0 ? rate == 0 : rate > 1000000;
}

static int rate_is_that_of_the_clock(void)
{
  const struct cpucycles_timer_info *timer;

  setenv("CPUCYCLES_IMPLEMENTATION", "default-gettimeofday", 1);
  timer = cpucycles_timer();
  return strcmp(cpucycles_implementation(), "default-gettimeofday") == 0
    && timer->reported_rate == 1000000 && timer->invariant == 1 && timer->invariant_source
    && rate_is_that_of_the_kind();
}

START_TEST(rate_is_that_of_the_count)
{
  if (skip_where_the_clock_is_slow("rate_is_that_of_the_count"))
    return;
  ck_assert(holds_in_a_fresh_process(rate_is_that_of_the_kind));
  ck_assert(holds_in_a_fresh_process(rate_is_that_of_the_clock));
}
END_TEST

static struct cpuc_rate reported;

static struct cpuc_rate report_rate(void)
{
  return reported;
}

/* A fake backend reports a rate that is 0.5 % too high. */
START_TEST(measurement_refines_only_a_rounded_reported_rate)
{
  static const struct cpuc_backend backend
    = { .kind = CPUC_KIND_REFERENCE, .scope = CPUC_SCOPE_SYSTEM, .rate = report_rate };
  static struct cpuc_selection selection;
  const long long right = 1000000000;
  long long rate;
  int i;

  if (skip_where_the_clock_is_slow("measurement_refines_only_a_rounded_reported_rate"))
    return;
  cpucycles();
  cpucycles = read_nanoseconds;
  reported.hz = right + right / 200;
  reported.is_rounded = _i;
  selection.backend = &backend;
  cpuc_timer_find_info(&selection);
  ck_assert_int_eq(selection.timer.reported_rate, reported.hz);
  rate = cpuc_timer_selected_rate(&selection);
  for (i = 0; i < 1000 && reported.is_rounded && rate == reported.hz; i++)
    rate = cpuc_timer_selected_rate(&selection); /* a busy machine can prevent the measurement */
  ck_assert(cpuc_scale_rates_agree(right, rate));
  if (reported.is_rounded)
    ck_assert_int_ne(rate, reported.hz);
  else if (cpuc_scale_rates_agree(rate, reported.hz))
    ck_assert_int_eq(rate, reported.hz);
}
END_TEST

static int reads_so_far;

/* Nanoseconds. As many reads as begin one measurement are each interrupted, for different times
   also on a clock of microseconds: the library takes equal times for reads without an interruption.
   */
static long long read_interrupted_at_first(void)
{
  long long end = cpuc_os_clock_raw() + 50000 + 3000LL * reads_so_far;

  while (reads_so_far < 32 && cpuc_os_clock_raw() < end)
    ;
  reads_so_far++;
  return cpuc_os_clock_raw();
}

START_TEST(interrupted_measurement_of_the_rate_is_repeated)
{
  static const struct cpuc_backend backend
    = { .kind = CPUC_KIND_REFERENCE, .scope = CPUC_SCOPE_SYSTEM };
  static struct cpuc_selection selection;
  long long rate = 0;
  int i;

  if (skip_where_the_clock_is_slow("interrupted_measurement_of_the_rate_is_repeated"))
    return;
  cpucycles();
  selection.backend = &backend;
  cpucycles = read_interrupted_at_first;
  for (i = 0; i < 100 && rate == 0; i++) { /* the machine may be busy, too */
    reads_so_far = 0;
    rate = cpuc_timer_selected_rate(&selection);
  }
  ck_assert_msg(rate > 980000000 && rate < 1020000000, "%lld", rate);
}
END_TEST

/* As a count of a thread that does not run most of the time. */
static long long read_quarter(void)
{
  return cpuc_os_clock_raw() / 4;
}

START_TEST(rate_of_a_count_of_one_thread_is_the_core_frequency)
{
  static const struct cpuc_backend backend
    = { .kind = CPUC_KIND_CORE, .scope = CPUC_SCOPE_THREAD };
  static struct cpuc_selection selection;
  long long rate = 0, core = 1;
  int i;

  if (skip_where_adds_show_no_frequency("rate_of_a_count_of_one_thread_is_the_core_frequency"))
    return;
  selection.backend = &backend;
  cpucycles = read_quarter;
  for (i = 0; i < 1000 && (rate == 0 || !cpuc_scale_rates_agree(core, rate)); i++) {
    rate = cpuc_timer_selected_rate(&selection);
    core = cpuc_frequency_measure_core();
  }
  ck_assert_msg(cpuc_scale_rates_agree(core, rate), "%lld; core: %lld", rate, core);
}
END_TEST

#ifdef CPUCYCLES_POSIX

static volatile int handled;

static void count_signal(int signal)
{
  (void)signal;
  handled++;
}

/* Without the blocked signals, the measurement would be interrupted as often as a busy wait. */
START_TEST(signals_wait_for_the_measurement_of_the_core)
{
  const char *test = "signals_wait_for_the_measurement_of_the_core";
  const struct timespec pause = { 0, 20000 };
  pid_t self = getpid(), sender;
  int outside = 0, inside = 0, i, before;

  if (skip_where_adds_show_no_frequency(test))
    return;
  signal(SIGUSR1, count_signal);
  sender = fork();
  if (sender == 0) {
    alarm(60);
    while (getppid() == self && kill(self, SIGUSR1) == 0)
      nanosleep(&pause, NULL);
    suite_exit(0);
  }
  for (i = 0; i < 50; i++) {
    long long end = cpuc_os_clock_raw() + 2000000;

    before = handled;
    while (cpuc_os_clock_raw() < end)
      ;
    outside += handled - before;
    before = handled;
    cpucycles_core_persecond();
    inside += handled - before;
  }
  kill(sender, SIGKILL);
  waitpid(sender, NULL, 0);
  if (outside < 250)
    skip(test, "another process cannot send signals in quick succession");
  else
    ck_assert_msg(inside < outside / 2, "%d in the measurement, %d outside", inside, outside);
}
END_TEST

#endif

static void add_tests(TCase *tests)
{
  tcase_add_test(tests, simulated_frequencies_are_measured_within_2_percent_in_2_ms);
  tcase_add_test(tests, coarse_clock_gives_no_wrong_frequency);
  tcase_add_test(tests, interruptions_do_not_lower_the_measured_frequency);
  tcase_add_test(tests, interruption_lengthens_the_measurement_by_its_duration);
  tcase_add_test(tests, changing_frequency_is_measured_as_one_of_the_two);
  tcase_add_test(tests, frequency_on_a_ramp_is_within_the_ramp_or_not_known);
  tcase_add_test(tests, many_interruptions_lengthen_the_measurement_by_two_windows_at_most);
  tcase_add_test(tests, clock_set_back_is_not_mistaken_for_a_fast_cpu);
  tcase_add_test(tests, stopped_clock_ends_the_measurement);
  tcase_add_test(tests, core_persecond_is_the_measured_frequency);
  tcase_add_test(tests, core_persecond_may_be_the_first_call_of_any_thread);
#ifdef TSC
  tcase_add_test(tests, rate_of_the_reference_counter_is_measured_within_1000_ppm);
#endif
  tcase_add_test(tests, counter_that_cannot_be_measured_has_no_rate);
  tcase_add_test(tests, coarse_clock_gives_no_wrong_rate);
  tcase_add_test(tests, rate_against_a_clock_of_microseconds_is_within_100_ppm);
  tcase_add_test(tests, interruption_does_not_hide_a_rate);
  tcase_add_test(tests, interruption_does_not_refine_a_coarse_clock);
  tcase_add_test(tests, stopped_clock_ends_the_measurement_of_a_rate);
  tcase_add_test(tests, clock_set_back_ends_the_measurement_of_a_rate);
  tcase_add_test(tests, rate_is_that_of_the_count);
  tcase_add_loop_test(tests,
    measurement_refines_only_a_rounded_reported_rate, 0, 2);
  tcase_add_test(tests, interrupted_measurement_of_the_rate_is_repeated);
  tcase_add_test(tests, rate_of_a_count_of_one_thread_is_the_core_frequency);
#ifdef CPUCYCLES_POSIX
  tcase_add_test(tests, signals_wait_for_the_measurement_of_the_core);
#endif
}

int main(void)
{
  return suite_main("measure", add_tests);
}
