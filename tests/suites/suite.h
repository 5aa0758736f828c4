/* SPDX-License-Identifier: 0BSD OR MIT */
/* Shared by all suites: runs a suite, prints its totals on the console, reports skipped tests.
   Each test runs in its own process, in which the library has not been called yet. */

#ifndef CPUCYCLES_SUITE_H
#define CPUCYCLES_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

struct suite_totals {
  int ran, failures, errors;
};

/* Does this run use the named tool? */
static inline int suite_under(const char *tool)
{
  const char *under = getenv("CPUCYCLES_TEST_UNDER");

  return under && strcmp(under, tool) == 0;
}

/* Each kind of system defines suite_forbidden_page(), a page without access; suite_print(), for
   messages on the console; and suite_run(), which gives each test its process. */
#ifdef CPUCYCLES_POSIX
#include "tests/suites/suite-posix.h"
#else
#include "tests/suites/suite-windows.h"
#endif

/* Reports a promise that cannot be tested here, with the reason. The caller returns. */
static inline void skip(const char *test, const char *why)
{
  suite_print("skipped: %s: %s\n", test, why);
}

/* Does a sanitizer own the memory of this program? Its code checks each access, too. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SUITE_SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) \
  || __has_feature(thread_sanitizer)
enum { SUITE_SANITIZED = 1 };
#else
enum { SUITE_SANITIZED = 0 };
#endif
#else
enum { SUITE_SANITIZED = 0 };
#endif

/* Skips a test that the tool cannot run as the system does. Returns 1 if it is skipped. */
static inline int skip_under(const char *tool, const char *test, const char *why)
{
  if (!suite_under(tool))
    return 0;
  skip(test, why);
  return 1;
}

/* Likewise, for a test whose signal handler uses thread-local storage while there are other
   threads. qemu's i386 has one table of segments for all threads, and a handler gets the segment
   of the thread created last. */
static inline int skip_where_handlers_find_another_thread(const char *test)
{
#ifdef __i386__
  return skip_under("qemu", test,
    "in qemu's i386, a handler finds the variables of another thread");
#else
  (void)test;
  return 0;
#endif
}

/* Likewise, for a test that forks while another thread may open a file. */
static inline int skip_where_fork_may_deadlock(const char *test)
{
#if defined(__linux__) && !defined(__GLIBC__)
  skip(test, "in musl before 1.2.4, a child waits for ever for pthread_key_create() in another "
             "thread of its parent");
  return 1;
#endif
  return skip_under("qemu", test,
    "a child that is forked while another thread opens a file waits for qemu's own lock, for ever");
}

/* Likewise, for a test that needs a measurement of a millisecond. Of many reads of the clock the
   cheapest counts, since a busy machine lengthens others. */
static inline int skip_where_the_clock_is_slow(const char *test)
{
  struct timeval before, now;
  long long least = 1000000, taken;
  int i;

  gettimeofday(&before, NULL);
  for (i = 0; i < 1000; i++) {
    gettimeofday(&now, NULL);
    taken = (now.tv_sec - before.tv_sec) * 1000000LL + now.tv_usec - before.tv_usec;
    least = taken < least ? taken : least;
    before = now;
  }
  if (least <= 2)
    return 0;
  skip(test, "a read of the clock takes more than 2 us here: too long to measure by");
  return 1;
}

/* Likewise, for a test that loads a library; `error` is dlerror()'s text. musl loads none into a
   static program. */
static inline int skip_without_dlopen(const char *test, const char *error)
{
  if (strcmp(error, "Dynamic loading not supported") != 0)
    return 0;
  skip(test, "this C library loads nothing into a static program");
  return 1;
}

/* Number of repetitions for a test that looks for a race. Slow environments set it lower. */
static inline int suite_runs(int usual)
{
  const char *runs = getenv("CPUCYCLES_TEST_RUNS");
  int wanted = runs ? atoi(runs) : 0;

  return wanted > 0 && wanted < usual ? wanted : usual;
}

/* Defines the add() of a suite whose subject is not built here. */
#define SUITE_WITHOUT(subject, why) \
  START_TEST(subject) \
  { \
    skip(#subject, why); \
  } \
  END_TEST \
  static void add(TCase *tests) \
  { \
    tcase_add_test(tests, subject); \
  }

/* Runs the tests that add() adds. Returns main's status. */
static inline int suite_main(const char *name, void (*add)(TCase *tests))
{
  struct suite_totals totals = suite_run(name, add);
  int ran = totals.ran, failed = totals.failures + totals.errors;

  if (suite_must_print_totals())
    suite_print("Running suite(s): %s\n%d%%: Checks: %d, Failures: %d, Errors: %d\n", name,
      ran ? 100 * (ran - failed) / ran : 0, ran, totals.failures, totals.errors);
  return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
