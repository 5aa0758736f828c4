/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the first call where the system refuses common resources (memory, descriptors, files) and
   in hostile environments, among them a floating-point environment that traps or rounds in another
   direction than to the nearest. Each case runs in processes that have not called the library yet.
   check_first_call.c has the other tests of the first call. */

#include "config.h"

#include "include/cpucycles.h"
#include "lib/scale.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

extern char **environ;

/* Resources. A function that refuses one returns 0, or another number if it cannot. */

static int refuse_descriptors(void)
{
  struct rlimit three = { 3, 3 };
  int i;

  for (i = 0; i < 3; i++)
    if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
      return 1;
  return setrlimit(RLIMIT_NOFILE, &three) != 0 || open("/dev/null", O_RDWR) >= 0 || errno != EMFILE;
}

#ifndef RLIMIT_AS /* OpenBSD */
#define RLIMIT_AS RLIMIT_DATA
#endif

/* Volatile, because a compiler may leave out an unused allocation. */
static void *volatile allocated;

/* Exhausts the C library's free memory, so that malloc() fails from then on. */
static int refuse_memory(void)
{
  struct rlimit none = { 0, 0 };
  size_t size;

  if (setrlimit(RLIMIT_AS, &none) != 0)
    return 1;
  for (size = 65536; size > 0; size /= 2)
    do
      allocated = malloc(size);
    while (allocated);
  return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static char empty_directory[] = "cpucycles-empty-XXXXXX";

static int refuse_files(void)
{
#ifdef CLONE_NEWUSER
  if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
    return 1;
#endif
  return chroot(empty_directory) != 0 || chdir("/") != 0;
}

static int refuse_an_environment(void)
{
  environ = NULL;
  return 0;
}

enum { DESCRIPTORS, MEMORY, FILES, ENVIRONMENT, RESOURCES, IMPOSSIBLE = 100 };

static int (*const refuse[RESOURCES])(void)
  = { refuse_descriptors, refuse_memory, refuse_files, refuse_an_environment };

static int refused;

static int call_without_the_resource(void)
{
  int result = refuse[refused]() != 0 ? IMPOSSIBLE : check_every_answer();

  if (refused == MEMORY)
    _exit(result); /* exit() may need memory */
  return result;
}

TEST_LOOP(first_call_works_without_descriptors_memory_files_or_an_environment, RESOURCES)
{
  int result;

  SKIP_IF((_i == DESCRIPTORS || _i == MEMORY) && suite_under("valgrind"),
    "valgrind needs descriptors and memory of its own");
  SKIP_IF(_i == MEMORY && (SUITE_SANITIZED || suite_under("qemu")),
    "the sanitizer or qemu needs memory of its own");
  ck_assert_ptr_nonnull(mkdtemp(empty_directory));
  refused = _i;
  result = result_in_child(call_without_the_resource);
  rmdir(empty_directory);
  SKIP_IF(result == IMPOSSIBLE, "this system or user cannot limit %s",
    _i == DESCRIPTORS ? "descriptors" : _i == MEMORY ? "memory" : "the root");
  ck_assert_int_eq(result, 0);
}

/* Signals. */

static volatile int alarms;
static volatile long long count_in_handler;

static const struct itimerval never, often = { { 0, 10 }, { 0, 10 } };

/* Where a signal takes as long as the timer's period, the program would make no progress. So the
   handler stops the timer after 1000 signals. */
static void read_at_the_timer(int signal)
{
  (void)signal;
  count_in_handler = cpucycles();
  if (++alarms == 1000)
    setitimer(ITIMER_REAL, &never, NULL);
}

/* Calls every function that check_every_answer() calls. System calls are not restarted. */
static int call_all_under_a_fast_timer(void)
{
  struct sigaction action = { .sa_handler = read_at_the_timer };
  int failed_step, i = 0;

  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  do
    failed_step = check_every_answer();
  while (!failed_step && alarms == 0 && ++i < 1000);
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
  *(int *)failed_step = cpucycles_core_ratio() < 0 ? 20 : check_every_answer();
  cpucycles_tracesetup();
  return NULL;
}

TEST(every_function_fits_on_the_smallest_stack)
{
  int failed_step = -1;

  ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout)); /* for cpucycles_tracesetup() */
  ck_assert_int_eq(call_on_a_small_stack(call_all, &failed_step), 0);
  ck_assert_int_eq(failed_step, 0);
}

/* The floating-point environment. */

/* Some systems do not define all of these macros, because a macro is missing where its rounding
   does not exist. */
static const int environments[] = {
  -1, /* to the nearest, and traps */
#ifdef FE_UPWARD
  FE_UPWARD,
#endif
#ifdef FE_DOWNWARD
  FE_DOWNWARD,
#endif
#ifdef FE_TOWARDZERO
  FE_TOWARDZERO,
#endif
};

static int tried;

/* Enters the environment that is tried. Returns 0 if this CPU and system have it. */
static int enter(void)
{
  if (tried >= 0)
    return fesetround(tried);
#ifdef __GLIBC__
  return feenableexcept(FE_ALL_EXCEPT) < 0;
#else
  return 1;
#endif
}

/* 0 if the rounding changes a result. If the inexact operations trap, SIGFPE ends the child. */
static int change_results(void)
{
  volatile double one = 1, part = 0x1p-60, above, below;

  if (enter() != 0)
    return 1;
  above = one + part;
  below = one - part;
  return above == 1 && below == 1;
}

enum { RATES = 7 };

static double expected[RATES][RATES];

/* The only floating-point arithmetic of the library. */
static void compute(double factors[RATES][RATES])
{
  static const long long rates[RATES] = { 1000, 999983, 24000000, 346153847, 2399987654,
    61234567891, 1000000000000 };
  int i, j;

  for (i = 0; i < RATES; i++)
    for (j = 0; j < RATES; j++)
      factors[i][j] = cpuc_scale_factor(cpuc_scale_from_to(rates[i], rates[j]));
}

static int call_and_compute(void)
{
  double factors[RATES][RATES];

  if (enter() != 0)
    return 20;
  compute(factors);
  if (memcmp(factors, expected, sizeof factors) != 0)
    return 21;
  cpucycles_tracesetup();
  return check_every_integer();
}

TEST_LOOP(traps_and_rounding_change_no_result, sizeof environments / sizeof environments[0])
{
  tried = environments[_i];
  skip_unless(change_results, tried < 0 ? -SIGFPE : 0,
    "floating-point exceptions are not trapped, or the rounding cannot be changed");
  compute(expected);
  in_child_process(call_and_compute);
}

SUITE("resources")
