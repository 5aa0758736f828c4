/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the table of costs: measurement, files, malformed files, and concurrent use. This file
   defines the clocks of the measurement, so the linker leaves out perfex/cost-clock.c. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/perfex.h"
#include "perfex/cost-clock.h"
#include "perfex/cost.h"
#include "perfex/cost-table.h"
#include "sys/os-clock.h"

#include "tests/suites/child.h"
#include "tests/suites/machine.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_clock_stopped;

long long pfx_cost_clock_elapsed(void)
{
  return is_clock_stopped ? 1000000000 : cpuc_os_clock_monotonic();
}

/* 0: the core frequency is measured */
static long long core_rate;

static int signal_of_measurement; /* not 0: each measurement sends this signal to its thread */

long long pfx_cost_clock_core_frequency(void)
{
  if (signal_of_measurement)
    raise(signal_of_measurement);
  return core_rate ? core_rate : cpucycles_core_persecond();
}

/* Writes a file below the test's directory. Returns its path, valid for the next three calls. */
static char *write_costs(const char *name, const char *text)
{
  static char paths[4][512];
  static int next;
  char *path = paths[next++ % 4];

  snprintf(path, sizeof paths[0], "%s", path_of(name));
  write_file(name, text);
  return path;
}

static void use_test_directory(void)
{
  make_machine();
  atexit(remove_machine);
}

static struct pfx_cost_table table_now(void)
{
  struct pfx_cost_table table;

  pfx_cost_table_get(&table);
  return table;
}

static int is_cost(struct pfx_cost cost, long long minimum, long long typical, long long maximum)
{
  return cost.minimum == minimum && cost.typical == typical && cost.maximum == maximum;
}

TEST(measured_costs_are_in_order_and_have_their_origin)
{
  long long rate = cpucycles_persecond();
  struct pfx_cost_table table;
  int i;

  use_test_directory();
  ck_assert_int_eq(symlink("/sys", path_of("/sys")), 0); /* this machine's caches */
  table = table_now();
  ck_assert_int_eq(table.origin[0], PFX_COST_MEASURED);
  ck_assert_int_gt(table.cost[0].typical, 0);
  /* within a factor of 100, because the core frequency changes */
  ck_assert_int_gt(table.cost[0].typical, PFX_COST_PICOSECONDS_PER_SECOND / rate / 100);
  ck_assert_int_lt(table.cost[0].typical, PFX_COST_PICOSECONDS_PER_SECOND / rate * 100 + 100);
  for (i = 0; i < PFX_EVENTS; i++) {
    ck_assert(0 <= table.cost[i].minimum && table.cost[i].minimum <= table.cost[i].typical);
    ck_assert_int_le(table.cost[i].typical, table.cost[i].maximum);
    ck_assert_int_le(table.cost[i].maximum, PFX_COST_LIMIT);
    ck_assert_int_le(table.origin[i], PFX_COST_MEASURED);
    ck_assert(pfx_events_row(i)->name || table.origin[i] == PFX_COST_UNKNOWN);
  }
  ck_assert_int_ge(table.measured.levels, 1);
  ck_assert_int_gt(table.measured.nanoseconds, 0);
}

/* Event 0 counts core cycles, but cpucycles() may count other cycles. */
static sigjmp_buf before_first_use;

static void jump_out(int signal)
{
  (void)signal;
  siglongjmp(before_first_use, 1);
}

/* A lock that stayed held would block the second use until the time limit of the test. */
TEST(handler_may_jump_out_of_the_first_use)
{
  use_test_directory();
  signal(SIGUSR1, jump_out);
  signal_of_measurement = SIGUSR1;
  if (sigsetjmp(before_first_use, 1) == 0) {
    table_now();
    ck_abort_msg("the handler has not run");
  }
  ck_assert_int_eq(table_now().origin[0], PFX_COST_MEASURED);
}

TEST(cycle_cost_follows_the_core_frequency)
{
  struct pfx_cost_measured measured;

  core_rate = 4 * cpucycles_persecond();
  pfx_cost_measure(&measured);
  ck_assert_int_eq(measured.cycle.typical,
    (PFX_COST_PICOSECONDS_PER_SECOND + core_rate / 2) / core_rate);
}

