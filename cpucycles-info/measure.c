/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the calling process's counter does: its rate against the OS clock, its steps, what a read
   costs, and whether it goes on upward from CPU to CPU. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#ifdef HAVE_SCHED_SETAFFINITY
#include <sched.h>
#endif

enum {
  BRACKETS = 16,    /* at each end of an observation */
  REPETITIONS = 5,  /* of timing a read */
  ROUND = 200000,   /* nanoseconds that one such takes, about */
  CHANGES = 100,    /* of the clock, to find its step; or, of a coarse one, */
  CHANGES_OF_COARSE = 4,
  COARSE = 1000000, /* nanoseconds that are enough */
  RESOLVED = 10,    /* steps of the clock, at least, in a time that is worth something */
  /* reads in a row of a clock that stands still: longer than any coarse one takes */
  STILL = 4000000
};

#if defined(HAVE_CLOCK_GETTIME) && defined(CLOCK_MONOTONIC_RAW)
const char clock_name[] = "CLOCK_MONOTONIC_RAW";
#define CLOCK CLOCK_MONOTONIC_RAW
#elif defined(HAVE_CLOCK_GETTIME) && defined(CLOCK_MONOTONIC)
const char clock_name[] = "CLOCK_MONOTONIC";
#define CLOCK CLOCK_MONOTONIC
#else
const char clock_name[] = "gettimeofday";
#endif

/* The least by which it was seen to move, in nanoseconds; 0: it stands still. */
static long long clock_step;

long long clock_nanoseconds(void)
{
#ifdef CLOCK
  struct timespec now;

  clock_gettime(CLOCK, &now);
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
#else
  struct timeval now;

  gettimeofday(&now, NULL);
  return ((long long)now.tv_sec * 1000000 + now.tv_usec) * 1000;
#endif
}

static int compare(const void *a, const void *b)
{
  long long x = *(const long long *)a, y = *(const long long *)b;

  return (x > y) - (x < y);
}

void sort_counts(long long *values, int count)
{
  qsort(values, (size_t)count, sizeof *values, compare);
}

/* What clock_getres(2) says is of the timers, not of what the clock is read from. */
static long long find_clock_step(void)
{
  long long begin = clock_nanoseconds(), last = begin, now = begin, step = 0;
  int changes = 0, turns = 0;

  /* of a coarse one, some are enough */
  while (turns < STILL && changes < CHANGES
    && (changes < CHANGES_OF_COARSE || now - begin < COARSE)) {
    now = clock_nanoseconds();
    turns++;
    if (now == last)
      continue;
    if (now > last && (step == 0 || now - last < step))
      step = now - last;
    last = now;
    turns = 0;
    changes++;
  }
  return step;
}

/* A moment by both: the counter was read between two reads of the clock, up to `width` nanoseconds
   apart. */
struct moment {
  long long count, time, width;
};

static struct moment look(void)
{
  struct moment moment;

  moment.time = clock_nanoseconds();
  moment.count = cpucycles();
  /* it may be on the way to its next step */
  moment.width = clock_nanoseconds() - moment.time + clock_step;
  moment.time += moment.width / 2;
  return moment;
}

static struct moment look_closely(void)
{
  struct moment tightest = look(), moment;
  int i;

  for (i = 1; i < BRACKETS; i++) {
    moment = look();
    if (moment.width < tightest.width)
      tightest = moment;
  }
  return tightest;
}

static void read_batch(long long *differences)
{
  long long reads[BATCH + 1];
  int i;

  for (i = 0; i <= BATCH; i++)
    reads[i] = cpucycles();
  for (i = 0; i < BATCH; i++)
    differences[i] = reads[i + 1] - reads[i];
}

static void say_progress(const char *name, double done, double seconds)
{
  fprintf(stderr, "\rcpucycles-info: %s: %.0f of %.0f s ", name, done, seconds);
  fflush(stderr);
}

static void clear_progress(void)
{
  fprintf(stderr, "\r%*s\r", 60, "");
  fflush(stderr);
}

/* Waits, busy, until the clock is that far. Returns 0, or -1: it stands still, or was set back. */
static int wait_until(const struct timer *timer, long long begin, long long length, double seconds,
  int progress)
{
  long long time = clock_nanoseconds() - begin, last = time, shown = -1;
  int turns = 0;

  while (time < length && turns < STILL) {
    if (progress && time / 1000000000 != shown) {
      shown = time / 1000000000;
      say_progress(timer->name, (double)shown, seconds);
    }
    time = clock_nanoseconds() - begin;
    if (time < last)
      return -1;
    turns = time == last ? turns + 1 : 0;
    last = time;
  }
  return time < length ? -1 : 0;
}

/* Batches of reads, spread over the time; busy all the while, as a core's own counter may stand
   still otherwise. */
static void observe(struct timer *timer, double seconds, int progress)
{
  struct moment begin = look_closely(), end;
  long long length = (long long)(seconds * 1e9), counted, time;
  int i, clock_failed = clock_step == 0;

  for (i = 0; i < BATCHES; i++) {
    read_batch(&timer->differences[(size_t)i * BATCH]);
    if (!clock_failed)
      clock_failed
        = wait_until(timer, begin.time, length / BATCHES * (i + 1), seconds, progress) != 0;
  }
  end = look_closely();
  if (progress)
    clear_progress();
  counted = end.count - begin.count;
  time = end.time - begin.time;
  timer->samples = SAMPLES;
  if (clock_failed || time <= 0)
    return;
  timer->seconds = (double)time / 1e9;
  if (counted <= 0)
    return;
  timer->measured = (double)counted * 1e9 / (double)time / timer->scaling;
  timer->uncertainty = (double)(begin.width + end.width) / 2 / (double)time * 1e6;
}

