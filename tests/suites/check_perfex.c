/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests libperfex as programs use it: numbers and names of events, errors, printed lines. Counting
   itself is tested in check_perfex_events, costs in check_perfex_costs. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/events.h"
#include "sys/perf/kernel.h"

#include "tests/suites/child.h"

#include <errno.h>
#include <fcntl.h>

/* All numbers with a kernel event, with type and config as in perf_event_open(2). */
static const struct {
  int number;
  const char *name;
  uint32_t type;
  uint64_t config;
} counted[] = {
  { 0, "cycles", 0, 0 },
  { 6, "branches", 0, 4 },
  { 9, "L1-icache-load-misses", 3, 0x10001 },
  { 10, "cache-misses", 0, 3 },
  { 15, "instructions", 0, 1 },
  { 16, "cycles", 0, 0 },
  { 17, "instructions", 0, 1 },
  { 18, "L1-dcache-loads", 3, 0 },
  { 19, "L1-dcache-stores", 3, 0x100 },
  { 23, "dTLB-load-misses", 3, 0x10003 },
  { 24, "branch-misses", 0, 5 },
  { 25, "L1-dcache-load-misses", 3, 0x10000 },
  { 26, "LLC-load-misses", 3, 0x10002 },
};

enum { COUNTED = sizeof counted / sizeof counted[0] };

TEST(numbers_map_to_generic_kernel_events_and_only_their_names_to_numbers)
{
  static const char *const others[] = { "", "Cycles", "cycles ", "0", "branch", "issued loads",
    NULL };
  int i, at = 0;

  for (i = 0; i < PFX_EVENTS; i++) {
    const struct pfx_events_entry *row = pfx_events_row(i);

    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_nonnull(row->text);
    if (at == COUNTED || counted[at].number != i) {
      ck_assert_msg(row->name == NULL, "%d has the name %s", i, row->name);
      continue;
    }
    ck_assert_str_eq(row->name, counted[at].name);
    ck_assert_uint_eq(row->type, counted[at].type);
    ck_assert_uint_eq(row->config, counted[at].config);
    ck_assert_int_ge(perfex_event(row->name), 0);
    ck_assert_str_eq(pfx_events_row(perfex_event(row->name))->name, row->name);
    at++;
  }
  ck_assert_int_eq(at, COUNTED);
  ck_assert_ptr_null(pfx_events_row(-1));
  ck_assert_ptr_null(pfx_events_row(PFX_EVENTS));
  ck_assert_int_eq(perfex_event("branch-misses"), 24);
  ck_assert_int_eq(perfex_event("cpu-cycles"), 0);
  for (i = 0; i < (int)(sizeof others / sizeof others[0]); i++) {
    errno = 0;
    ck_assert_int_eq(perfex_event(others[i]), -1);
    ck_assert_int_eq(errno, EINVAL);
  }
}

