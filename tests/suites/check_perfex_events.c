/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the functions of IRIX: numbers and names of events, errors and printed lines; and
   start_counters() and read_counters() with software events, which every Linux counts without a
   PMU. The software events are page faults, whose number a test knows exactly, and the thread's CPU
   time. perf-kernel.h gives their event numbers. check_perfex_costs tests costs. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/count.h"
#include "perfex/events.h"

#include "tests/suites/child.h"
#include "tests/suites/page-faults.h"
#include "tests/suites/perf-kernel.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

/* The names of the numbers with a kernel event. check_perfex_groups tests what they name. */
static const char *const names[PFX_EVENTS] = { [0] = "cycles", [6] = "branches",
  [9] = "L1-icache-load-misses", [10] = "cache-misses", [15] = "instructions", [16] = "cycles",
  [17] = "instructions", [18] = "L1-dcache-loads", [19] = "L1-dcache-stores",
  [23] = "dTLB-load-misses", [24] = "branch-misses", [25] = "L1-dcache-load-misses",
  [26] = "LLC-load-misses" };

TEST(numbers_have_the_names_of_kernel_events_and_only_these_have_numbers)
{
  static const char *const others[] = { "", "Cycles", "cycles ", "0", "branch", "issued loads",
    NULL };
  int i;

  for (i = 0; i < PFX_EVENTS; i++) {
    ck_assert_pstr_eq(pfx_events_row(i)->name, names[i]);
    if (!names[i])
      continue;
    ck_assert_int_ge(perfex_event(names[i]), 0);
    ck_assert_str_eq(names[perfex_event(names[i])], names[i]); /* some have two numbers */
  }
  ck_assert_int_eq(perfex_event("cpu-cycles"), 0);
  for (i = 0; i < (int)(sizeof others / sizeof others[0]); i++) {
    errno = 0;
    ck_assert_int_eq(perfex_event(others[i]), -1);
    ck_assert_int_eq(errno, EINVAL);
  }
}

