/* SPDX-License-Identifier: 0BSD OR MIT */
/* How to write a suite and its tests: TEST, TEST_LOOP, SUITE and SKIP_IF. Each test runs in its own
   process, in which the library has not been called yet. The totals are printed on the console. */

#ifndef CPUCYCLES_SUITE_H
#define CPUCYCLES_SUITE_H

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

struct suite_totals {
  int ran, failures, errors;
};

static struct suite_test {
  void (*add)(TCase *tests);
  struct suite_test *next;
} *suite_tests, **suite_end = &suite_tests;

static void (*suite_after)(void);    /* runs after each test, or NULL */
static const char *suite_test_name; /* of the test that runs */

/* Returns 1 if the suite runs under this tool. */
static inline int suite_under(const char *tool)
{
  const char *under = getenv("CPUCYCLES_TEST_UNDER");

  return under && strcmp(under, tool) == 0;
}

/* Each system defines suite_forbidden_page(), which returns a page without access; suite_mkdir();
   suite_print(), which prints on the console, or on Windows on standard output; suite_run(), which
   runs each test in its own process; and suite_must_print_totals(), which returns 1 if suite_main()
   must print the totals. */
#ifndef CPUCYCLES_POSIX
#include "tests/suites/suite-windows.h"
#else

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int suite_mkdir(const char *path)
{
  return mkdir(path, 0777);
}

/* Returns the descriptor of the console. The test harness of Automake redirects standard output to
   a log, and opens descriptor 9 for the console. */
static inline int suite_console(void)
{
  return dup2(9, 9) == 9 ? 9 : 1;
}

#define suite_print(...) dprintf(suite_console(), __VA_ARGS__)

/* Returns 0 if Check has already printed the totals on standard output. */
static inline int suite_must_print_totals(void)
{
  return suite_console() != 1;
}

static inline volatile char *suite_forbidden_page(void)
{
  void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
    0);

  ck_assert_ptr_ne(page, MAP_FAILED);
  return page;
}

/* Returns the signal of a fault, for a test that sends it without a fault. qemu treats most such
   signals as faults of its own, so they can end qemu, and qemu does not restart system calls after
   them. SIGSYS is safe. */
static inline int suite_fault_to_send(int usual)
{
  return suite_under("qemu") ? SIGSYS : usual;
}

/* Runs the tests. Check forks for each test. */
static inline struct suite_totals suite_run(const char *name, SRunner *runner)
{
  struct suite_totals totals = { 0, 0, 0 };
  TestResult **results;

  (void)name;
  srunner_run_all(runner, CK_ENV);
  results = srunner_results(runner);
  for (; totals.ran < srunner_ntests_run(runner); totals.ran++) {
    totals.failures += tr_rtype(results[totals.ran]) == CK_FAILURE;
    totals.errors += tr_rtype(results[totals.ran]) == CK_ERROR;
  }
  free(results);
  return totals;
}

#endif

/* Reads a byte. Tests that fault on purpose read with this function, which valgrind.supp names.
   The variable keeps the read from being the first instruction, which valgrind would attribute to
   the caller. */
__attribute__((noinline, unused)) static char suite_read(volatile char *byte)
{
  volatile char *volatile address = byte;

  return *address;
}

/* Reports that a part of a promise cannot be tested here, and why. The test continues. The reason
   begins with the part in parentheses: "(SIGILL)". */
__attribute__((format(printf, 1, 2))) static inline void skip_part(const char *format, ...)
{
  char reason[300];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  suite_print("skipped: %s: %s\n", suite_test_name, reason);
}

/* Ends the test if its promise cannot be tested here, and reports why: SKIP_IF(condition, reason).
   The reason is a format, which may have arguments. A helper of a test may use SKIP_IF() if it runs
   in the process and thread of the test. */
#define SKIP_IF(condition, ...) \
  do { \
    if (condition) { \
      skip_part(__VA_ARGS__); \
      suite_end_test(); \
    } \
  } while (0)

static inline _Noreturn void suite_end_test(void)
{
  if (suite_after)
    suite_after();
  exit(EXIT_SUCCESS);
}

/* SUITE_SANITIZED is 1 if a sanitizer manages the memory of this program and checks each access. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) \
  || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) \
  || __has_feature(thread_sanitizer)
enum { SUITE_SANITIZED = 1 };
#else
enum { SUITE_SANITIZED = 0 };
#endif

/* Skips a test that needs a measurement of a millisecond. Uses the smallest of many steps of the
   clock, because a busy machine lengthens some steps. */
