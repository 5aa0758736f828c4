/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the tool's measurements of a counter against fake counters, which are coarse, wrong, or
   different between CPUs. CPUs are real, and time is simulated. This file defines the functions of
   the library, of fork.c, sys/os-clock.c and sys/dependent-add.c that the tool calls, so the linker
   leaves out the real ones. */

#include "config.h"

#include "cpucycles-info/child.h"
#include "cpucycles-info/fill.h"
#include "sys/dependent-add.h"
#include "sys/os-clock.h"

#include "tests/suites/child.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>
#ifdef HAVE_SCHED_SETAFFINITY
#include <sched.h>
#endif

static int fork_is_refused;

pid_t start_child(void)
{
  if (!fork_is_refused)
    return fork();
  errno = EPERM;
  return -1;
}

/* The simulated time, which advances only in these functions, and the OS clock, which a test can
   make slow or coarse, or stop. Nanoseconds. */
static long long now = 1000000000;
static long long clock_cost = 20, clock_resolution = 1, clock_stops /* 0: never */, read_cost = 10;

const char cpuc_os_clock_raw_name[] = "test";

long long cpuc_os_clock_raw(void)
{
  now += clock_cost;
  return (clock_stops > 0 && now > clock_stops ? clock_stops : now) / clock_resolution
    * clock_resolution;
}

/* At 4 GHz. */
int cpuc_dependent_add_run(long passes)
{
  now += passes * CPUC_DEPENDENT_ADD_PASS / 4;
  return 0;
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
  now += read_cost;
  return now * numerator / denominator;
}

static long long reads, increment = 10;

static long long read_up(void)
{
  now += read_cost;
  return reads += increment;
}

/* Adds 10, 20, 30, 40 and 50 in turn. */
static long long read_varied(void)
{
  static int calls;

  increment = 10 * (calls++ % 5 + 1);
  return read_up();
}

static long long read_back_at_times(void)
{
  return ++reads % 1000 == 0 ? read_ratio() - 1000000 : read_ratio();
}