TEST(event_that_cannot_be_counted_fails_with_a_message)
{
  static const struct {
    const char *environment[2]; /* T5_EVENT0, T5_EVENT1 */
    int events[2], error;
    const char *messages[2];
  } rows[] = {
    { { "", "" }, { 0, 12 }, ENOTSUP, { "event 12 ", "" } },
    { { "", "" }, { 0, 32 }, ENOTSUP, { "event 32 ", "" } },
    { { "", "" }, { -1, 0 }, ENOTSUP, { "event -1 ", "" } },
    { { "", "" }, { 7, 20 }, ENOTSUP, { "event 7 ", "event 20 " } },
    { { "", "12" }, { 0, 15 }, ENOTSUP, { "event 12 ", "" } },
    { { "nonesuch", "" }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" } },
    { { "0x5", "" }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" } },
    { { " 5", "" }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" } },
    { { "99", "" }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" } },
    { { "1e1", "" }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" } },
  };
  long long c0 = -7, c1 = -7;
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const int *events = rows[i].events;

    setenv("T5_EVENT0", rows[i].environment[0], 1);
    setenv("T5_EVENT1", rows[i].environment[1], 1);
    capture_begin(stderr);
    ck_assert_int_eq(start_counters(events[0], events[1]), -1);
    ck_assert_int_eq(errno, rows[i].error);
    ck_assert_int_eq(read_counters(events[0], &c0, events[1], &c1), -1);
    ck_assert_int_eq(errno, rows[i].error);
    capture_end();
    ck_assert_msg(strstr(captured, rows[i].messages[0]) && strstr(captured, rows[i].messages[1]),
      "row %d: %s", (int)i, captured);
    ck_assert(c0 == -7 && c1 == -7);
  }
}

TEST(any_event_and_count_is_printed_and_the_environment_overrides_the_event)
{
  static const struct {
    const char *environment; /* T5_EVENT0 */
    int event;
    long long count;
    const char *texts[2];
  } lines[] = {
    { "", 0, 123456789, { "0 cycles ", " 123456789\n" } },
    { "", 99, -1, { "99 unknown event ", " -1\n" } },
    { "nonesuch", 12, 5, { "12 external interventions ", " 5\n" } },
    { "24", 0, 0, { "24 mispredicted branches ", " 0\n" } },
    { "LLC-load-misses", 0, INT64_MAX,
      { "26 secondary data cache misses ", " 9223372036854775807\n" } },
  };
  int result, error;
  size_t i;

  for (i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    setenv("T5_EVENT0", lines[i].environment, 1);
    capture_begin(stderr);
    errno = ERANGE;
    result = print_counters(lines[i].event, lines[i].count, 15, 42);
    error = errno;
    capture_end();
    ck_assert(result > 0 && error == ERANGE);
    ck_assert_msg(strstr(captured, lines[i].texts[0]) && strstr(captured, lines[i].texts[1])
        && strstr(captured, "15 instructions ") && strstr(captured, " 42\n"),
      "%s", captured);
  }
}

/* ENOSPC if a write to /dev/full fails. */
static int full_device_refuses(void)
{
  int full = open("/dev/full", O_WRONLY);

  return full >= 0 && write(full, "", 1) < 0 ? errno : 0;
}

TEST(failing_stream_is_an_error)
{
  FILE *full;

  skip_unless(full_device_refuses, ENOSPC, "there is no /dev/full");
  full = fopen("/dev/full", "w");
  ck_assert_ptr_nonnull(full);
  dup2(fileno(full), 2);
  errno = 0;
  ck_assert_int_eq(print_counters(0, 1, 15, 2), -1);
  ck_assert_int_eq(errno, ENOSPC);
  fclose(full);
}

/* Returns the faults counted while so many pages are touched. Fails the test if the count is
   incomplete. */
static long long count_faults(int pages)
{
  long long c0 = -1, c1 = -1;
  int start, read;

  map_pages(2 * PAGES);
  start = start_counters(15, 24);
  touch(pages);
  read = read_counters(15, &c0, 24, &c1);
  ck_assert_int_gt(start, 0);
  ck_assert_int_eq(read, start);
  ck_assert_int_eq(c0, c1);
  return c0;
}

TEST(section_is_counted_exactly)
{
  SKIP_IF(SUITE_SANITIZED || suite_under("valgrind"),
    "valgrind and sanitizers touch pages of their own");
  skip_without_perf_events();
  count_faults(PAGES); /* code has page faults of its own when it first runs */
  ck_assert_int_eq(count_faults(0), 0);
  ck_assert_int_eq(count_faults(PAGES), PAGES);
  ck_assert_int_eq(count_faults(2 * PAGES), 2 * PAGES);
}

TEST(generation_grows_by_one_and_errno_is_unchanged_at_each_start_and_stop)
{
  long long c0, c1;
  int i, first, start, read;

  skip_without_perf_events();
  first = start_counters(0, 15);
  ck_assert_int_gt(first, 0);
  ck_assert_int_eq(read_counters(0, &c0, 15, &c1), first);
  ck_assert_int_eq(read_counters(0, &c0, 15, &c1), first + 1); /* the number after the stop */
  for (i = 1; i < 10; i++) {
    errno = ERANGE;
    start = start_counters(0, 15);
    read = read_counters(0, &c0, 15, &c1);
    ck_assert_int_eq(errno, ERANGE);
    ck_assert_int_eq(start, first + 2 * i);
    ck_assert_int_eq(read, start);
  }
  ck_assert_int_eq(pfx_count_generation_after(INT_MAX - 1), INT_MAX);
  ck_assert_int_eq(pfx_count_generation_after(INT_MAX), 1);
}

/* An override replaces the event that is counted, but not the argument of the read. */
TEST(read_of_other_events_than_the_arguments_fails_and_the_counters_keep_running)
{
  long long time = -1, faults = -1;
  int start;

  skip_without_perf_events();
  setenv("T5_EVENT1", "24", 1);
  map_pages(2 * PAGES);
  start = start_counters(0, 12); /* 12 has no kernel event */
  ck_assert_int_gt(start, 0);
  touch(PAGES);
  setenv("T5_EVENT0", "99", 1); /* too late: the events have started */
  errno = 0;
  ck_assert_int_eq(read_counters(0, &time, 24, &faults), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert(time == -1 && faults == -1);
  ck_assert_int_eq(read_counters(12, &faults, 0, &time), start);
  ck_assert_int_ge(faults, PAGES);
  ck_assert_int_gt(time, faults);
}

static void start_and_read(int signal)
{
  long long c0, c1;

  (void)signal;
  perf_kernel.on_open = NULL;
  start_counters(0, 15);
  read_counters(0, &c0, 15, &c1);
}

static void start_in_handler(void)
{
  signal(SIGUSR1, start_and_read);
  raise(SIGUSR1);
}

static void start_again(void)
{
  start_counters(0, 15);
}

/* A handler that has interrupted malloc() would wait forever in an allocation of its own. */
TEST(first_start_in_a_thread_allocates_nothing)
{
  SKIP_IF(heap_bytes() < 0, "this C library does not count what is allocated");
  skip_without_perf_events();
  ck_assert_int_eq(bytes_of_a_thread(start_again), 0);
}

static void close_descriptor(void)
{
  close(perf_kernel_descriptor(1));
}

/* Other events had the hardware for a part of the time. check_perfex_groups has other readings. */
static void multiplex(struct cpuc_perf_group_reading *reading, ssize_t *length)
{
  reading->running--;
  (void)length;
}

static void multiplex_reading(void)
{
  perf_kernel.alter_reading = multiplex;
}

TEST(disturbed_count_has_another_generation)
{
  static void (*const disturb[])(void)
    = { multiplex_reading, close_descriptor, start_again, start_in_handler, NULL };
  long long c0, c1;
  int i, start, read;

  skip_without_perf_events();
  for (i = 0; i < 5; i++) {
    if (!disturb[i]) /* the signal is pending until start_counters() unblocks signals */
      perf_kernel.on_open = start_in_handler;
    start = start_counters(0, 15);
    ck_assert_int_gt(start, 0);
    if (disturb[i])
      disturb[i]();
    read = read_counters(0, &c0, 15, &c1);
    perf_kernel.alter_reading = NULL;
    ck_assert_msg(read > 0 && read != start, "%d: %d, %d", i, start, read);
    /* the next count is complete again */
    start = start_counters(0, 15);
    ck_assert_int_gt(start, read);
    ck_assert_int_eq(read_counters(0, &c0, 15, &c1), start);
  }
}

TEST(reused_descriptor_is_neither_read_nor_closed)
{
  char bytes[sizeof(struct cpuc_perf_group_reading)] = "";
  int ends[2], i, start, descriptor;
  long long c0, c1;

  skip_without_perf_events();
  for (i = 0; i < 2; i++) {
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], bytes, sizeof bytes), sizeof bytes);
    start = start_counters(0, 15);
    descriptor = perf_kernel_descriptor(i);
    ck_assert_int_eq(dup2(ends[0], descriptor), descriptor);
    ck_assert_int_ne(read_counters(0, &c0, 15, &c1), start);
    ck_assert_int_eq(read(descriptor, bytes, sizeof bytes), sizeof bytes);
    close(descriptor);
  }
}

static int started; /* generation of the counters that another thread or process has started */

/* Returns 0 if the caller does not have their counts, but can count, too. */
static int count_elsewhere(void)
{
  long long c0 = -1, c1 = -1;
  int read = read_counters(15, &c0, 24, &c1), again;

  if (read <= 0 || read == started || c0 != 0 || c1 != 0)
    return 1;
  map_pages(4 * PAGES);
  again = start_counters(15, 24);
  touch(4 * PAGES);
  return again > 0 && read_counters(15, &c0, 24, &c1) == again && c0 >= 4 * PAGES ? 0 : 2;
}

static void *count_in_thread(void *unused)
{
  (void)unused;
  return (void *)(intptr_t)count_elsewhere();
}

TEST_LOOP(thread_and_forked_child_neither_have_nor_disturb_the_count, 2)
{
  long long c0, c1;

  skip_without_perf_events();
  started = start_counters(15, 24);
  if (_i)
    ck_assert_ptr_null(result_in_thread(count_in_thread, NULL));
  else
    in_child_process(count_elsewhere);
  map_pages(PAGES);
  touch(PAGES);
  ck_assert_int_eq(read_counters(15, &c0, 24, &c1), started);
  ck_assert_int_ge(c0, PAGES);
  if (!SUITE_SANITIZED && !suite_under("valgrind")) /* they touch pages of their own */
    ck_assert_int_lt(c0, 4 * PAGES);
}

enum { THREADS = 8, SECTIONS = 50 };

/* Stores the first generation. Returns NULL if one of the counts is wrong. */
static void *run_sections(void *first)
{
  struct suite_repeat repeat = suite_repeat(SECTIONS);
  int *generation = first, start, wrong = 0;
  long long c0, c1;

  while (suite_again(&repeat)) {
    start = start_counters(0, 15);
    *generation = repeat.begun == 1 ? start : *generation;
    wrong += start <= 0 || start != *generation + 2 * ((int)repeat.begun - 1);
    wrong += read_counters(15, &c1, 0, &c0) != start || c0 <= 0;
  }
  return wrong ? NULL : first;
}

TEST(threads_count_concurrently_with_distinct_generations)
{
  pthread_t threads[THREADS];
  int first[THREADS], i, j;
  void *result;

  skip_without_perf_events();
  for (i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, run_sections, &first[i]), 0);
  for (i = 0; i < THREADS; i++) {
    pthread_join(threads[i], &result);
    ck_assert_ptr_nonnull(result);
    for (j = 0; j < i; j++) /* far from each other */
      ck_assert_int_gt(abs(first[i] - first[j]), 1000000);
  }
}

static void *start_and_exit(void *generation)
{
  *(int *)generation = start_counters(0, 15);
  return NULL;
}

TEST(descriptors_are_closed_by_read_failed_start_and_thread_exit)
{
  int i, before, start = 0;
  long long c0 = -1, c1 = -1;

  skip_without_perf_events();
  before = open_descriptors();
  for (i = 0; i < 10; i++) {
    result_in_thread(start_and_exit, &start);
    ck_assert_int_gt(start, 0);
  }
  ck_assert_int_eq(open_descriptors(), before);
  start_counters(0, 15);
  ck_assert_int_eq(open_descriptors(), before + 2);
  start = start_counters(15, 24);
  ck_assert_int_eq(open_descriptors(), before + 2);
  ck_assert_int_eq(start_counters(15, 12), -1); /* 12 has no kernel event */
  ck_assert_int_eq(open_descriptors(), before);
  errno = 0;
  ck_assert_int_eq(read_counters(15, &c0, 24, &c1), -1);
  ck_assert_int_eq(errno, ENOTSUP);
  ck_assert(c0 == -1 && c1 == -1);
  ck_assert_int_eq(start_counters(15, 24), start + 2);
  read_counters(15, &c0, 24, &c1);
  ck_assert_int_eq(open_descriptors(), before);
  perf_kernel.refused_together = PERF_COUNT_SW_PAGE_FAULTS;
  perf_kernel.refusal_errno = EMFILE;
  ck_assert_int_eq(start_counters(0, 15), -1);
  ck_assert_int_eq(open_descriptors(), before);
}

/* Runs in a child, where closed streams do not matter. Returns 0, or the number of the failed
   check. */
static int count_without_standard_streams(void)
{
  long long c0, c1;
  int i, start;

  for (i = 0; i <= STDERR_FILENO; i++)
    close(i);
  start = start_counters(0, 15);
  if (fcntl(0, F_GETFD) >= 0 || fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0)
    return 1;
  if (start <= 0 || read_counters(0, &c0, 15, &c1) != start)
    return 2;
  set_descriptor_limit(3); /* no numbers above 2 */
  return start_counters(0, 15) == -1 && errno == EMFILE ? 0 : 3;
}

TEST(events_never_have_the_numbers_of_standard_streams)
{
  skip_without_perf_events();
  skip_unless(lower_the_limit, 0, "the limit of descriptors cannot be lowered");
  in_child_process(count_without_standard_streams);
}

/* A message names the event that is at fault. */
TEST(unsupported_event_differs_from_no_pmu)
{
  static const int errors[] = { ENOENT, EINVAL, EOPNOTSUPP, EACCES };
  static const struct {
    struct perf_kernel kernel;
    int events[2], error; /* error 0: the kernel's, but EINVAL in place of EOPNOTSUPP */
    const char *message;
  } rows[] = {
    { { .refused = PERF_COUNT_SW_PAGE_FAULTS }, { 0, 15 }, ENOTSUP, "CPU does not have it" },
    { { .refused = PERF_COUNT_SW_PAGE_FAULTS }, { 15, 0 }, ENOTSUP, "CPU does not have it" },
    { { .refused_together = PERF_COUNT_SW_PAGE_FAULTS }, { 0, 15 }, EINVAL,
      "together with event 0" },
    { { .refused = PERF_COUNT_SW_TASK_CLOCK }, { 0, 15 }, 0, "" }, /* event 0, cycles */
    { { .excluding_pmu = 99 }, { 0, 15 }, EINVAL, "" }, /* no PMU can exclude the kernel */
  };
  size_t i, k;

  skip_without_perf_events();
  for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (k = 0; k < 4; k++) {
      int error = errors[k] == EOPNOTSUPP ? EINVAL : errors[k], result, observed;
      const char *message = error == EACCES ? "" : rows[i].message;

      if (rows[i].error && (error != EACCES || rows[i].kernel.excluding_pmu))
        error = rows[i].error;
      perf_kernel = rows[i].kernel;
      perf_kernel.refusal_errno = errors[k];
      capture_begin(stderr);
      result = start_counters(rows[i].events[0], rows[i].events[1]);
      observed = errno;
      capture_end();
      ck_assert_msg(result == -1 && observed == error
          && (*message ? strstr(captured, message) != NULL : *captured == 0),
        "row %d: %d, errno %d instead of %d, %s", (int)i, result, observed, error, captured);
    }
}

static void *count_when_canceled(void *unused)
{
  long long c0, c1;
  int start;

  pthread_cancel(pthread_self());
  start = start_counters(0, 15);
  return read_counters(0, &c0, 15, &c1) == start ? unused : &started;
}

#if defined(PR_SET_TSC) && (defined(__x86_64__) || defined(__i386__))

static void do_nothing(void *unused)
{
  (void)unused;
}

enum { IMPOSSIBLE = 2 };

static int bench_without_tsc(void)
{
  struct perfex_group *group = perfex_open("page-faults", 0);
  int result = IMPOSSIBLE;
  double count;

  if (group && prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0)
    result = perfex_bench(group, &count, do_nothing, NULL) != 0;
  perfex_close(group);
  return result;
}

TEST(benchmark_works_where_the_tsc_is_forbidden)
{
  int result = result_in_child(bench_without_tsc);

  SKIP_IF(result == IMPOSSIBLE, "there are no perf events, or PR_SET_TSC fails");
  ck_assert_int_eq(result, 0);
}

#endif

TEST(counting_is_not_a_cancellation_point)
{
  skip_without_perf_events();
  ck_assert_ptr_null(result_in_thread(count_when_canceled, NULL)); /* not PTHREAD_CANCELED */
}

SUITE("perfex events")
