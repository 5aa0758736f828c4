/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench: what a read costs beside its peers, what the first call costs, and whether the selection is the
   same every time; each figure beside its bound, where it has one. Uses the public interface alone. A
   contender is a row of the table below, and the function that it names. */

#include "config.h"

#include "bench/inline.h"

#include <cpucycles.h>

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Counts that are 1 more than a multiple of 4 have their quartiles and median at whole places. */
enum {
  ROUNDS = 2001,             /* short ones, so that most are not disturbed and the median is not either */
  ROUND_NANOSECONDS = 20000, /* long enough for the clock's resolution and the loop's start not to count */
  FIRST_CALLS = 25,
  SELECTIONS = 100,
  NAME_SIZE = 64
};

static const double cpucycles_bound = 1.12; /* one call and return, beside the instruction */
static const double first_call_bound = 150; /* microseconds */
static const int selection_bound = 1;       /* counter */

extern char **environ;

/* Where what was read goes, so that no compiler leaves a read out. */
static volatile long long sink;

#ifdef BENCH_INLINE
static void run_inline(long reads)
{
  while (reads-- > 0)
    sink = inline_read();
}
#endif

static void run_cpucycles(long reads)
{
  while (reads-- > 0)
    sink = cpucycles();
}

static void run_clock_gettime(long reads)
{
  struct timespec now;

  while (reads-- > 0) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    sink = now.tv_nsec;
  }
}

static void run_gettimeofday(long reads)
{
  struct timeval now;

  while (reads-- > 0) {
    gettimeofday(&now, NULL);
    sink = now.tv_usec;
  }
}

struct contender {
  const char *name;
  void (*run)(long reads);
  int baseline; /* others are compared with the first row that is one */
  double bound; /* of the ratio to an inline read of the same counter; 0: none */
};

static const struct contender contenders[] = {
#ifdef BENCH_INLINE
  { BENCH_INLINE, run_inline, 1, 0 },
#endif
  { "cpucycles()", run_cpucycles, 0, cpucycles_bound },
  { "clock_gettime(CLOCK_MONOTONIC)", run_clock_gettime, 1, 0 },
  { "gettimeofday()", run_gettimeofday, 0, 0 },
};

enum { CONTENDERS = sizeof contenders / sizeof contenders[0] };

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

/* Nothing that is measured here is the mean of anything: one interrupt would move it. */
struct spread {
  double least, lower, median, upper;
};

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

/* Says how a figure stands to its bound; returns whether it missed it. */
static int judge(int missed)
{
  printf("%s\n", missed ? "missed" : "reached");
  return missed;
}

/* Pinning. The contenders share one CPU; fresh processes run where any program would. */

#ifdef CPU_SET

struct pinning {
  int pinned;
  cpu_set_t allowed;
};

static void pin(struct pinning *pinning)
{
  int cpu = sched_getcpu();
  cpu_set_t one;

  pinning->pinned = 0;
  if (cpu >= 0 && cpu < CPU_SETSIZE
    && sched_getaffinity(0, sizeof pinning->allowed, &pinning->allowed) == 0) {
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pinning->pinned = sched_setaffinity(0, sizeof one, &one) == 0;
  }
  if (pinning->pinned)
    printf("pinned to CPU %d, one of %d allowed\n", cpu, CPU_COUNT(&pinning->allowed));
  else
    printf("not pinned to one CPU: %s\n", cpu >= CPU_SETSIZE ? "its number is too high" : strerror(errno));
}

static void unpin(const struct pinning *pinning)
{
  if (pinning->pinned && sched_setaffinity(0, sizeof pinning->allowed, &pinning->allowed) != 0)
    printf("still pinned: %s\n", strerror(errno));
}

#else

struct pinning {
  int pinned;
};

static void pin(struct pinning *pinning)
{
  pinning->pinned = 0;
  printf("not pinned to one CPU: this system has no sched_setaffinity\n");
}

static void unpin(const struct pinning *pinning)
{
  (void)pinning;
}

#endif

/* The cost of a read. */

static int baseline(void)
{
  int i = 0;

  while (!contenders[i].baseline)
    i++;
  return i;
}

/* Is a read of the selected counter the baseline's instruction, so that the bounds speak of it? */
static int reads_the_baseline(void)
{
#ifdef BENCH_INLINE
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (counter->state == CPUCYCLES_SELECTED)
      return strcmp(counter->kind, "reference") == 0 && counter->scaling == 1;
#endif
  return 0;
}

/* Nanoseconds a read. */
static double time_reads(const struct contender *contender, long reads)
{
  long long begin = nanoseconds();

  contender->run(reads);
  return (double)(nanoseconds() - begin) / (double)reads;
}

/* How many reads make a round, the same number for all. */
static long reads_a_round(void)
{
  const struct contender *contender = &contenders[baseline()];
  long reads = 256;

  while (time_reads(contender, reads) * (double)reads < ROUND_NANOSECONDS)
    reads *= 2;
  return reads;
}

/* Every contender once a round, each round beginning with another, so that what changes on the machine
   meanwhile changes all alike. */
static void run_rounds(double times[CONTENDERS][ROUNDS], long reads)
{
  int round, k;

  for (round = 0; round < ROUNDS; round++)
    for (k = 0; k < CONTENDERS; k++) {
      int i = (round + k) % CONTENDERS;

      times[i][round] = time_reads(&contenders[i], reads);
    }
}

/* Prints a row of the table; returns whether its bound was missed. */
static int print_read(const struct contender *contender, struct spread time, struct spread ratio,
  double base, int bounded)
{
  printf("%-30s %8.2f %8.3f    %6.3f  %6.3f", contender->name, time.median, time.median / base, ratio.lower,
    ratio.upper);
  if (!bounded || contender->bound <= 0) {
    printf("\n");
    return 0;
  }
  printf("  bound %.2f: ", contender->bound);
  return judge(time.median / base > contender->bound);
}

