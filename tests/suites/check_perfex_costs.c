/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of costs: what is measured, what files replace, what is refused, and who reads it while
   it is replaced. In the place of /etc/perfex.costs there is a file of the test. */

#include "config.h"

/* A second copy of the code, beside the library's. */
#define PERFEX_ETC_FILE etc_of_test
#define PERFEX_ROOT root_of_test
static const char *etc_of_test = "/nonexistent/perfex.costs", *root_of_test = "";
#include "perfex/cost-table.c"

/* What measures has the test's clocks: if asked for, all time goes 1000 times slower, the thread
   has none of the CPU, and once others have it. */
static int clock_is_slow, clock_calls;
static long others_have_it; /* milliseconds */

static int clock_of_test(clockid_t clock, struct timespec *time)
{
  static time_t first;
  int result = clock_gettime(clock, time);
  long long now;

  if (result != 0 || !clock_is_slow)
    return result;
  if (clock == CLOCK_THREAD_CPUTIME_ID) {
    *time = (struct timespec) { 1, 0 };
    return 0;
  }
  if (first == 0)
    first = time->tv_sec;
  now = 1000000000LL + ((time->tv_sec - first) * 1000000000LL + time->tv_nsec) / 1000;
  if (clock_calls++ >= 30)
    now += others_have_it * 1000000LL;
  *time = (struct timespec) { (time_t)(now / 1000000000), (long)(now % 1000000000) };
  return 0;
}

#define clock_gettime clock_of_test
#include "perfex/cost-measure.c"
#undef clock_gettime

#include "tests/suites/machine.h"
#include "tests/suites/perfex-said.h"

#include <locale.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The path of a file with this text, below the test's folder. */
static char *file_of(const char *name, const char *text)
{
  static char paths[4][512];
  static int next;
  char *path = paths[next++ % 4];

  snprintf(path, sizeof paths[0], "%s", path_of(name));
  write_file(name, text);
  return path;
}

static void begin(void)
{
  make_machine();
  atexit(remove_machine);
}

static struct perfex_cost_table table_now(void)
{
  struct perfex_cost_table table;

  perfex_copy_cost_table(&table);
  return table;
}

static int is_cost(struct perfex_cost cost, long long minimum, long long typical, long long maximum)
{
  return cost.minimum == minimum && cost.typical == typical && cost.maximum == maximum;
}

START_TEST(measured_costs_are_in_order_and_have_their_origin)
{
  struct perfex_cost_table table = table_now();
  long long rate = cpucycles_rate() > 0 ? cpucycles_rate() : cpucycles_persecond();
  int i;

  ck_assert_int_eq(table.origin[0], PERFEX_MEASURED);
  ck_assert_int_gt(table.cost[0].typical, 0);
  /* a core's own rate is what it was at that moment */
  ck_assert_int_gt(table.cost[0].typical, PERFEX_COST_LIMIT / rate / 100);
  ck_assert_int_lt(table.cost[0].typical, PERFEX_COST_LIMIT / rate * 100 + 100);
  for (i = 0; i < PERFEX_EVENTS; i++) {
    ck_assert(0 <= table.cost[i].minimum && table.cost[i].minimum <= table.cost[i].typical);
    ck_assert_int_le(table.cost[i].typical, table.cost[i].maximum);
    ck_assert_int_le(table.cost[i].maximum, PERFEX_COST_LIMIT);
    ck_assert(table.origin[i] == PERFEX_UNKNOWN || table.origin[i] == PERFEX_MEASURED);
    ck_assert(perfex_row(i)->name || table.origin[i] == PERFEX_UNKNOWN);
  }
  ck_assert_int_ge(table.measured.levels, 1);
  ck_assert_int_gt(table.measured.nanoseconds, 0);
}
END_TEST

/* Most times, in one of five rounds: others have the CPU, too; but not only the first time, for a
   CPU remembers. */
