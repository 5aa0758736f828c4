/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the tool's measurements of a counter against fake counters, which are coarse, wrong, or
   different between CPUs. CPUs are real, and so is time unless a test fakes the clock. This file
   defines the functions of the library, of cpucycles-info/fork.c and of sys/os-clock.c that the
   tool calls, so the linker leaves out the real functions. */

#include "config.h"

#include "cpucycles-info/child.h"
#include "cpucycles-info/fill.h"
#include "sys/os-clock.h"

#include "tests/suites/child.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_SCHED_SETAFFINITY
#include <sched.h>
#endif

/* In place of cpucycles-info/fork.c and sys/os-clock.c. */

static int fork_is_refused;

pid_t start_child(void)
{
  if (!fork_is_refused)
    return fork();
  errno = EPERM;
  return -1;
}

/* The OS clock, which a test can make coarse, or stop. */
const char cpuc_os_clock_raw_name[] = "test";

static long long real_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

static long long clock_resolution = 1;
static long long reads_until_stop = -1; /* -1: the clock does not stop */
static long long clock_cost;            /* nanoseconds that pass before the clock is read */

long long cpuc_os_clock_raw(void)
{
  static long long time;
  long long end = real_time() + clock_cost;

  while (real_time() < end)
    ;
  if (reads_until_stop != 0) { /* 0: stopped, however often it is read */
    reads_until_stop -= reads_until_stop > 0;
    time = real_time() / clock_resolution * clock_resolution;
  }
  return time;
}

/* In place of the library. */

static struct cpucycles_counter_info counters[] = {
  { .name = "fake", .kind = "reference", .scope = "system", .scaling = 1,
    .state = CPUCYCLES_SELECTED },
  { .name = "other", .kind = "clock", .scope = "system", .scaling = 1, .state = CPUCYCLES_USABLE },
};
static struct cpucycles_timer_info info = { .reported_rate = 1000000000, .invariant = 1,
  .invariant_source = "the test" };
static struct counter_results results;
static struct counter_list list;
static struct report report;

static pid_t parent;
/* Functions that a child of `parent` calls if they are not NULL: at_selection() when it asks for a
   counter, at_overhead() when it asks for the overhead. */
static void (*at_selection)(void), (*at_overhead)(void);

static void call_in_child(void (*function)(void))
{
  if (function && getpid() != parent)
    function();
}

const struct cpucycles_counter_info *cpucycles_counter(int i)
{
  call_in_child(at_selection);
  return i < 2 ? &counters[i] : NULL;
}

const struct cpucycles_counter_info *cpucycles_selected(void)
{
  return cpucycles_counter(0);
}

const char *cpucycles_implementation(void)
{
  return "fake";
}

const struct cpucycles_timer_info *cpucycles_timer(void)
{
  return &info;
}

long long cpucycles_section_overhead(void)
{
  call_in_child(at_overhead);
  return 7;
}

long long cpucycles_core_persecond(void)
{
  return 4000000000;
}

long long (*cpucycles)(void) = cpuc_os_clock_raw;

/* cpucycles-info/fill.c calls these functions, but no test calls that code. */
#define NOT_CALLED(type, function) \
  type function(void) \
  { \
    return 0; \
  }
NOT_CALLED(const char *, cpucycles_version)
NOT_CALLED(const char *, cpucycles_implementation_ignored)
NOT_CALLED(const char *, cpucycles_frequency_source)
NOT_CALLED(const char *, cpucycles_frequency_ignored)
NOT_CALLED(long long, cpucycles_persecond)
NOT_CALLED(long long, cpucycles_rate)

static long long numerator = 1, denominator = 1;

static long long read_ratio(void)
{
  return cpuc_os_clock_raw() * numerator / denominator;
}

static long long reads, increment = 10;

static long long read_up(void)
{
  return reads += increment;
}

static long long read_back_at_times(void)
{
  return ++reads % 1000 == 0 ? cpuc_os_clock_raw() - 1000000 : cpuc_os_clock_raw();
}

/* Passes 2^63 after 20 ms, within the observation. */
static long long read_around_2_63(void)
{
  static long long begin;

  if (begin == 0)
    begin = cpuc_os_clock_raw();
  return (long long)(INT64_MAX - 20000000ULL + (unsigned long long)(cpuc_os_clock_raw() - begin));
}

