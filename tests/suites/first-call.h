/* SPDX-License-Identifier: 0BSD OR MIT */
/* Promises of the first call that hold on every kind of system. */

#ifndef CPUCYCLES_TESTS_FIRST_CALL_H
#define CPUCYCLES_TESTS_FIRST_CALL_H

#include "include/cpucycles.h"
#include "lib/table.h"

#include "tests/suites/counts.h"
#include "tests/suites/suite.h"

#include <limits.h>

START_TEST(every_function_may_make_the_first_call)
{
  ck_assert_ptr_nonnull(cpucycles_counter(0));
  ck_assert_ptr_null(cpucycles_counter(-1));
  ck_assert_ptr_null(cpucycles_counter(INT_MAX));
  ck_assert_int_ge(cpucycles_persecond(), 1000);
  ck_assert_int_le(cpucycles_persecond(), 1000000000000LL);
  ck_assert_str_eq(cpucycles_version(), PACKAGE_VERSION);
  ck_assert(count_increases());
}
END_TEST

START_TEST(one_counter_is_selected_and_dropped_ones_have_a_reason)
{
  const struct cpucycles_counter_info *counter;
  int i, selected = 0;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++) {
    ck_assert_ptr_nonnull(counter->summary);
    ck_assert_ptr_nonnull(counter->kind);
    ck_assert_ptr_nonnull(counter->scope);
    ck_assert_ptr_nonnull(counter->unit);
    if (counter->state == CPUCYCLES_SELECTED) {
      ck_assert_str_eq(counter->name, cpucycles_implementation());
      selected++;
    }
    if (counter->state == CPUCYCLES_DROPPED) {
      ck_assert_ptr_nonnull(counter->reason);
      ck_assert_ptr_nonnull(counter->explanation);
      ck_assert_int_eq(counter->precision, 0);
    } else {
      ck_assert_ptr_null(counter->reason);
      ck_assert_int_gt(counter->precision, 0);
    }
  }
  ck_assert_int_eq(i, CPUC_TABLE_LENGTH);
  ck_assert_int_eq(selected, 1);
}
END_TEST

#endif
