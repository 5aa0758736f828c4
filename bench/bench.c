/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench: compares reads of the cycle counter with those of other libraries: the cost and the step
   of a read, the cost of the first read in a fresh process, and the memory that a library and its
   first read add. If a ratio has a bound, both are printed together. The contenders come in
   modules, which are loaded at run time: contender.h. */

#include "config.h"

#include "bench/print.h"
#include "sys/os-clock.h"
#include "sys/quantile.h"
#include "sys/step.h"

#include <cpucycles.h>

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  READS = 10000,
  FIRST_USES = 25,
  FIRST_USES_NANOSECONDS = 2000000000, /* after this time, no further use of a contender begins */
  CONTENDERS_LIMIT = 32
};

/* Bounds of the ratios to a hand-written read of the same counter. */
static const double inline_bound = 1.02, cpucycles_bound = 1.12, section_bound = 1.08;

extern char **environ;

/* error: an errno, or 0 if no system call failed. */
static void fail(const char *what, int error)
{
  fflush(stdout);
  fprintf(stderr, "bench: %s%s%s\n", what, error ? ": " : "", error ? strerror(error) : "");
  exit(1);
}

/* Contenders and their results. */

static struct result results[CONTENDERS_LIMIT];
static int result_count;

/* Public functions of the library under test, from its module. */
static const char *(*implementation)(void), *(*version)(void);
static const struct cpucycles_counter_info *(*counter)(int);

/* Loads a module. Returns its contenders; NULL if it cannot be loaded. */
static const struct bench_contender *load(const char *module, void **handle)
{
  *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
  return *handle ? (const struct bench_contender *)dlsym(*handle, "bench_contenders") : NULL;
}

static void resolve_functions(void *handle)
{
  *(void **)&version = dlsym(handle, "cpucycles_version");
  *(void **)&implementation = dlsym(handle, "cpucycles_implementation");
  *(void **)&counter = dlsym(handle, "cpucycles_counter");
}

/* Returns the first contender of this kind. If there is none yet, returns results[result_count],
   which the caller is about to add. */
static const struct result *baseline_of(enum bench_kind kind)
{
  int i = 0;

  while (i < result_count && results[i].contender->kind != kind)
    i++;
  return &results[i];
}

static void add_contender(const char *module, const struct bench_contender *contender, int index)
{
  const char *reason = contender->prepare ? contender->prepare() : NULL;
  struct result *result = &results[result_count];

  if (reason || result_count == CONTENDERS_LIMIT) {
    fprintf(stderr, "bench: skipped: %s: %s\n", contender->name,
      reason ? reason : "there are too many");
    return;
  }
  result->contender = contender;
  result->module = module;
  result->index = index;
  result->baseline = baseline_of(contender->kind);
  result_count++;
}

static void add_module(const char *module)
{
  const struct bench_contender *list;
  void *handle;
  int i;

  list = load(module, &handle);
  if (!list) {
    fprintf(stderr, "bench: skipped: %s\n", dlerror());
    return;
  }
  if (!version)
    resolve_functions(handle);
  for (i = 0; list[i].name; i++)
    add_contender(module, &list[i], i);
}

static struct result *result_named(const char *name)
{
  int i;

  for (i = 0; i < result_count; i++)
    if (strcmp(results[i].contender->name, name) == 0)
      return &results[i];
  return NULL;
}

/* Pinning. All contenders are timed on one CPU; fresh processes are not pinned. */

#ifdef CPU_SET

struct pinning {
  int cpu; /* -1: not pinned */
  cpu_set_t allowed;
};

static void pin(struct pinning *pinning)
{
  int cpu = sched_getcpu();
  cpu_set_t one;

  pinning->cpu = -1;
  if (cpu < 0 || cpu >= CPU_SETSIZE
    || sched_getaffinity(0, sizeof pinning->allowed, &pinning->allowed) != 0)
    return;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) == 0)
    pinning->cpu = cpu;
}

static void unpin(const struct pinning *pinning)
{
  if (pinning->cpu >= 0 && sched_setaffinity(0, sizeof pinning->allowed, &pinning->allowed) != 0)
    fprintf(stderr, "bench: still pinned: %s\n", strerror(errno));
}

#else

struct pinning {
  int cpu;
};

