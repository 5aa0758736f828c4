/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench/cycles: the error of cpucycles_bench_run(), cpucycles_bench_compare() and
   cpucycles_core_ratio() on functions whose core cycles are known: on an idle machine, and beside
   programs that disturb. Each measurement is a process of its own, this program with --process ROW.
   Arguments: --quick, for a quarter of the processes; --strict, which fails if a bound is not met;
   --rows FIRST LAST. */

#include "config.h"

#include "bench/cycles.h"
#include "bench/time.h"
#include "sys/os-clock.h"
#include "sys/quantile.h"

#include <cpucycles/bench.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_PROCESSES = 100, MARK_LENGTH = 16, CALLS = 100 };

/* Errors above this need a mark. */
static const double much = 0.02;

struct row {
  struct answer (*measure)(const struct row *row); /* in a process of its own */
  const struct bench_known *f, *g;
  void (*prepare)(void *argument);
  const char *counter; /* NULL: the default */
  const char *module;  /* of another benchmark */
  enum bench_load load;
  const char *what;    /* NULL: the names of f and g */
  int processes, wanted;
  double within, milliseconds; /* bounds; 0: none */
  const char *mark;    /* that all must have; NULL: any */
};

/* What one process found. */
struct answer {
  int is_left_out; /* its condition does not hold */
  double value;    /* an error, or what the row names */
  double milliseconds;
  char mark[MARK_LENGTH];
};

static void fail(const char *what)
{
  fflush(stdout);
  fprintf(stderr, "bench/cycles: %s: %s\n", what, strerror(errno));
  bench_load_start(BENCH_IDLE);
  exit(1);
}

/* Sorts the numbers. */
static double median(double *numbers, int count)
{
  cpuc_quantile_sort(numbers, count);
  return cpuc_quantile(numbers, count, 0.5);
}

static double milliseconds(void)
{
  return (double)cpuc_os_clock_monotonic() / 1e6;
}

/* Measurements, each of them in a process of its own. */

static struct answer answer_of(double value, double began, const char *mark)
{
  struct answer answer = { 0, value, milliseconds() - began, "" };

  snprintf(answer.mark, sizeof answer.mark, "%s", mark);
  return answer;
}

static void setup_for(struct cpucycles_bench_setup *setup, const struct row *row,
  const struct bench_known *known)
{
  setup->function = known->function;
  setup->prepare = row->prepare;
  setup->argument = bench_argument;
  setup->name = known->name;
}

static struct answer measure_cycles(const struct row *row)
{
  struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;
  struct cpucycles_bench_result result;
  double began = milliseconds();

  setup_for(&setup, row, row->f);
  cpucycles_bench_run(&result, &setup);
  return answer_of(row->f->cycles > 0 ? result.cycles / row->f->cycles - 1 : 0, began,
    result.samples > 0 ? result.mark : "no samples");
}

static struct answer measure_nanoseconds(const struct row *row)
{
  struct cpucycles_bench_result result;
  double times[CALLS], began;
  int i;

  for (i = 0; i < CALLS; i++) {
    times[i] = milliseconds();
    row->f->function(bench_argument);
    times[i] = milliseconds() - times[i];
  }
  began = milliseconds();
  cpucycles_bench(&result, row->f->function, bench_argument);
  return answer_of(result.nanoseconds / 1e6 / median(times, CALLS) - 1, began,
    result.mark);
}

/* The value is the factor between calls with prepare and without. */
static struct answer measure_prepared(const struct row *row)
{
  struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;
  struct cpucycles_bench_result fresh, trained;
  double began = milliseconds();

  setup_for(&setup, row, row->f);
  cpucycles_bench_run(&fresh, &setup);
  cpucycles_bench(&trained, setup.function, bench_argument);
  return answer_of(fresh.cycles / trained.cycles, began, fresh.mark);
}

/* The value is the error of the ratio. What an empty function takes is not known beforehand: on
   AMD's Zen 3, 5 or 8 cycles. The mark is the verdict. */
static struct answer compare(const struct row *row)
{
  struct cpucycles_bench_setup f = CPUCYCLES_BENCH_SETUP, g = CPUCYCLES_BENCH_SETUP;
  struct cpucycles_bench_comparison comparison;
  double began = milliseconds(), ratio = 1;

  setup_for(&f, row, row->f);
  setup_for(&g, row, row->g);
  cpucycles_bench_compare(&comparison, &f, &g);
  if (row->g->cycles > 0)
    ratio = row->g->cycles / (row->f->cycles > 0 ? row->f->cycles : comparison.f.cycles);
  return answer_of(comparison.ratio / ratio - 1, began, comparison.verdict);
}

/* The value is microseconds. */
static struct answer time_core_ratio(const struct row *row)
{
  double times[CALLS], began = milliseconds();
  int i;

