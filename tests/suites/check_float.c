/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the library in programs that trap floating-point exceptions, or round in another direction
   than to the nearest: it works, and finds the same. */

#define _GNU_SOURCE /* feenableexcept() */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/extend32.h"
#include "lib/scale.h"

#include "tests/suites/float-traps.h"
#include "tests/suites/suite.h"
#include "tests/suites/this-machine.h"

#include <fenv.h>
#include <stddef.h>

enum { COUNTERS = 64, NAME = 64 };

/* Some systems do not define all of these macros: a macro is missing where there is no such
   rounding. */
static const struct environment {
  const char *name;
  int rounding; /* -1: to the nearest, and traps */
} environments[] = {
  { "traps", -1 },
#ifdef FE_UPWARD
  { "upward", FE_UPWARD },
#endif
#ifdef FE_DOWNWARD
  { "downward", FE_DOWNWARD },
#endif
#ifdef FE_TOWARDZERO
  { "toward zero", FE_TOWARDZERO },
#endif
};

enum { ENVIRONMENTS = sizeof environments / sizeof environments[0] };

/* Returns 0 if this CPU and system have the environment. */
static int enter(const struct environment *environment)
{
  return environment->rounding < 0 ? enable_traps() : fesetround(environment->rounding);
}

static const struct environment *tried;

/* 0 if the rounding changes a result. */
static int change_rounding(void)
{
  double nearest = divide_by_three();
  volatile double sum = 1, part = 0x1p-60;
  double added, below;

  if (enter(tried) != 0)
    return 1;
  added = sum + part;
  below = sum - part;
  return added == 1 && below == 1 && divide_by_three() == nearest;
}

/* Skips the environment if it does not exist here. Returns 1 if it is skipped. */
static int skip_environment(const char *test, const struct environment *environment)
{
  tried = environment;
  if (environment->rounding < 0)
    return skip_unless(test, inexact_operation_traps, -SIGFPE,
      "floating-point exceptions are not trapped");
  return skip_unless(test, change_rounding, 0, "the rounding cannot be changed");
}

/* What a process finds. */
struct findings {
  char implementation[NAME], source[NAME];
  long long persecond, rate, overhead;
  int counters, works[COUNTERS];
  double scaling[COUNTERS];
};

/* Calls every public function. Returns 0 if the counts increase. */
static int find(struct findings *found)
{
  long long begin, end;
  int i;

  memset(found, 0, sizeof *found);
  cpucycles_tracesetup();
  begin = cpucycles();
  strncpy(found->implementation, cpucycles_implementation(), NAME - 1);
  strncpy(found->source, cpucycles_frequency_source(), NAME - 1);
  found->persecond = cpucycles_persecond();
  found->rate = cpucycles_rate();
  found->overhead = cpucycles_overhead();
  for (i = 0; cpucycles_counter(i) && i < COUNTERS; i++) {
    found->works[i] = cpucycles_counter(i)->state != CPUCYCLES_DROPPED;
    found->scaling[i] = cpucycles_counter(i)->scaling;
  }
  found->counters = i;
  cpucycles_tracesetup();
  cpucycles_core_persecond();
  cpucycles_timer();
  cpucycles_version();
  cpucycles_frequency_ignored();
  cpucycles_implementation_ignored();
  end = cpucycles_inline();
  return cpucycles_end() < cpucycles_begin() - 1000000000 || cpucycles_inline_overhead() < 0
    || cpucycles_inline_end() < cpucycles_inline_begin() - 1000000000 || end <= begin;
}

/* Lets a child process find, in this environment; or in the default one, if it is NULL. */
static void find_in(const struct environment *environment, struct findings *found)
{
  int ends[2], status, length;
  pid_t child;

  ck_assert_int_eq(pipe(ends), 0);
  child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    signal(SIGFPE, SIG_DFL); /* a sanitizer has a handler of its own */
    status = (environment && enter(environment) != 0) || find(found) != 0;
    if (write(ends[1], found, sizeof *found) != (ssize_t)sizeof *found)
      status = 2;
    suite_exit(status);
  }
  close(ends[1]);
  length = (int)read(ends[0], found, sizeof *found);
  close(ends[0]);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_msg(status == 0, "%s: status %d", environment ? environment->name : "default", status);
  ck_assert_int_eq(length, (int)sizeof *found);
}