static void pin(struct pinning *pinning)
{
  pinning->cpu = -1;
}

static void unpin(const struct pinning *pinning)
{
  (void)pinning;
}

#endif

/* Sorts the values. */
static struct bench_spread spread_of(double *values, int count)
{
  cpuc_quantile_sort(values, count);
  return (struct bench_spread) { cpuc_quantile(values, count, 0.25),
    cpuc_quantile(values, count, 0.5), cpuc_quantile(values, count, 0.75) };
}

/* The cost of a read. */

/* Nanoseconds per read or, for BENCH_FENCED, per section. */
static double time_reads(const struct bench_contender *contender, long reads)
{
  long long begin = cpuc_os_clock_monotonic();

  contender->run(reads);
  return (double)(cpuc_os_clock_monotonic() - begin) / (double)reads;
}

/* Returns 1 if at least one of three runs takes less than BENCH_RUN_NANOSECONDS. One short run
   suffices, because an interruption can make the other runs longer. */
static int is_too_short(const struct bench_contender *contender, long reads)
{
  int i;

  for (i = 0; i < 3; i++)
    if (time_reads(contender, reads) * (double)reads < BENCH_RUN_NANOSECONDS)
      return 1;
  return 0;
}

/* Doubles the reads, from 2, until no run is too short. */
static long reads_per_round(const struct bench_contender *contender)
{
  long reads = 2;

  contender->run(2); /* the first reads cost more */
  while (is_too_short(contender, reads))
    reads *= 2;
  return reads;
}

/* Runs every contender once per round, and begins each round with a different contender, so that
   changes of the core frequency affect all of them alike. */
static void measure_costs(void)
{
  static double ratios[CONTENDERS_LIMIT][BENCH_ROUNDS];
  int round, i, k;

  for (i = 0; i < result_count; i++)
    results[i].reads = reads_per_round(results[i].contender);
  for (round = 0; round < BENCH_ROUNDS; round++)
    for (k = 0; k < result_count; k++) {
      i = (round + k) % result_count;
      results[i].times[round] = time_reads(results[i].contender, results[i].reads);
    }
  for (i = 0; i < result_count; i++)
    for (round = 0; round < BENCH_ROUNDS; round++)
      ratios[i][round] = results[i].times[round] / results[i].baseline->times[round];
  for (i = 0; i < result_count; i++) {
    results[i].time = spread_of(results[i].times, BENCH_ROUNDS);
    results[i].ratio = spread_of(ratios[i], BENCH_ROUNDS);
  }
}

static void measure_steps(struct result *result)
{
  static long long values[READS];
  struct cpuc_step step;
  int i, equal = 0;

  result->contender->sample(values, READS);
  step = (struct cpuc_step) { values[0], 0 };
  for (i = 1; i < READS; i++)
    equal += cpuc_step_add(&step, values[i]) == 0;
  result->step = step.smallest;
  result->equal = (double)equal / (READS - 1);
}

/* Fresh processes. Each runs this program with --first-use, whose output run_first_use() reads. */

struct first_use {
  long long nanoseconds;
  long resident, size; /* KiB, bytes */
};

/* Resident memory of the process in KiB; 0 if the system does not report it. */
static long resident(void)
{
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kib = 0;

  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Rss: %ld kB", &kib) == 1)
      break;
  if (file)
    fclose(file);
  return kib;
}

/* Adds the bytes of text and data that are loaded from a shared object's file, as size(1) counts
   them except for padding. Does not count the headers, although they are loaded, and does not count
   the modules of the contenders. */
static int add_size(struct dl_phdr_info *object, size_t size, void *sum)
{
  uintptr_t headers_end = (uintptr_t)(object->dlpi_phdr + object->dlpi_phnum);
  int i;

  (void)size;
  if (strstr(object->dlpi_name, "/contend-"))
    return 0;
  for (i = 0; i < object->dlpi_phnum; i++)
    if (object->dlpi_phdr[i].p_type == PT_LOAD) {
      *(long *)sum += (long)object->dlpi_phdr[i].p_filesz;
      if (object->dlpi_phdr[i].p_offset == 0)
        *(long *)sum -= (long)(headers_end - object->dlpi_addr - object->dlpi_phdr[i].p_vaddr);
    }
  return 0;
}