static void judge_differences(struct timer *timer)
{
  int i;

  sort_counts(timer->differences, timer->samples);
  for (i = 0; i < timer->samples; i++) {
    long long difference = timer->differences[i];

    timer->backward += difference < 0;
    if (difference > 0 && timer->step == 0)
      timer->step = difference;
  }
  timer->step_units = (double)timer->step / timer->scaling;
  timer->low = timer->differences[0];
  timer->quartile1 = timer->differences[timer->samples / 4];
  timer->median = timer->differences[timer->samples / 2];
  timer->quartile3 = timer->differences[timer->samples * 3 / 4];
  timer->high = timer->differences[timer->samples - 1];
}

/* In units: what is multiplied up to cycles is cut off there. */
static void judge_grain(struct timer *timer)
{
  static long long differences[GRAIN_SAMPLES];
  int i;

  read_apart(differences);
  for (i = 0; i < GRAIN_SAMPLES && timer->scaled; i++)
    differences[i] = (long long)((double)differences[i] / timer->scaling
      + (differences[i] < 0 ? -0.5 : 0.5));
  timer->grain = find_grain(differences, GRAIN_SAMPLES);
}

/* The least that a call was seen to take: of some dozens or thousands in a row. */
static void time_reads(struct timer *timer)
{
  long long reads = 10, begin, time, first, cycles;
  long long i;
  int round;

  for (round = 0; round <= REPETITIONS; round++) {
    begin = clock_nanoseconds();
    first = cpucycles();
    for (i = 0; i < reads; i++)
      cycles = cpucycles();
    cycles -= first;
    time = clock_nanoseconds() - begin;
    if (round == 0) { /* only to see how many are worth it */
      reads = time > 0 ? 10LL * ROUND / time : 10000;
      reads = reads < 10 ? 10 : reads > 10000 ? 10000 : reads;
      continue;
    }
    if (clock_step > 0 && time >= RESOLVED * clock_step
      && (timer->read_nanoseconds <= 0 || (double)time / (double)reads < timer->read_nanoseconds))
      timer->read_nanoseconds = (double)time / (double)reads;
    if (round == 1 || (double)cycles / (double)reads < timer->read_cycles)
      timer->read_cycles = (double)cycles / (double)reads;
  }
}

#if defined(HAVE_SCHED_SETAFFINITY) && defined(CPU_ALLOC)

enum { CPUS = 8192 };

/* From one allowed CPU to the next and round again, for that long, or once round. */
static void hop(struct timer *timer, long long nanoseconds)
{
  size_t size = CPU_ALLOC_SIZE(CPUS);
  cpu_set_t *allowed = CPU_ALLOC(CPUS), *one = CPU_ALLOC(CPUS);
  long long begin = clock_nanoseconds(), last = 0, count;
  int cpu, round;

  if (allowed && one && sched_getaffinity(0, size, allowed) == 0
    && CPU_COUNT_S(size, allowed) > 1) {
    for (round = 0;
         round == 0 || (round < 100 && clock_nanoseconds() - begin < nanoseconds); round++)
      for (cpu = 0; cpu < CPUS; cpu++) {
        if (!CPU_ISSET_S(cpu, size, allowed))
          continue;
        CPU_ZERO_S(size, one);
        CPU_SET_S(cpu, size, one);
        if (sched_setaffinity(0, size, one) != 0)
          continue;
        count = cpucycles();
        if (timer->cpus > 0 && last - count > timer->worst_hop)
          timer->worst_hop = last - count;
        last = count;
        timer->cpus += round == 0;
        timer->hops++;
      }
    sched_setaffinity(0, size, allowed);
  }
  CPU_FREE(allowed);
  CPU_FREE(one);
}

#else

static void hop(struct timer *timer, long long nanoseconds)
{
  (void)timer;
  (void)nanoseconds;
}

#endif

/* What is said of it. */
static void ask(struct timer *timer)
{
  const struct cpucycles_timer_info *info = cpucycles_timer();

  timer->invariant = info ? info->invariant : -1;
  timer->stated = info ? info->stated_rate : 0;
  snprintf(timer->stated_source, sizeof timer->stated_source, "%s",
    info && info->stated_rate_source ? info->stated_rate_source : "");
  snprintf(timer->invariant_source, sizeof timer->invariant_source, "%s",
    info && info->invariant_source ? info->invariant_source : "");
}

void examine(struct timer *timer, double seconds, int progress)
{
  const struct cpucycles_counter_info *counter = selected_counter();

  if (!counter || strcmp(counter->name, timer->name) != 0) {
    snprintf(timer->failure, sizeof timer->failure, "it worked, and does not any more%s%s",
      counter ? "; selected: " : "", counter ? counter->name : "");
    return;
  }
  timer->scaling = counter->scaling;
  timer->scaled = counter->scaling < 1 || counter->scaling > 1;
  ask(timer);
  clock_step = find_clock_step();
  time_reads(timer);
  timer->overhead = cpucycles_overhead();
  observe(timer, seconds, progress);
  judge_differences(timer);
  judge_grain(timer);
  hop(timer, (long long)(seconds * 1e9 / 2));
}
