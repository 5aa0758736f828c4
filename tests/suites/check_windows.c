/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests, on Windows, the fault guard, which catches every fault of the guarded body and no other
   fault; the answers of the functions; and the clocks. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "sys/os-clock.h"

#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <sys/time.h>

static volatile char *volatile forbidden; /* volatile, because handlers read it */

BODY(read_page, (void)*forbidden)
BODY(run_trap, __builtin_trap())
#if defined(__i386__) || defined(__x86_64__)
BODY(run_privileged, __asm__ volatile("hlt"))

static void divide_by_zero(void *unused)
{
  unsigned int low = 1, high = 0;

  (void)unused;
  __asm__ volatile("divl %2" : "+a"(low), "+d"(high) : "r"(0));
}
#endif

static const struct {
  void (*body)(void *unused);
  int signal;
} faults[] = {
  { read_page, SIGSEGV },
  { run_trap, SIGILL },
#if defined(__i386__) || defined(__x86_64__)
  { run_privileged, SIGILL },
  { divide_by_zero, SIGFPE },
#endif
};

TEST_LOOP(fault_ends_the_body_and_its_signal_is_returned, sizeof faults / sizeof faults[0])
{
  int i, done = 0;

  forbidden = suite_forbidden_page();
  enter_guard();
  for (i = 0; i < 100; i++)
    ck_assert_int_eq(cpuc_guard_run(faults[_i].body, NULL), faults[_i].signal);
  ck_assert_int_eq(cpuc_guard_run(set_done, &done), 0);
  ck_assert_int_eq(done, 1);
  leave_guard();
}

#ifdef __x86_64__

/* Changes most callee-saved registers, and faults before it would restore them. */
static void spoil_registers(void *unused)
{
  (void)unused;
  __asm__ volatile("xor %%ebx, %%ebx\n\txor %%esi, %%esi\n\txor %%edi, %%edi\n\t"
                   "xor %%r12d, %%r12d\n\txor %%r13d, %%r13d\n\txor %%r14d, %%r14d\n\t"
                   "xor %%r15d, %%r15d\n\tpxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\t"
                   "pxor %%xmm8, %%xmm8\n\tpxor %%xmm9, %%xmm9\n\tud2"
                   :
                   :
                   : "rbx", "rsi", "rdi", "r12", "r13", "r14", "r15", "xmm6", "xmm7", "xmm8",
                   "xmm9");
}

TEST(fault_leaves_the_registers_of_the_caller)
{
  volatile int one = 1;
  volatile double half = 0.5;
  long a = one, b = 2 * one, c = 3 * one, d = 4 * one, e = 5 * one, f = 6 * one, caught;
  double u = half, v = 3 * half, w = 5 * half;

  enter_guard();
  caught = cpuc_guard_run(spoil_registers, NULL);
  leave_guard();
  ck_assert_int_eq(caught, SIGILL);
  ck_assert_int_eq(a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f, 654321);
  ck_assert(u + 10 * v + 100 * w == 265.5);
}

#endif

/* Number of faults that the program's handlers found. */
static volatile LONG faults_seen;

static LONG CALLBACK make_readable(EXCEPTION_POINTERS *exception)
{
  DWORD before;

  if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION)
    return EXCEPTION_CONTINUE_SEARCH;
  faults_seen++;
  VirtualProtect((void *)forbidden, 4096, PAGE_READONLY, &before);
  return EXCEPTION_CONTINUE_EXECUTION;
}

static DWORD CALLBACK read_in_thread(void *unused)
{
  read_page(unused);
  return 1;
}

static void let_another_thread_read(void *status)
{
  HANDLE thread = CreateThread(NULL, 0, read_in_thread, NULL, 0, NULL);

  WaitForSingleObject(thread, INFINITE);
  GetExitCodeThread(thread, status);
  CloseHandle(thread);
}

/* The handler is the first one of the program. */
TEST(only_faults_of_the_body_are_hidden_from_the_program)
{
  void *handler = AddVectoredExceptionHandler(1, make_readable);
  DWORD status = 0;

  forbidden = suite_forbidden_page();
  enter_guard();
  ck_assert_int_eq(cpuc_guard_run(read_page, NULL), SIGSEGV);
  ck_assert_int_eq(faults_seen, 0);
  ck_assert_int_eq(cpuc_guard_run(let_another_thread_read, &status), 0);
  ck_assert_int_eq(status, 1);
  ck_assert_int_eq(faults_seen, 1);
  forbidden = suite_forbidden_page();
  read_page(NULL);
  ck_assert_int_eq(faults_seen, 2);
  leave_guard();
  forbidden = suite_forbidden_page();
  read_page(NULL);
  ck_assert_int_eq(faults_seen, 3);
  RemoveVectoredExceptionHandler(handler);
}

static LONG CALLBACK end_thread(EXCEPTION_POINTERS *exception)
{
  (void)exception;
  faults_seen++;
  ExitThread(2);
}

TEST(unhandled_fault_reaches_the_last_filter)
{
  DWORD status = 0;

  forbidden = suite_forbidden_page();
  SetUnhandledExceptionFilter(end_thread);
  enter_guard();
  ck_assert_int_eq(cpuc_guard_run(let_another_thread_read, &status), 0);
  leave_guard();
  ck_assert_int_eq(status, 2);
  ck_assert_int_eq(faults_seen, 1);
}

TEST(every_function_answers_and_the_clocks_of_the_system_work)
{
  const struct cpucycles_counter_info *counter;
  int i, working = 0;

  ck_assert_int_eq(check_every_answer(), 0);
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    working += counter->state != CPUCYCLES_DROPPED
      && (strcmp(counter->name, "default-windows") == 0
        || strcmp(counter->name, "default-gettimeofday") == 0);
  ck_assert_int_eq(working, 2);
}

TEST(clocks_agree_with_the_systems_own)
{
  struct timeval before, after;
  long long wall, monotonic, elapsed;
  struct suite_repeat retry = suite_retry(20); /* other processes may run between two reads */
  int agree = 0;

  gettimeofday(&before, NULL);
  wall = cpuc_os_clock_wall_microseconds();
  gettimeofday(&after, NULL);
  /* the steps of the two clocks differ by up to 16 ms */
  ck_assert_int_ge(wall, before.tv_sec * 1000000LL + before.tv_usec - 16000);
  ck_assert_int_le(wall, after.tv_sec * 1000000LL + after.tv_usec + 16000);
  while (!agree && suite_again(&retry)) {
    DWORD begin = GetTickCount();

    wall = cpuc_os_clock_wall_microseconds();
    monotonic = cpuc_os_clock_monotonic();
    Sleep(500);
    elapsed = (GetTickCount() - begin) * 1000000LL;
    monotonic = cpuc_os_clock_monotonic() - monotonic;
    wall = (cpuc_os_clock_wall_microseconds() - wall) * 1000;
    /* within a tenth, because GetTickCount() advances in steps of up to 16 ms */
    agree = llabs(monotonic - elapsed) < elapsed / 10 && llabs(wall - elapsed) < elapsed / 10;
  }
  ck_assert(agree);
}

SUITE("windows")
