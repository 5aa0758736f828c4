/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the counter of the calling process: its rate against the OS clock, its step and grain,
   its read cost, and steps back from one CPU to the next. */

#include "config.h"

#include "cpucycles-info/child.h"
#include "cpucycles-info/fill.h"
#include "sys/clock-sample.h"

#include <cpucycles/bench.h>

#include <stdio.h>
#include <string.h>

#ifdef HAVE_SCHED_SETAFFINITY
#include <sched.h>
#endif

enum {
  CLOCK_SAMPLES = 16,       /* at each end of an observation */
  READ_RUNS = 5,            /* of the measurement of the read cost */
  RUN_NANOSECONDS = 200000, /* calls are added to a run, up to 10000, until it takes this long */
  LEAST_CLOCK_READS = 1000, /* to find the step of the clock, because its first reads may be slow */
  LEAST_CLOCK_CHANGES = 4,  /* reads continue until a coarse clock has changed this often */
  LEAST_CLOCK_STEPS = 10,   /* a duration of fewer steps of the clock is not exact enough */
  /* a clock is taken for stopped after this many equal reads, because even the coarsest clock
     changes earlier */
  STOPPED_CLOCK_READS = 4000000
};

/* The smallest change of the clock that was found, in nanoseconds. 0: the clock is stopped. */
static long long clock_step;

/* Measures the step of the clock, because clock_getres(2) returns the resolution of timers. Returns
   nanoseconds, or 0 if the clock is stopped. */
static long long find_clock_step(void)
{
  long long last = clock_nanoseconds(), now, step = 0;
  int reads, changes = 0, equal_reads = 0;

  for (reads = 0; equal_reads < STOPPED_CLOCK_READS
       && (reads < LEAST_CLOCK_READS || changes < LEAST_CLOCK_CHANGES);
       reads++) {
    now = clock_nanoseconds();
    if (now == last) {
      equal_reads++;
      continue;
    }
    if (now > last && (step == 0 || now - last < step))
      step = now - last;
    last = now;
    equal_reads = 0;
    changes++;
  }
  return step;
}

struct timed_count {
  long long count;
  long long time;  /* middle of the interval that contains the read, in nanoseconds */
  long long width; /* length of that interval */
};

/* Reads the counter between two reads of the clock. */
static struct timed_count time_count(void)
{
  struct cpuc_clock_sample sample
    = cpuc_clock_sample_tightest(clock_nanoseconds, cpucycles, CLOCK_SAMPLES, 0);
  struct timed_count timed;

  /* the time may be up to one step later than the second clock read */
  timed.width = sample.width + clock_step;
  timed.time = sample.outer + timed.width / 2;
  timed.count = sample.inner;
  return timed;
}

static void read_batch(long long *differences)
{
  long long reads[BATCH + 1];
  int i;

  for (i = 0; i <= BATCH; i++)
    reads[i] = cpucycles();
  for (i = 0; i < BATCH; i++)
    differences[i] = difference_of(reads[i + 1], reads[i]);
}

static void show_progress(const char *name, double done, double seconds)
{
  fprintf(stderr, "\rcpucycles-info: %s: %.0f of %.0f s ", name, done, seconds);
  fflush(stderr);
}

static void clear_progress(void)
{
  fprintf(stderr, "\r%*s\r", 60, "");
  fflush(stderr);
}

/* Waits until `length` nanoseconds after `begin`, and keeps the core busy. Returns 0, or -1 if the
   clock is stopped or steps back. */
static int wait_until(const struct counter_results *results, long long begin, long long length,
  double seconds, int progress)
{
  long long time = clock_nanoseconds() - begin, last = time, last_second = -1;
  int equal_reads = 0;

  while (time < length && equal_reads < STOPPED_CLOCK_READS) {
    if (time / 1000000000 != last_second) {
      last_second = time / 1000000000;
      end_if_parent_has_ended();
      if (progress)
        show_progress(results->name, (double)last_second, seconds);
    }
    time = clock_nanoseconds() - begin;
    if (time < last)
      return -1;
    equal_reads = time == last ? equal_reads + 1 : 0;
    last = time;
  }
  return time < length ? -1 : 0;
}

/* Reads batches that are spread over the duration. Keeps the core busy between them, because the
   counter of a core may stop while the core is idle. */
static void observe(struct counter_results *results, double seconds, int progress)
{
  struct timed_count begin = time_count(), end;
  long long length = (long long)(seconds * 1e9), time;
  int i, clock_failed = clock_step == 0;
  double rate;

  for (i = 0; i < BATCHES; i++) {
    read_batch(&results->differences[(size_t)i * BATCH]);
    if (!clock_failed)
      clock_failed
        = wait_until(results, begin.time, length / BATCHES * (i + 1), seconds, progress) != 0;
  }
  end = time_count();
  if (progress)
    clear_progress();
  time = end.time - begin.time;
  results->difference_count = SAMPLES;
  if (clock_failed || time <= 0)
    return;
  results->seconds = (double)time / 1e9;
  rate = (double)difference_of(end.count, begin.count) * 1e9 / (double)time / results->scaling;
  if (rate < 1) /* the counter is stopped, or the clock was set ahead */
    return;
  results->measured = rate;
  results->uncertainty = (double)(begin.width + end.width) / 2 / (double)time * 1e6;
}