/* The expected costs follow the table in libperfex(3), COSTS. */
TEST(costs_are_estimated_from_measured_times)
{
  struct pfx_cost_measured measured = { .cycle = { 400, 400, 400 },
    .branch_miss = { 3000, 5000, 9000 },
    .level = { { 64, { 1000, 1100, 1200 } }, { 131072, { 3000, 3300, 3600 } } }, .levels = 2 };
  struct pfx_costs costs;

  pfx_cost_estimate(&measured, &costs);
  ck_assert(is_cost(costs.cost[0], 400, 400, 400) && is_cost(costs.cost[16], 400, 400, 400));
  ck_assert(is_cost(costs.cost[15], 0, 0, 400) && is_cost(costs.cost[17], 0, 0, 400));
  ck_assert(is_cost(costs.cost[6], 0, 400, 400) && is_cost(costs.cost[19], 0, 400, 400));
  ck_assert(is_cost(costs.cost[18], 0, 400, 1100));
  ck_assert(is_cost(costs.cost[24], 3000, 5000, 9000));
  ck_assert(is_cost(costs.cost[25], 1900, 3300, 134000));
  ck_assert(is_cost(costs.cost[9], 1900, 3300, 134000));
  ck_assert(is_cost(costs.cost[23], 1000, 3300, 134000));
  measured.level[1].load = (struct pfx_cost){ 3000, 3300, 140000 };
  pfx_cost_estimate(&measured, &costs);
  ck_assert(is_cost(costs.cost[25], 1900, 3300, 134000));
  measured.levels = 1;
  pfx_cost_estimate(&measured, &costs);
  ck_assert(!costs.has_cost[25] && !costs.has_cost[23] && costs.has_cost[18]);
}

TEST(stopped_clock_measures_only_the_cycle)
{
  static const int events[] = { 9, 18, 23, 24, 25 };
  struct pfx_cost_table table;
  size_t i;

  use_test_directory();
  is_clock_stopped = 1;
  table = table_now();
  ck_assert_int_eq(table.origin[0], PFX_COST_MEASURED);
  for (i = 0; i < sizeof events / sizeof events[0]; i++)
    ck_assert_int_eq(table.origin[events[i]], PFX_COST_UNKNOWN);
  capture_begin(stdout);
  perfex_print_table();
  ck_assert_ptr_nonnull(strstr(capture_end(), "\n# 25: "));
  ck_assert_ptr_nonnull(strstr(captured, ": not known\n"));
}

TEST(cost_is_from_the_last_file_that_has_the_event)
{
  struct pfx_cost_table table;
  char *one, *two;

  use_test_directory();
  write_costs("/etc/perfex.costs", "24 1 2 3\n25 1 2 3\n19 4 5 6\n");
  table = table_now();
  ck_assert_int_eq(table.origin[0], PFX_COST_MEASURED);
  ck_assert(table.origin[24] == PFX_COST_SYSTEM_FILE && is_cost(table.cost[24], 1000, 2000, 3000));
  one = write_costs("/one", "branch-misses 7 8.5 9.125\n25 1 2 4\n");
  ck_assert_int_gt(load_costs(one), 0);
  table = table_now();
  ck_assert_int_eq(table.origin[0], PFX_COST_MEASURED);
  ck_assert(table.origin[24] == PFX_COST_LOADED && is_cost(table.cost[24], 7000, 8500, 9125));
  two = write_costs("/two", "cycles 0.25 0.25 0.250\n25 1 2 5");
  ck_assert_int_gt(load_costs(two), 0);
  table = table_now();
  ck_assert(table.origin[0] == PFX_COST_LOADED && is_cost(table.cost[0], 250, 250, 250));
  ck_assert(table.origin[16] == PFX_COST_LOADED && is_cost(table.cost[16], 250, 250, 250));
  ck_assert(is_cost(table.cost[24], 7000, 8500, 9125));
  ck_assert(table.origin[25] == PFX_COST_LOADED && is_cost(table.cost[25], 1000, 2000, 5000));
  ck_assert(table.origin[19] == PFX_COST_SYSTEM_FILE && is_cost(table.cost[19], 4000, 5000, 6000));
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(24, 1, 0, 1), 0);
  ck_assert_ptr_nonnull(strstr(capture_end(), "costs of 24: loaded earlier\n"));
  ck_assert_ptr_nonnull(strstr(captured, two));
  ck_assert_ptr_null(strstr(captured, one));
  capture_begin(stdout);
  ck_assert_int_gt(perfex_print_table(), 0);
  ck_assert_ptr_nonnull(strstr(capture_end(), " 9.125 # mispredicted branches: loaded earlier\n"));
  ck_assert_ptr_nonnull(strstr(captured, ": loaded\n"));
}

