/* SPDX-License-Identifier: 0BSD OR MIT */
/* The Windows part of suite.h. Windows has no fork(), so the program starts itself again for each
   test, and passes the number of the test in an environment variable. */

#ifndef CPUCYCLES_SUITE_WINDOWS_H
#define CPUCYCLES_SUITE_WINDOWS_H

#include <direct.h>
#include <io.h>
#include <pthread.h> /* that of Check; the library does not use it */

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Directories have no modes on Windows. */
#define mkdir(path, mode) _mkdir(path)

static inline char *mkdtemp(char *name)
{
  return _mktemp(name) && _mkdir(name) == 0 ? name : NULL;
}

#define SUITE_NUMBER "CPUCYCLES_TEST_NUMBER"

enum { SUITE_SIZE = 128, SUITE_TIMEOUT = 60 * 1000 /* milliseconds */ };

static struct {
  const TTest *tests[SUITE_SIZE];
  int count;
} suite_list;

/* Prints on standard output, because children reliably inherit only the three standard streams. */
#define suite_print(...) (printf(__VA_ARGS__), fflush(stdout))

/* Returns the number of the test that this process runs, or -1 if it starts the others. */
static inline int suite_test_number(void)
{
  const char *number = getenv(SUITE_NUMBER);

  return number ? atoi(number) : -1;
}

static inline int suite_must_print_totals(void)
{
  return suite_test_number() < 0;
}

static inline void suite_add(TCase *tests, const TTest *test)
{
  (void)tests;
  if (suite_list.count < SUITE_SIZE)
    suite_list.tests[suite_list.count++] = test;
}

static inline void suite_add_to_check(TCase *tests, const TTest *test)
{
  tcase_add_test(tests, test);
}

#undef tcase_add_test
#define tcase_add_test suite_add

static inline volatile char *suite_forbidden_page(void)
{
  void *page = VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);

  ck_assert_ptr_nonnull(page);
  return page;
}

/* Runs one test in this process. */
static inline struct suite_totals suite_run_one(const TTest *test)
{
  struct suite_totals totals = { 1, 0, 0 };
  Suite *suite = suite_create(test->name);
  TCase *tests = tcase_create(test->name);
  SRunner *runner = srunner_create(suite);
  TestResult **results;

  suite_add_to_check(tests, test);
  suite_add_tcase(suite, tests);
  srunner_run_all(runner, CK_SILENT);
  results = srunner_results(runner);
  if (tr_rtype(results[0]) != CK_PASS) {
    totals.failures = 1;
    printf("%s:%d: %s: %s\n", tr_lfile(results[0]), tr_lno(results[0]), test->name,
      tr_msg(results[0]));
  }
  free(results);
  srunner_free(runner);
  return totals;
}

/* Starts this program again. Returns its exit status, or the exception that ended it. */
static inline DWORD suite_start(int number)
{
  char program[MAX_PATH], number_text[16];
  STARTUPINFOA startup = { .cb = sizeof startup };
  PROCESS_INFORMATION started;
  DWORD status = EXIT_FAILURE;
  int tries = 10;

  GetModuleFileNameA(NULL, program, sizeof program);
  snprintf(number_text, sizeof number_text, "%d", number);
  SetEnvironmentVariableA(SUITE_NUMBER, number_text);
  fflush(stdout);
  /* Tries again, because Wine 8 fails to start about one process of 10,000, with
     ERROR_INTERNAL_ERROR. */
  while (!CreateProcessA(program, NULL, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &started)) {
    if (--tries == 0)
      return GetLastError();
    Sleep(100);
  }
  if (WaitForSingleObject(started.hProcess, SUITE_TIMEOUT) != WAIT_OBJECT_0)
    TerminateProcess(started.hProcess, WAIT_TIMEOUT);
  WaitForSingleObject(started.hProcess, INFINITE);
  GetExitCodeProcess(started.hProcess, &status);
  CloseHandle(started.hThread);
  CloseHandle(started.hProcess);
  return status;
}

static inline struct suite_totals suite_run(const char *name, void (*add)(TCase *tests))
{
  struct suite_totals totals = { 0, 0, 0 };
  int number = suite_test_number();

  (void)name;
  add(NULL);
  if (number >= 0 && number < suite_list.count)
    return suite_run_one(suite_list.tests[number]);
  /* Disables dialogs, which no user can answer. */
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
  for (; totals.ran < suite_list.count; totals.ran++) {
    DWORD status = suite_start(totals.ran);

    totals.failures += status == EXIT_FAILURE;
    totals.errors += status != EXIT_FAILURE && status != EXIT_SUCCESS;
    if (status != EXIT_SUCCESS && status != EXIT_FAILURE)
      printf("%s: ended by %#lx\n", suite_list.tests[totals.ran]->name, status);
  }
  SetEnvironmentVariableA(SUITE_NUMBER, NULL);
  return totals;
}

#endif
