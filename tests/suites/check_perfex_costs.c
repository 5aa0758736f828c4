/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the table of costs: measurement, files, malformed files, and concurrent use. With
   one-clock.h, replaces sys/os-clock.c. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/perfex.h"
#include "perfex/cost.h"

#include "tests/suites/child.h"
#include "tests/suites/machine.h"
#include "tests/suites/one-clock.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int is_clock_stopped;

static void (*during_measurement)(void); /* called at each read of the clock */

long long cpuc_os_clock_monotonic(void)
{
  struct timespec now;

  if (during_measurement)
    during_measurement();
  if (is_clock_stopped)
    return 1000000000;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int load(const char *name)
{
  return load_costs((char *)path_of(name));
}

/* Writes a file below the test's directory, and loads it. */
static void load_text(const char *name, const char *text)
{
  write_file(name, text);
  ck_assert_int_gt(load(name), 0);
}

/* Returns a file with these costs of each event from the first one. */
static const char *costs_of_all(int first, const char *costs)
{
  static char text[4096];
  int i;

  for (*text = 0, i = first; i < PFX_EVENTS; i++)
    sprintf(text + strlen(text), "%d %s\n", i, costs);
  return text;
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

  ck_assert_int_eq(symlink("/sys", path_of("/sys")), 0); /* this machine's caches */
  capture_begin(stderr);
  table = table_now();
  ck_assert_str_eq(capture_end(), ""); /* no message on a file that is missing */
  ck_assert_int_eq(table.origin[0], PFX_COST_MEASURED);
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

static long long whole(long long picoseconds)
{
  return picoseconds / 1000;
}

static long long rest(long long picoseconds)
{
  return picoseconds % 1000;
}

TEST(measured_times_are_printed)
{
  struct pfx_cost_table table = table_now();
  long long cycle = table.measured.cycle.typical, branch = table.measured.branch_miss.typical,
            load = table.measured.level[0].load.typical,
            tenths = (table.measured.nanoseconds + 50000) / 100000;
  char expected[256];

  snprintf(expected, sizeof expected,
    "\ncosts of 0: measured here within %lld.%lld ms; nanoseconds: cycle %lld.%03lld, "
    "mispredicted branch %lld.%03lld, load from L1 %lld.%03lld",
    tenths / 10, tenths % 10, whole(cycle), rest(cycle), whole(branch), rest(branch), whole(load),
    rest(load));
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(0, 1, 24, 1), 0);
  ck_assert_ptr_nonnull(strstr(capture_end(), expected));
  snprintf(expected, sizeof expected, "%51s %15s %15s %15s\n", "count", "minimum s", "typical s",
    "maximum s");
  ck_assert_int_eq(strncmp(captured, expected, strlen(expected)), 0);
}

static sigjmp_buf before_first_use;

static void jump_out(int signal)
{
  (void)signal;
  siglongjmp(before_first_use, 1);
}

static void raise_signal(void)
{
  raise(SIGUSR1);
}

/* A lock that stayed held would block the second use until the time limit of the test. */
TEST(handler_may_jump_out_of_the_first_use)
{
  signal(SIGUSR1, jump_out);
  during_measurement = raise_signal;
  if (sigsetjmp(before_first_use, 1) == 0) {
    table_now();
    ck_abort_msg("the handler has not run");
  }
  ck_assert_int_eq(table_now().origin[0], PFX_COST_MEASURED);
}

/* The expected costs follow the table in libperfex(3), COSTS. */
TEST(costs_are_estimated_from_measured_times)
{
  struct pfx_cost_measured measured = { .cycle = { 400, 400, 400 },
    .branch_miss = { 3000, 5000, 9000 },
    .level = { { 64, { 1000, 1100, 1200 } }, { 131072, { 3000, 3300, 3600 } } } };
  struct pfx_cost_table costs = { .measured = measured };

  pfx_cost_estimate(&costs);
  ck_assert(is_cost(costs.cost[0], 400, 400, 400) && is_cost(costs.cost[16], 400, 400, 400));
  ck_assert(is_cost(costs.cost[15], 0, 0, 400) && is_cost(costs.cost[17], 0, 0, 400));
  ck_assert(is_cost(costs.cost[6], 0, 400, 400) && is_cost(costs.cost[19], 0, 400, 400));
  ck_assert(is_cost(costs.cost[18], 0, 400, 1100));
  ck_assert(is_cost(costs.cost[24], 3000, 5000, 9000));
  ck_assert(is_cost(costs.cost[25], 1900, 3300, 134000));
  ck_assert(is_cost(costs.cost[9], 1900, 3300, 134000));
  ck_assert(is_cost(costs.cost[23], 1000, 3300, 134000));
  costs.measured.level[1].load = (struct pfx_cost){ 3000, 3300, 140000 };
  pfx_cost_estimate(&costs);
  ck_assert(is_cost(costs.cost[25], 1900, 3300, 134000));
  measured.level[1].load = (struct pfx_cost){ 0, 0, 0 };
  costs = (struct pfx_cost_table){ .measured = measured };
  pfx_cost_estimate(&costs);
  ck_assert(!costs.origin[25] && !costs.origin[23] && costs.origin[18] == PFX_COST_MEASURED);
}

static int cycle_takes_at_most_10_ps(void)
{
  return table_now().cost[0].typical <= 10;
}

/* The estimate is 1 THz, so its cycle would take 1 ps. Each try is a process, because the
   measurement of the core can fail on a busy machine. */
TEST(cycle_is_that_of_the_core_and_not_of_the_frequency_estimate)
{
  int tries;

  write_file("/etc/cpucyclespersecond", "1000000000000\n");
  ck_assert_int_eq(cpucycles_persecond(), 1000000000000);
  SKIP_IF(cpucycles_core_persecond() == 0, "the core frequency cannot be measured here");
  for (tries = 0; tries < 20 && result_in_child(cycle_takes_at_most_10_ps) != 0; tries++)
    ;
  ck_assert_int_lt(tries, 20);
}

TEST(stopped_clock_measures_no_more_than_a_cycle_of_the_frequency_estimate)
{
  static const int events[] = { 9, 18, 23, 24, 25 };
  struct pfx_cost_table table;
  long long rate;
  size_t i;

  is_clock_stopped = 1;
  rate = cpucycles_persecond();
  table = table_now();
  ck_assert_int_eq(table.origin[0], PFX_COST_MEASURED);
  ck_assert_int_eq(table.cost[0].typical,
    (PFX_COST_PICOSECONDS_PER_SECOND + rate / 2) / rate);
  for (i = 0; i < sizeof events / sizeof events[0]; i++)
    ck_assert_int_eq(table.origin[events[i]], PFX_COST_UNKNOWN);
  capture_begin(stdout);
  perfex_print_table();
  ck_assert_ptr_nonnull(strstr(capture_end(), "\n# 25: "));
  ck_assert_ptr_nonnull(strstr(captured, ": not known\n"));
}

static void expect_cost(int event, int origin, long long minimum, long long typical,
  long long maximum)
{
  struct pfx_cost_table table = table_now();

  ck_assert_int_eq(table.origin[event], origin);
  ck_assert(is_cost(table.cost[event], minimum, typical, maximum));
}

static void expect_printed_origins(int e0, int e1, const char *origins)
{
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(e0, 1, e1, 1), 0);
  ck_assert_msg(strstr(capture_end(), origins) != NULL, "%s", captured);
}

