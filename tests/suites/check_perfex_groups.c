/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests perfex_open() and perfex_read() with software events, which every Linux counts without a
   PMU. perf-kernel.h simulates hardware events, a machine of files simulates PMUs, and one-clock.h
   replaces sys/os-clock.c. Groups that are read through pages are tested in the guests of "make
   check-vm". */

#include "config.h"

#include "include/cpucycles.h"
#include "include/perfex.h"
#include "lib/process.h"
#include "perfex/names.h"

#include "tests/suites/child.h"
#include "tests/suites/machine.h"
#include "tests/suites/one-clock.h"
#include "tests/suites/page-faults.h"
#include "tests/suites/perf-kernel.h"

static struct perfex_group *group;

/* A machine whose clock and counts advance in reads and calls only. */
static struct {
  int is_on, is_interrupted, stops_clock;
  long long now, nanoseconds_of_read, nanoseconds_of_call;
  int reads, calls, idle, samples;  /* idle: samples without a call in a row */
  long long sample_calls;           /* of the last sample with calls */
  long long read[5], empty[5], full[5], counted[5]; /* events of a read, and of calls */
} simulated;

long long cpuc_os_clock_monotonic(void)
{
  struct timespec now;

  if (simulated.is_on)
    return simulated.now += simulated.nanoseconds_of_read > 0;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void open_group(const char *events, int flags)
{
  errno = ERANGE;
  group = perfex_open(events, flags);
  ck_assert_msg(group != NULL, "%s: %s", events, perfex_why());
  ck_assert_int_eq(errno, ERANGE);
}

/* Expects that perfex_open() fails with this errno and a sentence with this part, and leaves
   nothing open. */
static void expect_refusal(const char *events, int flags, int error, const char *part)
{
  int before = open_descriptors(), result;
  struct perfex_group *refused;

  errno = 0;
  refused = perfex_open(events, flags);
  result = errno;
  ck_assert_msg(refused == NULL, "%s was opened", events);
  ck_assert_msg(result == error, "%s: %s, %s", events, strerror(result), perfex_why());
  ck_assert_msg(strstr(perfex_why(), part) != NULL, "%s: %s", events, perfex_why());
  ck_assert_int_eq(open_descriptors(), before);
}

static void expect_read_error(int error, const char *part)
{
  long long counts[CPUC_PERF_GROUP_EVENTS];

  errno = 0;
  ck_assert_int_eq(perfex_read(group, counts), -1);
  ck_assert_int_eq(errno, error);
  ck_assert_msg(strstr(perfex_why(), part) != NULL, "%s", perfex_why());
}

/* Stores the counts of at most 4 events. The first read of this code has page faults of its own. */
static void count_touched(int pages, long long *counts)
{
  long long begin[4] = { 0 }, end[4] = { 0 };
  int i;

  map_pages(pages);
  ck_assert_int_eq(perfex_read(group, begin), 0);
  touch(0);
  ck_assert_int_eq(perfex_read(group, begin), 0);
  touch(pages);
  ck_assert_int_eq(perfex_read(group, end), 0);
  munmap((void *)mapping, (size_t)pages * (size_t)sysconf(_SC_PAGESIZE));
  for (i = 0; i < 4; i++)
    counts[i] = end[i] - begin[i];
}

TEST(new_pages_are_counted_exactly)
{
  static const int pages[] = { 1, 100, 10000 };
  long long counts[4];
  int i;

  SKIP_IF(SUITE_SANITIZED || suite_under("valgrind"),
    "valgrind and sanitizers touch pages of their own");
  skip_without_perf_events();
  for (i = 0; i < 3; i++) {
    open_group("page-faults", 0);
    count_touched(pages[i], counts);
    ck_assert_int_eq(counts[0], pages[i]);
    perfex_close(group);
    open_group("minor-faults,page-faults:u,major-faults", 0);
    count_touched(pages[i], counts);
    ck_assert(counts[0] == pages[i] && counts[1] == pages[i] && counts[2] == 0);
    perfex_close(group);
  }
}

static void touch_three_new_pages(void *unused)
{
  (void)unused;
  map_pages(3);
  touch(3);
  munmap((void *)mapping, 3 * (size_t)sysconf(_SC_PAGESIZE));
}

TEST(new_pages_of_a_call_are_counted_exactly)
{
  double counts[2] = { -1, -1 };

  SKIP_IF(SUITE_SANITIZED || suite_under("valgrind"),
    "valgrind and sanitizers touch pages of their own");
  skip_without_perf_events();
  open_group("page-faults,minor-faults", 0);
  ck_assert_int_eq(perfex_bench(group, counts, touch_three_new_pages, NULL), 0);
  ck_assert_msg(counts[0] == 3 && counts[1] == 3, "%f, %f", counts[0], counts[1]);
}

/* Ends a sample. The samples of empty calls follow 25 samples without a call. Of three samples with
   calls, one is disturbed, and one counts less. */
static void end_sample(void)
{
  static const int disturbance[] = { 1000000, -1, 0 };
  int i, is_empty = simulated.calls == 0 && simulated.idle >= 25;

  simulated.idle = simulated.calls ? 0 : simulated.idle + 1;
  simulated.sample_calls = simulated.calls ? simulated.calls : simulated.sample_calls;
  simulated.samples++;
  for (i = 0; i < 5; i++)
    simulated.counted[i] += is_empty ? simulated.sample_calls * simulated.empty[i]
      : simulated.calls ? disturbance[simulated.samples % 3] : 0;
}

static void simulate_read(struct cpuc_perf_group_reading *reading, ssize_t *length)
{
  int i;

  (void)length;
  simulated.now += simulated.nanoseconds_of_read;
  if (simulated.reads++ % 2 == 1)
    end_sample();
  simulated.calls = 0;
  for (i = 0; i < 5; i++)
    reading->event[i].value = (uint64_t)(simulated.counted[i] += simulated.read[i]);
}

static void simulate_call(void *argument)
{
  int i;

  simulated.calls += argument == &simulated;
  simulated.now += simulated.nanoseconds_of_call;
  if (simulated.is_interrupted)
    simulated.now += 1000000000;
  simulated.is_interrupted = 0;
  if (simulated.stops_clock)
    simulated.nanoseconds_of_read = simulated.nanoseconds_of_call = 0;
  for (i = 0; i < 5; i++)
    simulated.counted[i] += simulated.full[i];
}

static void expect_bench(const double expected[5], const char *line)
{
  double counts[5];
  int i;

  ck_assert_int_eq(perfex_bench(group, counts, simulate_call, &simulated), 0);
  for (i = 0; i < 5; i++)
    ck_assert_msg(counts[i] == expected[i], "event %d: %f", i, counts[i]);
  capture_begin(stdout);
  ck_assert_int_eq(perfex_print_bench(group, counts), 0);
  ck_assert_str_eq(capture_end(), line);
}

TEST(counts_per_call_are_exact_and_without_those_of_reads_and_some_of_empty_calls)
{
  static const long long read[] = { 90, 80, 20, 1, 1 }, empty[] = { 5, 6, 2, 1, 1 },
                         full[] = { 45, 106, 12, 4, 3 };
  static const char zeros[] = "cycles 0.00  instructions 0.00  branches 0.00  branch-misses 0.00  "
                              "page-faults 0.00\n";
  double counts[5];

  skip_without_perf_events();
  open_group("cycles,instructions,branches,branch-misses,page-faults", 0);
  perf_kernel.alter_reading = simulate_read;
  simulated.is_on = simulated.is_interrupted = 1;
  simulated.nanoseconds_of_read = 500;
  simulated.nanoseconds_of_call = 200;
  memcpy(simulated.read, read, sizeof read);
  memcpy(simulated.empty, empty, sizeof empty);
  memcpy(simulated.full, full, sizeof full);
  expect_bench((const double[]){ 45, 100, 10, 4, 2 }, "cycles 45.00  instructions 100.00  "
    "branches 10.00  branch-misses 4.00  page-faults 2.00  instructions/cycle 2.36\n");
  ck_assert_int_eq(simulated.sample_calls, 8192); /* 1000 pairs of reads take 1 ms */

  memset(simulated.full, 0, sizeof full); /* less than an empty call */
  simulated.stops_clock = 1;
  expect_bench((const double[5]){ 0 }, zeros);
  ck_assert_int_eq(simulated.sample_calls, 1000);
  expect_bench((const double[5]){ 0 }, zeros); /* stopped from the beginning */
  ck_assert_int_eq(simulated.sample_calls, 1000);

  memcpy(simulated.full, full, sizeof full);
  ck_assert_int_eq(perfex_bench(group, counts, simulate_call, &simulated), 0);
  ck_assert_int_eq(perfex_bench(group, counts, NULL, NULL), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert_str_eq(perfex_why(), "there is no function");
  capture_begin(stdout); /* without the ratio of the run before */
  ck_assert_int_eq(perfex_print_bench(group, counts), 0);
  ck_assert_ptr_null(strstr(capture_end(), "instructions/cycle"));
  ck_assert_int_eq(perfex_print_bench(NULL, counts), -1);
  ck_assert_int_eq(errno, EINVAL);
}

/* SECCOMP_MODE_STRICT permits read(2), write(2) and _exit(2). */
static int read_once_under_strict_seccomp(void)
{
  long long counts[2];

  group = perfex_open("page-faults,minor-faults", 0);
  if (!group || prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
    return 2;
  perf_kernel_calls = 0;
  syscall(SYS_exit, perfex_read(group, counts) != 0 || perf_kernel_calls != 1);
  return 3;
}

TEST(read_is_one_system_call)
{
  SKIP_IF(SUITE_SANITIZED || suite_under("valgrind"),
    "valgrind and sanitizers make system calls of their own");
  skip_without_perf_events();
  SKIP_IF(prctl(PR_GET_SECCOMP) != 0, "another filter permits no strict mode");
  in_child_process(read_once_under_strict_seccomp);
}

/* The kernel itself touches the pages in which it stores what read(2) returns. */
TEST(events_count_in_the_modes_of_their_names)
{
  long long begin[4], end[4], size = PAGES * sysconf(_SC_PAGESIZE);
  int zero = open("/dev/zero", O_RDONLY), i;

  SKIP_IF(SUITE_SANITIZED || suite_under("valgrind"),
    "valgrind and sanitizers touch pages of their own");
  skip_without_perf_events();
  group = perfex_open("page-faults,page-faults:u,page-faults:k,page-faults:uk", 0);
  SKIP_IF(!group, "%s", perfex_why());
  ck_assert_int_eq(fcntl(perf_kernel_descriptor(0), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  map_pages(2 * PAGES);
  ck_assert_int_eq(perfex_read(group, begin), 0);
  ck_assert_int_eq(read(zero, (void *)mapping, (size_t)size), size);
  touch(2 * PAGES);
  ck_assert_int_eq(perfex_read(group, end), 0);
  for (i = 0; i < 3; i++)
    ck_assert(end[i] - begin[i] >= PAGES && end[i] - begin[i] < 2 * PAGES);
  ck_assert_int_ge(end[3] - begin[3], 2 * PAGES);
}

/* Names, with members of struct perf_event_attr as in perf_event_open(2). */
static const struct {
  const char *name;
  uint32_t type;
  uint64_t config, config1;
} names[] = {
  { "cycles", 0, 0, 0 },
  { "cpu-cycles:u", 0, 0, 0 },
  { "branches", 0, 4, 0 },
  { "branch-misses", 0, 5, 0 },
  { "cache-misses", 0, 3, 0 },
  { "instructions", 0, 1, 0 },
  { "cache-references", 0, 2, 0 },
  { "bus-cycles", 0, 6, 0 },
  { "idle-cycles-frontend", 0, 7, 0 },
  { "stalled-cycles-backend", 0, 8, 0 },
  { "ref-cycles", 0, 9, 0 },
  { "page-faults", 1, 2, 0 },
  { "faults", 1, 2, 0 },
  { "minor-faults", 1, 5, 0 },
  { "cs:k", 1, 3, 0 },
  { "L1-dcache-loads", 3, 0, 0 },
  { "L1-dcache-stores", 3, 0x100, 0 },
  { "L1-dcache-load-misses", 3, 0x10000, 0 },
  { "L1-icache-load-misses", 3, 0x10001, 0 },
  { "LLC-load-misses", 3, 0x10002, 0 },
  { "dTLB-load-misses", 3, 0x10003, 0 },
  { "LLC-store-misses", 3, 0x10102, 0 },
  { "node-prefetches", 3, 0x206, 0 },
  { "branch-load-misses", 3, 0x10005, 0 },
  { "r1c0", 4, 0x1c0, 0 },
  { "rFFFFFFFFFFFFFFFF:uk", 4, UINT64_MAX, 0 },
  { "cpu/event=0x3c,umask=1/", 4, 0x13c, 0 },
  { "cpu/edge,event=0xff/", 4, 0x400ff, 0 },
  { "cpu/mem-loads/", 4, 0x1cd, 3 },
  { "cpu/mem-loads,ldlat=7/", 4, 0x1cd, 7 },
  { "cpu/wide=0x1ff/", 4, 0x10000000ff, 0 },
  { "cpu/top/", 4, 1ULL << 63, 0 },
  { "cpu/config=0xabc,config1=2/:uk", 4, 0xabc, 2 },
  { " \tcs:k\n ", 1, 3, 0 },
};

/* Files of PMUs. */
static const struct {
  const char *file, *text;
} pmus[] = { { "cpu/type", "4\n" }, { "cpu/format/event", "config:0-7\n" },
  { "cpu/format/umask", "config:8-15\n" }, { "cpu/format/edge", "config:18\n" },
  { "cpu/format/ldlat", "config1:0-15\n" }, { "cpu/format/wide", "config:0-7,36\n" },
  { "cpu/format/top", "config:63\n" },
  { "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
  { "cpu/events/wrong", "event=0xcd,thread=?\n" },
  { "cpu_core/type", "4\n" }, { "cpu_core/cpus", "0-1000\n" },
  { "cpu_core/format/event", "config:0-7\n" },
  { "cpu_atom/type", "10\n" }, { "cpu_atom/format/event", "config:0-7\n" } };

/* Makes a machine with the PMUs. The CPU is hybrid if cpu_atom has the file "cpus" with this text.
   NULL: no such file. */
static void make_machine_with_pmus(const char *cpus_of_atom)
{
  char path[128];
  size_t i;

  make_machine();
  if (cpus_of_atom)
    write_file("/sys/bus/event_source/devices/cpu_atom/cpus", cpus_of_atom);
  for (i = 0; i < sizeof pmus / sizeof pmus[0]; i++) {
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s", pmus[i].file);
    write_file(path, pmus[i].text);
  }
}

TEST(names_are_those_of_the_kernel_and_of_its_PMUs)
{
  struct pfx_names_event event;
  size_t i;

  make_machine_with_pmus(NULL);
  for (i = 0; i < sizeof names / sizeof names[0]; i++) {
    int count = pfx_names_parse(names[i].name, &event, 1);

    ck_assert_msg(count == 1, "%s: %s", names[i].name, perfex_why());
    ck_assert_msg(event.type == names[i].type && event.config[0] == names[i].config
        && event.config[1] == names[i].config1, "%s: type %u, config %#llx, config1 %#llx",
      names[i].name, event.type, (unsigned long long)event.config[0],
      (unsigned long long)event.config[1]);
  }
}

TEST(malformed_names_fail_with_a_sentence)
{
  static const struct {
    const char *events, *part;
  } wrong[] = { { "", "empty" }, { "cycles,", "empty" }, { ",cycles", "empty" },
    { "cycles, ,cycles", "empty" }, { " ", "empty" }, { "branch misses", "\"branch misses\"" },
    { "nonesuch", "\"nonesuch\"" }, { "cycles:x", ":uk" }, { "cycles:", ":uk" },
    { ":u", "\":u\"" },
    { "r", "\"r\"" }, { "r12345678901234567", "not the name" }, { "cpu/event=/", "not a number" },
    { "cpu/event=0x/", "not a number" }, { "cpu/event=-1/", ": -1 is not a number" },
    { "cpu/event=0x100/", "does not fit" }, { "cpu/event=1,/", "neither an event" },
    { "cpu//", "neither an event" }, { "cpu/event=1", "two slashes" },
    { "cpu/event=60/uk", "two slashes" }, /* the colon is missing */
    { "cpu/nonesuch/", "nonesuch" }, { "cpu/wrong/", "not a number" },
    { "cpu/../", "neither an event" }, { "cpu/../cpu/", "two slashes" },
    { "nonesuch/event=1/", "no PMU \"nonesuch\"" }, { "../event=1/", "no PMU" },
    { "task-clock", "append :uk" }, { "context-switches", "append :k" },
    { "cpu-migrations:u", "append :k" } };
  char longest[10001];
  size_t i;

  make_machine_with_pmus(NULL);
  for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    expect_refusal(wrong[i].events, 0, EINVAL, wrong[i].part);
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = 0;
  expect_refusal(longest, 0, EINVAL, "longer than");
  for (i = 0; i + 1 < sizeof longest; i++)
    longest[i] = i % 2 ? ',' : 'r';
  expect_refusal(longest, 0, EINVAL, "\"r\"");
  expect_refusal(NULL, 0, EINVAL, "no list");
  expect_refusal("cycles", 4, EINVAL, "flag");
}

static void *read_elsewhere(void *why)
{
  long long counts[2];
  double per_call[2];

  if (perfex_read(group, counts) == -1 && errno == EPERM
    && perfex_bench(group, per_call, touch_three_new_pages, NULL) == -1 && errno == EPERM)
    strcpy(why, perfex_why());
  return NULL;
}

static int read_in_child(void)
{
  long long counts[2];

  if (perfex_read(group, counts) != -1 || errno != EPERM || !strstr(perfex_why(), "parent"))
    return 1;
  perfex_close(group);
  group = perfex_open("page-faults", 0);
  return group && perfex_read(group, counts) == 0 ? 0 : 2;
}

TEST(other_thread_and_forked_child_get_an_error)
{
  long long counts[4];
  char why[512] = "";

  skip_without_perf_events();
  open_group("page-faults,minor-faults", 0);
  result_in_thread(read_elsewhere, why);
  ck_assert_ptr_nonnull(strstr(why, "another thread"));
  ck_assert_ptr_null(strstr(perfex_why(), "another thread")); /* a sentence belongs to its thread */
  in_child_process(read_in_child);
  count_touched(PAGES, counts); /* the child did not stop the group */
  ck_assert_int_ge(counts[0], PAGES);
}

TEST(closed_or_reused_descriptor_is_an_error_and_stays_open)
{
  int descriptor, before = open_descriptors();
  struct perfex_group *other;

  skip_without_perf_events();
  open_group("cycles,instructions", 0);
  descriptor = perf_kernel_descriptor(0);
  other = perfex_open("cycles,instructions", 0); /* its reading has the same length */
  close(descriptor);
  expect_read_error(EBADF, "closed");
  ck_assert_int_eq(dup2(perf_kernel_descriptor(0), descriptor), descriptor);
  expect_read_error(EBADF, "closed");
  perfex_close(group);
  perfex_close(other);
  perfex_close(NULL);
  ck_assert_int_eq(errno, EBADF); /* of the read */
  ck_assert_int_ge(fcntl(descriptor, F_GETFD), 0);
  close(descriptor);
  ck_assert_int_eq(open_descriptors(), before);
}

/* Readings as the kernel returns them if other events had the hardware. */
static void multiplexed(struct cpuc_perf_group_reading *reading, ssize_t *length)
{
  reading->running = reading->enabled / 2;
  (void)length;
}

static void given_up_later(struct cpuc_perf_group_reading *reading, ssize_t *length)
{
  if (++simulated.reads == 2100)
    multiplexed(reading, length);
}

static void given_up(struct cpuc_perf_group_reading *reading, ssize_t *length)
{
  memset(reading, 0, sizeof *reading);
  *length = 0;
}

TEST(group_that_did_not_count_all_the_time_is_an_error)
{
  long long counts[2];
  double per_call[2] = { -1, -1 };

  skip_without_perf_events();
  perf_kernel.alter_reading = given_up;
  expect_refusal("cycles,instructions", 0, EBUSY, "other events");
  perf_kernel.alter_reading = NULL;
  open_group("cycles,instructions", 0);
  errno = ERANGE;
  ck_assert_int_eq(perfex_read(group, counts), 0);
  ck_assert_int_eq(errno, ERANGE);
  perf_kernel.alter_reading = multiplexed;
  expect_read_error(EBUSY, "all the time");
  perf_kernel.alter_reading = given_up;
  expect_read_error(EBUSY, "all the time");
  perf_kernel.alter_reading = given_up_later;
  errno = 0;
  ck_assert_int_eq(perfex_bench(group, per_call, touch_three_new_pages, NULL), -1);
  ck_assert_int_eq(errno, EBUSY);
  ck_assert_ptr_nonnull(strstr(perfex_why(), "all the time"));
  ck_assert(per_call[0] == -1 && per_call[1] == -1);
}

/* Other events have all counters but one. */
static void one_counter_is_left(struct cpuc_perf_group_reading *reading, ssize_t *length)
{
  if (reading->event_count > 1)
    given_up(reading, length);
}

TEST(first_events_are_opened_as_many_as_fit_or_as_other_events_leave_room_for)
{
  static const char events[] = "cycles, branch-misses,instructions ,cycles";
  const int all = PERFEX_FIRST | PERFEX_INHERIT;
  long long counts[4];
  int before;

  skip_without_perf_events();
  before = open_descriptors();
  open_group(events, PERFEX_FIRST);
  ck_assert_int_eq(perfex_group_size(group), 4);
  perfex_close(group);
  ck_assert_int_eq(perfex_group_size(NULL), 0);
  perf_kernel.alter_reading = one_counter_is_left;
  open_group(events, PERFEX_FIRST);
  ck_assert_int_eq(perfex_group_size(group), 1);
  perfex_close(group);
  perf_kernel.alter_reading = given_up;
  expect_refusal(events, PERFEX_FIRST, EBUSY, "other events");
  perf_kernel.alter_reading = NULL;
  perf_kernel.refusal_errno = EINVAL;
  perf_kernel.refused_together = PERF_COUNT_SW_PAGE_FAULTS;
  open_group(events, PERFEX_FIRST);
  ck_assert_int_eq(perfex_group_size(group), 2);
  ck_assert_int_eq(open_descriptors(), before + 2);
  count_touched(PAGES, counts);
  ck_assert_int_ge(counts[1], PAGES);
  ck_assert_int_eq(counts[2], 0);
  perfex_close(group);
  open_group(events, all);
  ck_assert_int_eq(perfex_group_size(group), 2);
  perfex_close(group);
  expect_refusal(events, PERFEX_INHERIT, ENOSPC, "2 of 4");
  perf_kernel.refused = PERF_COUNT_SW_TASK_CLOCK;
  perf_kernel.refusal_errno = EMFILE;
  expect_refusal(events, all, EMFILE, strerror(EMFILE));
}

TEST(refused_event_is_explained)
{
  static const int errors[] = { ENOENT, EINVAL, EOPNOTSUPP };
  size_t i;

  skip_without_perf_events();
  for (i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    perf_kernel.refusal_errno = errors[i];
    perf_kernel.refused_together = PERF_COUNT_SW_PAGE_FAULTS;
    expect_refusal("cycles,branch-misses,instructions", 0, ENOSPC, "2 of 3 events fit this PMU");
    perf_kernel.refused_together = 0;
    perf_kernel.refused = PERF_COUNT_SW_PAGE_FAULTS;
    expect_refusal("cycles,instructions", 0, ENOTSUP, "instructions: this PMU does not have");
    perf_kernel.refused = 0;
  }
  perf_kernel.refused = PERF_COUNT_SW_TASK_CLOCK;
  perf_kernel.refusal_errno = EMFILE;
  expect_refusal("cycles", 0, EMFILE, strerror(EMFILE));
  ck_assert_int_eq(perfex_bench(NULL, NULL, touch_three_new_pages, NULL), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert_ptr_nonnull(strstr(perfex_why(), strerror(EMFILE)));
}

TEST(event_that_this_user_may_not_count_in_the_kernel_has_a_remedy)
{
  SKIP_IF(suite_under("qemu"), "an emulator explains every refusal");
  perf_kernel.refused = PERF_COUNT_SW_PAGE_FAULTS;
  perf_kernel.refusal_errno = EACCES;
  make_machine();
  write_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
  expect_refusal("page-faults:uk", 0, EACCES, "may not count the kernel");
  expect_refusal("page-faults", 0, EACCES, "a security module");
  remove_machine();
}

/* PMUs outside of the cores count for CPUs, not for threads, or cannot exclude the kernel. */
TEST(pmu_that_does_not_count_in_threads_is_named)
{
  perf_kernel.refused = PERF_COUNT_SW_PAGE_FAULTS_MIN;
  perf_kernel.refusal_errno = EINVAL;
  make_machine();
  write_file("/sys/bus/event_source/devices/uncore_imc/type", "12\n");
  expect_refusal("uncore_imc/config=4/", 0, ENOTSUP, "user mode alone: append :uk");
  expect_refusal("uncore_imc/config=4/:uk", 0, ENOTSUP, "or does not count in a thread");
  remove_machine();
}

TEST(pmu_that_cannot_exclude_the_kernel_is_named)
{
  group = perfex_open("page-faults:uk", 0);
  SKIP_IF(!group, "%s", perfex_why());
  perf_kernel.excluding_pmu = 1; /* another PMU */
  expect_refusal("cycles", 0, ENOTSUP, "cycles: this PMU cannot exclude the kernel: append :uk");
  perf_kernel.refused = PERF_COUNT_SW_PAGE_FAULTS;
  perf_kernel.refusal_errno = ENOENT;
  expect_refusal("instructions:uk", 0, ENOTSUP, "instructions:uk: this PMU does not have");
}

/* The library's selection would run code and system calls that a sandbox may not permit. */
TEST(refused_software_event_is_explained_without_a_pmu_and_without_the_selection)
{
  static const int errors[] = { ENOSYS, EPERM, EACCES };
  size_t i;

  perf_kernel.refused = PERF_COUNT_SW_PAGE_FAULTS;
  for (i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    perf_kernel.refusal_errno = errors[i];
    expect_refusal("page-faults", 0, errors[i], "page-faults: ");
    ck_assert_msg(strstr(perfex_why(), "PMU") == NULL, "%s", perfex_why());
  }
  perf_kernel.refusal_errno = EINVAL;
  expect_refusal("page-faults", 0, ENOTSUP, "page-faults: this kernel does not have this event");
  perf_kernel.refused = PERF_COUNT_SW_TASK_CLOCK; /* and cycles, as without a PMU */
  expect_refusal("task-clock:uk", 0, ENOTSUP, "task-clock:uk: this kernel does not have");
  perf_kernel.refusal_errno = EACCES;
  expect_refusal("cycles", 0, EACCES, "cycles: ");
  ck_assert_int_eq(cpuc_process_has_selected(), 0);
}

TEST(refusal_has_the_remedy_of_cpucycles_counter)
{
  const struct cpucycles_counter_info *counter;
  int i = 0;

  while ((counter = cpucycles_counter(i)) && strcmp(counter->name, "default-perfevent") != 0)
    i++;
  SKIP_IF(!counter || !counter->remedy, "perf events need no remedy here");
  perf_kernel.refused = PERF_COUNT_SW_TASK_CLOCK;
  perf_kernel.refusal_errno = counter->error_number;
  expect_refusal("cycles", 0, counter->error_number, counter->explanation);
  ck_assert_ptr_nonnull(strstr(perfex_why(), counter->remedy));
}

#ifdef HAVE_LINUX_SECCOMP_H
/* Calls that perfex_open() makes, or that explain an error. */
static const int calls_of_open[] = { SYS_perf_event_open, SYS_openat, SYS_getdents64, SYS_ioctl,
  SYS_fcntl, SYS_mmap, SYS_read,
#ifdef SYS_access
  SYS_access,
#endif
};
static int trapped;

static int open_where_a_call_is_trapped(void)
{
  static const char *const events[] = { "page-faults", "cycles" };
  /* the kernel reports a filter only there */
  const char *part = access("/proc/self/status", R_OK) == 0 ? "filter" : "";
  struct sigaction after;
  int i;

  perf_kernel.refused = PERF_COUNT_SW_TASK_CLOCK;
  perf_kernel.refusal_errno = ENOENT;
  if (filter_calls(&calls_of_open[trapped], 1, SECCOMP_RET_TRAP) != 0)
    return FILTER_IMPOSSIBLE;
  for (i = 0; i < 2; i++) {
    group = perfex_open(events[i], 0);
    if (!group && strstr(perfex_why(), "no failure is known"))
      return 1;
    if (calls_of_open[trapped] == SYS_perf_event_open
      && (group || (i == 0 && (errno != ENOSYS || !strstr(perfex_why(), part)))))
      return 2;
  }
  if (sigaction(SIGSYS, NULL, &after) != 0 || after.sa_handler != SIG_DFL)
    return 3;
  syscall(calls_of_open[trapped], -1, 0, 0, 0, 0, 0);
  return 4;
}

TEST_LOOP(trapped_call_of_perfex_open_fails_and_no_handler_remains,
  sizeof calls_of_open / sizeof calls_of_open[0])
{
  int result;

  SKIP_IF(SUITE_SANITIZED || suite_under("valgrind") || suite_under("qemu"),
    "the tool makes these calls itself");
  trapped = _i;
  result = result_in_child(open_where_a_call_is_trapped);
  SKIP_IF(result == FILTER_IMPOSSIBLE, "no filter is possible here");
  ck_assert_int_eq(result, -SIGSYS); /* of the last call */
}

#endif

enum { TOUCHED = 1000 };

static void *touch_own_pages(void *pages)
{
  mapping = pages;
  touch(TOUCHED);
  return NULL;
}

static int touch_in_child(void)
{
  touch(TOUCHED);
  return 0;
}

/* A group without the flag is read beside the other. */
TEST(inherited_group_counts_threads_and_children)
{
  long long begin, end, own_begin, own_end;
  struct perfex_group *own;

  skip_without_perf_events();
  map_pages(TOUCHED);
  open_group("page-faults", 0);
  own = group;
  open_group("page-faults", PERFEX_INHERIT);
  ck_assert_int_eq(perfex_read(group, &begin), 0);
  ck_assert_int_eq(perfex_read(own, &own_begin), 0);
  result_in_thread(touch_own_pages, (void *)mapping);
  in_child_process(touch_in_child); /* pages of its own, because they are copied on write */
  ck_assert_int_eq(perfex_read(group, &end), 0);
  ck_assert_int_eq(perfex_read(own, &own_end), 0);
  ck_assert_int_ge(end - begin, 2 * TOUCHED);
  if (suite_under("valgrind") || SUITE_SANITIZED)
    skip_part("(other pages) the tool touches pages of its own");
  else {
    /* the thread and the child touch a few pages of their stacks and of the C library */
    ck_assert_int_le(end - begin, 3 * TOUCHED);
    ck_assert_int_lt(own_end - own_begin, TOUCHED);
  }
  perf_kernel.alter_reading = multiplexed;
  expect_read_error(EBUSY, "all the time");
  perfex_close(own);
}

/* Hybrid CPUs. */

/* Software events are opened once. The simulated events of both types count all the time, so their
   sum is twice the count. */
TEST(counts_of_core_types_are_added)
{
  long long counts[4];

  skip_without_perf_events();
  make_machine_with_pmus("0-1023\n");
  open_group("page-faults", PERFEX_INHERIT);
  perfex_close(group);
  open_group("page-faults,minor-faults", 0);
  count_touched(PAGES, counts);
  ck_assert_int_lt(counts[1], 2 * PAGES);
  perfex_close(group);
  open_group("cycles,instructions", 0);
  count_touched(PAGES, counts);
  ck_assert_int_ge(counts[1], 2 * PAGES);
  ck_assert_int_lt(counts[1], 3 * PAGES);
  perf_kernel.alter_reading = multiplexed; /* the thread ran on both core types */
  ck_assert_int_eq(perfex_read(group, counts), 0);
  perf_kernel.alter_reading = given_up;
  expect_read_error(EBUSY, "all the time");
}

TEST(event_that_a_core_type_lacks_is_named)
{
  skip_without_perf_events();
  make_machine_with_pmus("0-1023\n");
  expect_refusal("r1c0", 0, ENOTSUP, "r1c0");
  expect_refusal("cycles,cpu_core/event=1/", 0, ENOTSUP, "cpu_core/event=1/");
  expect_refusal("cycles", PERFEX_INHERIT, ENOTSUP, "PERFEX_INHERIT");
  perf_kernel.refused = PERF_COUNT_SW_PAGE_FAULTS;
  perf_kernel.refusal_errno = ENOENT;
  expect_refusal("cycles,instructions", 0, ENOTSUP, "instructions: cpu_");
  perf_kernel.refused = 0;
  perf_kernel.lacking_pmu = 10;
  expect_refusal("cycles", 0, ENOTSUP, "cycles: cpu_atom");
  remove_machine();
  make_machine_with_pmus("1023\n"); /* none of this machine's CPUs */
  perf_kernel.lacking_pmu = 10;
  open_group("r1c0,cpu_core/event=1/,cycles", 0);
  perfex_close(group);
  perf_kernel.lacking_pmu = 4;
  expect_refusal("cycles", 0, ENOTSUP, "cycles");
  perf_kernel.lacking_pmu = 0;
  expect_refusal("cpu_atom/event=1/", 0, ENOTSUP, "another PMU");
}

SUITE_AROUND("perfex groups", NULL, remove_machine)
