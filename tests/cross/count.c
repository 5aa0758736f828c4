/* SPDX-License-Identifier: 0BSD OR MIT */
/* count SECONDS [SCOPE]: does the selected counter count correctly in 64 bits for this time under
   continuous reads, and then for the same time without a read? Correct counts are positive, never
   decrease, and keep the rate of the first half second within 1 % against the OS clock. In 10
   seconds, a counter of 32 bits and 1 GHz wraps around. Then tests each of the CPU's own counters
   through its backend, also those that were dropped because of their rate: the rates of a counter
   in two half seconds must agree. With SCOPE, only counters of this scope need to keep their rate,
   because on a real CPU, the rate of a counter that is not of scope "system" can change, and the
   counter can stop while the thread sleeps. Exit status: 0 correct, 1 wrong, 2 wrong usage. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/table.h"

#include "tests/suites/one-cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct point {
  long long cycles, nanoseconds;
};

static long long clock_now(void)
{
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Uses the tightest of some brackets clock-counter-clock, because a busy machine interrupts some
   brackets. */
static struct point measure_point(long long (*read)(void))
{
  struct point point = { 0, 0 };
  long long least = -1;
  int i;

  for (i = 0; i < 100; i++) {
    long long before = clock_now(), cycles = read(), after = clock_now();

    if (least < 0 || after - before < least) {
      least = after - before;
      point.cycles = cycles;
      point.nanoseconds = before + (after - before) / 2;
    }
  }
  return point;
}

static void sleep_seconds(double seconds)
{
  struct timespec pause;

  pause.tv_sec = (time_t)seconds;
  pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
  nanosleep(&pause, NULL);
}

/* Reads continuously. Returns how often the count was negative or decreased. */
static long read_continuously(double seconds)
{
  long long end = clock_now() + (long long)(seconds * 1e9), before = cpucycles(), now;
  long wrong_reads = 0;

  while (clock_now() < end) {
    now = cpucycles();
    wrong_reads += now < 0 || now < before;
    before = now;
  }
  return wrong_reads;
}

static double rate_between(struct point begin, struct point end)
{
  return (double)(end.cycles - begin.cycles) * 1e9 / (double)(end.nanoseconds - begin.nanoseconds);
}

static const char *scope; /* NULL: any */

static int keeps_its_rate(const struct cpucycles_counter_info *counter)
{
  return !scope || strcmp(counter->scope, scope) == 0;
}

/* Prints the rate. Returns 1 if it is wrong. */
static int print_rate(const char *what, double rate, double expected)
{
  int wrong = rate < expected * 0.99 || rate > expected * 1.01;

  printf("count: %s: %.0f per second instead of %.0f, %+.3f %%%s\n", what, rate, expected,
    (rate / expected - 1) * 100, wrong ? ": WRONG" : "");
  return wrong;
}

/* Extends `to` from `from` by the difference in the counter's valid bits. */
static struct point extended_point(struct point from, struct point to, int width)
{
  if (width == 32)
    to.cycles = from.cycles + (long long)(unsigned int)(to.cycles - from.cycles);
  return to;
}

/* Tests a counter as its backend reads it. Returns 1 if the counter is wrong. */
static int test_backend(const struct cpuc_table_entry *entry)
{
  long long (*read)(void) = entry->backend->read;
  struct cpuc_diagnosis why = { 0 };
  struct point begin, middle, end;
  double expected;
  int wrong;

  if (entry->backend->open && entry->backend->open(&cpuc_select_services, &why) != 0)
    return 1;
  begin = measure_point(read);
  sleep_seconds(0.5);
  middle = extended_point(begin, measure_point(read), entry->backend->width);
  sleep_seconds(0.5);
  end = extended_point(middle, measure_point(read), entry->backend->width);
  expected = rate_between(begin, middle);
  wrong = begin.cycles < 0 || expected <= 0;
  wrong |= print_rate(entry->name, rate_between(middle, end), expected);
  if (entry->backend->close)
    entry->backend->close();
  return wrong;
}

/* Tests all counters except those of the system (default-...), those that need not keep their rate,
   and those that cannot be read or are stopped. */
static int test_all_backends(void)
{
  int i, wrong = 0;

  for (i = 0; i < CPUC_TABLE_LENGTH; i++) {
    const struct cpucycles_counter_info *counter = cpucycles_counter(i);

    if (strncmp(counter->name, "default-", 8) == 0 || !keeps_its_rate(counter))
      continue;
    if (counter->reason && !strstr(" no-rate no-multiple rate-mismatch ", counter->reason))
      printf("count: %s was dropped, as %s, and is not read\n", counter->name, counter->reason);
    else
      wrong |= test_backend(&cpuc_table[i]);
  }
  return wrong;
}

int main(int argc, char **argv)
{
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 0, expected;
  const struct cpucycles_counter_info *selected = cpucycles_selected();
  struct point begin, first, read, unread;
  long wrong_reads;
  int wrong;

  scope = argc > 2 ? argv[2] : NULL;
  if (stay_on_this_cpu() != 0) /* the counters of two CPUs may differ */
    printf("count: the thread cannot be kept on its CPU\n");
  if (!(seconds > 0 && seconds < 1e6) || !selected) {
    fprintf(stderr, "usage: count SECONDS [SCOPE]\n");
    return 2;
  }
  begin = measure_point(cpucycles);
  sleep_seconds(0.5);
  first = measure_point(cpucycles);
  expected = rate_between(begin, first);
  wrong_reads = read_continuously(seconds);
  read = measure_point(cpucycles);
  sleep_seconds(seconds);
  unread = measure_point(cpucycles);
  printf("count: %s of %d bits, from %lld to %lld: %ld times negative or backward\n",
    selected->name, selected->width, begin.cycles, unread.cycles, wrong_reads);
  wrong = begin.cycles <= 0 || expected <= 0 || wrong_reads != 0;
  if (keeps_its_rate(selected)) {
    wrong |= print_rate("read all the time", rate_between(first, read), expected);
    wrong |= print_rate("not read for the same time", rate_between(read, unread), expected);
  }
  wrong |= test_all_backends();
  return wrong;
}
