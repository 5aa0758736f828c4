/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests that the library works, and that its arithmetic is the same, in programs that trap
   floating-point exceptions, or that round in another direction than to the nearest. */

#define _GNU_SOURCE /* feenableexcept() */

#include "config.h"

#include "include/cpucycles.h"
#include "lib/scale.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"

#include <fenv.h>

/* Some systems do not define all of these macros, because a macro is missing where its rounding
   does not exist. */
static const int environments[] = {
  -1, /* to the nearest, and traps */
#ifdef FE_UPWARD
  FE_UPWARD,
#endif
#ifdef FE_DOWNWARD
  FE_DOWNWARD,
#endif
#ifdef FE_TOWARDZERO
  FE_TOWARDZERO,
#endif
};

enum { ENVIRONMENTS = sizeof environments / sizeof environments[0] };

static int tried;

/* Enters the environment that is tried. Returns 0 if this CPU and system have it. */
static int enter(void)
{
  if (tried >= 0)
    return fesetround(tried);
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

/* 0 if the rounding changes a result. If the inexact operations trap, SIGFPE ends the child. */
static int change_results(void)
{
  double nearest = divide_by_three();
  volatile double sum = 1, part = 0x1p-60;
  double added, below;

  if (enter() != 0)
    return 1;
  added = sum + part;
  below = sum - part;
  return added == 1 && below == 1 && divide_by_three() == nearest;
}

/* Skips an environment that does not exist here. */
static void try_environment(int environment)
{
  tried = environment;
  skip_unless(change_results, tried < 0 ? -SIGFPE : 0,
    "floating-point exceptions are not trapped, or the rounding cannot be changed");
}

static int call_every_function(void)
{
  if (enter() != 0)
    return -1;
  cpucycles_tracesetup();
  return check_every_answer();
}

TEST_LOOP(every_function_survives_traps_and_rounding, ENVIRONMENTS)
{
  try_environment(environments[_i]);
  in_child_process(call_every_function);
}

/* The only floating-point arithmetic of the library. */

enum { RATES = 7 };

static double expected[RATES][RATES];

static void compute(double factors[RATES][RATES])
{
  static const long long rates[RATES] = { 1000, 999983, 24000000, 346153847, 2399987654,
    61234567891, 1000000000000 };
  int i, j;

  for (i = 0; i < RATES; i++)
    for (j = 0; j < RATES; j++)
      factors[i][j] = cpuc_scale_factor(cpuc_scale_from_to(rates[i], rates[j]));
}

/* 0 if the results are the expected ones. */
static int compute_in_environment(void)
{
  double factors[RATES][RATES];

  if (enter() != 0)
    return 2;
  compute(factors);
  return memcmp(factors, expected, sizeof factors) != 0;
}

TEST_LOOP(arithmetic_does_not_depend_on_rounding, ENVIRONMENTS)
{
  try_environment(environments[_i]);
  compute(expected);
  in_child_process(compute_in_environment);
}

SUITE("float")