static long shared_object_bytes(void)
{
  long sum = 0;

  dl_iterate_phdr(add_size, &sum);
  return sum;
}

/* Runs in a fresh process. Prints the numbers that run_first_use() reads. */
static int measure_first_use(const char *module, int index)
{
  const struct bench_contender *list;
  long kib, bytes = shared_object_bytes();
  long long begin, end;
  void *handle;

  cpuc_os_clock_monotonic(); /* its first call, and that of resident(), are not measured */
  resident();
  kib = resident();
  list = load(module, &handle);
  if (!list)
    fail(dlerror(), 0);
  begin = cpuc_os_clock_monotonic();
  if (list[index].prepare && list[index].prepare())
    fail("a contender does not work in a fresh process", 0);
  list[index].run(1);
  end = cpuc_os_clock_monotonic();
  printf("%lld %ld %ld\n", end - begin, resident() - kib, shared_object_bytes() - bytes);
  return fclose(stdout) == 0 ? 0 : 1;
}

/* Starts this program again, with standard output into the pipe. Prefers /proc/self/exe, because
   argv[0] may be another name. */
static pid_t spawn(const char *program, const struct result *result, const int pipe_ends[2])
{
  static char option[] = "--first-use";
  const char *path = access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : program;
  char index[16], *arguments[] = { (char *)program, option, index, (char *)result->module, NULL };
  posix_spawn_file_actions_t actions;
  pid_t child;
  int error;

  snprintf(index, sizeof index, "%d", result->index);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[1]);
  error = posix_spawn(&child, path, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    fail(path, error);
  return child;
}

static struct first_use run_first_use(const char *program, const struct result *result)
{
  struct first_use use;
  int pipe_ends[2], status = 0, fields;
  pid_t child;
  FILE *output;

  if (pipe(pipe_ends) != 0)
    fail("pipe", errno);
  child = spawn(program, result, pipe_ends);
  close(pipe_ends[1]);
  output = fdopen(pipe_ends[0], "r");
  if (!output)
    fail("fdopen", errno);
  fields = fscanf(output, "%lld %ld %ld", &use.nanoseconds, &use.resident, &use.size);
  fclose(output);
  if (waitpid(child, &status, 0) != child)
    fail("waitpid", errno);
  if (fields != 3 || status != 0)
    fail("a fresh process did not print its first use", 0);
  return use;
}

/* The first uses of one contender. */
struct first_uses {
  double times[FIRST_USES], kib[FIRST_USES]; /* microseconds, KiB */
  long long spent;                           /* nanoseconds, with the start of the processes */
  int count;
};

static void add_first_use(const char *program, struct result *result, struct first_uses *uses)
{
  long long begin = cpuc_os_clock_monotonic();
  struct first_use use = run_first_use(program, result);

  uses->times[uses->count] = (double)use.nanoseconds / 1000;
  uses->kib[uses->count] = (double)use.resident;
  uses->count++;
  uses->spent += cpuc_os_clock_monotonic() - begin;
  result->size = (double)use.size;
}

static int needs_first_use(const struct result *result, const struct first_uses *uses)
{
  return result->contender->kind != BENCH_POINTER && uses->count < FIRST_USES
    && uses->spent < FIRST_USES_NANOSECONDS;
}

/* The contenders take turns, because other programs can make a machine slower for seconds. */
static void measure_first_uses(const char *program)
{
  static struct first_uses uses[CONTENDERS_LIMIT];
  int i, round;

  for (round = 0; round < FIRST_USES; round++)
    for (i = 0; i < result_count; i++)
      if (needs_first_use(&results[i], &uses[i]))
        add_first_use(program, &results[i], &uses[i]);
  for (i = 0; i < result_count; i++)
    if (uses[i].count > 0) {
      results[i].first = spread_of(uses[i].times, uses[i].count);
      results[i].resident = spread_of(uses[i].kib, uses[i].count).median;
    }
}

/* Bounds. */

enum { CHECKS_LIMIT = 16 };

static struct bound_check checks[CHECKS_LIMIT];
static int check_count;

static void record_ratio(const char *what, double ratio, double bound)
{
  struct bound_check check = { what, ratio, bound };

  if (check_count < CHECKS_LIMIT)
    checks[check_count++] = check;
}