/* The print functions print the arguments if the environment contains no event. */
TEST(event_that_cannot_be_counted_fails_with_a_message)
{
  static const struct {
    const char *environment[2]; /* T5_EVENT0, T5_EVENT1; NULL: not set */
    int events[2], error;
    const char *messages[2], *printed;
  } rows[] = {
    { { NULL, NULL }, { 0, 12 }, ENOTSUP, { "event 12 ", "" }, "12 external interventions" },
    { { NULL, NULL }, { 1, 0 }, ENOTSUP, { "event 1 ", "" }, "1 issued instructions" },
    { { NULL, NULL }, { 31, 15 }, ENOTSUP, { "event 31 ", "" }, "31 stores or prefetches" },
    { { NULL, NULL }, { 0, 32 }, ENOTSUP, { "event 32 ", "" }, "32 unknown event" },
    { { NULL, NULL }, { -1, 0 }, ENOTSUP, { "event -1 ", "" }, "-1 unknown event" },
    { { NULL, NULL }, { 99, 99 }, ENOTSUP, { "event 99 ", "" }, "99 unknown event" },
    { { NULL, NULL }, { 7, 20 }, ENOTSUP, { "event 7 ", "event 20 " }, "7 quadwords" },
    { { NULL, "12" }, { 0, 15 }, ENOTSUP, { "event 12 ", "" }, "12 external interventions" },
    { { "nonesuch", NULL }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" }, "0 cycles" },
    { { "0x5", NULL }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" }, "0 cycles" },
    { { "-1", NULL }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" }, "0 cycles" },
    { { " 5", NULL }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" }, "0 cycles" },
    { { "99", NULL }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" }, "0 cycles" },
    { { "100", NULL }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" }, "0 cycles" },
    { { "1e1", NULL }, { 0, 15 }, EINVAL, { "T5_EVENT0: ", "" }, "0 cycles" },
  };
  size_t i;
  int k;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const int *events = rows[i].events;
    long long c0, c1;

    for (k = 0; k < 2; k++)
      if (rows[i].environment[k])
        setenv(k ? "T5_EVENT1" : "T5_EVENT0", rows[i].environment[k], 1);
      else
        unsetenv(k ? "T5_EVENT1" : "T5_EVENT0");
    capture_begin(stderr);
    ck_assert_int_eq(start_counters(events[0], events[1]), -1);
    ck_assert_int_eq(errno, rows[i].error);
    ck_assert_int_eq(read_counters(events[0], &c0, events[1], &c1), -1);
    ck_assert_int_eq(errno, rows[i].error);
    capture_end();
    ck_assert_msg(strstr(captured, rows[i].messages[0]) && strstr(captured, rows[i].messages[1]),
      "row %d: %s", (int)i, captured);
    for (k = 0; k < 2; k++) {
      capture_begin(stderr);
      ck_assert_int_gt((k ? print_costs : print_counters)(events[0], 1, events[1], 2), 0);
      capture_end();
      ck_assert_msg(strstr(captured, rows[i].printed) != NULL, "row %d: %s", (int)i, captured);
    }
  }
}

/* The kernel's answer for cycles in user mode: 0 or an errno. */
static int error_of_cycles(void)
{
  struct perf_event_attr wanted = { .size = sizeof wanted, .type = PERF_TYPE_HARDWARE,
    .config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1, .exclude_hv = 1 };
  int descriptor = cpuc_perf_kernel_open(&wanted, -1);

  if (descriptor < 0)
    return errno;
  close(descriptor);
  return 0;
}

/* The error is ENOENT without a PMU, ENOSYS under an emulator, and so on. */
TEST(start_fails_with_the_kernels_error)
{
  long long c0 = -7, c1 = -7;
  int error = error_of_cycles(), i;

  SKIP_IF(error == 0, "there is a PMU: the kernel refuses nothing");
  if (error == EOPNOTSUPP)
    error = EINVAL; /* see ERRORS in libperfex(3) */
  for (i = 0; i < COUNTED; i++) {
    errno = 0;
    ck_assert_int_eq(start_counters(counted[i].number, 0), -1);
    ck_assert_int_eq(errno, error);
    errno = 0;
    ck_assert_int_eq(read_counters(counted[i].number, &c0, 0, &c1), -1);
    ck_assert_int_eq(errno, error);
  }
  ck_assert_int_eq(c0, -7);
  ck_assert_int_eq(c1, -7);
  if (error != ENOENT)
    skip_part("(ENOENT) the kernel refuses with another error here");
}

TEST(any_event_and_count_is_printed)
{
  static const struct {
    int event;
    long long count;
    const char *texts[2];
  } lines[] = {
    { 0, 123456789, { "0 cycles ", " 123456789\n" } },
    { 24, 0, { "24 mispredicted branches ", " 0\n" } },
    { 99, -1, { "99 unknown event ", " -1\n" } },
    { 26, 9223372036854775807LL, { "26 secondary data cache misses ", " 9223372036854775807\n" } },
  };
  size_t i;

  for (i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    int result, error;

    capture_begin(stderr);
    errno = ERANGE;
    result = print_counters(lines[i].event, lines[i].count, 15, 42);
    error = errno;
    capture_end();
    ck_assert_int_gt(result, 0);
    ck_assert_int_eq(error, ERANGE);
    ck_assert_msg(strstr(captured, lines[i].texts[0]) && strstr(captured, lines[i].texts[1])
        && strstr(captured, "15 instructions ") && strstr(captured, " 42\n"),
      "%s", captured);
  }
}

TEST(environment_overrides_the_arguments)
{
  int events[2] = { 0, 15 };

  setenv("T5_EVENT0", "24", 1);
  ck_assert_int_eq(pfx_events_override(events, 1), 0);
  ck_assert(events[0] == 24 && events[1] == 15);
  unsetenv("T5_EVENT0");
  setenv("T5_EVENT1", "L1-dcache-loads", 1);
  ck_assert_int_eq(pfx_events_override(events, 1), 0);
  ck_assert(events[0] == 24 && events[1] == 18);
  setenv("T5_EVENT1", "", 1);
  ck_assert_int_eq(pfx_events_override(events, 1), 0);
  ck_assert(events[0] == 24 && events[1] == 18);
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

SUITE("perfex")
