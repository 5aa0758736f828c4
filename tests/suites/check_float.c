/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests that the library works, and that its arithmetic is the same, in programs that trap
   floating-point exceptions, or that round in another direction than to the nearest. */

#define _GNU_SOURCE /* feenableexcept() */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/extend32.h"
#include "lib/scale.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <fenv.h>
#include <stddef.h>

/* Enables all traps. Returns 0 if this CPU and system have them. */
static int enable_traps(void)
{
#ifdef __GLIBC__
  return feenableexcept(FE_ALL_EXCEPT) < 0;
#else
  return 1;
#endif
}

/* Divides with an inexact result. */
static double divide_by_three(void)
{
  volatile double dividend = 1, divisor = 3, quotient = dividend / divisor;

  return quotient;
}

/* An attempt for skip_unless(), whose result is -SIGFPE if an inexact operation traps. */
static int inexact_operation_traps(void)
{
  if (enable_traps() != 0)
    return 1;
  divide_by_three();
  return 0;
}

/* Some systems do not define all of these macros, because a macro is missing where its rounding
   does not exist. */
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

/* Skips the environment if it does not exist here. */
static void skip_environment(const struct environment *environment)
{
  tried = environment;
  if (environment->rounding < 0)
    skip_unless(inexact_operation_traps, -SIGFPE, "floating-point exceptions are not trapped");
  else
    skip_unless(change_rounding, 0, "the rounding cannot be changed");
}

static int call_every_function(void)
{
  if (enter(tried) != 0)
    return -1;
  cpucycles_tracesetup();
  return check_every_answer();
}

TEST_LOOP(every_function_survives_traps_and_rounding, ENVIRONMENTS)
{
  skip_environment(&environments[_i]);
  ck_assert_int_eq(result_in_child(call_every_function), 0);
}

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
      struct cpuc_scale scale = cpuc_scale_from_to(rates[i], rates[j]);

      factor = cpuc_scale_factor(scale);
      memcpy(results++, &factor, sizeof factor);
      *results++ = (long long)scale.multiplier;
      *results++ = scale.shift;
      *results++ = cpuc_scale_counts_per_second((unsigned long long)rates[i], rates[j]);
    }
  extend(results);
}

static long long expected[RESULTS];

/* Computes in an environment, in a child process. Returns 0 if the results are the expected
   ones. */
static int compute_in_environment(void)
{
  static long long results[RESULTS];

  if (enter(tried) != 0)
    return 2;
  compute(results);
  return memcmp(results, expected, sizeof results) != 0;
}

TEST_LOOP(arithmetic_does_not_depend_on_rounding, ENVIRONMENTS)
{
  skip_environment(&environments[_i]);
  compute(expected);
  ck_assert_int_eq(result_in_child(compute_in_environment), 0);
}

SUITE("float")
