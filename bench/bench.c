/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench: what a read of the cycle counter costs beside its peers, how fine it is, what the first
   one costs in a fresh process, what it adds to that process, and whether the selection is the
   same every time; each figure beside its bound, where it has one. Contenders are modules, which
   are loaded: contender.h. */

#include "config.h"

#include "bench/bench.h"

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
#include <time.h>
#include <unistd.h>

enum {
  SAMPLES = 10000,
  FIRST_USES = 25,
  FIRST_USES_NANOSECONDS = 2000000000, /* where one takes long, fewer */
  SELECTIONS = 100,
  CONTENDERS_LIMIT = 32
};

/* What must be reached: of the cost in relation to a hand-written read of the same counter;
   microseconds; nanoseconds; bytes; counters. */
static const double inline_bound = 1.02, cpucycles_bound = 1.12, section_bound = 1.08;
static const double first_use_bound = 150, scaled_bound = 3;
static const int selection_bound = 1;

extern char **environ;

/* error: an errno, or 0 where the system had no part in it. */
static void fail(const char *what, int error)
{
  fflush(stdout);
  fprintf(stderr, "bench: %s%s%s\n", what, error ? ": " : "", error ? strerror(error) : "");
  exit(1);
}

static long long nanoseconds(void)
{
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Sorts the values. */
static struct spread spread_of(double *values, int count)
{
  struct spread spread;

  qsort(values, (size_t)count, sizeof values[0], compare);
  spread.least = values[0];
  spread.lower = values[(count - 1) / 4];
  spread.median = values[(count - 1) / 2];
  spread.upper = values[(count - 1) * 3 / 4];
  return spread;
}

/* Contenders, and what was found of them. */

static struct entry entries[CONTENDERS_LIMIT];
static int count;

/* Of this library's module: its public calls. */
static const char *(*implementation)(void), *(*version)(void);
static const struct cpucycles_counter_info *(*counter)(int);

/* A module's contenders; 0 if it cannot be loaded. */
static const struct bench_contender *load(const char *module, void **handle)
{
  *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
  return *handle ? (const struct bench_contender *)dlsym(*handle, "bench_contenders") : NULL;
}

static void take_functions(void *handle)
{
  *(void **)&version = dlsym(handle, "cpucycles_version");
  *(void **)&implementation = dlsym(handle, "cpucycles_implementation");
  *(void **)&counter = dlsym(handle, "cpucycles_counter");
}

/* The first of the kind, which may be the one that is being added. */
static const struct entry *base_of(enum bench_kind kind)
{
  int i = 0;

  while (i < count && entries[i].contender->kind != kind)
    i++;
  return &entries[i];
}

static void add_contender(const char *module, const struct bench_contender *contender, int index)
{
  const char *why = contender->prepare ? contender->prepare() : NULL;
  struct entry *entry = &entries[count];

  if (why || count == CONTENDERS_LIMIT) {
    fprintf(stderr, "bench: skipped: %s: %s\n", contender->name, why ? why : "there are too many");
    return;
  }
  entry->contender = contender;
  entry->module = module;
  entry->index = index;
  entry->base = base_of(contender->kind);
  count++;
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
    take_functions(handle);
  for (i = 0; list[i].name; i++)
    add_contender(module, &list[i], i);
}

static struct entry *entry_named(const char *name)
{
  int i;

  for (i = 0; i < count; i++)
    if (strcmp(entries[i].contender->name, name) == 0)
      return &entries[i];
  return NULL;
}

/* Pinning. The contenders share one CPU; fresh processes run where any program would. */

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

/* The cost of a read. */

/* Nanoseconds a read. */
static double time_reads(const struct bench_contender *contender, long reads)
{
  long long begin = nanoseconds();

  contender->run(reads);
  return (double)(nanoseconds() - begin) / (double)reads;
}

/* How many reads make a round: of each contender as many as fill the time, and 2 at least. */
static long reads_a_round(const struct bench_contender *contender)
{
  long reads = 2;

  contender->run(2); /* what only the first ones cost */
  while (time_reads(contender, reads) * (double)reads < BENCH_ROUND_NANOSECONDS)
    reads *= 2;
  return reads;
}

/* Every contender once a round, each round beginning with another, so that what changes on the
   machine meanwhile changes all alike. */
static void measure_costs(void)
{
  static double ratios[CONTENDERS_LIMIT][BENCH_ROUNDS];
  int round, i, k;

  for (i = 0; i < count; i++)
    entries[i].reads = reads_a_round(entries[i].contender);
  for (round = 0; round < BENCH_ROUNDS; round++)
    for (k = 0; k < count; k++) {
      i = (round + k) % count;
      entries[i].times[round] = time_reads(entries[i].contender, entries[i].reads);
    }
  for (i = 0; i < count; i++)
    for (round = 0; round < BENCH_ROUNDS; round++)
      ratios[i][round] = entries[i].times[round] / entries[i].base->times[round];
  for (i = 0; i < count; i++) {
    entries[i].time = spread_of(entries[i].times, BENCH_ROUNDS);
    entries[i].ratio = spread_of(ratios[i], BENCH_ROUNDS);
  }
}

/* Its unit, in nanoseconds, over some milliseconds. */
static double unit_of(const struct bench_contender *contender)
{
  long long from[2], to[2], begin = nanoseconds(), end;

  contender->sample(from, 2);
  do
    end = nanoseconds();
  while (end - begin < 5000000);
  contender->sample(to, 2);
  return to[0] > from[0] ? (double)(end - begin) / (double)(to[0] - from[0]) : 0;
}

static void measure_steps(struct entry *entry)
{
  static long long values[SAMPLES];
  int i, equal = 0;

  entry->contender->sample(values, SAMPLES);
  entry->step = 0;
  for (i = 1; i < SAMPLES; i++) {
    long long step = values[i] - values[i - 1];

    equal += step == 0;
    if (step > 0 && (entry->step == 0 || step < entry->step))
      entry->step = step;
  }
  entry->equal = (double)equal / (SAMPLES - 1);
  entry->step_nanoseconds = (double)entry->step * unit_of(entry->contender);
}

/* Fresh processes: this program again, with --first-use, which prints what fresh_process()
   scans. */

struct fresh {
  long long nanoseconds;
  long resident, size;  /* KiB, bytes */
  char name[BENCH_NAME_SIZE]; /* of the counter selected */
};

/* KiB that the process has in memory; 0: this system does not say. */
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

/* Adds up what is loaded of a shared object's file: its text and data, as size(1) has them, but for
   some bytes that align them. The file's headers, which are loaded with them, are neither. */
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

static long shared_objects(void)
{
  long sum = 0;

  dl_iterate_phdr(add_size, &sum);
  return sum;
}

static int first_use(const char *module, int index)
{
  const struct bench_contender *list;
  long kib, bytes = shared_objects();
  long long begin, end;
  void *handle;

  nanoseconds(); /* its own first call is not the contender's */
  resident();
  kib = resident();
  list = load(module, &handle);
  if (!list)
    fail(dlerror(), 0);
  begin = nanoseconds();
  if (list[index].prepare && list[index].prepare())
    fail("it worked before", 0);
  list[index].run(1);
  end = nanoseconds();
  take_functions(handle);
  printf("%lld %ld %ld %s\n", end - begin, resident() - kib, shared_objects() - bytes,
    implementation ? implementation() : "-");
  return fclose(stdout) == 0 ? 0 : 1;
}

/* Starts this program again, with its standard output led into the pipe. The program that runs,
   by the system's word for it where it has one: it may have been started by another name. */
static pid_t start(const char *program, const struct entry *entry, const int ends[2])
{
  static char option[] = "--first-use";
  const char *path = access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : program;
  char index[16], *arguments[] = { (char *)program, option, index, (char *)entry->module, NULL };
  posix_spawn_file_actions_t actions;
  pid_t child;
  int error;

  snprintf(index, sizeof index, "%d", entry->index);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  error = posix_spawn(&child, path, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    fail(path, error);
  return child;
}

static struct fresh fresh_process(const char *program, const struct entry *entry)
{
  struct fresh fresh;
  int ends[2], status = 0, fields;
  pid_t child;
  FILE *output;

  if (pipe(ends) != 0)
    fail("pipe", errno);
  child = start(program, entry, ends);
  close(ends[1]);
  output = fdopen(ends[0], "r");
  if (!output)
    fail("fdopen", errno);
  fields = fscanf(output, "%lld %ld %ld %63s", &fresh.nanoseconds, &fresh.resident, &fresh.size,
    fresh.name);
  fclose(output);
  if (waitpid(child, &status, 0) != child)
    fail("waitpid", errno);
  if (fields != 4 || status != 0)
    fail("a fresh process did not say what its first use was", 0);
  return fresh;
}

static void measure_first_use(const char *program, struct entry *entry)
{
  double times[FIRST_USES], kib[FIRST_USES];
  long long end = nanoseconds() + FIRST_USES_NANOSECONDS;
  struct fresh fresh;
  int i = 0;

  do {
    fresh = fresh_process(program, entry);
    times[i] = (double)fresh.nanoseconds / 1000;
    kib[i] = (double)fresh.resident;
  } while (++i < FIRST_USES && nanoseconds() < end);
  entry->first = spread_of(times, i);
  entry->resident = spread_of(kib, i).median;
  entry->size = (double)fresh.size;
}

/* Counts the name; returns how many distinct ones there are now. */
static int count_name(struct tally *tallies, int distinct, const char *name)
{
  int i = 0;

  while (i < distinct && strcmp(tallies[i].name, name) != 0)
    i++;
  if (i == distinct) {
    strcpy(tallies[i].name, name);
    tallies[i].count = 0;
    distinct++;
  }
  tallies[i].count++;
  return distinct;
}

static int tally_selections(const char *program, const struct entry *entry, struct tally *tallies)
{
  int i, distinct = 0;

  for (i = 0; i < SELECTIONS; i++)
    distinct = count_name(tallies, distinct, fresh_process(program, entry).name);
  return distinct;
}

/* Bounds. */

enum { JUDGEMENTS_LIMIT = 16 };

static struct judgement judgements[JUDGEMENTS_LIMIT];
static int judged;

static void judge(const char *what, const char *unit, int decimals, double value, double bound)
{
  struct judgement judgement = { what, unit, decimals, value, bound };

  if (judged < JUDGEMENTS_LIMIT)
    judgements[judged++] = judgement;
}

int bench_missed(const struct judgement *judgement)
{
  return judgement->value > judgement->bound;
}

static int any_missed(void)
{
  int i, sum = 0;

  for (i = 0; i < judged; i++)
    sum += bench_missed(&judgements[i]);
  return sum;
}

/* Is a read of the selected counter the inline instruction, so that the bounds speak of it? */
static int reads_the_instruction(void)
{
  const struct cpucycles_counter_info *info;
  int i;

  for (i = 0; counter && (info = counter(i)) != NULL; i++)
    if (info->state == CPUCYCLES_SELECTED)
      return strcmp(info->kind, "reference") == 0 && info->scaling == 1
        && strncmp(entries[0].contender->name, "inline ", 7) == 0;
  return 0;
}

static void judge_ratio(const char *name, const char *what, double bound)
{
  const struct entry *entry = entry_named(name);

  if (entry)
    judge(what, "", 3, entry->time.median / entry->base->time.median, bound);
}

/* The quickest of those that have something to do before their first read. */
static const struct entry *quickest_other(void)
{
  const struct entry *quickest = NULL;
  int i;

  for (i = 0; i < count; i++)
    if (entries[i].contender->prepare && entries[i].contender->kind != BENCH_SCALED
      && (!quickest || entries[i].first.median < quickest->first.median))
      quickest = &entries[i];
  return quickest;
}

static void judge_all(int distinct)
{
  const struct entry *called = entry_named("cpucycles()"),
    *scaled = entry_named("the same, scaled");
  const struct entry *other = quickest_other();

  if (reads_the_instruction()) {
    judge_ratio("cpucycles_inline()", "cpucycles_inline() / inline instruction", inline_bound);
    judge_ratio("cpucycles()", "cpucycles() / inline instruction", cpucycles_bound);
    judge_ratio("cpucycles_begin() + _end()", "begin + end / the same fences by hand",
      section_bound);
  }
  judge("first call, median", " us", 1, called->first.median, first_use_bound);
  if (other)
    judge("first call / the quickest other that initialises", "", 3,
      called->first.median / other->first.median, 1);
  if (scaled)
    judge("scaled counter - bare counter", " ns", 1,
      scaled->time.median - scaled->base->time.median,
      scaled_bound);
  judge("counters selected in 100 processes", "", 0, distinct, selection_bound);
}

/* A table that was not written whole is none. */
static int finish(void)
{
  int failed = ferror(stdout);

  if (fclose(stdout) != 0 || failed) {
    fprintf(stderr, "bench: cannot write: %s\n", strerror(errno));
    return 1;
  }
  return 0;
}

static int bench(const char *program, char form, int strict)
{
  static struct tally tallies[SELECTIONS];
  struct findings findings;
  struct pinning pinning;
  int i, distinct;

  if (!version || !implementation || !entry_named("cpucycles()"))
    fail("this library is not among the modules", 0);
  pin(&pinning);
  measure_costs();
  for (i = 0; i < count; i++)
    measure_steps(&entries[i]);
  unpin(&pinning);
  for (i = 0; i < count; i++)
    if (entries[i].contender->kind != BENCH_SCALED)
      measure_first_use(program, &entries[i]);
  distinct = tally_selections(program, entry_named("cpucycles()"), tallies);
  judge_all(distinct);
  findings = (struct findings) { version(), implementation(), pinning.cpu >= 0,
    reads_the_instruction(), entries, count, judgements, judged, tallies, distinct };
  if (form == 'j')
    bench_print_json(&findings);
  else if (form == 'p')
    bench_print_plot(&findings);
  else
    bench_print_table(&findings);
  return finish() || (strict && any_missed()) ? 1 : 0;
}

static const char usage[] = "usage: bench [--json | --plot] [--strict] MODULE...\n"
                            "       bench --help\n";

static int help(void)
{
  printf("%s"
         "\n"
         "Prints what a read of the CPU cycle counter costs beside others, how fine it is,\n"
         "what the first read costs and adds to a process, and whether the same counter is\n"
         "selected every time. The contenders are modules, which make bench builds.\n"
         "\n"
         "  --json    as one JSON document\n"
         "  --plot    how the costs of a read are spread\n"
         "  --strict  exit with status 1 if a bound is missed\n"
         "  --help    say this\n",
    usage);
  return finish();
}

int main(int argc, char **argv)
{
  char form = 't';
  int i, strict = 0;

  if (argc == 4 && strcmp(argv[1], "--first-use") == 0)
    return first_use(argv[3], atoi(argv[2]));
  for (i = 1; i < argc && argv[i][0] == '-'; i++)
    if (strcmp(argv[i], "--help") == 0)
      return help();
    else if (strcmp(argv[i], "--strict") == 0)
      strict = 1;
    else if (strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "--plot") == 0)
      form = argv[i][2];
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
  return bench(argv[0], form, strict);
}