TEST(nothing_is_measured_if_files_contain_all_costs)
{
  char text[4096] = "";
  int i;

  use_test_directory();
  for (i = 0; i < PFX_EVENTS; i++)
    sprintf(text + strlen(text), "%d %d 100 1000\n", i, i);
  write_costs("/etc/perfex.costs", text);
  ck_assert_int_eq(table_now().measured.nanoseconds, 0);
  ck_assert(is_cost(table_now().cost[31], 31000, 100000, 1000000));
}

static const struct {
  const char *text;
  int line;
} malformed[] = {
  { "0", 1 },
  { "0 1", 1 },
  { "0 1 2", 1 },
  { "0 1 2 # 3", 1 },
  { "0 1 2 3 4", 1 },
  { "\n\n# nothing\n0 1 2 3\n1 2 3 x\n", 5 },
  { "0 3 2 1", 1 },
  { "0 1 3 2", 1 },
  { "0 2 1 3", 1 },
  { "32 1 2 3", 1 },
  { "00 1 2 3", 1 },
  { "-1 1 2 3", 1 },
  { "nonesuch 1 2 3", 1 },
  { "0 -1 2 3", 1 },
  { "0 1 2 nan", 1 },
  { "0 1 2 inf", 1 },
  { "0 1 2 1e3", 1 },
  { "0 1 2 0x3", 1 },
  { "0 1,5 2 3", 1 },
  { "0 1 2 3.1234", 1 },
  { "0 1 2 3.4.5", 1 },
  { "0 1 2 .", 1 },
  { "0 .1 2 3", 1 },
  { "0 1. 2 3", 1 },
  { "0 1 2 1000000000.001", 1 },
  { "0 1 2 99999999999999999999999999999999999999999", 1 },
  { "0 1 2 3\n0 1 2 3", 2 },
  { "16 1 2 3\ncycles 1 2 3\n", 2 },
  { "0 1 2 3\n\v1 1 2 3\n", 2 },
};

TEST(malformed_file_is_reported_by_line_and_changes_nothing)
{
  struct pfx_cost_table before, after;
  size_t i;

  use_test_directory();
  before = table_now();
  for (i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    char *path = write_costs("/costs", malformed[i].text), where[600];
    int result, error;

    capture_begin(stderr);
    errno = 0;
    result = load_costs(path);
    error = errno;
    capture_end();
    snprintf(where, sizeof where, "%s: line %d: ", path, malformed[i].line);
    ck_assert_msg(result == -1 && error == EINVAL, "not rejected with EINVAL: %s",
      malformed[i].text);
    ck_assert_msg(strstr(captured, where) != NULL, "%s: %s", malformed[i].text, captured);
    after = table_now();
    ck_assert_mem_eq(&after, &before, sizeof before);
  }
}

/* A byte 0 would hide the rest of its word. */
TEST(byte_0_is_malformed_anywhere)
{
  static const char text[] = "# all\n24 1 2 3 # one\n";
  char bytes[sizeof text + 1];
  struct pfx_costs costs;
  const char *mistake;
  size_t at;

  for (at = 0; at < sizeof text; at++) {
    memcpy(bytes, text, sizeof text);
    bytes[at] = 0;
    ck_assert_int_eq(pfx_cost_file_parse(bytes, sizeof text, &costs, &mistake),
      at < 6 ? 1 : at < 21 ? 2 : 3);
    ck_assert_ptr_nonnull(strstr(mistake, "byte 0"));
  }
}

