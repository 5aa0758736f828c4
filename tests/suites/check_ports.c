/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the counters of other systems with fakes of the systems' functions, so that the code of the
   counters runs here and stays tested. The counters are compiled with the stub headers of
   tests/ports/counter-headers, which have only declarations from the systems' documentation.
   lib/reasons.c is also compiled with the stub headers, because they change the value of an errno.
   Neither the fakes nor the stub headers are installed. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/reasons.h"

#include "tests/suites/child.h"

#if defined(__APPLE__) || defined(_WIN32)

SUITE_WITHOUT(counters_of_other_systems, "a fake would replace this system's own functions")

#else

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <mach/mach_time.h>
#include <stdint.h>
#include <windows.h>

extern const struct cpuc_backend cpuc_backend_default_mach;
extern const struct cpuc_backend cpuc_backend_default_selfcounts;
extern const struct cpuc_backend cpuc_backend_default_windows;

/* default-mach and default-windows */

static uint64_t count_now;
static long long reported[2]; /* macOS: nanoseconds per unit, as a fraction; Windows: Hz */
static int is_unreported;

uint64_t mach_absolute_time(void)
{
  return count_now;
}

kern_return_t mach_timebase_info(mach_timebase_info_data_t *info)
{
  info->numer = (uint32_t)reported[0];
  info->denom = (uint32_t)reported[1];
  return is_unreported;
}

BOOL QueryPerformanceCounter(LARGE_INTEGER *count)
{
  count->QuadPart = (long long)count_now;
  return 1;
}

BOOL QueryPerformanceFrequency(LARGE_INTEGER *hz)
{
  hz->QuadPart = reported[0];
  return !is_unreported;
}

static const struct {
  const struct cpuc_backend *clock;
  long long reported[2];
  int is_unreported;
  long long hz; /* 0: no rate */
} clocks[] = {
  { &cpuc_backend_default_mach, { 125, 3 }, 0, 24000000 },                /* Apple Silicon */
  { &cpuc_backend_default_mach, { 1, 1 }, 0, 1000000000 },                /* Intel, Rosetta */
  { &cpuc_backend_default_mach, { 1000000000, 33333335 }, 0, 33333335 },  /* PowerPC */
  { &cpuc_backend_default_mach, { UINT32_MAX, UINT32_MAX }, 0, 1000000000 },
  { &cpuc_backend_default_mach, { 0, 1 }, 0, 0 },
  { &cpuc_backend_default_mach, { 1, 0 }, 0, 0 },
  { &cpuc_backend_default_mach, { UINT32_MAX, 1 }, 0, 0 }, /* below 1 Hz */
  { &cpuc_backend_default_mach, { 125, 3 }, 1, 0 },
  { &cpuc_backend_default_windows, { 10000000 }, 0, 10000000 },
  { &cpuc_backend_default_windows, { 3000000000 }, 0, 3000000000 },
  { &cpuc_backend_default_windows, { 0 }, 0, 0 },
  { &cpuc_backend_default_windows, { -1 }, 0, 0 },
  { &cpuc_backend_default_windows, { LLONG_MAX }, 0, 0 },
  { &cpuc_backend_default_windows, { 10000000 }, 1, 0 },
};

TEST_LOOP(reported_rate_of_a_clock_is_its_rate_if_plausible, sizeof clocks / sizeof clocks[0])
{
  memcpy(reported, clocks[_i].reported, sizeof reported);
  is_unreported = clocks[_i].is_unreported;
  ck_assert_int_eq(clocks[_i].clock->rate().hz, clocks[_i].hz);
}

/* default-selfcounts */

static int symbol_is_missing, selfcounts_error;
static uint64_t cycles_now;
static long long clock_now;
static void (*after_call)(void); /* like a signal handler that interrupts the read */

static long long read_fallback(void)
{
  return clock_now;
}

static enum cpuc_reason noted; /* the loss */

static void note_indirect_read(enum cpuc_reason reason)
{
  noted = reason;
}

static const struct cpuc_services offered
  = { .fallback = read_fallback, .note_indirect_read = note_indirect_read };

/* Accepts one kind, and exactly the size of the counts of this kind, like the kernel. */
static int fake_selfcounts(uint32_t kind, void *counts, size_t size)
{
  const uint64_t filled[2] = { 7, cycles_now }; /* instructions, cycles */

  if (kind != 1 || size != sizeof filled)
    selfcounts_error = EINVAL;
  if (selfcounts_error) {
    errno = selfcounts_error;
    return -1;
  }
  memcpy(counts, filled, sizeof filled);
  if (after_call)
    after_call();
  return 0;
}

void *dlsym(void *handle, const char *symbol)
{
  ck_assert_ptr_eq(handle, RTLD_DEFAULT);
  ck_assert_str_eq(symbol, "thread_selfcounts");
  return symbol_is_missing ? NULL : (void *)fake_selfcounts;
}

