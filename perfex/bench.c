/* SPDX-License-Identifier: 0BSD OR MIT */
/* Counts the events per call of a function. A sample is two reads of the group and the calls
   between them. Samples without calls have the events of the reads, and samples that call an empty
   function have those of the calls, too. Allocates no memory, so the function may end with a jump
   or an exception. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/group.h"
#include "perfex/why.h"
#include "sys/clock-wait.h"
#include "sys/os-clock.h"
#include "sys/perf/group.h"
#include "sys/quantile.h"
#include "sys/trapped-call.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>

enum {
  SAMPLES = 25,
  READS_PER_MILLE = 1000, /* samples without calls that are together shorter than a sample */
  ALIKE = 3,              /* samples in a row that are long enough: one may be interrupted */
  MOST_CALLS = 1 << 30,   /* in a sample, if the clock stops */
  UNTIMED_CALLS = 1000,   /* in a sample, if the clock does not advance */
  EQUAL_READS = 1000000   /* of a clock that does not advance; more than its coarsest step takes */
};

struct bench {
  struct perfex_group *group;
  void (*function)(void *argument);
  void *argument;
  long long calls; /* of a sample */
};

static void call_nothing(void *argument)
{
  (void)argument;
}

/* Stores the events of a sample. The compiler makes one loop for all functions, and knows none of
   them, so that a call costs the same in each sample. */
static __attribute__((noinline)) int take_sample(const struct bench *bench, long long *counts)
{
  void (*function)(void *argument) = bench->function;
  long long begin[CPUC_PERF_GROUP_EVENTS], calls = bench->calls;
  void *argument = bench->argument;
  int i;

  __asm__ volatile("" : "+r"(function), "+r"(argument));
  if (perfex_read(bench->group, begin) != 0)
    return -1;
  for (; calls > 0; calls--)
    function(argument);
  if (perfex_read(bench->group, counts) != 0)
    return -1;
  for (i = 0; i < perfex_group_size(bench->group); i++)
    counts[i] -= begin[i];
  return 0;
}

/* Stores the median of each event. */
static int take_medians(const struct bench *bench, long long *medians)
{
  long long samples[CPUC_PERF_GROUP_EVENTS][SAMPLES];
  int events = perfex_group_size(bench->group), i, sample;

  for (sample = 0; sample < SAMPLES; sample++) {
    if (take_sample(bench, medians) != 0)
      return -1;
    for (i = 0; i < events; i++)
      samples[i][sample] = medians[i];
  }
  for (i = 0; i < events; i++) {
    cpuc_quantile_sort_counts(samples[i], SAMPLES);
    medians[i] = samples[i][SAMPLES / 2];
  }
  return 0;
}

/* Stores the nanoseconds of samples that begin at a step of the clock, 0 if it steps back; -1: it
   does not advance. */
static int time_samples(const struct bench *bench, int samples, long long *nanoseconds)
{
  long long counts[CPUC_PERF_GROUP_EVENTS], from = cpuc_os_clock_monotonic(), begin;

  *nanoseconds = -1;
  if (cpuc_clock_wait(cpuc_os_clock_monotonic, from, from + 1, EQUAL_READS)
    == CPUC_REASON_CLOCK_NOT_INCREASING)
    return 0;
  begin = cpuc_os_clock_monotonic();
  for (; samples > 0; samples--)
    if (take_sample(bench, counts) != 0)
      return -1;
  *nanoseconds = cpuc_os_clock_monotonic() - begin;
  if (*nanoseconds < 0)
    *nanoseconds = 0;
  return 0;
}

/* Doubles the calls until the reads of a sample are less than 0.1 % of its time. */
static int find_calls(struct bench *bench)
{
  long long reads, nanoseconds;
  int found = 0;

  if (time_samples(bench, READS_PER_MILLE, &reads) != 0)
    return -1;
  nanoseconds = reads;
  bench->calls = 1;
  while (nanoseconds >= 0 && found < ALIKE && bench->calls < MOST_CALLS) {
    if (time_samples(bench, 1, &nanoseconds) != 0)
      return -1;
    found = nanoseconds > reads ? found + 1 : 0;
    if (found == 0)
      bench->calls *= 2;
  }
  if (nanoseconds < 0)
    bench->calls = UNTIMED_CALLS;
  return 0;
}

static int is_hardware(const struct pfx_names_event *event, uint64_t config)
{
  return event->type == PERF_TYPE_HARDWARE && event->config[0] == config;
}

/* Returns 1 if an empty call has the same number of these events beside any function. Cycles are
   not among them, because calls overlap, nor are events that a program chose by their number. */
static int adds_up(const struct pfx_names_event *event)
{
  return is_hardware(event, PERF_COUNT_HW_INSTRUCTIONS)
    || is_hardware(event, PERF_COUNT_HW_BRANCH_INSTRUCTIONS)
    || (event->type == PERF_TYPE_SOFTWARE
      && (event->config[0] == PERF_COUNT_SW_PAGE_FAULTS
        || event->config[0] == PERF_COUNT_SW_PAGE_FAULTS_MIN
        || event->config[0] == PERF_COUNT_SW_PAGE_FAULTS_MAJ
        || event->config[0] == PERF_COUNT_SW_ALIGNMENT_FAULTS
        || event->config[0] == PERF_COUNT_SW_EMULATION_FAULTS));
}

/* Returns the ratio of the first two such events that count in the same modes, or 0. */
static double instructions_per_cycle(const struct perfex_group *group, const long long *counts,
  const long long *reads)
{
  int size = perfex_group_size(group), i, j;

  for (i = 0; i < size; i++)
    for (j = 0; j < size; j++)
      if (is_hardware(&group->names[i], PERF_COUNT_HW_CPU_CYCLES)
        && is_hardware(&group->names[j], PERF_COUNT_HW_INSTRUCTIONS)
        && group->names[i].modes == group->names[j].modes
        && counts[i] > reads[i] && counts[j] > reads[j])
        return (double)(counts[j] - reads[j]) / (double)(counts[i] - reads[i]);
  return 0;
}

int perfex_bench(struct perfex_group *group, double counts[], void (*function)(void *argument),
  void *argument)
{
  long long reads[CPUC_PERF_GROUP_EVENTS], nothing[CPUC_PERF_GROUP_EVENTS],
    medians[CPUC_PERF_GROUP_EVENTS];
  struct bench without = { group, call_nothing, NULL, 0 }, empty = without,
               full = { group, function, argument, 0 };
  int i;

  if (!group) {
    errno = EINVAL; /* perfex_why() returns the reason of perfex_open() */
    return -1;
  }
  group->instructions_per_cycle = 0;
  if (!function)
    return pfx_why(EINVAL, "there is no function");
  cpuc_trapped_call_begin();
  cpuc_os_clock_fall_back_if_forbidden();
  cpuc_trapped_call_end();
  if (find_calls(&full) != 0)
    return -1;
  empty.calls = full.calls;
  if (take_medians(&without, reads) != 0 || take_medians(&empty, nothing) != 0
    || take_medians(&full, medians) != 0)
    return -1;
  for (i = 0; i < perfex_group_size(group); i++) {
    long long less = adds_up(&group->names[i]) ? nothing[i] : reads[i];

    counts[i] = medians[i] > less ? (double)(medians[i] - less) / (double)full.calls : 0;
  }
  group->instructions_per_cycle = instructions_per_cycle(group, medians, reads);
  return 0;
}