TEST(file_may_have_comments_blanks_and_no_final_newline)
{
  struct pfx_costs costs;
  const char *mistake;
  char text[] = "# a comment\n\n \t\r\n\t0\t1  2.5 1000000000 # more\r\n15 0 0 0";

  ck_assert_int_eq(pfx_cost_file_parse(text, sizeof text - 1, &costs, &mistake), 0);
  ck_assert(costs.has_cost[0] && is_cost(costs.cost[0], 1000, 2500, PFX_COST_LIMIT));
  ck_assert(costs.has_cost[15] && is_cost(costs.cost[15], 0, 0, 0) && !costs.has_cost[16]);
}

TEST(unreadable_file_fails_with_its_errno)
{
  struct {
    const char *path;
    int error;
  } unreadable[] = { { "/nonexistent/costs", ENOENT }, { "/dev/zero", EINVAL }, { NULL, EFAULT },
    { "/", EINVAL }, { NULL, EINVAL } };
  int before = open_descriptors(), i;
  char *path;
  FILE *large;

  use_test_directory();
  path = write_costs("/fifo", "");
  unlink(path);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  unreadable[4].path = path; /* fails without waiting for a writer */
  for (i = 0; i < 5; i++) {
    errno = 0;
    ck_assert_int_eq(load_costs((char *)unreadable[i].path), -1);
    ck_assert_int_eq(errno, unreadable[i].error);
  }
  path = write_costs("/large", "# ");
  large = fopen(path, "a");
  ck_assert_ptr_nonnull(large);
  ck_assert_int_eq(fprintf(large, "%65534s", "x"), 65534);
  fclose(large);
  ck_assert_int_gt(load_costs(path), 0); /* the largest size allowed */
  large = fopen(path, "a");
  fputc('x', large);
  fclose(large);
  capture_begin(stderr);
  ck_assert_int_eq(load_costs(path), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert_ptr_nonnull(strstr(capture_end(), "longer than 65536 bytes"));
  ck_assert_int_eq(open_descriptors(), before);
}

TEST(malformed_system_file_is_ignored_with_a_message)
{
  struct pfx_cost_table table;

  use_test_directory();
  write_costs("/etc/perfex.costs", "24 1 2 3\n25 junk\n");
  capture_begin(stderr);
  table = table_now();
  ck_assert_ptr_nonnull(strstr(capture_end(), ": line 2: "));
  ck_assert_int_ne(table.origin[24], PFX_COST_SYSTEM_FILE);
  ck_assert_int_eq(table.origin[0], PFX_COST_MEASURED);
}

/* Writes the kernel's description of a cache below the test's directory. */
static void write_cache(int index, const char *level, const char *type, const char *size)
{
  const char *const names[] = { "level", "type", "size" }, *const texts[] = { level, type, size };
  char path[128];
  int i;

  for (i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, names[i]);
    write_file(path, texts[i]);
  }
}

/* A list of caches ends before a cache that has another level or no size, or is too small. */
TEST(cache_sizes_come_from_the_kernel)
{
  static const struct {
    const char *level, *size;
  } odd[] = { { "3\n", "1023K\n" }, { "3\n", "0K\n" }, { "3\n", "junk\n" }, { "4\n", "6144K\n" } };
  struct pfx_cost_measured measured;
  size_t i;

  use_test_directory();
  write_cache(0, "1\n", "Data\n", "16K\n");
  write_cache(1, "1\n", "Instruction\n", "64K\n");
  write_cache(2, "2\n", "Unified\n", "256K\n");
  pfx_cost_measure(&measured);
  ck_assert_int_eq(measured.levels, 2);
  ck_assert_int_eq(measured.level[1].bytes, 65536); /* four times the L1 data cache */
  for (i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    write_cache(3, odd[i].level, "Unified\n", odd[i].size);
    pfx_cost_measure(&measured);
    ck_assert_int_eq(measured.levels, 2);
  }
  write_cache(3, "3\n", "Unified\n", "6144K\n");
  pfx_cost_measure(&measured);
  ck_assert_int_eq(measured.levels, 3);
  ck_assert_int_eq(measured.level[2].bytes, 1 << 20);
  write_cache(2, "2\n", "Unified\n", "junk\n");
  pfx_cost_measure(&measured);
  ck_assert_int_eq(measured.levels, 1);
  write_cache(0, "1\n", "Data\n", "junk\n"); /* the usual sizes are measured instead */
  pfx_cost_measure(&measured);
  ck_assert_int_eq(measured.levels, 3);
  ck_assert_int_eq(measured.level[2].bytes, 2 << 20);
}

