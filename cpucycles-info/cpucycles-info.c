/* SPDX-License-Identifier: 0BSD OR MIT */
/* cpucycles-info: what a user pastes into a bug report about a cycle count. Uses the public interface alone;
   a report section is a function. */

#include "config.h"

#include <cpucycles.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { DIFFERENCES = 64 };

static void print_selection(void)
{
  printf("cpucycles version %s\n", cpucycles_version());
  cpucycles_tracesetup();
  printf("cpucycles persecond %lld\n", cpucycles_persecond());
  printf("cpucycles implementation %s\n", cpucycles_implementation());
}

static int compare(const void *a, const void *b)
{
  long long x = *(const long long *)a, y = *(const long long *)b;

  return (x > y) - (x < y);
}

/* The mean of the middle half: steadier than a mean, finer than a median. */
static long long interquartile_mean(const long long *values)
{
  long long sorted[DIFFERENCES], sum = 0;
  int i;

  memcpy(sorted, values, sizeof sorted);
  qsort(sorted, DIFFERENCES, sizeof sorted[0], compare);
  for (i = DIFFERENCES / 4; i < DIFFERENCES * 3 / 4; i++)
    sum += sorted[i];
  return sum / (DIFFERENCES / 2);
}

/* Adjacent reads: how steady the counter is, and what one call costs. */
static void print_differences(void)
{
  long long reads[DIFFERENCES + 1], differences[DIFFERENCES], middle;
  int i;

  for (i = 0; i <= DIFFERENCES; i++)
    reads[i] = cpucycles();
  for (i = 0; i < DIFFERENCES; i++)
    differences[i] = reads[i + 1] - reads[i];
  middle = interquartile_mean(differences);
  printf("cpucycles iqm %lld ", middle);
  for (i = 0; i < DIFFERENCES; i++)
    printf("%+lld", differences[i] - middle);
  printf("\n");
}

static long long microseconds(void)
{
  struct timeval now;

  gettimeofday(&now, NULL);
  return (long long)now.tv_sec * 1000000 + now.tv_usec;
}

/* Some dozens of cycles that no compiler can leave out and no CPU can overlap. */
static unsigned long long work(unsigned long long x)
{
  volatile unsigned long long kept;
  int i;

  for (i = 0; i < 16; i++)
    x = x * 6364136223846793005ULL + 1;
  kept = x;
  return kept;
}

/* The counter against the wall clock, whose reading is up to a microsecond off at either end. */
static void print_observed(long long loops)
{
  unsigned long long x = 1;
  long long i, begin = microseconds(), time, cycles, first = cpucycles();

  for (i = 0; i < loops; i++)
    x = work(x);
  cycles = cpucycles() - first;
  time = microseconds() - begin;
  printf("cpucycles observed persecond %.0f...%.0f with %lld loops %lld microseconds\n",
    (double)cycles * 1e6 / (double)(time + 1), (double)cycles * 1e6 / (double)(time > 1 ? time - 1 : 1),
    loops, time);
}

/* Where the frequency comes from, and which setting of it was not obeyed. */
static void print_frequency(void)
{
  const char *skipped = cpucycles_frequency_skipped();

  printf("cpucycles frequency source %s", cpucycles_frequency_source());
  if (skipped)
    printf("; skipped: %s", skipped);
  printf("\n");
}

/* Which names of those that were asked for could not be used. */
static void print_skipped(void)
{
  const char *skipped = cpucycles_implementation_skipped();

  if (skipped)
    printf("cpucycles skipped CPUCYCLES_IMPLEMENTATION: %s\n", skipped);
}

static const char *signal_name(int signal)
{
  switch (signal) {
  case SIGILL:
    return "SIGILL";
  case SIGFPE:
    return "SIGFPE";
#ifdef SIGBUS
  case SIGBUS:
    return "SIGBUS";
#endif
  case SIGSEGV:
    return "SIGSEGV";
#ifdef SIGSYS
  case SIGSYS:
    return "SIGSYS";
#endif
  default:
    return "signal";
  }
}

/* Why each counter that does not work was dropped, and what would help. */
static void print_dropped(void)
{
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++) {
    if (!counter->reason)
      continue;
    printf("cpucycles %s %s %s: %s", counter->state == CPUCYCLES_SELECTED ? "last resort" : "dropped",
      counter->name, counter->reason, counter->explanation);
    if (counter->signal_number)
      printf(" (%s)", signal_name(counter->signal_number));
    if (counter->error_number)
      printf(" (%s)", strerror(counter->error_number));
    if (counter->remedy)
      printf("; remedy: %s", counter->remedy);
    printf("\n");
  }
}

/* A report that was not written whole is not a report. */
static int finish(void)
{
  int failed = ferror(stdout);

  errno = 0;
  if (fclose(stdout) != 0 || failed) {
    fprintf(stderr, "cpucycles-info: cannot write the report: %s\n",
      errno ? strerror(errno) : "an earlier part was lost");
    return 1;
  }
  return 0;
}

static int report(void)
{
  long long loops;

  print_selection();
  print_differences();
  for (loops = 1024; loops <= 1048576; loops *= 2)
    print_observed(loops);
  print_frequency();
  print_skipped();
  print_dropped();
  return finish();
}

static const char usage[] = "usage: cpucycles-info [--help | --version]\n";

static int help(void)
{
  printf("%s"
         "\n"
         "Prints which CPU cycle counter programs get on this machine, how well it\n"
         "works, and why others were dropped. Details: cpucycles-info(1).\n"
         "\n"
         "  --help     say this\n"
         "  --version  print the version of the library in use\n",
    usage);
  return finish();
}

static int version(void)
{
  printf("cpucycles-info %s\n", cpucycles_version());
  return finish();
}

int main(int argc, char **argv)
{
  if (argc == 1)
    return report();
  if (argc == 2 && strcmp(argv[1], "--help") == 0)
    return help();
  if (argc == 2 && strcmp(argv[1], "--version") == 0)
    return version();
  if (argc > 2)
    fprintf(stderr, "cpucycles-info: one argument at most, and not %d\n%s", argc - 1, usage);
  else
    fprintf(stderr, "cpucycles-info: unknown argument: %s\n%s", argv[1], usage);
  return 2;
}
