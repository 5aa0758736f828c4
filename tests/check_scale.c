/* SPDX-License-Identifier: 0BSD OR MIT */
/* Scaling: exact, monotonic, and the same with and without a 128-bit type. */

#include "config.h"

#include "lib/library.h"

#include "tests/suite.h"

#include <stdint.h>

static uint64_t random_state = 88172645463325252ULL;

/* xorshift64: Marsaglia, "Xorshift RNGs", 2003. */
static uint64_t random64(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

START_TEST(portable_multiply_equals_wide_multiply)
{
  static const uint64_t edges[] = { 0, 1, 2, 0xffffffff, 0x100000000, INT64_MAX, UINT64_MAX };
  int i, j, shift;

  for (i = 0; i < 7; i++)
    for (j = 0; j < 7; j++)
      for (shift = 1; shift < 64; shift++)
        ck_assert_uint_eq(cpucycles_multiply_shift_portable(edges[i], edges[j], shift),
          cpucycles_multiply_shift(edges[i], edges[j], shift));
  for (i = 0; i < 1000000; i++) {
    uint64_t a = random64(), b = random64();

    shift = 1 + (int)(random64() % 63);
    ck_assert_uint_eq(
      cpucycles_multiply_shift_portable(a, b, shift), cpucycles_multiply_shift(a, b, shift));
  }
}
END_TEST

START_TEST(scaled_clock_is_exact_over_a_century)
{
  static const long long cpus[] = { 1000, 1000000, 266000000, 2399987654, 2596132000, 5000000000 };
  static const long long rates[] = { 1000000, 1000000000, 19200000, 512000000, 4096000000 };
  const long long century = 100LL * 365 * 86400;
  int c, r;

  for (c = 0; c < 6; c++)
    for (r = 0; r < 5; r++) {
      struct cpucycles_scale scale = cpucycles_scale_between(rates[r], cpus[c]);
      long long seconds = century;

      /* where cycles themselves go past 63 bits, nothing can be exact */
      if (seconds > INT64_MAX / cpus[c])
        seconds = INT64_MAX / cpus[c] - 1;
      if (seconds > INT64_MAX / rates[r])
        seconds = INT64_MAX / rates[r] - 1;
      /* one part in 10^10: a tenth of a second in 30 years */
      ck_assert_int_le(llabs(cpucycles_scale_apply(scale, seconds * rates[r]) - seconds * cpus[c]),
        seconds * cpus[c] / 10000000000 + 1);
      ck_assert_int_eq(cpucycles_scale_apply(scale, 0), 0);
    }
}
END_TEST

START_TEST(scaled_clock_never_runs_backward)
{
  struct cpucycles_scale scale = cpucycles_scale_between(1000000000, 2399987654);
  long long before, now, count = (1LL << 60) - 1000000;
  int i;

  before = cpucycles_scale_apply(scale, count);
  for (i = 0; i < 2000000; i++) {
    now = cpucycles_scale_apply(scale, ++count);
    ck_assert_int_ge(now, before);
    ck_assert_int_le(now - before, 3);
    before = now;
  }
}
END_TEST

START_TEST(clock_set_back_before_its_origin_still_goes_up)
{
  struct cpucycles_scale scale = cpucycles_scale_between(1000000, 2399987654);
  long long count;

  for (count = -1000; count < 1000; count++)
    ck_assert_int_gt(cpucycles_scale_apply(scale, count + 1), cpucycles_scale_apply(scale, count));
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, portable_multiply_equals_wide_multiply);
  tcase_add_test(tests, scaled_clock_is_exact_over_a_century);
  tcase_add_test(tests, scaled_clock_never_runs_backward);
  tcase_add_test(tests, clock_set_back_before_its_origin_still_goes_up);
}

int main(void)
{
  return suite_main("scale", add);
}
