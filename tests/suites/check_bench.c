/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests <cpucycles/bench.h>: the numbers of a function follow its length, and a counter that fails
   gives no numbers. */

#include "config.h"

#include "include/cpucycles/bench.h"
#include "sys/dependent-add.h"

#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <time.h>

static void run_adds(void *passes)
{
  (void)cpuc_dependent_add_run(*(const long *)passes);
}

static void do_nothing(void *unused)
{
  (void)unused;
}

static double lower_quartile_of(void (*function)(void *), void *argument)
{
  struct cpucycles_bench_result result;

  cpucycles_bench(&result, function, argument);
  ck_assert_msg(result.samples >= 3 && result.calls >= 1, "%s", result.note);
  ck_assert(result.minimum >= 0 && result.minimum <= result.lower_quartile);
  ck_assert(result.lower_quartile <= result.median && result.median <= result.upper_quartile);
  ck_assert_str_eq(result.unit, cpucycles_selected()->count_unit);
  return result.lower_quartile;
}

/* The lower quartile, because a busy machine lengthens many samples. */
TEST(function_of_twice_the_length_takes_twice_the_cycles)
{
  struct suite_repeat retry = suite_retry(20);
  long once = 20, twice = 40;
  double ratio = 0;

  SKIP_IF(suite_under("qemu"), "an emulator translates the code while it runs");
  SKIP_IF(cpuc_dependent_add_run(1) < 0, "adds prove nothing on this CPU");
  while ((ratio < 1.9 || ratio > 2.1) && suite_again(&retry))
    ratio = lower_quartile_of(run_adds, &twice) / lower_quartile_of(run_adds, &once);
  ck_assert_msg(ratio >= 1.9 && ratio <= 2.1, "%.2f", ratio);
}

TEST(empty_function_takes_less_than_512_adds_and_is_never_negative)
{
  long pass = 1;
  double empty = lower_quartile_of(do_nothing, &pass);
  struct cpucycles_bench_result result;

  cpucycles_bench(&result, do_nothing, NULL);
  ck_assert_msg(result.minimum < 20 || result.mark[0], "%.1f %s", result.minimum, result.mark);
  if (cpuc_dependent_add_run(1) < 0 || suite_under("qemu") || suite_under("valgrind"))
    return;
  ck_assert(empty < lower_quartile_of(run_adds, &pass));
}

static int waits;

/* The counter of the tests below does not count this time, as if the function slept. */
static void wait_for(void *microseconds)
{
  long long end = cpucycles_bench_time() + *(const int *)microseconds;

  waits++;
  while (cpucycles_bench_time() < end)
    ;
}

/* A counter that advances by 10 in each read and by 100 in each call of the function below. In one
   of these calls it fails: it is stopped or steps back. The wait ends the warm-up. */
static long long simulated, calls_before_failure, calls_before_a_wait = 1000;
static enum { WORKS, STOPPED, STEPS_BACK } state, failure;

static long long read_simulated(void)
{
  if (state == WORKS)
    simulated += 10;
  return simulated;
}

static void advance_and_fail(void *unused)
{
  int duration = 20000;

  (void)unused;
  if (state == WORKS)
    simulated += 100;
  if (calls_before_a_wait-- == 0)
    wait_for(&duration);
  if (calls_before_failure-- == 0) {
    state = failure;
    simulated -= failure == STEPS_BACK ? 1000000 : 0;
  }
}

TEST_LOOP(counter_that_fails_gives_no_samples_but_a_sentence, 7)
{
  static const long long calls[] = { 0, 100, 2000 };
  struct cpucycles_bench_result result;

  select_counter(read_simulated);
  failure = _i % 2 ? STEPS_BACK : STOPPED;
  if (_i == 6)
    state = STOPPED;
  else
    calls_before_failure = calls[_i / 2];
  cpucycles_bench(&result, advance_and_fail, NULL);
  ck_assert_int_eq(result.samples, 0);
  ck_assert(result.median <= 0 && result.median >= 0 && result.nanoseconds <= 0);
  ck_assert_str_eq(result.note,
    failure == STEPS_BACK ? "The counter stepped back." : "The counter is stopped.");
}

TEST(time_in_which_the_function_sleeps_is_limited)
{
  struct cpucycles_bench_result result;
  int millisecond = 1000, more_than_the_limit = 210000;

  select_counter(read_simulated);
  cpucycles_bench(&result, wait_for, &millisecond);
  ck_assert(result.samples >= 3 && result.samples < 1001);
  waits = 0;
  cpucycles_bench(&result, wait_for, &more_than_the_limit);
  ck_assert_int_eq(waits, 3);
  ck_assert_int_eq(result.samples, 3);
  ck_assert_str_eq(result.mark, "3 runs");
}

/* A counter that advances once in 12 ms, as an OS clock of a system without a fine one. */
static long long read_coarse(void)
{
  return cpucycles_bench_time() / 12000 * 12000 * 1000;
}

TEST(grain_of_many_milliseconds_is_exceeded_by_more_calls)
{
  struct suite_repeat retry = suite_retry(20);
  struct cpucycles_bench_result result = { 0 };

  select_counter(read_coarse);
  while (result.calls < 100 && suite_again(&retry))
    cpucycles_bench(&result, do_nothing, NULL);
  ck_assert_int_ge(result.calls, 100);
  ck_assert_str_ne(result.mark, "3 runs");
}

#ifdef __linux__
static enum { RUNS, FAILS, IS_STOPPED, IS_SET_BACK } clock_state;

/* Replaces the function of the C library. */
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
  static int calls;
  struct timespec time;

  (void)zone;
  if (clock_state == FAILS || clock_gettime(CLOCK_REALTIME, &time) != 0)
    return -1;
  now->tv_sec = clock_state == IS_STOPPED ? 0 : time.tv_sec;
  now->tv_usec = clock_state == IS_STOPPED ? 0 : time.tv_nsec / 1000;
  if (clock_state == IS_SET_BACK && ++calls > 2)
    now->tv_sec -= 86400;
  return 0;
}

static void advance(void *unused)
{
  (void)unused;
  simulated += 1000;
}

TEST_LOOP(benchmark_ends_with_any_wall_clock, 4)
{
  struct cpucycles_bench_result result;

  select_counter(read_simulated);
  clock_state = (int)RUNS + _i;
  cpucycles_bench(&result, advance, NULL);
  ck_assert_int_ge(result.samples, 3);
}
#endif

TEST_LOOP(line_has_at_most_80_columns, 7)
{
  static const double largest[] = { 0, 99999.94, 99999.96, 9999999999.94, 9999999999.96, 1e30, 0 };
  struct cpucycles_bench_result result = { .samples = _i < 6 ? 3 : 0, .unit = "reference cycles",
    .mark = "slow calls", .note = "The counter stepped back." };
  char line[256] = "";
  FILE *file = tmpfile();

  result.minimum = result.lower_quartile = result.median = result.nanoseconds = largest[_i];
  result.upper_quartile = 2e30;
  ck_assert_ptr_nonnull(file);
  cpucycles_bench_print(file, "a name of more than sixteen characters", &result);
  rewind(file);
  ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
  ck_assert_int_eq(fgetc(file), EOF);
  fclose(file);
  if (_i < 6)
    ck_assert_uint_eq(strlen(line), 81);
  else
    ck_assert_uint_le(strlen(line), 81);
}

SUITE("bench")