  (void)row;
  (void)cpucycles_core_ratio();
  for (i = 0; i < CALLS; i++) {
    times[i] = milliseconds();
    (void)cpucycles_core_ratio();
    times[i] = milliseconds() - times[i];
  }
  return answer_of(median(times, CALLS) * 1e3, began, "");
}

static struct answer check_core_ratio(const struct row *row)
{
  double began = milliseconds(), before = cpucycles_core_ratio(), frequency, after, smaller;
  struct answer answer;

  (void)row;
  before = cpucycles_core_ratio(); /* the first one has found its constants */
  frequency = (double)cpucycles_core_persecond();
  after = cpucycles_core_ratio();
  smaller = before < after ? before : after;
  answer = answer_of(smaller * (double)cpucycles_rate() / frequency - 1, began, "");
  answer.is_left_out = !(smaller > 0) || before > 1.01 * smaller || after > 1.01 * smaller
    || !(frequency > 0);
  return answer;
}

/* The value is nanoseconds, because other benchmarks know no core cycles. */
static struct answer time_with_other(const struct row *row)
{
  void *module = dlopen(row->module, RTLD_NOW | RTLD_LOCAL);
  double (*time)(void (*function)(void *), void *) = NULL, began = milliseconds(), nanoseconds;

  if (module)
    *(void **)&time = dlsym(module, "bench_time");
  if (!time)
    fail(row->module);
  nanoseconds = time(row->f->function, bench_argument);
  return answer_of(nanoseconds, began, "");
}