START_TEST(farther_is_slower_and_a_mispredicted_branch_takes_time)
{
  const char test[] = "farther_is_slower_and_a_mispredicted_branch_takes_time";
  struct perfex_measured measured;
  int round, turn, i, in_order = 0, slow = 0;

  if (skip_under("valgrind", test, "valgrind has neither caches nor predictions")
    || skip_under("qemu", test, "qemu has neither caches nor predictions"))
    return;
  if (SUITE_SANITIZED) {
    skip(test, "what the sanitizer does at each access takes longer");
    return;
  }
#ifdef CPUCYCLES_TEST_COVERAGE
  skip(test, "what counts branches, atomically, takes longer than to mispredict one");
  return;
#endif
  for (round = 0; round < 5 && (in_order <= 10 || slow <= 15); round++) {
    in_order = slow = 0;
    for (turn = 0; turn < 20; turn++) {
      perfex_measure("", &measured);
      slow += measured.branch_miss.typical > measured.level[0].load.typical;
      for (i = 1; i < measured.levels; i++)
        if (measured.level[i].load.typical <= measured.level[i - 1].load.typical)
          break;
      in_order += i == measured.levels && (i > 1 || measured.has_unmeasured_cache);
    }
  }
  ck_assert_int_gt(in_order, 10);
  ck_assert_int_gt(slow, 15);
}
END_TEST

START_TEST(files_that_are_read_are_closed)
{
  struct perfex_measured measured;
  int before;

  begin();
  perfex_measure(machine_root, &measured); /* libcpucycles may keep some open */
  before = suite_entries("/proc/self/fd");
  ck_assert_int_gt(before, 0);
  ck_assert_int_gt(load_costs(file_of("/costs", "0 1 2 3\n")), 0);
  capture_begin(stderr);
  ck_assert_int_eq(load_costs(file_of("/costs", "0 junk\n")), -1);
  capture_end();
  ck_assert_int_eq(load_costs(machine_root), -1);
  ck_assert_int_eq(load_costs((char *)"/dev/null"), -1);
  ck_assert_int_eq(load_costs((char *)"/nonexistent/costs"), -1);
  etc_of_test = file_of("/etc", "24 1 2 3\n");
  table_now();
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
}
END_TEST

/* What the table is made of is what the manual says. */
START_TEST(costs_follow_from_what_was_measured)
{
  struct perfex_measured measured = { .cycle = { 400, 400, 400 },
    .branch_miss = { 3000, 5000, 9000 },
    .level = { { 64, { 1000, 1100, 1200 } }, { 131072, { 3000, 3300, 3600 } },
      { 1048576, { 80000, 90000, 140000 } } }, .levels = 3, .has_memory = 1 };
  struct perfex_costs file;

  perfex_estimate_costs(&measured, &file);
  ck_assert(is_cost(file.cost[0], 400, 400, 400) && is_cost(file.cost[16], 400, 400, 400));
  ck_assert(is_cost(file.cost[15], 0, 0, 400) && is_cost(file.cost[17], 0, 0, 400));
  ck_assert(is_cost(file.cost[6], 0, 400, 400) && is_cost(file.cost[19], 0, 400, 400));
  ck_assert(is_cost(file.cost[18], 0, 400, 1100));
  ck_assert(is_cost(file.cost[24], 3000, 5000, 9000));
  ck_assert(is_cost(file.cost[25], 1900, 3300, 140000));
  ck_assert(is_cost(file.cost[9], 1900, 3300, 140000));
  ck_assert(is_cost(file.cost[26], 80000, 90000, 140000));
  ck_assert(is_cost(file.cost[10], 80000, 90000, 140000));
  ck_assert(is_cost(file.cost[23], 1000, 3300, 140000));
  measured.has_memory = 0;
  measured.levels = 2;
  perfex_estimate_costs(&measured, &file);
  ck_assert(!file.stated[26] && !file.stated[10] && file.stated[25]);
  ck_assert(is_cost(file.cost[25], 1900, 3300, 3600));
  measured.levels = 1;
  perfex_estimate_costs(&measured, &file);
  ck_assert(!file.stated[25] && !file.stated[23] && file.stated[18]);
}
END_TEST