static void examine_for(double seconds, long long (*read)(void))
{
  memset(&results, 0, sizeof results);
  strcpy(results.name, "fake");
  cpucycles = read;
  measure_counter(&results, seconds);
  ck_assert_str_eq(results.failure, "");
}

static int reads_until_interruption;
static long long last_read, longest_read; /* longest of the first 10000, without the interruption */

/* Microseconds. */
static long long read_interrupted_once(void)
{
  long long now = cpuc_os_clock_raw(), end = now + 20000000;

  if (last_read != 0 && reads_until_interruption > -10000 && now - last_read > longest_read)
    longest_read = now - last_read;
  while (reads_until_interruption == 0 && now < end)
    now = cpuc_os_clock_raw();
  reads_until_interruption--;
  last_read = now;
  return now / 1000;
}

/* Uses a clock of whole microseconds, for which ten reads are too short. */
TEST_LOOP(interruption_of_the_first_reads_does_not_hide_the_cost, 12)
{
  skip_where_the_clock_steps_are_long();
  clock_resolution = 1000;
  reads_until_interruption = _i;
  examine_for(0.001, read_interrupted_once);
  /* The mean of the ten reads with the interruption must not be the result. Ten other reads last at
     most 11 * longest_read plus one step of the clock, so their mean is below this limit. */
  ck_assert_double_gt(results.read_nanoseconds, 0);
  ck_assert_double_le(results.read_nanoseconds, 2 * longest_read + 1000);
  ck_assert_double_gt(results.read_cycles, 0);
  ck_assert_double_le(results.read_cycles, longest_read / 1000 + 1);
}

/* Reads of the clock take long, and are not part of the counted time. _i: whether the clock has
   steps of a microsecond. */
TEST_LOOP(observed_bounds_contain_the_rate, 2)
{
  int i;

  clock_cost = 20000;
  clock_resolution = _i ? 1000 : 1;
  cpucycles = real_time;
  measure_loops(&report);
  for (i = 0; i < LOOP_RATES; i++) {
    const struct loop_rate *rate = &report.loop_rates[i];

    ck_assert_int_eq(rate->loops, 1024LL << i);
    ck_assert_double_le(rate->low, 1e9);
    if (rate->microseconds > 1)
      ck_assert_double_ge(rate->high, 1e9);
  }
  ck_assert_int_gt(report.loop_rates[LOOP_RATES - 1].microseconds, 1);
}

static int differences_below(long long bound)
{
  int i, count = 0;

  for (i = 0; i < results.difference_count; i++)
    count += results.differences[i] < bound;
  return count;
}