static int any_missed(void)
{
  int i, sum = 0;

  for (i = 0; i < check_count; i++)
    sum += bench_missed(&checks[i]);
  return sum;
}

/* Returns 1 if a read of the selected counter consists of the inline instruction alone. If not, the
   ratios of the costs of reads have no bounds. */
static int read_is_the_instruction(void)
{
  const struct cpucycles_counter_info *info;
  int i;

  for (i = 0; counter && (info = counter(i)) != NULL; i++)
    if (info->state == CPUCYCLES_SELECTED)
      return strcmp(info->kind, "reference") == 0 && info->scaling == 1
        && strncmp(results[0].contender->name, "inline ", 7) == 0;
  return 0;
}

static void record_ratio_to_baseline(const char *name, const char *what, double bound)
{
  const struct result *result = result_named(name);

  if (result)
    record_ratio(what, result->time.median / result->baseline->time.median, bound);
}

/* The contender with the quickest first use, among those that need to be initialized. */
static const struct result *quickest_other(void)
{
  const struct result *quickest = NULL;
  int i;

  for (i = 0; i < result_count; i++)
    if (results[i].contender->prepare && results[i].contender->kind != BENCH_POINTER
      && (!quickest || results[i].first.median < quickest->first.median))
      quickest = &results[i];
  return quickest;
}

static void record_ratios(void)
{
  const struct result *called = result_named("cpucycles()"), *other = quickest_other();

  if (read_is_the_instruction()) {
    record_ratio_to_baseline("cpucycles_inline()", "cpucycles_inline() / inline instruction",
      inline_bound);
    record_ratio_to_baseline("cpucycles()", "cpucycles() / inline instruction", cpucycles_bound);
    record_ratio_to_baseline("section_begin() + section_end()",
      "begin + end / the same fences by hand", section_bound);
  }
  if (other)
    record_ratio("first call / quickest first use with initialization",
      called->first.median / other->first.median, 1);
}

/* Closes standard output. Returns 1, with a message, if the report was not written completely. */
static int finish(void)
{
  int failed = ferror(stdout);

  if (fclose(stdout) != 0 || failed) {
    fprintf(stderr, "bench: cannot write: %s\n", strerror(errno));
    return 1;
  }
  return 0;
}

static int bench(const char *program, int strict)
{
  struct bench_report report;
  struct pinning pinning;
  int i;

  if (!version || !implementation || !result_named("cpucycles()"))
    fail("this library is not among the modules", 0);
  pin(&pinning);
  measure_costs();
  for (i = 0; i < result_count; i++)
    measure_steps(&results[i]);
  unpin(&pinning);
  measure_first_uses(program);
  record_ratios();
  report = (struct bench_report) { version(), implementation(), pinning.cpu >= 0,
    read_is_the_instruction(), results, result_count, checks, check_count };
  bench_print(&report);
  return finish() || (strict && any_missed()) ? 1 : 0;
}

static const char usage[] = "usage: bench [--strict] MODULE...\n"
                            "       bench --help\n";

static int help(void)
{
  printf("%s"
         "\n"
         "Prints what a read of the CPU cycle counter costs compared with others, its step,\n"
         "and what the first read costs and adds to a process. The contenders are in modules\n"
         "that \"make bench\" builds.\n"
         "\n"
         "  --strict  exit with status 1 if a bound is not met\n"
         "  --help    print this\n",
    usage);
  return finish();
}

int main(int argc, char **argv)
{
  int i, strict = 0;

  if (argc == 4 && strcmp(argv[1], "--first-use") == 0)
    return measure_first_use(argv[3], atoi(argv[2]));
  for (i = 1; i < argc && argv[i][0] == '-'; i++)
    if (strcmp(argv[i], "--help") == 0)
      return help();
    else if (strcmp(argv[i], "--strict") == 0)
      strict = 1;
    else {
      fprintf(stderr, "bench: unknown argument: %s\n%s", argv[i], usage);
      return 2;
    }
  if (i == argc) {
    fprintf(stderr, "%s", usage);
    return 2;
  }
  for (; i < argc; i++)
    add_module(argv[i]);
  return bench(argv[0], strict);
}
