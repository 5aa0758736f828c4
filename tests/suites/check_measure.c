/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the measurements on this CPU: the frequency with dependent adds, and the rate of a counter.
   check_simulated_clock tests their accuracy against simulated clocks. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/bench.h"
#include "lib/calibrate.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/scale.h"
#include "lib/select.h"
#include "lib/timer.h"
#include "sys/dependent-add.h"
#include "sys/os-clock.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Other processes may use the CPU. So the first test compares medians, and tests that expect a
   result repeat a measurement that failed. */

enum { TRIES = 25 };

#if defined(__x86_64__) || defined(__i386__)

/* Is this one of Intel's CPUs that add twice per cycle? */
static int add_does_not_take_one_cycle(void)
{
  return system("grep -q GenuineIntel /proc/cpuinfo 2>/dev/null"
                " && grep -q '^cpu family.*: 15$' /proc/cpuinfo") == 0;
}

#else

static int add_does_not_take_one_cycle(void)
{
  return !cpuc_dependent_add_takes_one_cycle(); /* a constant */
}

#endif

/* 0 if a chain of adds can be timed: of 100 times of one chain, the three shortest agree within
   1 %. */
static int time_chain_of_adds(void)
{
  enum { TIMES = 100, ADDS = 200000 };
  struct timespec begin, end;
  unsigned long x = 0;
  long long times[TIMES];
  int i, j;

  for (i = 0; i < TIMES; i++) {
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (j = 0; j < ADDS; j++) {
      x += 3;
      __asm__ volatile("" : "+r"(x));
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    times[i] = (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec;
  }
  qsort(times, TIMES, sizeof times[0], cpucycles_bench_compare);
  return !(times[0] > 0 && times[2] <= times[0] + times[0] / 100);
}

/* Skips a test if adds do not show the core frequency here. */
static void skip_where_adds_show_no_frequency(void)
{
#ifndef __OPTIMIZE__
  SKIP_IF(1, "the library was compiled unoptimized");
#endif
#if defined(__x86_64__) || defined(__i386__)
  ck_assert_int_eq(cpuc_dependent_add_takes_one_cycle(), !add_does_not_take_one_cycle());
#endif
  if (add_does_not_take_one_cycle())
    ck_assert_int_eq(cpucycles_core_persecond(), 0);
  SKIP_IF(add_does_not_take_one_cycle(), "a dependent add does not take one cycle on this CPU");
  skip_where_the_clock_steps_are_long();
  skip_unless(time_chain_of_adds, 0, "the times of one chain of adds differ");
}

/* Alternates cpucycles_core_persecond() with the underlying measurement, so that both see the same
   core frequencies. */
TEST(core_persecond_is_the_measured_frequency)
{
  long long values[TRIES], others[TRIES];
  int i, known = 0;

  skip_where_adds_show_no_frequency();
  for (i = 0; known < TRIES && i < 20 * TRIES; i++) {
    values[known] = cpucycles_core_persecond();
    others[known] = cpuc_frequency_measure_core();
    ck_assert(values[known] == 0
      || (values[known] >= CPUC_RATE_LOWEST && values[known] <= CPUC_RATE_HIGHEST));
    known += values[known] != 0 && others[known] != 0;
  }
  ck_assert_int_gt(known, 0);
  qsort(values, (size_t)known, sizeof values[0], cpucycles_bench_compare);
  qsort(others, (size_t)known, sizeof others[0], cpucycles_bench_compare);
  dprintf(suite_console(), "core persecond: %lld, quartiles %lld and %lld\n",
    values[known / 2], values[known / 4], values[known * 3 / 4]);
  ck_assert_double_eq_tol((double)values[known / 2] / (double)others[known / 2], 1, 0.2);
}

static void *measure_core(void *persecond)
{
  *(long long *)persecond = cpucycles_core_persecond();
  return persecond;
}

/* Each thread makes its first call. One of the threads selects while the other threads wait. Then
   each thread measures for itself. */
TEST(core_persecond_may_be_the_first_call_of_any_thread)
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

/* All functions except cpucycles(), which most suites call first, and the one of the test above. */
static long long (*const numbers[])(void) = { cpucycles_persecond, cpucycles_rate,
  cpucycles_section_begin, cpucycles_section_end, cpucycles_section_overhead, cpucycles_inline,
  cpucycles_inline_section_begin, cpucycles_inline_section_end,
  cpucycles_inline_section_overhead };
static const char *(*const texts[])(void) = { cpucycles_implementation,
  cpucycles_implementation_ignored, cpucycles_frequency_source, cpucycles_frequency_ignored };

enum { NUMBERS = sizeof numbers / sizeof numbers[0], TEXTS = sizeof texts / sizeof texts[0] };

/* _i: the function. */
TEST_LOOP(any_function_may_make_the_first_call, NUMBERS + TEXTS + 3)
{
  ck_assert(!cpuc_process_has_selected());
  if (_i < NUMBERS)
    ck_assert_int_ge(numbers[_i](), 0);
  else if (_i < NUMBERS + TEXTS)
    texts[_i - NUMBERS]();
  else if (_i == NUMBERS + TEXTS)
    cpucycles_timer();
  else if (_i == NUMBERS + TEXTS + 1)
    cpucycles_selected();
  else
    cpucycles_counter(0);
  ck_assert(cpuc_process_has_selected());
}

/* A selection of a fake counter, which cpucycles() reads. */
static struct cpuc_backend fake;
static struct cpuc_candidate fake_candidate = { .backend = &fake };
static struct cpuc_selection selection
  = { .selected = &fake_candidate, .frequency = { .persecond = 2000000000 } };

static void select_fake(struct cpuc_backend backend, long long (*read)(void))
{
  fake = backend;
  cpucycles();
  cpucycles = read;
}

#define SHARED_REFERENCE .kind = CPUC_KIND_REFERENCE, .scope = CPUC_SCOPE_SYSTEM

static long long read_constant(void)
{
  return 5;
}

static long long read_milliseconds(void)
{
  return cpuc_os_clock_raw() / 1000000;
}

static long long read_microseconds(void)
{
  return cpuc_os_clock_raw() / 1000;
}

TEST(rate_of_a_stopped_counter_is_0_and_that_of_a_coarse_one_is_bounded)
{
  long long rate = cpuc_calibrate_rate(read_microseconds, 64);

  ck_assert(rate == 0 || (rate > 980000 && rate < 1020000));
  ck_assert_int_eq(cpuc_calibrate_rate(read_constant, 64), 0);
  rate = cpuc_calibrate_rate(read_milliseconds, 64); /* 1 kHz: at most 2 counts in a window */
  ck_assert(rate >= 0 && rate <= 2500);
  select_fake((struct cpuc_backend) { SHARED_REFERENCE }, read_constant);
  ck_assert_int_eq(cpuc_timer_find_rate(&selection, cpucycles), 0);
}

/* The public call. */

/* Returns true if the check holds in one of several fresh processes. One process is not enough,
   because the measurement of the first call can fail on a busy machine. */
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

/* Compares the rate with the count and the clock, over 20 ms. */
static int rate_agrees_with_the_count(long long rate)
{
  long long begin = cpuc_os_clock_raw(), count = cpucycles(), elapsed;

  do
    elapsed = cpuc_os_clock_raw() - begin;
  while (elapsed < 20000000);
  count = cpucycles() - count;
  return cpuc_scale_agree_within_1_percent(rate,
    (long long)((double)count * 1e9 / (double)elapsed));
}

/* A counter of core cycles has no constant rate, so only a lower bound is checked. Other tests
   compare its count with other counts. */
static int rate_fits_the_kind(void)
{
  const struct cpucycles_counter_info *counter = cpucycles_selected();
  long long rate = cpucycles_rate();

  if (!counter || cpucycles_rate() != rate) /* the rate is final */
    return 0;
  if (strcmp(counter->kind, "clock") == 0 || strcmp(counter->kind, "scaled") == 0)
    return rate == cpucycles_persecond();
  if (strcmp(counter->kind, "reference") == 0)
    return rate_agrees_with_the_count(rate);
  return strcmp(counter->kind, "none") == 0 ? rate == 0 : rate > 1000000;
}

static int rate_is_that_of_the_clock(void)
{
  const struct cpucycles_timer_info *timer;

  setenv("CPUCYCLES_IMPLEMENTATION", "default-gettimeofday", 1);
  timer = cpucycles_timer();
  return strcmp(cpucycles_implementation(), "default-gettimeofday") == 0
    && timer->reported_rate == 1000000 && timer->invariant == 1 && timer->invariant_source
    && rate_fits_the_kind();
}

TEST(rate_is_that_of_the_count)
{
  skip_where_the_clock_steps_are_long();
  ck_assert(holds_in_a_fresh_process(rate_fits_the_kind));
  ck_assert(holds_in_a_fresh_process(rate_is_that_of_the_clock));
}

static struct cpuc_rate reported;

static struct cpuc_rate report_rate(void)
{
  return reported;
}

/* A fake backend reports a rate that is 0.5 % too high. */
TEST_LOOP(measurement_refines_only_a_rounded_reported_rate, 2)
{
  const long long right = 1000000000;
  long long rate;
  int i;

  skip_where_the_clock_steps_are_long();
  select_fake((struct cpuc_backend) { SHARED_REFERENCE, .rate = report_rate }, cpuc_os_clock_raw);
  reported.hz = right + right / 200;
  reported.is_rounded = _i;
  cpuc_timer_find_info(&selection);
  ck_assert_int_eq(selection.timer.reported_rate, reported.hz);
  rate = cpuc_timer_find_rate(&selection, cpucycles);
  for (i = 0; i < 1000 && reported.is_rounded && rate == reported.hz; i++)
    rate = cpuc_timer_find_rate(&selection, cpucycles); /* a busy machine can prevent it */
  ck_assert(cpuc_scale_agree_within_1_percent(right, rate));
  if (reported.is_rounded)
    ck_assert_int_ne(rate, reported.hz);
  else if (cpuc_scale_agree_within_1_percent(rate, reported.hz))
    ck_assert_int_eq(rate, reported.hz);
}

static int reads_so_far;

/* Nanoseconds. Interrupts the reads at the beginning of one measurement. The interruptions differ
   by microseconds, because the library concludes from two equal times that nothing interrupted
   these reads. */
static long long read_interrupted_at_first(void)
{
  long long end = cpuc_os_clock_raw() + 50000 + 3000LL * reads_so_far;

  while (reads_so_far < 32 && cpuc_os_clock_raw() < end)
    ;
  reads_so_far++;
  return cpuc_os_clock_raw();
}

TEST(interrupted_measurement_of_the_rate_is_repeated)
{
  long long rate = 0;
  int i;

  skip_where_the_clock_steps_are_long();
  select_fake((struct cpuc_backend) { SHARED_REFERENCE }, read_interrupted_at_first);
  for (i = 0; i < 100 && rate == 0; i++) { /* repeats, because the machine may be busy */
    reads_so_far = 0;
    rate = cpuc_timer_find_rate(&selection, cpucycles);
  }
  ck_assert_msg(rate > 980000000 && rate < 1020000000, "%lld", rate);
}

/* Like the count of a thread that does not run most of the time. */
static long long read_quarter(void)
{
  return cpuc_os_clock_raw() / 4;
}

TEST(rate_of_a_count_of_one_thread_is_the_core_frequency)
{
  long long rate = 0, core = 1;
  int i;

  skip_where_adds_show_no_frequency();
  select_fake((struct cpuc_backend) { .kind = CPUC_KIND_CORE, .scope = CPUC_SCOPE_THREAD },
    read_quarter);
  for (i = 0; i < 1000 && (rate == 0 || !cpuc_scale_agree_within_1_percent(core, rate)); i++) {
    rate = cpuc_timer_find_rate(&selection, cpucycles);
    core = cpuc_frequency_measure_core();
  }
  ck_assert_msg(cpuc_scale_agree_within_1_percent(core, rate), "%lld; core: %lld", rate, core);
}

static volatile int handled;

static void count_signal(int signal)
{
  (void)signal;
  handled++;
}

/* If the library did not block signals, they would interrupt the measurement as often as a busy
   wait. */
TEST(signals_wait_for_the_measurement_of_the_core)
{
  const struct timespec pause = { 0, 20000 };
  pid_t self = getpid(), sender;
  int outside = 0, inside = 0, i, before;

  skip_where_adds_show_no_frequency();
  signal(SIGUSR1, count_signal);
  sender = fork();
  ck_assert_int_ge(sender, 0);
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
  SKIP_IF(outside < 250, "another process cannot send signals in quick succession");
  ck_assert_msg(inside < outside / 2, "%d in the measurement, %d outside", inside, outside);
}

SUITE("measure")
