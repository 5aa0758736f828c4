/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests libperfex as programs use it: numbers and names of events, errors, printed lines. Counting
   itself is tested in check_perfex_events, costs in check_perfex_costs. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/events.h"

#include "tests/suites/child.h"

#include <errno.h>
#include <fcntl.h>

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

SUITE("perfex")