TEST(cost_of_memory_is_built_in_unless_a_file_contains_it)
{
  struct pfx_cost_table table;

  use_test_directory();
  table = table_now();
  ck_assert(table.origin[10] == PFX_COST_BUILT_IN && table.origin[26] == PFX_COST_BUILT_IN);
  ck_assert(is_cost(table.cost[10], 67000, 100000, 134000));
  ck_assert(is_cost(table.cost[26], 67000, 100000, 134000));
  capture_begin(stderr);
  print_costs(26, 1, 10, 1);
  ck_assert_ptr_nonnull(strstr(capture_end(), "costs of 26: built in\n"));
  ck_assert_int_gt(load_costs(write_costs("/costs", "26 60 90 140.125\n")), 0);
  table = table_now();
  ck_assert(table.origin[26] == PFX_COST_LOADED && is_cost(table.cost[26], 60000, 90000, 140125));
  ck_assert_int_eq(table.origin[10], PFX_COST_BUILT_IN);
}

/* Costs are printed in seconds, the same in every locale. */
static void expect_costs_in_seconds(void)
{
  ck_assert_msg(strstr(captured, " 0.001000000     0.002500000     1.000000000\n")
      && strstr(captured, " 0.000000000  1000.000000000 24000.000000000\n"),
    "%s", captured);
}

TEST(costs_are_printed_with_their_origin)
{
  char *path;

  use_test_directory();
  /* musl accepts any name, but keeps the point. */
  if (!setlocale(LC_ALL, "de_DE.UTF-8") || strcmp(localeconv()->decimal_point, ",") != 0)
    skip_part("(decimal comma) no such locale is installed");
  write_costs("/etc/perfex.costs", "24 1 2.5 1000\n");
  path = write_costs("/costs", "15 0 0.125 3\n");
  ck_assert_int_gt(load_costs(path), 0);
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(24, 1000000, 15, 8000000000000LL), 0);
  capture_end();
  expect_costs_in_seconds();
  ck_assert_ptr_nonnull(strstr(captured, "costs of 24: /etc/perfex.costs\n"));
  ck_assert_ptr_nonnull(strstr(captured, path));
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(0, 1000000, 12, 5), 0);
  capture_end();
  ck_assert_ptr_nonnull(strstr(captured, "costs of 0: measured here within "));
  ck_assert_ptr_nonnull(strstr(captured, "costs of 12: not known\n"));
}

TEST(costs_are_printed_up_to_292_years)
{
  use_test_directory();
  write_costs("/etc/perfex.costs", "24 0.001 1 1000000000\n");
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(24, 1234567890123456789LL, 24, -1500), 0);
  capture_end();
  ck_assert_msg(strstr(captured, " 1234567.890123457 1234567890.123456789 9223372036.854775807\n")
      && strstr(captured, " -0.000000002    -0.000001500 -1500.000000000\n"),
    "%s", captured);
}

TEST(printed_table_can_be_loaded)
{
  struct pfx_cost_table before, after;
  char *path;
  int i, result;

  use_test_directory();
  write_costs("/etc/perfex.costs", "24 1 2.5 1000\n");
  before = table_now();
  capture_begin(stdout);
  result = perfex_print_table();
  path = write_costs("/table", capture_end());
  ck_assert_int_gt(result, 0);
  ck_assert_int_gt(load_costs(path), 0);
  after = table_now();
  for (i = 0; i < PFX_EVENTS; i++) {
    ck_assert_mem_eq(&after.cost[i], &before.cost[i], sizeof after.cost[i]);
    ck_assert_int_eq(after.origin[i],
      before.origin[i] == PFX_COST_UNKNOWN ? PFX_COST_UNKNOWN : PFX_COST_LOADED);
  }
}

