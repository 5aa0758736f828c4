/* SPDX-License-Identifier: 0BSD OR MIT */
/* count SECONDS: does the selected counter keep a correct count of 64 bits for so long, read all
   the time, and then not read for as long? Correct: positive, never backward, and as fast as
   over its first half second, by the OS clock, to 1 %. A fast counter of 32 bits has wrapped by
   then. Then the same, for half a second, of each of the CPU's own counters as the backend reads
   it, also where it was dropped since nobody states its rate. Exit status: 0 if so, 1 if not, 2
   for wrong usage. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/table.h"

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

/* The tightest of some brackets clock-counter-clock: a busy machine interrupts some of them. */
static struct point look(long long (*read)(void))
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

static void rest(double seconds)
{
  struct timespec pause;

  pause.tv_sec = (time_t)seconds;
  pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
  nanosleep(&pause, NULL);
}

/* Reads all the time. Returns how often the count was negative or ran backward. */
static long keep_reading(double seconds)
{
  long long end = clock_now() + (long long)(seconds * 1e9), before = cpucycles(), now;
  long faults = 0;

  while (clock_now() < end) {
    now = cpucycles();
    faults += now < 0 || now < before;
    before = now;
  }
  return faults;
}

static double rate_between(struct point begin, struct point end)
{
  return (double)(end.cycles - begin.cycles) * 1e9 / (double)(end.nanoseconds - begin.nanoseconds);
}

/* Says what was found. Returns 1 if it is wrong. */
static int judge(const char *what, double rate, double right)
{
  int wrong = rate < right * 0.99 || rate > right * 1.01;

  printf("count: %s: %.0f a second instead of %.0f, %+.3f %%%s\n", what, rate, right,
    (rate / right - 1) * 100, wrong ? ": WRONG" : "");
  return wrong;
}

/* What was added since, in the bits that count. */
static struct point onward(struct point from, struct point to, int width)
{
  if (width == 32)
    to.cycles = from.cycles + (long long)(unsigned int)(to.cycles - from.cycles);
  return to;
}

/* Of a counter as its backend reads it. Returns 1 if it is wrong. */
static int judge_backend(const struct cpucycles_entry *entry)
{
  long long (*read)(void) = entry->backend->read;
  struct cpucycles_why why = { 0 };
  struct point begin, middle, end;
  double right;
  int wrong;

  if (entry->backend->open && entry->backend->open(&why) != 0)
    return 1;
  begin = look(read);
  rest(0.5);
  middle = onward(begin, look(read), entry->backend->width);
  rest(0.5);
  end = onward(middle, look(read), entry->backend->width);
  right = rate_between(begin, middle);
  wrong = begin.cycles < 0 || right <= 0;
  wrong |= judge(entry->name, rate_between(middle, end), right);
  if (entry->backend->close)
    entry->backend->close();
  return wrong;
}

/* All but the system's clocks, and those that cannot be read or stand still. */
static int judge_all_backends(void)
{
  int i, wrong = 0;

  for (i = 0; i < CPUCYCLES_TABLE_LENGTH; i++) {
    const struct cpucycles_counter_info *counter = cpucycles_counter(i);

    if (strncmp(counter->name, "default-", 8) == 0)
      continue;
    if (counter->reason && !strstr(" no-rate no-multiple no-time rate-mismatch ", counter->reason))
      printf("count: %s was dropped, as %s, and is not read\n", counter->name, counter->reason);
    else
      wrong |= judge_backend(&cpucycles_table[i]);
  }
  return wrong;
}

static const struct cpucycles_counter_info *selected(void)
{
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (counter->state == CPUCYCLES_SELECTED)
      return counter;
  return NULL;
}

int main(int argc, char **argv)
{
  double seconds = argc == 2 ? strtod(argv[1], NULL) : 0, right;
  struct point begin, first, read, unread;
  long faults;
  int wrong;

  if (!(seconds > 0 && seconds < 1e6) || !selected()) {
    fprintf(stderr, "usage: count SECONDS\n");
    return 2;
  }
  begin = look(cpucycles);
  rest(0.5);
  first = look(cpucycles);
  right = rate_between(begin, first);
  faults = keep_reading(seconds);
  read = look(cpucycles);
  rest(seconds);
  unread = look(cpucycles);
  printf("count: %s of %d bits, from %lld to %lld: %ld times negative or backward\n",
    selected()->name, selected()->width, begin.cycles, unread.cycles, faults);
  wrong = begin.cycles <= 0 || right <= 0 || faults != 0;
  wrong |= judge("read all the time", rate_between(first, read), right);
  wrong |= judge("not read for as long", rate_between(read, unread), right);
  wrong |= judge_all_backends();
  return wrong;
}