TEST(cost_is_from_the_last_file_that_has_the_event)
{
  char origins[600];

  write_file("/etc/perfex.costs", "24 1 2 3\n25 1 2 3\n19 4 5 6\n");
  ck_assert_int_eq(table_now().origin[0], PFX_COST_MEASURED);
  expect_cost(24, PFX_COST_SYSTEM_FILE, 1000, 2000, 3000);
  expect_cost(10, PFX_COST_BUILT_IN, 67000, 100000, 134000);
  expect_cost(26, PFX_COST_BUILT_IN, 67000, 100000, 134000);
  load_text("/one", "branch-misses 7 8.5 9.125\n25 1 2 4\n10 60 90 140.125\n");
  ck_assert_int_eq(table_now().origin[0], PFX_COST_MEASURED);
  expect_cost(24, PFX_COST_LOADED, 7000, 8500, 9125);
  expect_cost(10, PFX_COST_LOADED, 60000, 90000, 140125);
  expect_cost(26, PFX_COST_BUILT_IN, 67000, 100000, 134000);
  load_text("/two", "cycles 0.25 0.25 0.250\n25 1 2 5");
  expect_cost(0, PFX_COST_LOADED, 250, 250, 250);
  expect_cost(16, PFX_COST_LOADED, 250, 250, 250);
  expect_cost(24, PFX_COST_LOADED_EARLIER, 7000, 8500, 9125);
  expect_cost(25, PFX_COST_LOADED, 1000, 2000, 5000);
  expect_cost(19, PFX_COST_SYSTEM_FILE, 4000, 5000, 6000);
  snprintf(origins, sizeof origins, "costs of 24: loaded earlier\ncosts of 0: %s\n",
    path_of("/two"));
  expect_printed_origins(24, 0, origins);
  expect_printed_origins(19, 15,
    "costs of 19: /etc/perfex.costs\ncosts of 15: measured here within ");
  expect_printed_origins(26, 12, "costs of 26: built in\ncosts of 12: not known\n");
  capture_begin(stdout);
  ck_assert_int_gt(perfex_print_table(), 0);
  ck_assert_ptr_nonnull(strstr(capture_end(), " 9.125 # mispredicted branches: loaded earlier\n"));
  ck_assert_ptr_nonnull(strstr(captured, ": loaded\n"));
}

