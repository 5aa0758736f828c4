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
#include "sys/clock-sample.h"
#include "sys/os-clock.h"

#include "tests/suites/one-cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct point {
  long long cycles, nanoseconds;
};

/* Uses the tightest of some brackets clock-counter-clock, because a busy machine interrupts some
   brackets. */
static struct point measure_point(long long (*read)(void))
{
  struct cpuc_clock_sample sample
    = cpuc_clock_sample_tightest(cpuc_os_clock_monotonic, read, 100, 0);

  return (struct point) { sample.inner, sample.outer + sample.width / 2 };
}

static void sleep_seconds(double seconds)
{
  struct timespec pause = { .tv_sec = (time_t)seconds };

  pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
  nanosleep(&pause, NULL);
}

static double rate_between(struct point begin, struct point end)
{
  return (double)(end.cycles - begin.cycles) * 1e9 / (double)(end.nanoseconds - begin.nanoseconds);
}

/* Prints the rate. Returns 1 if it is wrong. */
static int print_rate(const char *what, double rate, double expected)
{
  int wrong = rate < expected * 0.99 || rate > expected * 1.01;

  printf("count: %s: %.0f per second instead of %.0f, %+.3f %%%s\n", what, rate, expected,
    (rate / expected - 1) * 100, wrong ? ": WRONG" : "");
  return wrong;
}

/* Reads continuously, and then does not read, for this time each. Returns 1 if a count was negative
   or decreased, or if the counter should keep its rate and did not. */
static int test(const char *name, long long (*read)(void), int width, double seconds,
  int keeps_rate)
{
  unsigned long long valid = width == 32 ? 0xffffffff : ~0ULL;
  struct point points[4];
  double expected;
  long long end, now, before;
  long wrong_reads = 0;
  int i, wrong;

  points[0] = measure_point(read);
  sleep_seconds(0.5);
  points[1] = measure_point(read);
  end = cpuc_os_clock_monotonic() + (long long)(seconds * 1e9);
  for (before = read(); cpuc_os_clock_monotonic() < end; before = now) {
    now = read();
    wrong_reads += width == 64 && (now < 0 || now < before);
  }
  points[2] = measure_point(read);
  sleep_seconds(seconds);
  points[3] = measure_point(read);
  for (i = 1; i < 4; i++)
    points[i].cycles = points[i - 1].cycles
      + (long long)((unsigned long long)(points[i].cycles - points[i - 1].cycles) & valid);
  expected = rate_between(points[0], points[1]);
  printf("count: %s of %d bits, from %lld to %lld: %ld times negative or backward\n", name, width,
    points[0].cycles, points[3].cycles, wrong_reads);
  wrong = points[0].cycles < 0 || expected <= 0 || wrong_reads != 0;
  if (keeps_rate) {
    wrong |= print_rate("read all the time", rate_between(points[1], points[2]), expected);
    wrong |= print_rate("not read for the same time", rate_between(points[2], points[3]), expected);
  }
  return wrong;
}

/* Tests a counter as its backend reads it. */
static int test_backend(const struct cpuc_table_entry *entry)
{
  struct cpuc_machine machine = { .is_found = 0 };
  struct cpuc_diagnosis why = { .machine = &machine };
  int wrong;

  if (entry->backend->open && entry->backend->open(&cpuc_select_services, &why) != 0)
    return 1;
  wrong = test(entry->name, entry->backend->read, entry->backend->is_32_bit ? 32 : 64, 0.5, 1);
  if (entry->backend->close)
    entry->backend->close();
  return wrong;
}

int main(int argc, char **argv)
{
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
  const struct cpucycles_counter_info *selected = cpucycles_selected(), *counter;
  const char *scope = argc > 2 ? argv[2] : NULL;
  int i, wrong;

  if (stay_on_this_cpu() != 0) /* the counters of two CPUs may differ */
    printf("count: the thread cannot be kept on its CPU\n");
  if (!(seconds > 0 && seconds < 1e6) || !selected) {
    fprintf(stderr, "usage: count SECONDS [SCOPE]\n");
    return 2;
  }
  wrong = cpucycles() <= 0;
  wrong |= test(selected->name, cpucycles, 64, seconds,
    !scope || strcmp(selected->scope, scope) == 0);
  /* then all counters except those of the system, and those that need not keep their rate */
  for (i = 0; i < CPUC_TABLE_LENGTH; i++) {
    counter = cpucycles_counter(i);
    if (strncmp(counter->name, "default-", 8) == 0 || (scope && strcmp(counter->scope, scope) != 0))
      continue;
    if (counter->reason && !strstr(" no-rate no-multiple rate-mismatch ", counter->reason))
      printf("count: %s was dropped, as %s, and is not read\n", counter->name, counter->reason);
    else
      wrong |= test_backend(&cpuc_table[i]);
  }
  return wrong;
}