START_TEST(etc_replaces_what_was_measured_and_a_loaded_file_both)
{
  struct perfex_cost_table table;

  begin();
  etc_of_test = file_of("/etc", "24 1 2 3\n25 4 5 6\n");
  table = table_now();
  ck_assert_int_eq(table.origin[0], PERFEX_MEASURED);
  ck_assert(table.origin[24] == PERFEX_ETC && is_cost(table.cost[24], 1000, 2000, 3000));
  ck_assert(table.origin[25] == PERFEX_ETC && is_cost(table.cost[25], 4000, 5000, 6000));
  ck_assert_int_gt(load_costs(file_of("/one", "branch-misses 7 8.5 9.125\n")), 0);
  table = table_now();
  ck_assert_int_eq(table.origin[0], PERFEX_MEASURED);
  ck_assert(table.origin[24] == PERFEX_LOADED && is_cost(table.cost[24], 7000, 8500, 9125));
  ck_assert(table.origin[25] == PERFEX_ETC && is_cost(table.cost[25], 4000, 5000, 6000));
  ck_assert_int_gt(load_costs(file_of("/two", "cycles 0.25 .25 0.250")), 0);
  table = table_now();
  ck_assert(table.origin[0] == PERFEX_LOADED && is_cost(table.cost[0], 250, 250, 250));
  ck_assert(table.origin[16] == PERFEX_LOADED && is_cost(table.cost[16], 250, 250, 250));
  ck_assert(table.origin[24] == PERFEX_LOADED_EARLIER);
  ck_assert(is_cost(table.cost[24], 7000, 8500, 9125));
}
END_TEST

START_TEST(what_is_loaded_first_stays)
{
  struct perfex_cost_table table;

  begin();
  etc_of_test = file_of("/etc", "24 1 2 3\n25 4 5 6\n");
  ck_assert_int_gt(load_costs(file_of("/one", "24 7 8 9\n")), 0);
  table = table_now();
  ck_assert(table.origin[24] == PERFEX_LOADED && is_cost(table.cost[24], 7000, 8000, 9000));
  ck_assert(table.origin[25] == PERFEX_ETC && is_cost(table.cost[25], 4000, 5000, 6000));
  ck_assert_int_eq(table.origin[0], PERFEX_MEASURED);
}
END_TEST

START_TEST(nothing_is_measured_that_files_state)
{
  char text[4096] = "";
  int i;

  begin();
  for (i = 0; i < PERFEX_EVENTS; i++)
    sprintf(text + strlen(text), "%d %d 100 1000\n", i, i);
  etc_of_test = file_of("/etc", text);
  ck_assert_int_eq(table_now().measured.nanoseconds, 0);
  ck_assert(is_cost(table_now().cost[31], 31000, 100000, 1000000));
}
END_TEST

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
  { "0 1 2 1000000000.001", 1 },
  { "0 1 2 99999999999999999999999999999999999999999", 1 },
  { "0 1 2 3\n0 1 2 3", 2 },
  { "16 1 2 3\ncycles 1 2 3\n", 2 },
  { "0 1 2 3\n\v1 1 2 3\n", 2 },
};

START_TEST(malformed_file_names_its_line_and_changes_nothing)
{
  struct perfex_cost_table before, after;
  size_t i;

  begin();
  before = table_now();
  for (i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    char *path = file_of("/costs", malformed[i].text), where[600];
    int result, error;

    capture_begin(stderr);
    errno = 0;
    result = load_costs(path);
    error = errno;
    capture_end();
    snprintf(where, sizeof where, "%s: line %d: ", path, malformed[i].line);
    ck_assert_msg(result == -1 && error == EINVAL, "taken: %s", malformed[i].text);
    ck_assert_msg(strstr(captured, where) != NULL, "%s: %s", malformed[i].text, captured);
    after = table_now();
    ck_assert_mem_eq(&after, &before, sizeof before);
  }
}
END_TEST