TEST(nothing_is_measured_if_files_contain_all_costs)
{
  write_file("/etc/perfex.costs", costs_of_all(0, "31 100 1000"));
  ck_assert_int_eq(table_now().measured.nanoseconds, 0);
  expect_cost(31, PFX_COST_SYSTEM_FILE, 31000, 100000, 1000000);
}

/* The last line of each text is malformed. */
static const char *const malformed[] = { "0", "0 1", "0 1 2", "0 1 2 # 3", "0 1 2 3 4",
  "\n\n# nothing\n0 1 2 3\n1 2 3 x\n", "0 3 2 1", "0 1 3 2", "0 2 1 3", "32 1 2 3", "00 1 2 3",
  "-1 1 2 3", "nonesuch 1 2 3", "0 -1 2 3", "0 1 2 nan", "0 1 2 inf", "0 1 2 1e3", "0 1 2 0x3",
  "0 1,5 2 3", "0 1 2 3.1234", "0 1 2 3.4.5", "0 1 2 .", "0 .1 2 3", "0 1. 2 3",
  "0 1 2 1000000000.001", "0 1 2 99999999999999999999999999999999999999999",
  "0 1 2 3\n0 1 2 3", "16 1 2 3\ncycles 1 2 3\n", "0 1 2 3\n\v1 1 2 3\n" };

/* The system's file is malformed, too, and has not changed the table before. */
TEST(malformed_file_is_reported_by_line_and_changes_nothing)
{
  struct pfx_cost_table before, after;
  char where[600];
  size_t i;

  write_file("/etc/perfex.costs", "24 1 2 3\n25 junk\n");
  capture_begin(stderr);
  before = table_now();
  ck_assert_ptr_nonnull(strstr(capture_end(), "/etc/perfex.costs: line 2: "));
  ck_assert_ptr_nonnull(strstr(captured, "/etc/perfex.costs is ignored"));
  ck_assert_int_ne(before.origin[24], PFX_COST_SYSTEM_FILE);
  ck_assert_int_eq(before.origin[0], PFX_COST_MEASURED);
  for (i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    const char *text = malformed[i], *end;
    int line = 1, result, error;

    for (end = text; (end = strchr(end, '\n')) != NULL && *++end; line++)
      ;
    write_file("/costs", text);
    snprintf(where, sizeof where, "%s: line %d: ", path_of("/costs"), line);
    capture_begin(stderr);
    errno = 0;
    result = load("/costs");
    error = errno;
    capture_end();
    ck_assert_msg(result == -1 && error == EINVAL && strstr(captured, where) != NULL,
      "%s: %d, errno %d, %s", text, result, error, captured);
    after = table_now();
    ck_assert_mem_eq(&after, &before, sizeof before);
  }
}

/* A byte 0 would hide the rest of its line. */
TEST(file_may_have_comments_and_blanks_but_no_byte_0)
{
  static const char text[] = "# a comment\n\n \t\r\n\t0\t1  2.5 1000000000 # more\r\n15 0 0 0";

  capture_begin(stderr);
  write_bytes("/costs", text, sizeof text);
  ck_assert_int_eq(load("/costs"), -1);
  ck_assert_ptr_nonnull(strstr(capture_end(), "/costs: line 5: "));
  ck_assert_ptr_nonnull(strstr(captured, "byte 0"));
  load_text("/costs", text);
  expect_cost(0, PFX_COST_LOADED, 1000, 2500, PFX_COST_LIMIT);
  expect_cost(15, PFX_COST_LOADED, 0, 0, 0);
}