static int is_same(const struct findings *a, const struct findings *b)
{
  int i;

  for (i = 0; i < a->counters && i < b->counters; i++)
    if (a->works[i] != b->works[i])
      return 0;
  return a->counters == b->counters && strcmp(a->implementation, b->implementation) == 0
    && strcmp(a->source, b->source) == 0 && cpuc_scale_rates_agree(a->rate, b->rate);
}

/* A measurement can be interrupted, in either environment, so it is repeated. */
START_TEST(every_function_finds_the_same)
{
  const struct environment *environment = &environments[_i];
  struct suite_repeat retry = suite_retry(20);
  struct findings usual, found;
  int same = 0, i;

  if (skip_environment("every_function_finds_the_same", environment)
    || skip_where_the_clock_is_slow("every_function_finds_the_same"))
    return;
  if (suite_under("qemu")) /* an emulated CPU's frequency differs from process to process */
    setenv("cpucyclespersecond", "3700000000", 1);
  while (!same && suite_again(&retry)) {
    find_in(NULL, &usual);
    find_in(environment, &found);
    same = is_same(&usual, &found);
  }
  ck_assert_msg(same, "%s: %s by %s, %lld; else %s by %s, %lld", environment->name,
    found.implementation, found.source, found.rate, usual.implementation, usual.source, usual.rate);
  if (found.persecond == usual.persecond)
    for (i = 0; i < found.counters; i++)
      ck_assert(found.works[i] == 0 || found.scaling[i] == usual.scaling[i]);
}
END_TEST

/* A counter of 32 bits at 2399987654 Hz, and a clock that advances by 0.6 s at each read. */
static long long clock_reads;

static long long simulated_clock(void)
{
  return clock_reads++ * 600000000;
}

static long long simulated_counter(void)
{
  return (long long)((unsigned long long)clock_reads * 1439992592 & 0xffffffff);
}

enum { RATES = 7, EXTENDED = 50, RESULTS = RATES * RATES * 4 + EXTENDED };

static void extend(long long *results)
{
  struct cpuc_extend32_clock clock = { simulated_clock, simulated_clock };
  struct cpuc_extend32_state extension;
  int i;

  clock_reads = 1;
  cpuc_extend32_begin(&extension, simulated_counter, clock, 2399987654);
  for (i = 0; i < EXTENDED; i++)
    results[i] = cpuc_extend32(&extension);
}

/* Computes with rates of counters, cycles, and nanoseconds of measurements. */
static void compute(long long *results)
{
  static const long long rates[RATES] = { 1000, 999983, 24000000, 346153847, 2399987654,
    61234567891, 1000000000000 };
  double factor;
  int i, j;

  for (i = 0; i < RATES; i++)
    for (j = 0; j < RATES; j++) {
      struct cpuc_scale scale = cpuc_scale_of_ratio(rates[i], rates[j]);

      factor = cpuc_scale_factor(scale);
      memcpy(results++, &factor, sizeof factor);
      *results++ = (long long)scale.multiplier;
      *results++ = scale.shift;
      *results++ = cpuc_scale_counts_per_second((unsigned long long)rates[i], rates[j]);
    }
  extend(results);
}

/* Computes in an environment, in a child process: 0 if the results are the expected ones. */
static long long expected[RESULTS];

static int compute_in_environment(void)
{
  static long long results[RESULTS];

  if (enter(tried) != 0)
    return 2;
  compute(results);
  return memcmp(results, expected, sizeof results) != 0;
}

START_TEST(every_result_is_the_same)
{
  if (skip_environment("every_result_is_the_same", &environments[_i]))
    return;
  compute(expected);
  ck_assert_int_eq(result_in_child(compute_in_environment), 0);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_loop_test(tests, every_function_finds_the_same, 0, ENVIRONMENTS);
  tcase_add_loop_test(tests, every_result_is_the_same, 0, ENVIRONMENTS);
}

int main(void)
{
  return suite_main("float", add);
}
