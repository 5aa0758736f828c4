/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the first call where the system refuses common resources (memory, descriptors, files) and
   in hostile environments. Each case runs in processes that have not called the library yet.
   check_first_call.c has the other tests of the first call. */

#include "config.h"

#include "include/cpucycles.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

extern char **environ;

/* Skips a test that refuses memory, under tools that need memory of their own. */
static void skip_where_tools_need_memory(void)
{
  SKIP_IF(SUITE_SANITIZED, "the sanitizer needs memory of its own");
  SKIP_IF(suite_under("valgrind"), "valgrind needs memory of its own");
  SKIP_IF(suite_under("qemu"), "qemu needs memory of its own");
}

enum { IMPOSSIBLE = 100 };

/* Expects each answer in the child, or skips the test if body() returns IMPOSSIBLE. */
static void expect_every_answer(int (*body)(void), const char *reason)
{
  int result = result_in_child(body);

  SKIP_IF(result == IMPOSSIBLE, "%s", reason);
  ck_assert_int_eq(result, 0);
}

/* Descriptors. */

static int limit_to_three_descriptors(void)
{
  struct rlimit three = { 3, 3 };
  int i;

  for (i = 0; i < 3; i++)
    if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
      return 1;
  return setrlimit(RLIMIT_NOFILE, &three) != 0 || open("/dev/null", O_RDWR) >= 0 || errno != EMFILE;
}

static int call_with_three_descriptors(void)
{
  return limit_to_three_descriptors() ? IMPOSSIBLE : check_every_answer();
}

TEST(first_call_works_without_a_free_descriptor)
{
  SKIP_IF(suite_under("valgrind"), "valgrind keeps descriptors for itself");
  expect_every_answer(call_with_three_descriptors,
    "this system does not limit the descriptors of a process");
}

/* Memory. */

static int page_is_refused(void)
{
  void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  return page == MAP_FAILED && errno == ENOMEM;
}

#ifndef RLIMIT_AS /* OpenBSD */
#define RLIMIT_AS RLIMIT_DATA
#endif

/* Volatile, because a compiler may leave out an unused allocation. */
static void *volatile allocated;

static int allocate(size_t size)
{
  allocated = malloc(size);
  return allocated != NULL;
}

/* Exhausts the C library's free memory first, so that malloc() fails from then on. */
static int call_without_memory(void)
{
  struct rlimit none = { 0, 0 };
  size_t size;

  if (setrlimit(RLIMIT_AS, &none) != 0)
    return IMPOSSIBLE;
  for (size = 65536; size > 0; size /= 2)
    while (allocate(size))
      ;
  if (!page_is_refused() || allocate(1))
    return IMPOSSIBLE;
  /* exit() may need memory */
  _exit(check_every_answer());
}

TEST(first_call_works_without_memory)
{
  skip_where_tools_need_memory();
  expect_every_answer(call_without_memory, "this system does not limit the memory of a process");
}

/* Files. */

static char empty_directory[] = "cpucycles-empty-XXXXXX";

static int enter_empty_root(void)
{
#ifdef CLONE_NEWUSER
  if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
    return 1;
#endif
  return chroot(empty_directory) != 0 || chdir("/") != 0;
}

static int call_in_an_empty_root(void)
{
  return enter_empty_root() ? IMPOSSIBLE : check_every_answer();
}

TEST(first_call_works_in_an_empty_root)
{
  int result;

  ck_assert_ptr_nonnull(mkdtemp(empty_directory));
  result = result_in_child(call_in_an_empty_root);
  rmdir(empty_directory);
  SKIP_IF(result == IMPOSSIBLE, "this user may not change the root");
  ck_assert_int_eq(result, 0);
}

/* The environment. */

static int call_without_an_environment(void)
{
  environ = NULL;
  return check_every_answer();
}

TEST(first_call_works_without_an_environment)
{
  in_child_process(call_without_an_environment);
}

/* Signals. */

static volatile int alarms;
static volatile long long count_in_handler;

/* Where a signal takes as long as the timer's period, the program would make no progress. So the
   handler stops the timer after 1000 signals. */
static void read_at_the_timer(int signal)
{
  const struct itimerval never = { { 0, 0 }, { 0, 0 } };

  (void)signal;
  count_in_handler = cpucycles();
  if (++alarms == 1000)
    setitimer(ITIMER_REAL, &never, NULL);
}

/* Calls every function that check_every_answer() calls. System calls are not restarted. */
static int call_all_under_a_fast_timer(void)
{
  struct itimerval often = { { 0, 10 }, { 0, 10 } }, never = { { 0, 0 }, { 0, 0 } };
  struct sigaction action;
  int failed_step, i;

  memset(&action, 0, sizeof action);
  action.sa_handler = read_at_the_timer;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  failed_step = check_every_answer();
  for (i = 0; i < 1000 && !failed_step && alarms == 0; i++)
    failed_step = check_every_answer();
  setitimer(ITIMER_REAL, &never, NULL);
  return failed_step ? failed_step : alarms == 0 ? 20 : 0;
}

TEST(every_function_but_tracesetup_survives_a_timer_of_10_us)
{
  struct suite_repeat repeat = suite_repeat(20);

  skip_unless_handlers_are_aligned();
  while (suite_again(&repeat))
    in_child_process(call_all_under_a_fast_timer);
}

/* The stack. */

static void *call_all(void *failed_step)
{
  *(int *)failed_step = check_every_answer();
  cpucycles_tracesetup();
  return NULL;
}

static int call_all_on_a_small_stack(void)
{
  int failed_step = 20;

  if (!freopen("/dev/null", "w", stdout)) /* for cpucycles_tracesetup() */
    return 22;
  return call_on_a_small_stack(call_all, &failed_step) == 0 ? failed_step : 21;
}

TEST(every_function_fits_on_the_smallest_stack)
{
  in_child_process(call_all_on_a_small_stack);
}

SUITE("resources")