TEST(unreadable_file_fails_with_its_errno)
{
  static const struct {
    const char *path;
    int error;
  } unreadable[] = { { "/nonexistent/costs", ENOENT }, { "/dev/zero", EINVAL }, { NULL, EFAULT },
    { "/", EINVAL } };
  static char large[65537];
  int before = open_descriptors(), i;

  for (i = 0; i < 4; i++) {
    errno = 0;
    ck_assert_int_eq(load_costs((char *)unreadable[i].path), -1);
    ck_assert_int_eq(errno, unreadable[i].error);
  }
  ck_assert_int_eq(mkfifo(path_of("/fifo"), 0600), 0);
  ck_assert_int_eq(load("/fifo"), -1); /* without waiting for a writer */
  ck_assert_int_eq(errno, EINVAL);
  memset(large, '#', sizeof large);
  write_bytes("/large", large, sizeof large - 1); /* the largest size allowed */
  ck_assert_int_gt(load("/large"), 0);
  write_bytes("/large", large, sizeof large);
  capture_begin(stderr);
  ck_assert_int_eq(load("/large"), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert_ptr_nonnull(strstr(capture_end(), "longer than 65536 bytes"));
  ck_assert_int_eq(open_descriptors(), before);
}

static void describe_cache(int index, const char *name, const char *text)
{
  char path[128], line[32];

  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
  snprintf(line, sizeof line, "%s\n", text);
  write_file(path, line);
}

/* The kernel's descriptions of caches are written one after another. A list of caches ends before a
   cache that has another level or no size, or is too small. */
TEST(cache_sizes_come_from_the_kernel)
{
  static const struct {
    int index;
    const char *level, *type, *size;
    int levels; /* that are measured now */
    long bytes; /* of the last level */
  } rows[] = {
    { 0, "1", "Data", "16K", 1, 64 },
    { 1, "1", "Instruction", "64K", 1, 64 },
    { 2, "2", "Unified", "256K", 2, 65536 }, /* four times the L1 data cache */
    { 3, "3", "Unified", "1023K", 2, 65536 },
    { 3, "3", "Unified", "0K", 2, 65536 },
    { 3, "3", "Unified", "junk", 2, 65536 },
    { 3, "4", "Unified", "6144K", 2, 65536 },
    { 3, "3", "Unified", "6144K", 3, 1 << 20 },
    { 2, "2", "Unified", "junk", 1, 64 },
    { 0, "1", "Data", "junk", 3, 2 << 20 }, /* the usual sizes are measured instead */
  };
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct pfx_cost_measured measured;

    describe_cache(rows[i].index, "level", rows[i].level);
    describe_cache(rows[i].index, "type", rows[i].type);
    describe_cache(rows[i].index, "size", rows[i].size);
    pfx_cost_measure(&measured);
    ck_assert_msg(measured.levels == rows[i].levels
        && measured.level[measured.levels - 1].bytes == rows[i].bytes,
      "row %d: %d, %ld", (int)i, measured.levels, measured.level[measured.levels - 1].bytes);
  }
}

/* Costs are printed in seconds. */
TEST(costs_are_printed_up_to_292_years)
{
  write_file("/etc/perfex.costs", "24 1 2.5 1000\n15 0 0.125 3\n25 0.001 1 1000000000\n");
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(24, 1000000, 15, 8000000000000LL), 0);
  ck_assert_int_gt(print_costs(25, 1234567890123456789LL, 25, -1500), 0);
  capture_end();
  ck_assert_msg(strstr(captured, " 0.001000000     0.002500000     1.000000000\n")
      && strstr(captured, " 0.000000000  1000.000000000 24000.000000000\n")
      && strstr(captured, " 1234567.890123457 1234567890.123456789 9223372036.854775807\n")
      && strstr(captured, " -0.000000002    -0.000001500 -1500.000000000\n"),
    "%s", captured);
}

/* The second table is the largest: event 0 is measured, and all other costs are long. */
TEST_LOOP(printed_table_can_be_loaded, 2)
{
  struct pfx_cost_table before, after;
  int i, result;

  write_file("/etc/perfex.costs",
    _i ? costs_of_all(1, "1000000000 1000000000 1000000000") : "24 1 2.5 1000\n");
  before = table_now();
  capture_begin(stdout);
  result = perfex_print_table();
  capture_end();
  ck_assert_int_gt(result, 0);
  ck_assert_int_eq(strstr(captured, "\n31 1000000000.000 1000000000.000 1000000000.000 # ") != NULL,
    _i);
  ck_assert_int_eq(captured[strlen(captured) - 1], '\n');
  load_text("/table", captured);
  after = table_now();
  for (i = 0; i < PFX_EVENTS; i++) {
    ck_assert_mem_eq(&after.cost[i], &before.cost[i], sizeof after.cost[i]);
    ck_assert_int_eq(after.origin[i],
      before.origin[i] == PFX_COST_UNKNOWN ? PFX_COST_UNKNOWN : PFX_COST_LOADED);
  }
}