/* Behind which nothing of a word would be seen. */
START_TEST(byte_0_is_malformed_wherever_it_is)
{
  static const char text[] = "# all\n24 1 2 3 # one\n";
  char bytes[sizeof text];
  struct perfex_costs file;
  const char *what;
  size_t at;
  FILE *costs;

  for (at = 0; at < sizeof text; at++) {
    memcpy(bytes, text, sizeof text);
    bytes[at] = 0;
    ck_assert_int_eq(perfex_parse_costs(bytes, sizeof text, &file, &what), at < 6 ? 1 : at < 21 ? 2 : 3);
    ck_assert_ptr_nonnull(strstr(what, "byte 0"));
  }
  begin();
  costs = fopen(file_of("/costs", ""), "w");
  ck_assert_ptr_nonnull(costs);
  ck_assert_int_eq(fwrite("\n24\0junk 1 2 3\n", 1, 15, costs), 15);
  fclose(costs);
  capture_begin(stderr);
  ck_assert_int_eq(load_costs((char *)path_of("/costs")), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert_ptr_nonnull(strstr(capture_end(), ": line 2: "));
}
END_TEST

START_TEST(file_may_have_comments_blanks_and_no_end_of_line)
{
  struct perfex_costs file;
  const char *what;
  static const char text[] = "# a comment\n\n \t\r\n\t0\t1  2.5 1000000000 # more\r\n15 0 0 0";

  ck_assert_int_eq(perfex_parse_costs(text, sizeof text - 1, &file, &what), 0);
  ck_assert(file.stated[0] && is_cost(file.cost[0], 1000, 2500, PERFEX_COST_LIMIT));
  ck_assert(file.stated[15] && is_cost(file.cost[15], 0, 0, 0) && !file.stated[16]);
}
END_TEST

START_TEST(file_that_cannot_be_read_says_why)
{
  char folder[256], *path;
  FILE *large;

  begin();
  snprintf(folder, sizeof folder, "%s", machine_root);
  errno = 0;
  ck_assert_int_eq(load_costs((char *)"/nonexistent/costs"), -1);
  ck_assert_int_eq(errno, ENOENT);
  ck_assert_int_eq(load_costs(folder), -1);
  ck_assert_int_eq(errno, EISDIR);
  ck_assert_int_eq(load_costs((char *)"/dev/zero"), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert_int_eq(load_costs(NULL), -1);
  ck_assert_int_eq(errno, EFAULT);
  path = file_of("/fifo", "");
  unlink(path);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  ck_assert_int_eq(load_costs(path), -1); /* and does not wait */
  ck_assert_int_eq(errno, EINVAL);
  path = file_of("/large", "# ");
  large = fopen(path, "a");
  ck_assert_ptr_nonnull(large);
  ck_assert_int_eq(fprintf(large, "%65534s", "x"), 65534);
  fclose(large);
  ck_assert_int_gt(load_costs(path), 0); /* as large as may be */
  large = fopen(path, "a");
  fputc('x', large);
  fclose(large);
  capture_begin(stderr);
  ck_assert_int_eq(load_costs(path), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert_ptr_nonnull(strstr(capture_end(), "longer than 65536 bytes"));
}
END_TEST

START_TEST(malformed_etc_is_as_if_it_were_not_there_and_is_said)
{
  struct perfex_cost_table table;

  begin();
  etc_of_test = file_of("/etc", "24 1 2 3\n25 junk\n");
  capture_begin(stderr);
  table = table_now();
  ck_assert_ptr_nonnull(strstr(capture_end(), ": line 2: "));
  ck_assert_int_ne(table.origin[24], PERFEX_ETC);
  ck_assert_int_eq(table.origin[0], PERFEX_MEASURED);
}
END_TEST

/* What caches the kernel tells of, below the test's folder. */
static void write_cache(int index, const char *level, const char *type, const char *size)
{
  char path[128];

  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", index);
  write_file(path, level);
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", index);
  write_file(path, type);
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
  write_file(path, size);
}

START_TEST(caches_are_those_that_the_kernel_tells_of)
{
  struct perfex_measured measured;
  int i;

  begin();
  write_cache(0, "1\n", "Data\n", "16K\n");
  write_cache(1, "1\n", "Instruction\n", "64K\n");
  write_cache(2, "2\n", "Unified\n", "256K\n");
  perfex_measure(machine_root, &measured);
  for (i = 1; i < measured.levels - measured.has_memory; i++)
    ck_assert_int_eq(measured.level[i].bytes, 65536);
  ck_assert_int_le(measured.levels, 3);
  if (measured.levels < 2)
    skip("caches_are_those_that_the_kernel_tells_of", "too slow here to reach the second cache");
  ck_assert_int_eq(measured.has_unmeasured_cache, 0);
  write_cache(2, "2\n", "Unified\n", "junk\n");
  perfex_measure(machine_root, &measured);
  ck_assert_int_eq(measured.levels, 1);
}
END_TEST

/* Loads that such a cache holds take the same time wherever they are, as memory's do. */
START_TEST(memory_is_not_taken_from_a_cache_that_cannot_be_measured)
{
  static const char *const odd[] = { "1023K\n", "0K\n", "junk\n", "6M\n" };
  struct perfex_measured measured;
  int i;

  begin();
  write_cache(0, "1\n", "Data\n", "16K\n");
  write_cache(1, "2\n", "Unified\n", "256K\n");
  for (i = 0; i < 4; i++) {
    write_cache(2, i < 3 ? "3\n" : "4\n", "Unified\n", odd[i]);
    perfex_measure(machine_root, &measured);
    ck_assert_int_eq(measured.has_memory, 0);
    ck_assert_int_eq(measured.has_unmeasured_cache, 1);
    ck_assert_int_le(measured.levels, 2);
  }
  root_of_test = machine_root;
  capture_begin(stderr);
  print_costs(26, 1, 10, 1);
  capture_end();
  ck_assert_ptr_nonnull(strstr(captured, "costs of 26: not known\n"));
  capture_begin(stderr);
  print_costs(24, 1, 0, 1);
  ck_assert_ptr_nonnull(strstr(capture_end(), "; memory cannot be told from the next cache"));
}
END_TEST

/* Bytes of the memory that the kernel has given pages. */
static long touched_of(char *memory, long room)
{
  long page = sysconf(_SC_PAGESIZE), pages = room / page, touched = 0, i;
  unsigned char *is_there = malloc((size_t)pages);

  ck_assert_int_eq(mincore(memory, (size_t)room, is_there), 0);
  for (i = 0; i < pages; i++)
    touched += is_there[i] & 1;
  free(is_there);
  return touched * page;
}

START_TEST(memory_costs_nothing_before_it_is_touched_where_all_is_locked)
{
  const char test[] = "memory_costs_nothing_before_it_is_touched_where_all_is_locked";
  char *memory;
  long room;

  if (skip_under("valgrind", test, "valgrind's own memory would be locked")
    || skip_under("qemu", test, "qemu's own memory would be locked"))
    return;
  if (mlockall(MCL_FUTURE) != 0 || !(memory = map_memory(&room))) {
    munlockall();
    skip(test, "this user may not lock so much");
    return;
  }
  ck_assert_int_eq(touched_of(memory, room), 0);
  memory[0] = 1;
  ck_assert_int_gt(touched_of(memory, room), 0);
  ck_assert_int_lt(touched_of(memory, room), room);
}
END_TEST

START_TEST(who_is_interrupted_once_measures_no_less)
{
  struct perfex_measured measured;

  begin();
  write_cache(0, "1\n", "Data\n", "16K\n");
  write_cache(1, "2\n", "Unified\n", "256K\n");
  clock_is_slow = 1;
  others_have_it = 30;
  perfex_measure(machine_root, &measured);
  ck_assert_int_ge(measured.nanoseconds, 30000000);
  ck_assert_int_ge(measured.levels, 2);
  clock_calls = 0;
  others_have_it = 10000; /* but does not wait for ever */
  perfex_measure(machine_root, &measured);
  ck_assert_int_eq(measured.levels, 1);
}
END_TEST

/* Costs are printed as seconds of the count, the same in each locale. */
START_TEST(costs_are_printed_with_their_origin)
{
  char *path;

  begin();
  setlocale(LC_ALL, "de_DE.UTF-8");
  etc_of_test = file_of("/etc", "24 1 2.5 1000\n");
  path = file_of("/costs", "15 0 0.125 3\n");
  ck_assert_int_gt(load_costs(path), 0);
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(24, 1000000, 15, 8000000000000LL), 0);
  capture_end();
  ck_assert_msg(strstr(captured, " 0.001000000     0.002500000     1.000000000\n")
      && strstr(captured, " 0.000000000  1000.000000000 24000.000000000\n"),
    "%s", captured);
  ck_assert_ptr_nonnull(strstr(captured, "costs of 24: /etc/perfex.costs\n"));
  ck_assert_ptr_nonnull(strstr(captured, path));
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(0, 1000000, 12, 5), 0);
  capture_end();
  ck_assert_ptr_nonnull(strstr(captured, "costs of 0: measured here in "));
  ck_assert_ptr_nonnull(strstr(captured, "costs of 12: not known\n"));
}
END_TEST

START_TEST(origin_is_the_file_that_has_the_event)
{
  char *one, *two;

  begin();
  etc_of_test = file_of("/etc", "15 0 1 2\n");
  one = file_of("/one", "24 7 8 9\n25 1 2 3\n");
  two = file_of("/two", "0 1 1 1\n25 4 5 6\n");
  ck_assert_int_gt(load_costs(one), 0);
  ck_assert_int_gt(load_costs(two), 0);
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(24, 1, 0, 1), 0);
  capture_end();
  ck_assert_ptr_nonnull(strstr(captured, "costs of 24: a file loaded earlier\n"));
  ck_assert_ptr_nonnull(strstr(captured, "costs of 0: "));
  ck_assert_ptr_nonnull(strstr(captured, two));
  ck_assert_ptr_null(strstr(captured, one));
  capture_begin(stderr);
  ck_assert_int_gt(print_costs(25, 1, 0, 1), 0);
  capture_end();
  ck_assert_ptr_nonnull(strstr(captured, two));
  ck_assert_ptr_null(strstr(captured, "earlier"));
  capture_begin(stdout);
  ck_assert_int_gt(perfex_print_table(), 0);
  capture_end();
  ck_assert_ptr_nonnull(strstr(captured, " 9.000 # mispredicted branches: loaded earl"));
  ck_assert_ptr_nonnull(strstr(captured, ": loaded\n"));
}
END_TEST

