/* SPDX-License-Identifier: 0BSD OR MIT */
/* What every suite shares: running, saying the totals where they are seen, skipping aloud. Each
   test runs in a process of its own, in which the library has not been called yet. */

#ifndef CPUCYCLES_SUITE_H
#define CPUCYCLES_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct suite_totals {
  int ran, failures, errors;
};

/* Is this a run under the named tool? */
static inline int suite_under(const char *tool)
{
  const char *under = getenv("CPUCYCLES_TEST_UNDER");

  return under && strcmp(under, tool) == 0;
}

/* Of each kind of system: a page that nobody may read, saying what should be seen, and suite_run(),
   by which each test gets its process. */
#ifdef CPUCYCLES_POSIX
#include "tests/suites/suite-posix.h"
#else
#include "tests/suites/suite-windows.h"
#endif

/* For a promise that cannot be tested here: says which and why. The caller returns. */
static inline void skip(const char *test, const char *why)
{
  suite_say("skipped: %s: %s\n", test, why);
}

/* Has a sanitizer taken over the memory of this program? Its code looks at each access, too. */
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

/* The same, for a test that the tool cannot run as the system does: then it is skipped. */
static inline int skip_under(const char *tool, const char *test, const char *why)
{
  if (!suite_under(tool))
    return 0;
  skip(test, why);
  return 1;
}

/* The same, for a test in which the handler of a signal reads what its thread owns while there
   are other threads. qemu's i386 has one table of segments for all threads, and a handler gets
   that of the thread created last. */
static inline int skip_where_handlers_lose_their_thread(const char *test)
{
#ifdef __i386__
  return skip_under("qemu", test,
    "in qemu's i386, a handler finds the variables of another thread");
#else
  (void)test;
  return 0;
#endif
}

/* The same, for a test that forks while another thread may be opening a file. */
static inline int skip_where_forks_keep_locks(const char *test)
{
#if defined(__linux__) && !defined(__GLIBC__)
  skip(test, "in musl before 1.2.4, a child waits for ever for pthread_key_create() in another "
             "thread of its parent");
  return 1;
#endif
  return skip_under("qemu", test,
    "a child that is forked while another thread opens a file waits for qemu's own lock, for ever");
}

/* The same, for a test that loads a library, and what dlerror() says then: musl loads none into a
   static program. */
static inline int skip_where_nothing_loads(const char *test, const char *error)
{
  if (strcmp(error, "Dynamic loading not supported") != 0)
    return 0;
  skip(test, "this C library loads nothing into a static program");
  return 1;
}

/* How often to repeat what a race would have to be caught by; slow environments set it lower. */
static inline int suite_runs(int usual)
{
  const char *runs = getenv("CPUCYCLES_TEST_RUNS");
  int wanted = runs ? atoi(runs) : 0;

  return wanted > 0 && wanted < usual ? wanted : usual;
}

/* The add() of a suite whose subject is not built here. */
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
  int ran = totals.ran, bad = totals.failures + totals.errors;

  if (suite_totals_are_to_be_said())
    suite_say("Running suite(s): %s\n%d%%: Checks: %d, Failures: %d, Errors: %d\n", name,
      ran ? 100 * (ran - bad) / ran : 0, ran, totals.failures, totals.errors);
  return ran > 0 && bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
