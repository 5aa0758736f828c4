/* SPDX-License-Identifier: 0BSD OR MIT */
/* The POSIX part of suite.h. */

#ifndef CPUCYCLES_SUITE_POSIX_H
#define CPUCYCLES_SUITE_POSIX_H

#include "tests/suites/posix.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef CPUCYCLES_TEST_COVERAGE
#include <gcov.h>
#endif

/* Ends a child that a test forked. In a coverage run, also stores the coverage of the child. */
static inline _Noreturn void suite_exit(int status)
{
#ifdef CPUCYCLES_TEST_COVERAGE
  __gcov_dump();
#endif
  _exit(status);
}

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
static inline struct suite_totals suite_run(const char *name, void (*before)(void))
{
  Suite *suite = suite_create(name);
  TCase *tests = tcase_create(name);
  SRunner *runner = srunner_create(suite);
  struct suite_totals totals = { 0, 0, 0 };
  const struct suite_test *test;
  TestResult **results;
  int i;

  tcase_set_timeout(tests, 300);
  tcase_add_checked_fixture(tests, before, suite_after);
  for (test = suite_tests; test; test = test->next)
    test->add(tests);
  suite_add_tcase(suite, tests);
  srunner_run_all(runner, CK_ENV);
  totals.ran = srunner_ntests_run(runner);
  results = srunner_results(runner);
  for (i = 0; i < totals.ran; i++) {
    totals.failures += tr_rtype(results[i]) == CK_FAILURE;
    totals.errors += tr_rtype(results[i]) == CK_ERROR;
  }
  free(results);
  srunner_free(runner);
  return totals;
}

#endif
