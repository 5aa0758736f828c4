/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the counter of the calling process: its rate against the OS clock, its step and grain,
   its read cost, and steps back from one CPU to the next. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "cpucycles-info/child.h"
#include "sys/chain.h"
#include "sys/clock-sample.h"
#include "sys/clock-wait.h"
#include "sys/dependent-add.h"
#include "sys/os-clock.h"
#include "sys/quantile.h"
#include "sys/step.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_SCHED_SETAFFINITY
#include <sched.h>
#endif

enum {
  CLOCK_SAMPLES = 16,       /* at each end of an observation */
  CHAIN_PASSES = 40,        /* 20,480 adds, which the cost of a system call hardly changes */
  CHAIN_WINDOWS = 40,
  READ_RUNS = 5,            /* of the measurement of the read cost */
  READS = 2000,             /* per run */
  LEAST_CLOCK_READS = 1000, /* to find the step of the clock, because its first reads may be slow */
  LEAST_CLOCK_CHANGES = 4,  /* reads continue until a coarse clock has changed this often */
  LEAST_CLOCK_STEPS = 10,   /* a duration of fewer steps of the clock is not exact enough */
  /* a clock is taken for stopped after this many equal reads, because even the coarsest clock
     changes earlier */
  STOPPED_CLOCK_READS = 4000000
};

/* The smallest change of the clock that was found, in nanoseconds. 0: the clock is stopped. */
static long long clock_step;

/* Measures the step of the clock, because clock_getres(2) returns the resolution of timers. */
static void find_clock_step(void)
{
  struct cpuc_step step = { cpuc_os_clock_raw(), 0 };
  int reads, changes = 0;

  for (reads = 0; reads < LEAST_CLOCK_READS
       || (reads < STOPPED_CLOCK_READS && changes < LEAST_CLOCK_CHANGES); reads++)
    changes += cpuc_step_add(&step, cpuc_os_clock_raw()) != 0;
  clock_step = step.smallest;
}

void read_differences(long long *differences, int count)
{
  long long reads[BATCH + 1];
  int i;

  for (i = 0; i <= count; i++)
    reads[i] = cpucycles();
  for (i = 0; i < count; i++)
    differences[i] = cpuc_step_between(reads[i], reads[i + 1]);
}

/* Reads the counter between two reads of the clock. */
static struct cpuc_clock_sample time_count(void)
{
  return cpuc_clock_sample_tightest(cpuc_os_clock_raw, cpucycles, CLOCK_SAMPLES, 0);
}

/* Waits until the time `end`. Returns 0, or -1 if the clock is stopped or steps back. */
static int wait_until(long long end)
{
  const long long second = 1000000000;
  long long now = cpuc_os_clock_raw();
  enum cpuc_reason reason = CPUC_REASON_NONE;

  for (; now < end && !reason; now = cpuc_os_clock_raw()) {
    end_if_parent_has_ended();
    reason = cpuc_clock_wait(cpuc_os_clock_raw, now, end - now > second ? now + second : end,
      STOPPED_CLOCK_READS);
  }
  return reason ? -1 : 0;
}

/* Reads batches that are spread over the duration. Keeps the core busy between them, because the
   counter of a core may stop while the core is idle. */
static void observe(struct counter_results *results, double seconds)
{
  struct cpuc_clock_sample begin = time_count(), end;
  long long length = (long long)(seconds * 1e9), time;
  int i, clock_failed = clock_step == 0;
  double rate;

  for (i = 0; i < BATCHES; i++) {
    read_differences(&results->differences[(size_t)i * BATCH], BATCH);
    if (!clock_failed)
      clock_failed = wait_until(begin.outer + length / BATCHES * (i + 1)) != 0;
  }
  end = time_count();
  time = end.outer - begin.outer + (end.width - begin.width) / 2; /* between the middles */
  results->difference_count = DIFFERENCES;
  if (clock_failed || time <= 0)
    return;
  results->seconds = (double)time / 1e9;
  rate = (double)cpuc_step_between(begin.inner, end.inner) * 1e9 / (double)time / results->scaling;
  if (rate < 1) /* the counter is stopped, or the clock was set ahead */
    return;
  results->measured = rate;
  /* each count was read at any time between two reads of the clock, and up to one step later */
  results->uncertainty
    = ((double)(begin.width + end.width) / 2 + (double)clock_step) / (double)time * 1e6;
}

static long long read_cycles(const void *unused)
{
  (void)unused;
  return cpucycles();
}

/* Compares a counter of core cycles with a chain of adds that take one cycle each. */
static void measure_core_ratio(struct counter_results *results)
{
  long long advance;

  if (!cpuc_dependent_add_takes_one_cycle()
    || !cpuc_chain_measure(read_cycles, NULL, CHAIN_PASSES, CHAIN_WINDOWS, 0, &advance, NULL))
    return;
  results->counts_per_core_cycle
    = (double)advance / (CHAIN_PASSES * CPUC_DEPENDENT_ADD_PASS);
  results->has_core_ratio = 1;
}

