/* SPDX-License-Identifier: 0BSD OR MIT */
/* What every suite shares: running, saying the totals where they are seen, skipping aloud. Each test runs in
   a process of its own (Check forks), in which the library has not been called yet. */

#ifndef CPUCYCLES_SUITE_H
#define CPUCYCLES_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Automake's harness sends standard output to a log, and gives descriptor 9 for what should be seen. */
static inline int suite_console(void)
{
  return dup2(9, 9) == 9 ? 9 : 1;
}

/* For a promise that cannot be tested here: says which and why. The caller returns. */
static inline void skip(const char *test, const char *why)
{
  dprintf(suite_console(), "skipped: %s: %s\n", test, why);
}

/* Is this a run under the named tool? */
static inline int suite_under(const char *tool)
{
  const char *under = getenv("CPUCYCLES_TEST_UNDER");

  return under && strcmp(under, tool) == 0;
}

/* The same, for a test that the tool cannot run as the system does: then it is skipped. */
static inline int skip_under(const char *tool, const char *test, const char *why)
{
  if (!suite_under(tool))
    return 0;
  skip(test, why);
  return 1;
}

/* How often to repeat what a race would have to be caught by; slow environments set it lower. */
static inline int suite_runs(int usual)
{
  const char *runs = getenv("CPUCYCLES_TEST_RUNS");
  int wanted = runs ? atoi(runs) : 0;

  return wanted > 0 && wanted < usual ? wanted : usual;
}

/* Runs the tests that add() adds. Returns main's status. */
static inline int suite_main(const char *name, void (*add)(TCase *tests))
{
  Suite *suite = suite_create(name);
  TCase *tests = tcase_create(name);
  SRunner *runner = srunner_create(suite);
  TestResult **results;
  int i, ran, failures = 0, errors = 0;

  tcase_set_timeout(tests, 300);
  add(tests);
  suite_add_tcase(suite, tests);
  srunner_run_all(runner, CK_ENV);
  ran = srunner_ntests_run(runner);
  results = srunner_results(runner);
  for (i = 0; i < ran; i++) {
    failures += tr_rtype(results[i]) == CK_FAILURE;
    errors += tr_rtype(results[i]) == CK_ERROR;
  }
  free(results);
  if (suite_console() != 1) /* else Check's own line has been seen */
    dprintf(suite_console(), "Running suite(s): %s\n%d%%: Checks: %d, Failures: %d, Errors: %d\n", name,
      ran ? 100 * (ran - failures - errors) / ran : 0, ran, failures, errors);
  srunner_free(runner);
  return ran > 0 && failures + errors == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
