/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests scaling: right to one part in 10^10, monotonic, and equal with and without a 128-bit
   type. */

#include "config.h"

#include "include/cpucycles/inline.h"
#include "lib/scale.h"

#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void expect_equal_products(uint64_t count, uint64_t multiplier, int shift)
{
  ck_assert_int_eq(cpucycles_inline_scale_portable((long long)count, multiplier, shift),
    cpucycles_inline_scale((long long)count, multiplier, shift));
}

TEST(portable_multiply_equals_wide_multiply)
{
  static const uint64_t edges[] = { 0, 1, 2, 0xffffffff, 0x100000000, INT64_MAX, UINT64_MAX };
  struct suite_repeat repeat = suite_repeat(1000);
  int i, j, shift;

  for (i = 0; i < 7; i++)
    for (j = 0; j < 7; j++)
      for (shift = 1; shift < 64; shift++)
        expect_equal_products(edges[i], edges[j], shift);
  while (suite_again(&repeat))
    for (i = 0; i < 1000; i++) {
      uint64_t count = random64(), multiplier = random64();

      expect_equal_products(count, multiplier, 1 + (int)(random64() % 63));
    }
}

TEST(scaled_clock_is_right_to_one_part_in_10_10)
{
  static const long long cpus[] = { 1000, 1000000, 266000000, 2399987654, 2596132000, 5000000000 };
  static const long long rates[] = { 1000000, 1000000000, 19200000, 512000000, 4096000000 };
  const long long century = 100LL * 365 * 86400;
  int c, r;

  for (c = 0; c < 6; c++)
    for (r = 0; r < 5; r++) {
      struct cpuc_scale scale = cpuc_scale_from_to(rates[r], cpus[c]);
      long long seconds = century;

      /* where the cycles themselves exceed 63 bits, no result can be right */
      if (seconds > INT64_MAX / cpus[c])
        seconds = INT64_MAX / cpus[c] - 1;
      if (seconds > INT64_MAX / rates[r])
        seconds = INT64_MAX / rates[r] - 1;
      /* one part in 10^10: a tenth of a second in 30 years */
      ck_assert_int_le(llabs(cpuc_scale_apply(scale, seconds * rates[r]) - seconds * cpus[c]),
        seconds * cpus[c] / 10000000000 + 1);
      ck_assert_int_eq(cpuc_scale_apply(scale, 0), 0);
    }
}

TEST(scaled_clock_never_steps_back)
{
  struct cpuc_scale scale = cpuc_scale_from_to(1000000000, 2399987654);
  struct suite_repeat repeat = suite_repeat(1000);
  int i, wrong;

  while (suite_again(&repeat)) {
    /* around a power of two, where the product gains a bit */
    long long count = (1LL << random64() % 61) - 1000;
    long long now, before = cpuc_scale_apply(scale, count);

    for (i = wrong = 0; i < 2000; i++) {
      now = cpuc_scale_apply(scale, ++count);
      wrong += now < before || now - before > 3;
      before = now;
    }
    ck_assert_msg(wrong == 0, "%d of the 2000 steps up to %lld are wrong", wrong, count);
  }
}

TEST(clock_set_before_its_origin_still_increases)
{
  struct cpuc_scale scale = cpuc_scale_from_to(1000000, 2399987654);
  long long count;

  for (count = -1000; count < 1000; count++) {
    ck_assert_int_gt(cpuc_scale_apply(scale, count + 1), cpuc_scale_apply(scale, count));
    ck_assert_int_le(llabs(cpuc_scale_apply(scale, count) + cpuc_scale_apply(scale, -count)), 1);
  }
}

/* Counts are modulo 2^64, so nothing is undefined where cycles pass -2^63. */
TEST(clock_set_back_beyond_all_counts_wraps_around)
{
  struct cpuc_scale twice = cpuc_scale_from_to(1, 2);

  ck_assert_int_eq(cpuc_scale_apply(twice, INT64_MIN / 2 + 1), INT64_MIN + 2);
  ck_assert_int_eq(cpuc_scale_apply(twice, INT64_MIN / 2), INT64_MIN);
  ck_assert_int_eq(cpuc_scale_apply(twice, INT64_MIN / 2 - 1), INT64_MAX - 1);
  ck_assert_int_eq(cpuc_scale_apply(twice, INT64_MIN), 0);
}

TEST(multiple_is_right_within_a_twentieth_of_a_percent)
{
  struct suite_repeat repeat = suite_repeat(3000);
  int i, found = 0, wrong = 0;

  while (suite_again(&repeat))
    for (i = 0; i < 1000; i++) {
      long long rate = 1 + (long long)(random64() % (1ULL << (1 + random64() % 39)));
      long long persecond = 1000 + (long long)(random64() % 5000000000);
      long long sixteenths = cpuc_scale_find_sixteenths(rate, persecond);
      double error = (double)sixteenths / 16 * (double)rate / (double)persecond - 1;

      if (sixteenths == 0)
        continue;
      found++;
      wrong += fabs(error) > 0.0005000001;
      wrong += cpuc_scale_apply(cpuc_scale_from_to(16, sixteenths), 16) != sixteenths;
    }
  ck_assert_int_eq(wrong, 0);
  ck_assert_int_gt(found, 0);
}

TEST(reported_rate_must_agree_within_one_percent)
{
  ck_assert(cpuc_scale_agree_within_1_percent(24000000, 24000000));
  ck_assert(cpuc_scale_agree_within_1_percent(24000000, 24240000));
  ck_assert(cpuc_scale_agree_within_1_percent(24000000, 23760000));
  ck_assert(!cpuc_scale_agree_within_1_percent(24000000, 24240001));
  ck_assert(!cpuc_scale_agree_within_1_percent(24000000, 23759999));
  ck_assert(!cpuc_scale_agree_within_1_percent(62500000, 1000000000));
  ck_assert(!cpuc_scale_agree_within_1_percent(1000000000, 1));
}

SUITE("scale")