/* Passes 2^63 after 20 ms, within the observation. */
static long long read_around_2_63(void)
{
  return (long long)(INT64_MAX - 1020000000ULL + (unsigned long long)read_ratio());
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

/* Microseconds. One of the reads takes 20 ms. */
static long long read_interrupted_once(void)
{
  if (reads_until_interruption-- == 0)
    now += 20000000;
  return read_ratio() / 1000;
}

TEST_LOOP(interruption_of_the_first_reads_does_not_hide_the_cost, 12)
{
  clock_resolution = 1000;
  reads_until_interruption = _i;
  examine_for(0.001, read_interrupted_once);
  ck_assert_double_eq_tol(results.read_nanoseconds, read_cost, 0.6); /* a step in 2000 reads */
  ck_assert_double_eq_tol(results.read_cycles, 0.01, 0.001);
}

/* Reads of the clock take long, and are not part of the counted time. _i: whether the clock has
   steps of a microsecond. */
TEST_LOOP(observed_bounds_contain_the_rate, 2)
{
  int i;

  clock_cost = 20000;
  clock_resolution = _i ? 1000 : 1;
  cpucycles = read_ratio;
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

/* The reported rate is 1 GHz. */
TEST_LOOP(count_is_measured_as_it_is, 9)
{
  static const struct {
    long long (*read)(void);
    int numerator, denominator, resolution; /* of the clock */
    double scaling, rate; /* -1: any */
    int step, steps_back;
  } rows[] = {
    { read_ratio, 1, 1, 1, 1, 1e9, 10, 0 },
    { read_ratio, 1, 1, 1000, 1, 1e9, 10, 0 },
    { read_ratio, 1, 1, 15625000, 1, 1e9, 10, 0 },
    { read_ratio, 98, 100, 1, 1, 0.98e9, 9, 0 },
    { read_ratio, 3, 1, 1, 3, 1e9, 30, 0 },
    { read_back_at_times, 1, 1, 1, 1, -1, 10, 1 },
    { read_around_2_63, 1, 1, 1, 1, 1e9, 10, 0 },
    { read_up, 1, 1, 1, 1, 0, 0, 0 }, /* stopped */
    { read_varied, 1, 1, 1, 1, -1, 10, 0 },
  };
  double rate = rows[_i].rate, resolution = rows[_i].resolution;

  numerator = rows[_i].numerator;
  denominator = rows[_i].denominator;
  clock_resolution = rows[_i].resolution;
  increment = 0;
  counters[0].scaling = rows[_i].scaling;
  examine_for(0.05, rows[_i].read);
  if (rate >= 0)
    ck_assert_double_eq_tol(results.measured, rate, rate * results.uncertainty / 1e6 + 1);
  if (results.measured > 0) { /* a coarse clock raises the uncertainty */
    ck_assert_double_ge(results.uncertainty, resolution / (results.seconds * 1e9) * 1e6 * 0.999);
    ck_assert(results.seconds >= 0.05 || resolution > 1000);
  }
  if (resolution < 10000) /* 2000 reads are ten steps of the clock or more */
    ck_assert_double_eq_tol(results.read_nanoseconds, read_cost, 0.6);
  else
    ck_assert(results.read_nanoseconds == 0);
  ck_assert_int_eq(results.difference_count, DIFFERENCES);
  ck_assert_int_eq(results.below_zero > 0, rows[_i].steps_back);
  ck_assert_int_eq(results.lowest < 0, rows[_i].steps_back);
  ck_assert_int_eq(results.step, rows[_i].step);
  ck_assert_double_eq_tol(results.step_units * rows[_i].scaling, (double)results.step, 1e-6);
  ck_assert_int_eq(results.invariant, 1);
  ck_assert_str_eq(results.invariant_source, "the test");
  ck_assert_int_eq(results.overhead, 7);
  if (rows[_i].read == read_up)
    ck_assert(results.grain.units == 1 && rate_off_ppm(&results) == 0);
  if (rows[_i].read == read_varied)
    ck_assert(results.lowest == 10 && results.lower_quartile == 20 && results.median == 30
      && results.upper_quartile == 40 && results.highest == 50);
}

TEST(counts_per_core_cycle_are_measured_for_counters_of_core_cycles)
{
  examine_for(0.001, read_ratio);
  ck_assert_int_eq(results.has_core_ratio, 0);
  counters[0].kind = "core";
  examine_for(0.001, read_ratio);
  SKIP_IF(!results.has_core_ratio, "adds do not show core cycles in this build or on this CPU");
  ck_assert_double_eq_tol(results.counts_per_core_cycle, 0.25, 1e-9);
  numerator = 4;
  examine_for(0.001, read_ratio);
  ck_assert_double_eq_tol(results.counts_per_core_cycle, 1, 1e-9);
}

TEST_LOOP(stopped_clock_measures_no_rate, 3)
{
  static const long long stop_after[] = { 0, 20000, 400000 }; /* the last: in the observation */

  clock_stops = now + stop_after[_i];
  examine_for(1000, read_up);
  ck_assert(results.measured == 0 && results.seconds == 0);
  ck_assert(_i > 0 || results.read_nanoseconds == 0);
  ck_assert_int_eq(results.difference_count, DIFFERENCES); /* the differences need no clock */
  ck_assert_int_eq(results.step, 10);
}

/* Examines each counter of the list. */
static void examine_list(int children, int killed, int count, const char *failure)
{
  ck_assert_int_eq(list_and_measure_core_in_child(&list), 0);
  ck_assert_int_eq(list.no_child, !children);
  ck_assert_int_eq(list.count, 2);
  ck_assert_int_eq(list.core_persecond, 4000000000);
  examine_each(&report, &list, 0.05);
  ck_assert_int_eq(report.result_count, count);
  ck_assert_int_eq(report.killed_count, killed);
  ck_assert_str_eq(report.results[0].name, "fake");
  ck_assert_str_eq(report.results[0].failure, failure);
}

TEST(without_fork_the_counter_in_use_is_examined)
{
  fork_is_refused = 1;
  examine_list(0, 0, 1, "");
  ck_assert_int_eq(report.results[0].difference_count, DIFFERENCES);
  free(report.results);
}

TEST(signal_ends_the_selection_or_only_one_examination)
{
  parent = getpid();
  at_selection = abort;
  ck_assert_int_eq(list_and_measure_core_in_child(&list), SIGABRT);
  at_selection = NULL;
  at_overhead = abort;
  examine_list(1, 1, 2, "SIGABRT (6) ended the process that examined it");
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
      clock_cost = 1000; /* a simulated second is a million reads */
      list_and_measure_core_in_child(&list);
      examine_each(&report, &list, 1e5);
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
  return read_ratio() - sched_getcpu() * BEHIND * 1000000000LL;
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
  examine_for(0.05, read_ratio);
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