/* The reported rate is 1 GHz. */
TEST_LOOP(count_is_measured_as_it_is, 8)
{
  static const struct {
    long long (*read)(void);
    int numerator, denominator, resolution; /* of the clock */
    double scaling, rate, tolerance;        /* besides the uncertainty; rate -1: any */
    int steps_back;
  } rows[] = {
    { cpuc_os_clock_raw, 1, 1, 1, 1, 1e9, 1e-6, 0 },
    { real_time, 1, 1, 1000, 1, 1e9, 1e-6, 0 },
    { real_time, 1, 1, 15625000, 1, 1e9, 1e-6, 0 },
    { read_ratio, 98, 100, 1, 1, 0.98e9, 1e-5, 0 },
    { read_ratio, 3, 1, 1, 3, 1e9, 1e-6, 0 },
    { read_back_at_times, 1, 1, 1, 1, -1, 0, 1 },
    { read_around_2_63, 1, 1, 1, 1, 1e9, 0.1, 0 },
    { read_up, 1, 1, 1, 1, 0, 0, 0 }, /* stopped */
  };
  double rate = rows[_i].rate, resolution = rows[_i].resolution;

  if (_i < 3)
    skip_where_the_clock_steps_are_long();
  numerator = rows[_i].numerator;
  denominator = rows[_i].denominator;
  clock_resolution = rows[_i].resolution;
  increment = 0;
  counters[0].scaling = rows[_i].scaling;
  examine_for(0.05, rows[_i].read);
  if (rate >= 0)
    ck_assert_double_eq_tol(results.measured, rate,
      rate * (results.uncertainty / 1e6 + rows[_i].tolerance) + 1);
  if (results.measured > 0) /* a coarse clock raises the uncertainty */
    ck_assert_double_ge(results.uncertainty, resolution / (results.seconds * 1e9) * 1e6 * 0.999);
  ck_assert(results.read_nanoseconds == 0 || results.read_nanoseconds * 2000 >= 9.9 * resolution);
  ck_assert_int_eq(results.difference_count, DIFFERENCES);
  ck_assert_int_eq(results.below_zero > 0, rows[_i].steps_back);
  ck_assert_int_eq(results.lowest < 0, rows[_i].steps_back);
  ck_assert(results.lowest <= results.lower_quartile && results.lower_quartile <= results.median
    && results.median <= results.upper_quartile && results.upper_quartile <= results.highest);
  ck_assert_int_le(differences_below(results.lower_quartile), DIFFERENCES / 4 + 1);
  ck_assert_int_le(differences_below(results.median), DIFFERENCES / 2 + 1);
  if (_i < 3)
    ck_assert_int_gt(results.step, 0);
  ck_assert_int_eq(results.step % (long long)rows[_i].scaling, 0);
  ck_assert_double_eq_tol(results.step_units * rows[_i].scaling, (double)results.step, 1e-6);
  ck_assert_int_eq(results.invariant, 1);
  ck_assert_str_eq(results.invariant_source, "the test");
  ck_assert_int_eq(results.overhead, 7);
  if (rows[_i].read == read_up)
    ck_assert(results.step == 0 && results.grain.units == 1 && rate_off_ppm(&results) == 0);
  if (rows[_i].read == cpuc_os_clock_raw) {
    ck_assert(results.seconds >= 0.05);
    ck_assert_double_eq_tol(results.read_cycles / results.read_nanoseconds, 1, 0.5);
  }
}

/* The ratio itself depends on the core frequency here, which may change, but 16 times slower counts
   have about a sixteenth of it. */
TEST(counts_per_core_cycle_are_measured_for_counters_of_core_cycles)
{
  double ratio;

  skip_where_the_clock_steps_are_long();
  examine_for(0.001, real_time);
  ck_assert_int_eq(results.has_core_ratio, 0);
  counters[0].kind = "core";
  examine_for(0.001, real_time);
  SKIP_IF(!results.has_core_ratio, "adds do not show core cycles in this build or on this CPU");
  ratio = results.counts_per_core_cycle;
  ck_assert_double_gt(ratio, 0.05); /* a frequency of 50 MHz to 20 GHz */
  ck_assert_double_lt(ratio, 20);
  denominator = 16;
  examine_for(0.001, read_ratio);
  ck_assert_double_gt(ratio / results.counts_per_core_cycle, 8);
  ck_assert_double_lt(ratio / results.counts_per_core_cycle, 32);
}

TEST_LOOP(stopped_clock_measures_no_rate, 3)
{
  static const long long stop_after[] = { 0, 1000, 4000 };

  reads_until_stop = stop_after[_i];
  examine_for(1000, read_up); /* the clock stops earlier, even on a busy machine */
  ck_assert(results.measured == 0 && results.seconds == 0);
  ck_assert(_i > 0 || results.read_nanoseconds == 0);
  ck_assert_int_eq(results.difference_count, DIFFERENCES); /* the differences need no clock */
  ck_assert_int_eq(results.step, 10);
}

TEST(without_fork_the_counter_in_use_is_examined)
{
  fork_is_refused = 1;
  ck_assert_int_eq(list_and_measure_core_in_child(&list), 0);
  ck_assert_int_eq(list.no_child, 1);
  ck_assert_int_eq(list.count, 2);
  ck_assert_int_eq(list.core_persecond, 4000000000);
  examine_each(&report, &list, 0.05);
  ck_assert_int_eq(report.result_count, 1);
  ck_assert_str_eq(report.results[0].name, "fake");
  ck_assert_str_eq(report.results[0].failure, "");
  ck_assert_int_eq(report.results[0].difference_count, DIFFERENCES);
  ck_assert_int_eq(report.killed_count, 0);
  free(report.results);
}