static const struct row rows[] = {
#define CYCLES(known, load_, within_, milliseconds_) \
  { .measure = measure_cycles, .f = &(known), .load = (load_), .processes = 40, .wanted = 38, \
    .within = (within_), .milliseconds = (milliseconds_) }
#define CYCLES_IN_ALL_LOADS(known) \
  CYCLES(known, BENCH_IDLE, 0.003, 50), CYCLES(known, BENCH_BUSY, 0.003, 50), \
  CYCLES(known, BENCH_STORM, 0.003, 50)
  CYCLES_IN_ALL_LOADS(bench_add_50),
  CYCLES_IN_ALL_LOADS(bench_add_10000),
  CYCLES_IN_ALL_LOADS(bench_add_10000_memory),
  CYCLES_IN_ALL_LOADS(bench_multiply_1000),
  CYCLES_IN_ALL_LOADS(bench_multiply_1000_memory),
  CYCLES(bench_add_1e6, BENCH_IDLE, 0.005, 0),
  CYCLES(bench_add_1e6, BENCH_BUSY, 0.005, 0),

#define CLOCK(known, name, milliseconds_) \
  { .measure = measure_cycles, .f = &(known), .counter = (name), .processes = 40, .wanted = 38, \
    .within = 0.005, .milliseconds = (milliseconds_) }
  CLOCK(bench_add_50, "default-monotonic", 30),
  CLOCK(bench_add_10000, "default-monotonic", 30),
  CLOCK(bench_add_50, "default-gettimeofday", 150),
  CLOCK(bench_add_10000, "default-gettimeofday", 150),

#define PAIR(f_, g_, verdict) \
  .measure = compare, .f = &(f_), .g = &(g_), .processes = 20, .wanted = 20, .mark = (verdict)
  { PAIR(bench_add_10000, bench_add_10050, "differ") },
  { PAIR(bench_add_10000, bench_add_10000_copy, "!differ") },
  { PAIR(bench_fnv, bench_fnv_copy, "!differ") },
  { PAIR(bench_empty, bench_add_3e6, NULL), .within = 0.1, .milliseconds = 1200 },
  { PAIR(bench_add_3e7, bench_add_3e7, "!differ"), .milliseconds = 1200 },

#define PREPARED(known, prepare_, what_, within_, mark_) \
  { .measure = measure_cycles, .f = &(known), .prepare = (prepare_), .what = (what_), \
    .processes = 30, .wanted = 27, .within = (within_), .mark = (mark_) }
  PREPARED(bench_add_10000, bench_prepare_nothing, "10,000 adds, prepared", 0.003, NULL),
  PREPARED(bench_add_10000, bench_prepare_10_us, "10,000 adds, prepared 10 us", 0.003, NULL),
  PREPARED(bench_add_10000, bench_prepare_1_mib, "10,000 adds, prepared 1 MiB", 0.003, NULL),
  PREPARED(bench_add_1000, bench_prepare_nothing, "1,000 adds, prepared", 0.01, "short"),
  PREPARED(bench_add_1000, bench_prepare_10_us, "1,000 adds, prepared 10 us", 0.01, "short"),

  { .measure = measure_cycles, .f = &bench_empty, .processes = 40, .wanted = 40, .mark = "empty" },
  { .measure = measure_cycles, .f = &bench_slow_first, .processes = 20, .wanted = 19,
    .within = 0.003 },
  { .measure = measure_nanoseconds, .f = &bench_sleep, .processes = 20, .wanted = 19,
    .within = 0.03, .mark = "sleeps" },
  { .measure = measure_prepared, .f = &bench_sort, .prepare = bench_prepare_numbers,
    .what = "qsort(), prepared / not (factor)", .processes = 20, .wanted = 20, .within = 3 },
  { .measure = time_core_ratio, .what = "cpucycles_core_ratio() (us)", .processes = 20,
    .wanted = 19, .within = 15 },
  { .measure = check_core_ratio, .what = "cpucycles_core_ratio()", .processes = 100, .wanted = 95,
    .within = 0.01 },
  { .measure = check_core_ratio, .what = "cpucycles_core_ratio()", .load = BENCH_BUSY,
    .processes = 100, .wanted = 95, .within = 0.01 },

#define OTHER(name, module_, load_) \
  { .measure = time_with_other, .f = &bench_add_10000, .load = (load_), .module = (module_), \
    .what = "10,000 adds, " name, .processes = 40, .within = 0.003 }
  OTHER("google/benchmark", "bench/contend-time-benchmark.so", BENCH_IDLE),
  OTHER("google/benchmark", "bench/contend-time-benchmark.so", BENCH_BUSY),
  OTHER("nanobench", "bench/contend-time-nanobench.so", BENCH_IDLE),
  OTHER("nanobench", "bench/contend-time-nanobench.so", BENCH_BUSY),
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static int run_process(const struct row *row)
{
  struct answer answer;

  if (row->load == BENCH_STORM && bench_load_pin() != 0)
    fail("pinning");
  cpucycles();
  (void)cpucycles_rate();
  answer = row->measure(row);
  printf("%d %.9g %.3f %s\n", answer.is_left_out, answer.value, answer.milliseconds,
    answer.mark[0] ? answer.mark : "-");
  return fclose(stdout) == 0 ? 0 : 1;
}

/* Reports. */

struct report {
  struct answer answers[MOST_PROCESSES];
  int count;
};

/* Starts this program again. Prefers /proc/self/exe, because argv[0] may be another name. */
static struct answer run_row(const char *program, const struct row *row)
{
  struct answer answer = { 0 };
  int ends[2], fields;
  char index[16];
  pid_t child;
  FILE *output;

  if (pipe(ends) != 0)
    fail("pipe");
  child = bench_load_fork();
  if (child < 0)
    fail("fork");
  if (child == 0) {
    snprintf(index, sizeof index, "%d", (int)(row - rows));
    if (row->counter)
      setenv("CPUCYCLES_IMPLEMENTATION", row->counter, 1);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("/proc/self/exe", program, "--process", index, (char *)NULL);
    execl(program, program, "--process", index, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  output = fdopen(ends[0], "r");
  if (!output)
    fail("fdopen");
  fields = fscanf(output, "%d %lf %lf %15s", &answer.is_left_out, &answer.value,
    &answer.milliseconds, answer.mark);
  fclose(output);
  if (bench_load_wait() != 0 || fields != 4)
    fail("a process did not print its measurement");
  if (strcmp(answer.mark, "-") == 0)
    answer.mark[0] = 0;
  return answer;
}

static double absolute(double value)
{
  return value < 0 ? -value : value;
}

static int has_mark(const struct answer *answer, const char *mark)
{
  if (mark && mark[0] == '!')
    return strcmp(answer->mark, mark + 1) != 0;
  return !mark || strcmp(answer->mark, mark) == 0;
}

static int is_error(const struct row *row)
{
  return row->measure != measure_prepared && row->measure != time_core_ratio;
}

static int is_within(const struct row *row, const struct answer *answer)
{
  if (row->measure == measure_prepared)
    return answer->value >= row->within;
  return row->within <= 0 || absolute(answer->value) <= row->within;
}

static void print_name(const struct row *row)
{
  static const char *const loads[] = { "idle", "busy", "storm" };
  char name[80];

  if (row->what)
    snprintf(name, sizeof name, "%s", row->what);
  else if (row->g)
    snprintf(name, sizeof name, "%s / %s", row->g->name, row->f->name);
  else
    snprintf(name, sizeof name, "%s", row->f->name);
  printf("%-33s%-13s", name, row->counter ? row->counter + strlen("default-") : loads[row->load]);
}

static void print_marks(const struct report *report)
{
  int i, j, count, printed = 0;

  for (i = 0; i < report->count; i++) {
    for (j = 0; j < i && strcmp(report->answers[i].mark, report->answers[j].mark) != 0; j++)
      ;
    if (j < i || !report->answers[i].mark[0])
      continue;
    for (count = 0; j < report->count; j++)
      count += strcmp(report->answers[i].mark, report->answers[j].mark) == 0;
    printf("%s%s %d", printed++ ? ", " : "  ", report->answers[i].mark, count);
  }
}

/* Other benchmarks know no truth: an error is that against the median of the processes. */
static void find_errors(const struct row *row, struct report *report)
{
  double values[MOST_PROCESSES], middle;
  int i;

  for (i = 0; i < report->count; i++)
    values[i] = report->answers[i].value;
  middle = median(values, report->count);
  for (i = 0; row->module && i < report->count; i++)
    report->answers[i].value = report->answers[i].value / middle - 1;
}

/* Prints the row of the table. Returns 1 if a bound is not met. */
static int print_row(const struct row *row, struct report *report)
{
  double values[MOST_PROCESSES], times[MOST_PROCESSES], worst, middle;
  int i, good = 0, marked = 0, unmarked = 0, used = 0, missed;

  find_errors(row, report);
  for (i = 0; i < report->count; i++) {
    const struct answer *answer = &report->answers[i];

    times[i] = answer->milliseconds;
    if (answer->is_left_out)
      continue;
    values[used++] = answer->value;
    good += is_within(row, answer);
    marked += has_mark(answer, row->mark);
    unmarked += row->measure == measure_cycles && absolute(answer->value) > much
      && !answer->mark[0];
  }
  cpuc_quantile_sort(values, used);
  cpuc_quantile_sort(times, report->count);
  middle = cpuc_quantile(times, report->count, 0.5);
  worst = used == 0 ? 0 : values[used - 1];
  if (used > 0 && (row->measure == measure_prepared
      || (is_error(row) && absolute(values[0]) > absolute(worst))))
    worst = values[0];
  missed = good * row->processes < row->wanted * used || marked < used || unmarked > 0
    || (row->milliseconds > 0 && middle > row->milliseconds);
  print_name(row);
  printf("%4d of %3d %+8.2f %-2s%7.1f %7.1f  ", good, used, is_error(row) ? worst * 100 : worst,
    is_error(row) ? "%" : "", middle, times[report->count - 1]);
  printf("%-7s", row->wanted == 0 ? "" : missed ? "missed" : "met");
  print_marks(report);
  if (unmarked > 0)
    printf("  (%d above %.0f %% without a mark)", unmarked, much * 100);
  printf("\n");
  fflush(stdout);
  return missed;
}

static int run_rows(const char *program, int quick, int first, int last)
{
  static struct report report;
  int i, missed = 0;

  for (i = first; i <= last && i < ROWS; i++) {
    const struct row *row = &rows[i];
    int processes = quick ? (row->processes + 3) / 4 : row->processes;

    if ((row->f && !row->f->function) || (row->g && !row->g->function)
      || (row->module && access(row->module, R_OK) != 0) || bench_load_start(row->load) != 0) {
      print_name(row);
      printf("not tested here\n");
      continue;
    }
    for (report.count = 0; report.count < processes; report.count++)
      report.answers[report.count] = run_row(program, row);
    missed += print_row(row, &report);
  }
  bench_load_start(BENCH_IDLE);
  return missed;
}

static void print_head(void)
{
  printf("libcpucycles %s, counter %s. A row shows in how many processes the error is\n"
         "within the bound, the worst error, the milliseconds of a process (median, most),\n"
         "whether all bounds of the row are met, and the marks. idle: this program starts nothing\n"
         "else; busy: beside two busy loops; storm: beside a process that wakes each 100 us on\n"
         "the same CPU and computes for 40 us.\n\n",
    cpucycles_version(), cpucycles_implementation());
  printf("%-46s%11s%11s%9s%8s\n", "", "within", "worst", "ms", "most");
}

static const char usage[] = "usage: cycles [--quick] [--strict] [--rows FIRST LAST]\n";

int main(int argc, char **argv)
{
  int i, quick = 0, strict = 0, first = 0, last = ROWS - 1, missed;

  if (argc == 3 && strcmp(argv[1], "--process") == 0)
    return run_process(&rows[atoi(argv[2])]);
  for (i = 1; i < argc; i++)
    if (strcmp(argv[i], "--quick") == 0) {
      quick = 1;
    } else if (strcmp(argv[i], "--strict") == 0) {
      strict = 1;
    } else if (strcmp(argv[i], "--rows") == 0 && i + 2 < argc) {
      first = atoi(argv[++i]);
      last = atoi(argv[++i]);
    } else {
      fprintf(stderr, "%s", usage);
      return 2;
    }
  print_head();
  missed = run_rows(argv[0], quick, first < 0 ? 0 : first, last);
  if (fclose(stdout) != 0)
    fail("cannot write");
  return strict && missed > 0;
}