static int print_reads(double times[CONTENDERS][ROUNDS])
{
  static double ratios[CONTENDERS][ROUNDS];
  int i, round, base = baseline(), bounded = reads_the_baseline(), missed = 0;
  struct spread time[CONTENDERS];

  for (i = 0; i < CONTENDERS; i++)
    for (round = 0; round < ROUNDS; round++)
      ratios[i][round] = times[i][round] / times[base][round];
  for (i = 0; i < CONTENDERS; i++)
    time[i] = spread_of(times[i], ROUNDS);
  printf("%-30s %8s %8s %17s\n", "contender", "ns/read", "ratio", "quartiles");
  for (i = 0; i < CONTENDERS; i++)
    missed += print_read(&contenders[i], time[i], spread_of(ratios[i], ROUNDS), time[base].median, bounded);
  if (!bounded)
    printf("(%s is not read by the inline instruction: no bound)\n", cpucycles_implementation());
  return missed;
}

static int bench_reads(void)
{
  static double times[CONTENDERS][ROUNDS];
  long reads = reads_a_round();

  printf("medians of %d rounds of %ld reads, contenders in turn; ratio to %s, and the\n"
         "quartiles of that ratio within a round\n\n",
    ROUNDS, reads, contenders[baseline()].name);
  run_rounds(times, reads);
  return print_reads(times);
}

/* Fresh processes: this program again, with --first-call, which prints what fresh_process() scans. */

struct fresh {
  long long nanoseconds;
  char name[NAME_SIZE]; /* of the counter selected */
};

static int first_call(void)
{
  long long begin, end;

  nanoseconds(); /* its own first call is not the library's */
  begin = nanoseconds();
  sink = cpucycles();
  end = nanoseconds();
  printf("%lld %s\n", end - begin, cpucycles_implementation());
  return fclose(stdout) == 0 ? 0 : 1;
}

/* Starts this program again, with its standard output led into the pipe. The program that runs, by the
   system's word for it where it has one: it may have been started by another name. */
static pid_t start(const char *program, const int ends[2])
{
  static char argument[] = "--first-call";
  const char *path = access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : program;
  char *arguments[] = { (char *)program, argument, NULL };
  posix_spawn_file_actions_t actions;
  pid_t child;
  int error;

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

static struct fresh fresh_process(const char *program)
{
  struct fresh fresh;
  int ends[2], status = 0, fields;
  pid_t child;
  FILE *output;

  if (pipe(ends) != 0)
    fail("pipe", errno);
  child = start(program, ends);
  close(ends[1]);
  output = fdopen(ends[0], "r");
  if (!output)
    fail("fdopen", errno);
  fields = fscanf(output, "%lld %63s", &fresh.nanoseconds, fresh.name);
  fclose(output);
  if (waitpid(child, &status, 0) != child)
    fail("waitpid", errno);
  if (fields != 2 || status != 0)
    fail("a fresh process did not say what its first call was", 0);
  return fresh;
}

static int bench_first_call(const char *program)
{
  double times[FIRST_CALLS];
  struct spread time;
  int i;

  for (i = 0; i < FIRST_CALLS; i++)
    times[i] = (double)fresh_process(program).nanoseconds / 1000;
  time = spread_of(times, FIRST_CALLS);
  printf("first call in %d processes: median %.1f us, quartiles %.1f and %.1f us, minimum %.1f us"
         "; bound %.0f us: ",
    FIRST_CALLS, time.median, time.lower, time.upper, time.least, first_call_bound);
  return judge(time.median > first_call_bound);
}

struct tally {
  char name[NAME_SIZE];
  int count;
};

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

static int bench_selection(const char *program)
{
  struct tally tallies[SELECTIONS];
  int i, distinct = 0;

  for (i = 0; i < SELECTIONS; i++)
    distinct = count_name(tallies, distinct, fresh_process(program).name);
  printf("selection in %d processes:", SELECTIONS);
  for (i = 0; i < distinct; i++)
    printf("%s %s %d times", i ? "," : "", tallies[i].name, tallies[i].count);
  printf("; bound %d counter: ", selection_bound);
  return judge(distinct > selection_bound);
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

static int bench(const char *program, int strict)
{
  struct pinning pinning;
  int missed, failed;

  printf("libcpucycles %s, counter %s\n", cpucycles_version(), cpucycles_implementation());
  pin(&pinning);
  missed = bench_reads();
  unpin(&pinning);
  printf("\n");
  fflush(stdout);
  missed += bench_first_call(program);
  missed += bench_selection(program);
  failed = finish();
  return failed || (strict && missed) ? 1 : 0;
}

static const char usage[] = "usage: bench [--help | --strict]\n";

static int help(void)
{
  printf("%s"
         "\n"
         "Prints what a read of the CPU cycle counter costs beside other clocks, what the\n"
         "first call costs, and whether the same counter is selected every time.\n"
         "\n"
         "  --help    say this\n"
         "  --strict  exit with status 1 if a bound is missed\n",
    usage);
  return finish();
}

int main(int argc, char **argv)
{
  if (argc == 1)
    return bench(argv[0], 0);
  if (argc == 2 && strcmp(argv[1], "--strict") == 0)
    return bench(argv[0], 1);
  if (argc == 2 && strcmp(argv[1], "--help") == 0)
    return help();
  if (argc == 2 && strcmp(argv[1], "--first-call") == 0)
    return first_call();
  fprintf(stderr, "bench: unknown argument: %s\n%s",
    argc > 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "--strict")) ? argv[2] : argv[1], usage);
  return 2;
}