/* The function that a Fortran program calls as load_costs. */
int load_costs_(const char *name, size_t length);

static void do_nothing(void *argument)
{
  (void)argument;
}

static void *call_most_functions(void *path)
{
  long long c0 = 0, c1 = 0, counts[2];
  struct perfex_group *group = perfex_open("page-faults,minor-faults", 0);
  double counts_of_call[2];

  if (group)
    perfex_read(group, counts);
  if (perfex_bench(group, counts_of_call, do_nothing, NULL) == 0)
    perfex_print_bench(group, counts_of_call);
  perfex_close(group);
  perfex_close(perfex_open("cycles,cpu/event=1/", 0));
  perfex_event("instructions");
  start_counters(0, 24);
  read_counters(0, &c0, 24, &c1);
  start_counters(1, 2); /* prints messages */
  print_counters(0, c0, 24, c1);
  print_costs(0, c0, 24, c1);
  load_costs(path);
  load_costs_(path, strlen(path));
  return NULL;
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
  write_file("/etc/perfex.costs", "24 1 2 junk\n");
  write_file("/costs", "24 1 2 junk\n");
  capture_begin(_i ? stdout : stderr);
  ck_assert_int_eq(call_on_a_small_stack(_i ? print_table : call_most_functions,
    (char *)path_of("/costs")), 0);
  capture_end();
  ck_assert_ptr_nonnull(strstr(captured, _i ? "# measured here within " : "/costs: line 1: "));
}

static int reader_stops;

/* Counts costs that are not from the same file as the first cost of their table. */
static void *read_tables(void *unused)
{
  intptr_t wrong = 0;
  int i;

  (void)unused;
  while (!__atomic_load_n(&reader_stops, __ATOMIC_RELAXED)) {
    struct pfx_cost_table table = table_now();

    for (i = 1; i < PFX_EVENTS; i++)
      wrong += table.cost[i].maximum != table.cost[0].maximum;
  }
  return (void *)wrong;
}

TEST(table_is_replaced_atomically_for_concurrent_readers)
{
  static const char *const names[2] = { "/0", "/1" };
  struct suite_repeat repeat;
  pthread_t reader;
  void *wrong;

  write_file("/1", costs_of_all(0, "0 1 2"));
  load_text("/0", costs_of_all(0, "0 0 1"));
  ck_assert_int_eq(pthread_create(&reader, NULL, read_tables, NULL), 0);
  repeat = suite_repeat(500);
  while (suite_again(&repeat))
    ck_assert_int_gt(load(names[repeat.begun & 1]), 0);
  __atomic_store_n(&reader_stops, 1, __ATOMIC_RELAXED);
  pthread_join(reader, &wrong);
  ck_assert_ptr_null(wrong);
}

static int is_measuring, may_end, handler_reads;

static void wait_for_the_child(void)
{
  set_flag(&is_measuring);
  wait_for(&may_end);
}

static void *measure_in_a_thread(void *unused)
{
  table_now();
  return unused;
}

static void read_in_a_fork_handler(void)
{
  during_measurement = NULL;
  handler_reads = handler_reads && table_now().origin[0] == PFX_COST_MEASURED;
}

/* A constructor of the program, which runs before that of a library that is linked statically,
   unless the library's has a priority. So does its fork handler. */
__attribute__((constructor)) static void install_fork_handler(void)
{
  pthread_atfork(NULL, NULL, read_in_a_fork_handler);
}

static int handler_has_no_table(void)
{
  return !handler_reads;
}

/* The lock of the thread that measures would stay held in the child. */
TEST(child_forked_during_a_measurement_has_the_table_also_in_fork_handlers)
{
  pthread_t thread;

  during_measurement = wait_for_the_child;
  ck_assert_int_eq(pthread_create(&thread, NULL, measure_in_a_thread, NULL), 0);
  wait_for(&is_measuring);
  handler_reads = 1;
  in_child_process(handler_has_no_table);
  set_flag(&may_end);
  pthread_join(thread, NULL);
}

SUITE_AROUND("perfex costs", make_machine, remove_machine)
