/* SPDX-License-Identifier: 0BSD OR MIT */
/* The Windows part of suite.h. Windows has no fork(), so the program starts itself again for each
   test, and passes the number of the test in an environment variable. */

#ifndef CPUCYCLES_SUITE_WINDOWS_H
#define CPUCYCLES_SUITE_WINDOWS_H

#include <direct.h>
#include <io.h>
#include <pthread.h> /* of MinGW's thread library, which Check needs and the library does not */

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

static inline int suite_mkdir(const char *path)
{
  return _mkdir(path);
}

static inline char *mkdtemp(char *name)
{
  return _mktemp(name) && _mkdir(name) == 0 ? name : NULL;
}

#define SUITE_NUMBER "CPUCYCLES_TEST_NUMBER"

enum { SUITE_TIMEOUT = 60 * 1000 /* milliseconds */ };

/* Prints on standard output, because children reliably inherit only the three standard streams. */
#define suite_print(...) (printf(__VA_ARGS__), fflush(stdout))

/* Returns the number of the test that this process runs, or -1 if this process starts the processes
   that run the tests. */
static inline int suite_test_number(void)
{
  const char *number = getenv(SUITE_NUMBER);

  return number ? atoi(number) : -1;
}

static inline int suite_must_print_totals(void)
{
  return suite_test_number() < 0;
}

static inline volatile char *suite_forbidden_page(void)
{
  void *page = VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);

  ck_assert_ptr_nonnull(page);
  return page;
}

static int suite_begun; /* tests that Check has begun in this process */

/* Check calls this function before each test, and does not run the test if the function fails. So a
   process runs only the test of its number, and the process that starts the others runs no test. */
static inline void suite_begin_test(void)
{
  ck_assert_int_eq(suite_begun++, suite_test_number());
}

/* Starts this program again. Returns its exit status, the exception that ended it, WAIT_TIMEOUT, or
   the error of Windows if it does not start. */
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

static inline struct suite_totals suite_run(const char *name, SRunner *runner)
{
  struct suite_totals totals = { 0, 0, 0 };
  int number = suite_test_number();
  TestResult **results;

  srunner_run_all(runner, CK_SILENT);
  if (number >= 0) {
    results = srunner_results(runner);
    totals.ran = 1;
    totals.failures = tr_rtype(results[number]) != CK_PASS;
    if (totals.failures)
      printf("%s:%d: %s\n", tr_lfile(results[number]), tr_lno(results[number]),
        tr_msg(results[number]));
    free(results);
    return totals;
  }
  /* Disables dialogs, which no user can answer. */
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
  for (; totals.ran < suite_begun; totals.ran++) {
    DWORD status = suite_start(totals.ran);

    totals.failures += status == EXIT_FAILURE;
    totals.errors += status != EXIT_FAILURE && status != EXIT_SUCCESS;
    if (status != EXIT_SUCCESS && status != EXIT_FAILURE)
      printf("%s: test %d, counted from 0, ended by %#lx\n", name, totals.ran, status);
  }
  SetEnvironmentVariableA(SUITE_NUMBER, NULL);
  return totals;
}

#endif