static void summarize_differences(struct counter_results *results)
{
  static double numbers[DIFFERENCES];
  long long *sorted = results->differences;
  int i, count = results->difference_count;

  cpuc_quantile_sort_counts(sorted, count);
  for (i = 0; i < count; i++) {
    numbers[i] = (double)sorted[i];
    results->below_zero += sorted[i] < 0;
    if (sorted[i] > 0 && results->step == 0)
      results->step = sorted[i];
  }
  results->step_units = (double)results->step / results->scaling;
  results->lowest = sorted[0];
  results->lower_quartile = (long long)cpuc_quantile(numbers, count, 0.25);
  results->median = (long long)cpuc_quantile(numbers, count, 0.5);
  results->upper_quartile = (long long)cpuc_quantile(numbers, count, 0.75);
  results->highest = sorted[count - 1];
}

/* Measures the read cost: the mean cost of a call in the fastest of several runs. */
static void measure_read_cost(struct counter_results *results)
{
  long long begin, time, fastest = LLONG_MAX, cycles = 0;
  int run, i;

  for (run = 0; run < READ_RUNS; run++) {
    long long first = cpucycles();

    begin = cpuc_os_clock_raw();
    for (i = 0; i < READS; i++)
      cycles = cpucycles();
    time = cpuc_os_clock_raw() - begin;
    if (time >= fastest)
      continue;
    fastest = time;
    results->read_cycles = (double)cpuc_step_between(first, cycles) / READS;
    if (clock_step > 0 && time >= LEAST_CLOCK_STEPS * clock_step)
      results->read_nanoseconds = (double)time / READS;
  }
}

/* Reads the counter on each allowed CPU in turn, in 1 to 100 rounds, until the time has passed. */
static void hop_across_cpus(struct counter_results *results, long long nanoseconds)
{
#if defined(HAVE_SCHED_SETAFFINITY) && defined(CPU_ALLOC)
  size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
  cpu_set_t *allowed = CPU_ALLOC(MAX_CPUS), *one = CPU_ALLOC(MAX_CPUS);
  long long begin = cpuc_os_clock_raw(), last = 0, count;
  int cpu, round = 0, rounds = 0;

  if (allowed && one && sched_getaffinity(0, size, allowed) == 0 && CPU_COUNT_S(size, allowed) > 1)
    rounds = 100;
  for (; round < rounds && (round == 0 || cpuc_os_clock_raw() - begin < nanoseconds); round++) {
    end_if_parent_has_ended();
    for (cpu = 0; cpu < MAX_CPUS; cpu++) {
      CPU_ZERO_S(size, one);
      CPU_SET_S(cpu, size, one);
      if (!CPU_ISSET_S(cpu, size, allowed) || sched_setaffinity(0, size, one) != 0)
        continue;
      count = cpucycles();
      if (results->cpu_count > 0 && cpuc_step_between(count, last) > results->largest_step_back)
        results->largest_step_back = cpuc_step_between(count, last);
      last = count;
      results->cpu_count += round == 0;
      results->hop_count++;
    }
  }
  if (rounds > 0)
    sched_setaffinity(0, size, allowed);
  CPU_FREE(allowed);
  CPU_FREE(one);
#else
  (void)results, (void)nanoseconds;
#endif
}

static void copy_timer_info(struct counter_results *results,
  const struct cpucycles_timer_info *info)
{
  results->invariant = info->invariant;
  results->reported = info->reported_rate;
  snprintf(results->reported_source, sizeof results->reported_source, "%s",
    info->reported_rate_source ? info->reported_rate_source : "");
  snprintf(results->invariant_source, sizeof results->invariant_source, "%s",
    info->invariant_source ? info->invariant_source : "");
}

void measure_counter(struct counter_results *results, double seconds)
{
  const struct cpucycles_counter_info *counter = cpucycles_selected();

  if (!counter || strcmp(counter->name, results->name) != 0) {
    snprintf(results->failure, sizeof results->failure, "it could not be selected%s%s",
      counter ? "; selected: " : "", counter ? counter->name : "");
    return;
  }
  results->scaling = counter->scaling;
  results->scaled = counter->scaling < 1 || counter->scaling > 1;
  copy_timer_info(results, cpucycles_timer());
  find_clock_step();
  measure_read_cost(results);
  results->overhead = cpucycles_section_overhead();
  observe(results, seconds);
  summarize_differences(results);
  if (results->measured > 0) /* the first and the last count can be one step old */
    results->uncertainty += results->step_units / (results->measured * results->seconds) * 1e6;
  if (strcmp(counter->scope, "thread") == 0)
    results->measured = 0; /* the count stops while the kernel or another thread runs */
  results->grain = measure_grain(counter->scaling);
  if (is_of_core_cycles(counter))
    measure_core_ratio(results);
  hop_across_cpus(results, (long long)(seconds * 1e9 / 2));
}