TEST(largest_table_is_printed_whole)
{
  char text[4096] = "";
  int i;

  use_test_directory();
  for (i = 1; i < PFX_EVENTS; i++) /* event 0 is measured */
    sprintf(text + strlen(text), "%d 1000000000 1000000000 1000000000\n", i);
  write_costs("/etc/perfex.costs", text);
  capture_begin(stdout);
  ck_assert_int_gt(perfex_print_table(), 0);
  capture_end();
  ck_assert_ptr_nonnull(strstr(captured, "\n31 1000000000.000 1000000000.000 1000000000.000 # "));
  ck_assert_int_eq(captured[strlen(captured) - 1], '\n');
}

/* The function that a Fortran program calls as load_costs. */
int load_costs_(const char *name, size_t length);

static char *malformed_path;

static void *call_most_functions(void *unused)
{
  long long c0 = 0, c1 = 0, counts[2];
  struct perfex_group *group = perfex_open("page-faults,minor-faults", 0);

  if (group)
    perfex_read(group, counts);
  perfex_close(group);
  perfex_close(perfex_open("cycles,cpu/event=1/", 0));
  perfex_event("instructions");
  start_counters(0, 24);
  read_counters(0, &c0, 24, &c1);
  start_counters(1, 2); /* prints messages */
  print_counters(0, c0, 24, c1);
  print_costs(0, c0, 24, c1);
  load_costs(malformed_path);
  load_costs_(malformed_path, strlen(malformed_path));
  return unused;
}

static void *print_table(void *unused)
{
  perfex_print_table();
  return unused;
}

/* In the first round, print_costs() makes the first call that needs costs, which reads a malformed
   file and measures. In the second round, perfex_print_table() makes this call. */
TEST_LOOP(every_function_fits_on_the_smallest_stack, 2)
{
  SKIP_IF(SUITE_SANITIZED, "the sanitizer needs more stack");
  use_test_directory();
  malformed_path = write_costs("/costs", "24 1 2 junk\n");
  write_costs("/etc/perfex.costs", "24 1 2 junk\n");
  capture_begin(_i ? stdout : stderr);
  ck_assert_int_eq(call_on_a_small_stack(_i ? print_table : call_most_functions, NULL), 0);
  capture_end();
  ck_assert_ptr_nonnull(strstr(captured, _i ? "# measured here within " : "/costs: line 1: "));
}

enum { READERS = 3 };

static int readers_stop;

/* Counts costs that are not from the same file as the first cost of their table. */
static void *read_tables(void *unused)
{
  long long wrong = 0;
  int i;

  (void)unused;
  while (!__atomic_load_n(&readers_stop, __ATOMIC_RELAXED)) {
    struct pfx_cost_table table = table_now();

    for (i = 1; i < PFX_EVENTS; i++)
      wrong += table.cost[i].maximum != table.cost[0].maximum;
  }
  return (void *)(intptr_t)wrong;
}

TEST(table_is_replaced_atomically_for_concurrent_readers)
{
  pthread_t threads[READERS];
  struct suite_repeat loads, forks;
  char *path[2], text[4096];
  int i, which, status;
  pid_t child;
  void *wrong;

  use_test_directory();
  for (which = 0; which < 2; which++) {
    text[0] = 0;
    for (i = 0; i < PFX_EVENTS; i++)
      sprintf(text + strlen(text), "%d 0 %d %d\n", i, which, which + 1);
    path[which] = write_costs(which ? "/one" : "/zero", text);
  }
  ck_assert_int_gt(load_costs(path[0]), 0);
  for (i = 0; i < READERS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, read_tables, NULL), 0);
  loads = suite_repeat(500);
  while (suite_again(&loads))
    ck_assert_int_gt(load_costs(path[loads.begun & 1]), 0);
  /* a forked child has the table, even if another thread held the lock to read the table */
  forks = suite_repeat(50);
  while (suite_again(&forks)) {
    child = fork();
    if (child == 0) {
      alarm(20);
      for (i = 1; i < PFX_EVENTS; i++)
        if (table_now().cost[i].maximum != table_now().cost[0].maximum)
          _exit(1);
      _exit(load_costs(path[0]) <= 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
  }
  __atomic_store_n(&readers_stop, 1, __ATOMIC_RELAXED);
  for (i = 0; i < READERS; i++) {
    pthread_join(threads[i], &wrong);
    ck_assert_ptr_null(wrong);
  }
}

SUITE("perfex costs")
