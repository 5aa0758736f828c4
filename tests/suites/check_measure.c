/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the measurements on this CPU: the frequency with dependent adds, and the rate of a counter.
   check_simulated_clock tests their accuracy against simulated clocks. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/scale.h"
#include "sys/dependent-add.h"
#include "sys/os-clock.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <string.h>

/* Other processes may use the CPU, so tests that expect a result repeat a measurement that
   failed. */

#define ADD x += y; __asm__ volatile("" : "+r"(x));
#define ADD_4 ADD ADD ADD ADD

/* Alternates cpucycles_core_persecond() with another chain of adds, so that both see the same core
   frequencies. One of Intel's families of CPUs adds twice per cycle. */
TEST(core_persecond_is_the_rate_of_dependent_adds)
{
  enum { ADDS = 200000 };
  struct suite_repeat retry = suite_retry(500);
  int takes_one_cycle = cpuc_dependent_add_takes_one_cycle(), known = 0, agree = 0, i;
  double value = 0, rate = 0;
  unsigned long x = 0, y = 3;

#ifndef __OPTIMIZE__
  SKIP_IF(1, "the library was compiled unoptimized");
#endif
#if defined(__x86_64__) || defined(__i386__)
  ck_assert_int_eq(takes_one_cycle, system("grep -q GenuineIntel /proc/cpuinfo 2>/dev/null"
    " && grep -q '^cpu family.*: 15$' /proc/cpuinfo") != 0);
#endif
  if (!takes_one_cycle)
    ck_assert_int_eq(cpucycles_core_persecond(), 0);
  SKIP_IF(!takes_one_cycle, "a dependent add does not take one cycle on this CPU");
  skip_where_the_clock_steps_are_long();
  __asm__ volatile("" : "+r"(y));
  while (known < 25 && suite_again(&retry)) {
    long long time = -cpuc_os_clock_monotonic();

    for (i = 0; i < ADDS; i += 16) {
      ADD_4 ADD_4 ADD_4 ADD_4
    }
    time += cpuc_os_clock_monotonic();
    rate = ADDS * 1e9 / (double)time;
    value = (double)cpucycles_core_persecond();
    ck_assert(value == 0 || (value >= CPUC_RATE_LOWEST && value <= CPUC_RATE_HIGHEST));
    known += value > 0;
    agree += value > rate * 0.8 && value < rate * 1.25;
  }
  ck_assert_int_gt(known, 0);
  ck_assert_msg(2 * agree > known, "%g Hz, timed %g: %d of %d agree", value, rate, agree, known);
}

/* All functions except cpucycles(), which most suites call first. */
TEST_LOOP(any_function_may_make_the_first_call, 19)
{
  static long long (*const counts[])(void) = { cpucycles_persecond, cpucycles_rate,
    cpucycles_core_persecond, cpucycles_section_begin, cpucycles_section_end,
    cpucycles_section_overhead, cpucycles_read_overhead, cpucycles_inline,
    cpucycles_inline_section_begin, cpucycles_inline_section_end,
    cpucycles_inline_section_overhead };
  static const char *(*const texts[])(void) = { cpucycles_implementation, cpucycles_frequency_source,
    cpucycles_implementation_ignored, cpucycles_frequency_ignored };

  ck_assert(!cpuc_process_has_selected());
  if (_i < 11)
    ck_assert_int_ge(counts[_i](), 0);
  else if (_i < 15)
    (void)texts[_i - 11]();
  else if (_i == 15)
    ck_assert(cpucycles_nanoseconds(1) >= 0);
  else
    ck_assert_ptr_nonnull(_i == 16 ? (const void *)cpucycles_timer()
        : _i == 17 ? cpucycles_selected() : cpucycles_counter(0));
  ck_assert(cpuc_process_has_selected());
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
static int rate_differs_from_the_kind(void)
{
  const struct cpucycles_counter_info *counter = cpucycles_selected();
  long long rate = cpucycles_rate();

  if (!counter || cpucycles_rate() != rate) /* the rate is final */
    return 1;
  if (strcmp(counter->kind, "clock") == 0 || strcmp(counter->kind, "scaled") == 0)
    return rate != cpucycles_persecond();
  if (strcmp(counter->kind, "reference") == 0)
    return !rate_agrees_with_the_count(rate);
  return strcmp(counter->kind, "none") == 0 ? rate != 0 : rate <= 1000000;
}

static int rate_differs_from_the_clock(void)
{
  const struct cpucycles_timer_info *timer;

  setenv("CPUCYCLES_IMPLEMENTATION", "default-gettimeofday", 1);
  timer = cpucycles_timer();
  return strcmp(cpucycles_implementation(), "default-gettimeofday") != 0
    || timer->reported_rate != 1000000 || timer->invariant != 1 || !timer->invariant_source
    || rate_differs_from_the_kind();
}

/* Each try is a process, because the measurement of the first call can fail on a busy machine. */
TEST(rate_is_that_of_the_count)
{
  static int (*const checks[])(void) = { rate_differs_from_the_kind, rate_differs_from_the_clock };
  int i, tries;

  skip_where_the_clock_steps_are_long();
  for (i = 0; i < 2; i++) {
    for (tries = 0; tries < 20 && result_in_child(checks[i]) != 0; tries++)
      ;
    ck_assert_int_lt(tries, 20);
  }
}

SUITE("measure")