static void summarize_differences(struct counter_results *results)
{
  long long *sorted = results->differences;
  int i, count = results->difference_count;

  qsort(sorted, (size_t)count, sizeof *sorted, cpucycles_bench_compare);
  for (i = 0; i < count; i++) {
    results->below_zero += sorted[i] < 0;
    if (sorted[i] > 0 && results->step == 0)
      results->step = sorted[i];
  }
  results->step_units = (double)results->step / results->scaling;
  results->lowest = sorted[0];
  results->lower_quartile = (long long)cpucycles_bench_quartile(sorted, count, 1);
  results->median = (long long)cpucycles_bench_quartile(sorted, count, 2);
  results->upper_quartile = (long long)cpucycles_bench_quartile(sorted, count, 3);
  results->highest = sorted[count - 1];
}

/* Measures the grain in units of the counter, because scaled counts are rounded down to whole
   cycles. */
static void measure_grain(struct counter_results *results)
{
  static long long differences[GRAIN_SAMPLES];
  int i;

  read_at_varied_intervals(differences);
  for (i = 0; i < GRAIN_SAMPLES && results->scaled; i++)
    differences[i] = (long long)((double)differences[i] / results->scaling
      + (differences[i] < 0 ? -0.5 : 0.5));
  results->grain = find_grain(differences, GRAIN_SAMPLES);
}

/* Measures the read cost: the mean cost of a call in the fastest of several runs. The number of
   calls per run increases from 10, up to 10000, until a run takes RUN_NANOSECONDS and
   LEAST_CLOCK_STEPS steps of the clock, interruptions included. */
static void measure_read_cost(struct counter_results *results)
{
  long long reads = 10, least = LEAST_CLOCK_STEPS * clock_step, begin, time, first, cycles;
  double lowest = 0;
  long long i;
  int runs = 0;

  while (runs < READ_RUNS) {
    begin = clock_nanoseconds();
    first = cpucycles();
    for (i = 0; i < reads; i++)
      cycles = cpucycles();
    cycles = difference_of(cycles, first);
    time = clock_nanoseconds() - begin;
    if ((time < RUN_NANOSECONDS || time < least) && reads < 10000) {
      reads = reads < 5000 ? 2 * reads : 10000;
      continue;
    }
    if (runs++ > 0 && (double)time / (double)reads >= lowest)
      continue;
    lowest = (double)time / (double)reads;
    results->read_nanoseconds = clock_step > 0 && time >= least ? lowest : 0;
    results->read_cycles = (double)cycles / (double)reads;
  }
}

#if defined(HAVE_SCHED_SETAFFINITY) && defined(CPU_ALLOC)

/* Reads the counter on each allowed CPU in turn, in 1 to 100 rounds, until the time has passed. */
static void hop_across_cpus(struct counter_results *results, long long nanoseconds)
{
  size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
  cpu_set_t *allowed = CPU_ALLOC(MAX_CPUS), *one = CPU_ALLOC(MAX_CPUS);
  long long begin = clock_nanoseconds(), last = 0, count;
  int cpu, round;

  if (allowed && one && sched_getaffinity(0, size, allowed) == 0
    && CPU_COUNT_S(size, allowed) > 1) {
    for (round = 0;
         round == 0 || (round < 100 && clock_nanoseconds() - begin < nanoseconds); round++) {
      end_if_parent_has_ended();
      for (cpu = 0; cpu < MAX_CPUS; cpu++) {
        if (!CPU_ISSET_S(cpu, size, allowed))
          continue;
        CPU_ZERO_S(size, one);
        CPU_SET_S(cpu, size, one);
        if (sched_setaffinity(0, size, one) != 0)
          continue;
        count = cpucycles();
        if (results->cpu_count > 0 && difference_of(last, count) > results->largest_step_back)
          results->largest_step_back = difference_of(last, count);
        last = count;
        results->cpu_count += round == 0;
        results->hop_count++;
      }
    }
    sched_setaffinity(0, size, allowed);
  }
  CPU_FREE(allowed);
  CPU_FREE(one);
}

#else

static void hop_across_cpus(struct counter_results *results, long long nanoseconds)
{
  (void)results;
  (void)nanoseconds;
}

#endif

static void copy_timer_info(struct counter_results *results)
{
  const struct cpucycles_timer_info *info = cpucycles_timer();

  results->invariant = info ? info->invariant : -1;
  results->reported = info ? info->reported_rate : 0;
  snprintf(results->reported_source, sizeof results->reported_source, "%s",
    info && info->reported_rate_source ? info->reported_rate_source : "");
  snprintf(results->invariant_source, sizeof results->invariant_source, "%s",
    info && info->invariant_source ? info->invariant_source : "");
}

void measure_counter(struct counter_results *results, double seconds, int progress)
{
  const struct cpucycles_counter_info *counter = cpucycles_selected();

  if (!counter || strcmp(counter->name, results->name) != 0) {
    snprintf(results->failure, sizeof results->failure, "it could not be selected%s%s",
      counter ? "; selected: " : "", counter ? counter->name : "");
    return;
  }
  results->scaling = counter->scaling;
  results->scaled = counter->scaling < 1 || counter->scaling > 1;
  copy_timer_info(results);
  clock_step = find_clock_step();
  measure_read_cost(results);
  results->overhead = cpucycles_section_overhead();
  observe(results, seconds, progress);
  summarize_differences(results);
  if (results->measured > 0) /* the first and the last count can be one step old */
    results->uncertainty += results->step_units / (results->measured * results->seconds) * 1e6;
  if (strcmp(counter->scope, "thread") == 0)
    results->measured = 0; /* the count stops while the kernel or another thread runs */
  measure_grain(results);
  hop_across_cpus(results, (long long)(seconds * 1e9 / 2));
}