START_TEST(printed_table_can_be_loaded)
{
  struct perfex_cost_table before, after;
  char *path;
  int i, result;

  begin();
  etc_of_test = file_of("/etc", "24 1 2.5 1000\n");
  before = table_now();
  capture_begin(stdout);
  result = perfex_print_table();
  path = file_of("/table", capture_end());
  ck_assert_int_gt(result, 0);
  ck_assert_int_gt(load_costs(path), 0);
  after = table_now();
  for (i = 0; i < PERFEX_EVENTS; i++) {
    ck_assert_mem_eq(&after.cost[i], &before.cost[i], sizeof after.cost[i]);
    ck_assert_int_eq(after.origin[i],
      before.origin[i] == PERFEX_UNKNOWN ? PERFEX_UNKNOWN : PERFEX_LOADED);
  }
}
END_TEST

enum { READERS = 3 };

static int is_over;

/* All costs of a table are of one file, if it is of one piece. */
static void *read_tables(void *unused)
{
  long long wrong = 0;
  int i;

  (void)unused;
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
    struct perfex_cost_table table = table_now();

    for (i = 1; i < PERFEX_EVENTS; i++)
      wrong += table.cost[i].maximum != table.cost[0].maximum;
  }
  return (void *)(intptr_t)wrong;
}