TEST(signal_ends_the_selection_or_only_one_examination)
{
  parent = getpid();
  at_selection = abort;
  ck_assert_int_eq(list_and_measure_core_in_child(&list), SIGABRT);
  at_selection = NULL;
  at_overhead = abort;
  ck_assert_int_eq(list_and_measure_core_in_child(&list), 0);
  ck_assert_int_eq(list.no_child, 0);
  examine_each(&report, &list, 0.05);
  ck_assert_int_eq(report.result_count, 2);
  ck_assert_int_eq(report.killed_count, 1);
  ck_assert_str_eq(report.results[0].name, "fake");
  ck_assert_str_eq(report.results[0].failure, "SIGABRT (6) ended the process that examined it");
  ck_assert_str_eq(report.results[1].name, "other");
  ck_assert_str_eq(report.results[1].failure, "it could not be selected; selected: fake");
  free(report.results);
}

/* A pipe. The process of the tool and its child hold the write end, so the end of the pipe's data
   shows that both processes have ended. */
static int held[2];

static void write_byte(void)
{
  ck_assert_int_eq(write(held[1], "", 1), 1);
}

/* Kills a process of the tool 100 ms after its child has begun a long examination. In one of ten
   attempts, both processes must end within 1.1 seconds. */
TEST(child_ends_within_a_second_after_the_tool)
{
  const struct timespec pause = { 0, 100000000 };
  struct suite_repeat retry = suite_retry(10);
  struct timeval begin;
  long life = LONG_MAX;
  pid_t tool;
  char byte;

  while (life > 1100 && suite_again(&retry)) {
    ck_assert_int_eq(pipe(held), 0);
    tool = fork();
    ck_assert_int_ge(tool, 0);
    if (tool == 0) {
      close(held[0]);
      parent = getpid();
      at_overhead = write_byte;
      list_and_measure_core_in_child(&list);
      examine_each(&report, &list, 1000);
      _exit(0);
    }
    close(held[1]);
    ck_assert_int_eq(read(held[0], &byte, 1), 1);
    nanosleep(&pause, NULL);
    kill(tool, SIGKILL);
    gettimeofday(&begin, NULL);
    ck_assert_int_eq(read(held[0], &byte, 1), 0);
    waitpid(tool, NULL, 0);
    close(held[0]);
    life = suite_elapsed(&begin);
  }
  ck_assert_int_le(life, 1100);
}

#if defined(HAVE_SCHED_SETAFFINITY) && defined(CPU_ALLOC)

enum { BEHIND = 1000 };

/* Each CPU is BEHIND seconds behind the CPU before it. */
static long long read_by_cpu(void)
{
  return cpuc_os_clock_raw() - sched_getcpu() * BEHIND * 1000000000LL;
}

/* 0 if this process may use two CPUs, and can be moved to each of them. */
static int use_two_cpus(void)
{
  cpu_set_t all, one;
  int cpu, used = 0;

  if (sched_getaffinity(0, sizeof all, &all) != 0)
    return 1;
  for (cpu = 0; cpu < CPU_SETSIZE && used < 2; cpu++) {
    if (!CPU_ISSET(cpu, &all))
      continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    used += sched_setaffinity(0, sizeof one, &one) == 0 && sched_getcpu() == cpu;
  }
  return used < 2;
}

TEST(difference_between_cpus_is_found)
{
  cpu_set_t before, after;

  skip_unless(use_two_cpus, 0, "this process cannot use two CPUs");
  sched_getaffinity(0, sizeof before, &before);
  examine_for(0.05, cpuc_os_clock_raw);
  ck_assert_int_eq(results.cpu_count, CPU_COUNT(&before));
  ck_assert_int_eq(results.largest_step_back, 0);
  examine_for(0.05, read_by_cpu);
  ck_assert_int_ge(results.hop_count, results.cpu_count);
  ck_assert_int_gt(results.largest_step_back, BEHIND * 500000000LL);
  ck_assert_int_le(results.largest_step_back, BEHIND * 1000000000LL * CPU_SETSIZE);
  sched_getaffinity(0, sizeof after, &after);
  ck_assert(CPU_EQUAL(&before, &after)); /* the affinity is restored */
}

#else

SUITE_WITHOUT(difference_between_cpus, "this system has no sched_setaffinity")

#endif

SUITE("examine")