TEST_LOOP(counter_is_dropped_where_selfcounts_are_missing_or_refused, 3)
{
  static const struct {
    int symbol_is_missing, error, error_number;
    const char *reason;
  } rows[3] = {
    { 1, 0, ENOSYS, "absent" },        /* an older macOS */
    { 0, ENOTSUP, ENOTSUP, "absent" }, /* hardware without them */
    { 0, EPERM, EPERM, "refused" },
  };
  struct cpucycles_counter_info info = { .name = "default-selfcounts" };
  struct cpuc_diagnosis diagnosis = { 0 };

  symbol_is_missing = rows[_i].symbol_is_missing;
  selfcounts_error = rows[_i].error;
  cpuc_reasons_drop_errno(&info, cpuc_backend_default_selfcounts.open(&offered, &diagnosis),
    &diagnosis);
  ck_assert_str_eq(info.reason, rows[_i].reason);
  ck_assert_int_eq(info.error_number, rows[_i].error_number);
}

/* Reads while the system counts this many cycles. */
static long long read_at(uint64_t cycles)
{
  cycles_now = cycles;
  return cpuc_backend_default_selfcounts.read();
}

static void open_at(long long cycles)
{
  struct cpuc_diagnosis diagnosis = { 0 };

  ck_assert_int_eq(cpuc_backend_default_selfcounts.open(&offered, &diagnosis), 0);
  ck_assert_int_eq(read_at((uint64_t)cycles), cycles);
}

TEST(counts_have_all_64_bits)
{
  count_now = 0x123456789abcdef0;
  ck_assert_int_eq(cpuc_backend_default_mach.read(), 0x123456789abcdef0);
  ck_assert_int_eq(cpuc_backend_default_windows.read(), 0x123456789abcdef0);
  open_at(0x123456789abcdef0);
}

TEST(selfcounts_that_fail_later_continue_with_the_clock_until_reopened)
{
  open_at(5000);
  clock_now = 1000000;
  selfcounts_error = ENOTSUP;
  errno = 4711;
  ck_assert_int_eq(read_at(0), 5000);
  ck_assert_int_eq(noted, CPUC_REASON_BY_FALLBACK);
  clock_now += 300;
  ck_assert_int_eq(read_at(0), 5300);
  ck_assert_int_eq(errno, 4711);
  /* the clock stays in use, because the two counts are unrelated */
  selfcounts_error = 0;
  clock_now += 20;
  ck_assert_int_eq(read_at(0), 5320);
  cpuc_backend_default_selfcounts.close();
  open_at(10);
}

static void *first_read(void *unused)
{
  (void)unused;
  return (void *)(intptr_t)read_at(100); /* the system counts for each thread */
}

TEST(each_thread_reads_its_own_selfcounts)
{
  open_at(1000000);
  ck_assert_int_eq((intptr_t)result_in_thread(first_read, NULL), 100);
}

static void become_child(void)
{
  after_call = NULL;
  cpuc_backend_default_selfcounts.forked();
}

TEST_LOOP(forked_child_continues_its_parents_selfcounts, 2)
{
  open_at(1000000);
  become_child(); /* the child has not read yet */
  if (_i == 1) {
    after_call = become_child; /* in a handler, after the system has returned 500000 */
    ck_assert_int_eq(read_at(500000), 1000000);
  }
  ck_assert_int_eq(read_at(10), 1000000); /* a new thread for the system */
  ck_assert_int_eq(read_at(60), 1000050);
}

static void work_and_read(void)
{
  after_call = NULL;
  cycles_now += 1000;
  ck_assert_int_eq(cpuc_backend_default_selfcounts.read(), 1001000);
}

TEST(handler_in_a_read_adds_only_the_cycles_that_it_executes)
{
  open_at(0);
  after_call = work_and_read;
  ck_assert_int_ge(read_at(1000000), 1000000);
  ck_assert_int_eq(cpuc_backend_default_selfcounts.read(), 1001000);
}

#ifdef CAN_SINGLE_STEP

static volatile int steps, fails_at;

static void fail_in_a_handler(int signal)
{
  (void)signal;
  if (++steps == fails_at) {
    selfcounts_error = ENOTSUP;
    cpuc_backend_default_selfcounts.read();
  }
}

TEST(read_is_right_if_a_read_in_a_handler_fails_after_any_instruction)
{
  long long count, next;

  skip_without_single_steps();
  signal(SIGTRAP, fail_in_a_handler);
  for (fails_at = 1, steps = 1; fails_at <= steps; fails_at++) {
    cpuc_backend_default_selfcounts.close();
    open_at(1000000);
    cycles_now += 100;
    steps = 0;
    set_single_step(1);
    count = cpuc_backend_default_selfcounts.read();
    set_single_step(0);
    ck_assert_int_ge(count, 1000000);
    ck_assert_int_le(count, 1000100);
    clock_now += 50;
    next = cpuc_backend_default_selfcounts.read();
    ck_assert_int_ge(next, count);
    ck_assert_int_le(next, count + 50);
    selfcounts_error = 0;
  }
  ck_assert_int_gt(steps, 10);
}

#endif

#endif

SUITE("ports")