START_TEST(table_is_replaced_at_once_while_others_read_it)
{
  pthread_t threads[READERS];
  char *path[2], text[4096];
  int i, which, status;
  pid_t child;
  void *wrong;

  begin();
  for (which = 0; which < 2; which++) {
    text[0] = 0;
    for (i = 0; i < PERFEX_EVENTS; i++)
      sprintf(text + strlen(text), "%d 0 %d %d\n", i, which, which + 1);
    path[which] = file_of(which ? "/one" : "/zero", text);
  }
  ck_assert_int_gt(load_costs(path[0]), 0);
  for (i = 0; i < READERS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, read_tables, NULL), 0);
  for (i = 0; i < suite_runs(500); i++)
    ck_assert_int_gt(load_costs(path[i & 1]), 0);
  /* a child that was forked meanwhile has a whole table, whoever was at it */
  for (i = 0; i < suite_runs(50); i++) {
    child = fork();
    if (child == 0) {
      alarm(20);
      for (i = 1; i < PERFEX_EVENTS; i++)
        if (table_now().cost[i].maximum != table_now().cost[0].maximum)
          _exit(1);
      _exit(load_costs(path[0]) <= 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  for (i = 0; i < READERS; i++) {
    pthread_join(threads[i], &wrong);
    ck_assert_ptr_null(wrong);
  }
}
END_TEST

static void *first_table(void *table)
{
  perfex_copy_cost_table(table);
  return NULL;
}

START_TEST(first_table_is_one_for_all_threads)
{
  static struct perfex_cost_table tables_of[READERS];
  pthread_t threads[READERS];
  int i;

  for (i = 0; i < READERS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, first_table, &tables_of[i]), 0);
  for (i = 0; i < READERS; i++)
    pthread_join(threads[i], NULL);
  for (i = 1; i < READERS; i++)
    ck_assert_mem_eq(&tables_of[i], &tables_of[0], sizeof tables_of[0]);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, measured_costs_are_in_order_and_have_their_origin);
  tcase_add_test(tests, farther_is_slower_and_a_mispredicted_branch_takes_time);
  tcase_add_test(tests, files_that_are_read_are_closed);
  tcase_add_test(tests, costs_follow_from_what_was_measured);
  tcase_add_test(tests, etc_replaces_what_was_measured_and_a_loaded_file_both);
  tcase_add_test(tests, what_is_loaded_first_stays);
  tcase_add_test(tests, nothing_is_measured_that_files_state);
  tcase_add_test(tests, malformed_file_names_its_line_and_changes_nothing);
  tcase_add_test(tests, byte_0_is_malformed_wherever_it_is);
  tcase_add_test(tests, file_may_have_comments_blanks_and_no_end_of_line);
  tcase_add_test(tests, file_that_cannot_be_read_says_why);
  tcase_add_test(tests, malformed_etc_is_as_if_it_were_not_there_and_is_said);
  tcase_add_test(tests, caches_are_those_that_the_kernel_tells_of);
  tcase_add_test(tests, memory_costs_nothing_before_it_is_touched_where_all_is_locked);
  tcase_add_test(tests, who_is_interrupted_once_measures_no_less);
  tcase_add_test(tests, memory_is_not_taken_from_a_cache_that_cannot_be_measured);
  tcase_add_test(tests, costs_are_printed_with_their_origin);
  tcase_add_test(tests, origin_is_the_file_that_has_the_event);
  tcase_add_test(tests, printed_table_can_be_loaded);
  tcase_add_test(tests, table_is_replaced_at_once_while_others_read_it);
  tcase_add_test(tests, first_table_is_one_for_all_threads);
}

int main(void)
{
  return suite_main("perfex costs", add);
}