static inline void skip_where_the_clock_steps_are_long(void)
{
  struct timeval before, now;
  long long least = 1000000, step;
  int i;

  gettimeofday(&before, NULL);
  for (i = 0; i < 1000; i++) {
    gettimeofday(&now, NULL);
    step = (now.tv_sec - before.tv_sec) * 1000000LL + now.tv_usec - before.tv_usec;
    least = step > 0 && step < least ? step : least;
    before = now;
  }
  SKIP_IF(least > 2,
    "the clock advances in steps of more than 2 us, too coarse or slow for measurements");
}

/* Repeats a test that searches for a race or a rare case:
   struct suite_repeat repeat = suite_repeat(1000);
   while (suite_again(&repeat)) ...
   The loop ends after this number of rounds, or after CPUCYCLES_TEST_MS milliseconds (0: no limit),
   whichever is first, but not before the first round. */
struct suite_repeat {
  long rounds, begun; /* begun: rounds that have begun */
  long limit;         /* milliseconds; 0: none */
  struct timeval begin;
};

static inline long suite_limit(void)
{
  const char *limit = getenv("CPUCYCLES_TEST_MS");

  return limit ? atol(limit) : 100;
}

static inline struct suite_repeat suite_repeat(long rounds)
{
  struct suite_repeat repeat = { rounds, 0, suite_limit(), { 0, 0 } };

  gettimeofday(&repeat.begin, NULL);
  return repeat;
}

/* Repeats a test that needs one undisturbed attempt, up to this number of times. The time does not
   limit the attempts, because a slow host needs the most attempts. */
static inline struct suite_repeat suite_retry(long attempts)
{
  return (struct suite_repeat) { attempts, 0, 0, { 0, 0 } };
}

static inline long suite_elapsed(const struct timeval *begin) /* milliseconds */
{
  struct timeval now;

  gettimeofday(&now, NULL);
  return (long)(now.tv_sec - begin->tv_sec) * 1000 + (long)(now.tv_usec - begin->tv_usec) / 1000;
}

static inline int suite_again(struct suite_repeat *repeat)
{
  if (repeat->begun > 0
    && (repeat->begun >= repeat->rounds
      || (repeat->limit > 0 && suite_elapsed(&repeat->begin) >= repeat->limit)))
    return 0;
  repeat->begun++;
  return 1;
}

/* A test: TEST(name) { ... }. TEST_LOOP(name, count) runs its body this number of times, with _i
   from 0. */
#define TEST(name) TEST_LOOP(name, 1)
#define TEST_LOOP(name, count) \
  static void name##_body(int _i); \
  START_TEST(name) \
  { \
    suite_test_name = #name; \
    name##_body(_i); \
  } \
  END_TEST \
  static void name##_add(TCase *tests) \
  { \
    tcase_add_loop_test(tests, name, 0, (int)(count)); \
  } \
  __attribute__((constructor)) static void name##_register(void) \
  { \
    static struct suite_test test = { name##_add, NULL }; \
\
    suite_register(&test); \
  } \
  static void name##_body(int _i __attribute__((unused)))

/* The only test of a suite whose subject is not built here. */
#define SUITE_WITHOUT(subject, reason) \
  TEST(subject) \
  { \
    SKIP_IF(1, reason); \
  }

/* The name of a suite, once per suite. before() runs in the process of each test before the test,
   and after() after it, unless the test fails. They may be NULL. */
#define SUITE(name) SUITE_AROUND(name, NULL, NULL)
#define SUITE_AROUND(name, before, after) \
  int main(void) \
  { \
    return suite_main(name, before, after); \
  }

static inline void suite_register(struct suite_test *test)
{
  *suite_end = test;
  suite_end = &test->next;
}

/* Runs the tests. Returns the exit status for main(). */
static inline int suite_main(const char *name, void (*before)(void), void (*after)(void))
{
  Suite *suite = suite_create(name);
  TCase *tests = tcase_create(name);
  SRunner *runner = srunner_create(suite);
  const struct suite_test *test;
  struct suite_totals totals;
  struct timeval begin;
  int ran, failed;
  long taken;

  gettimeofday(&begin, NULL);
  suite_after = after;
  tcase_set_timeout(tests, 300);
#ifndef CPUCYCLES_POSIX
  tcase_add_checked_fixture(tests, suite_begin_test, NULL);
#endif
  tcase_add_checked_fixture(tests, before, after);
  for (test = suite_tests; test; test = test->next)
    test->add(tests);
  suite_add_tcase(suite, tests);
  totals = suite_run(name, runner);
  srunner_free(runner);
  taken = suite_elapsed(&begin);
  ran = totals.ran;
  failed = totals.failures + totals.errors;
  if (suite_must_print_totals()) {
    suite_print("Running suite(s): %s\n%d%%: Checks: %d, Failures: %d, Errors: %d\n", name,
      ran ? 100 * (ran - failed) / ran : 0, ran, totals.failures, totals.errors);
    suite_print("%ld.%ld s: %s\n", taken / 1000, taken / 100 % 10, name);
  }
  return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
