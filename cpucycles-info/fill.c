/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fills the report. The order of the parts matters, because the library selects a counter only once
   per process: first, each working counter is examined in a child process that selects this
   counter. So all counters are measured with the public functions, like the counter in use, and a
   signal ends only the child. Without fork(), or if the first fork() fails, only the counter in use
   is examined. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "cpucycles-info/child.h"
#include "sys/os-clock.h"
#include "sys/quantile.h"
#include "sys/step.h"
#include "sys/trapped-call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void list_counters(struct counter_list *list)
{
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; i < MAX_COUNTERS && (counter = cpucycles_counter(i)) != NULL; i++) {
    snprintf(list->names[i], sizeof list->names[i], "%s", counter->name);
    list->is_examined[i]
      = counter->state != CPUCYCLES_DROPPED && cpuc_kind_named(counter->kind) != CPUC_KIND_NONE;
  }
  list->count = i;
  snprintf(list->selected, sizeof list->selected, "%s", cpucycles_implementation());
}

struct unlimited {
  const struct counter_list *list;
  struct better_info *better;
};

static void find_better_without_limit(void *argument)
{
  struct unlimited *unlimited = argument;
  static struct library_info library;

  request_counter("");
  fill_library(&library);
  judge_better(unlimited->better, &library, unlimited->list->selected);
}

static void list_and_measure_core(void *argument)
{
  struct counter_list *list = argument;

  list_counters(list);
  list->core_persecond = cpucycles_core_persecond();
}

int list_and_measure_core_in_child(struct counter_list *list)
{
  int signal = run_in_child(list_and_measure_core, list, list, sizeof *list), i;

  if (signal >= 0)
    return signal;
#ifdef HAVE_FORK
  fprintf(stderr,
    "cpucycles-info: the child that lists the counters did not start or failed, so only the "
    "counter in use is examined\n");
#endif
  memset(list, 0, sizeof *list);
  list->no_child = 1;
  list_and_measure_core(list);
  for (i = 0; i < list->count; i++)
    list->is_examined[i] &= strcmp(list->names[i], list->selected) == 0;
  return 0;
}

int request_counter(const char *name)
{
#ifdef CPUCYCLES_POSIX
  return setenv("CPUCYCLES_IMPLEMENTATION", name, 1);
#else
  return _putenv_s("CPUCYCLES_IMPLEMENTATION", name);
#endif
}

struct examination {
  struct counter_results *results;
  double seconds;
};

static void examine_as_selected(void *argument)
{
  struct examination *examination = argument;

  request_counter(examination->results->name);
  measure_counter(examination->results, examination->seconds);
}

/* Returns 1 if a signal ended the child. */
static int examine_in_child(struct counter_results *results, const char *name, double seconds)
{
  struct examination examination = { results, seconds };
  int signal = run_in_child(examine_as_selected, &examination, results, sizeof *results);

  if (signal == 0)
    return 0;
  memset(results, 0, sizeof *results); /* the child may have written a part */
  strcpy(results->name, name);
  if (signal > 0)
    snprintf(results->failure, sizeof results->failure,
      "%s (%d) ended the process that examined it", signal_name(signal), signal);
  else
    snprintf(results->failure, sizeof results->failure,
      "the process to examine it did not start, or failed");
  return signal > 0;
}

void examine_each(struct report *report, const struct counter_list *list, double seconds)
{
  struct counter_results *results;
  int i;

  report->results = calloc((size_t)list->count + 1, sizeof *report->results);
  if (!report->results)
    fprintf(stderr, "cpucycles-info: cannot examine the counters: %s\n", strerror(errno));
  for (i = 0; report->results && i < list->count; i++) {
    if (!list->is_examined[i])
      continue;
    results = &report->results[report->result_count++];
    strcpy(results->name, list->names[i]);
    if (list->no_child)
      measure_counter(results, seconds);
    else if (examine_in_child(results, list->names[i], seconds)) {
      fprintf(stderr, "cpucycles-info: %s: %s\n", results->name, results->failure);
      report->killed_count++;
    }
  }
}

/* Stores differences of adjacent reads, which show the read cost and how much it varies, and the
   mean of their middle half. */
static void measure_iqm(struct report *report)
{
  double differences[IQM_DIFFERENCES];
  int i;

  read_differences(report->iqm_differences, IQM_DIFFERENCES);
  for (i = 0; i < IQM_DIFFERENCES; i++)
    differences[i] = (double)report->iqm_differences[i];
  report->mean = (long long)cpuc_quantile_middle(differences, IQM_DIFFERENCES);
}

/* A chain of dependent multiplications, which takes tens of cycles. No compiler removes it, and no
   CPU executes it in parallel. */
static unsigned long long multiply(unsigned long long x)
{
  volatile unsigned long long sink;
  int i;

  for (i = 0; i < 16; i++)
    x = x * 6364136223846793005ULL + 1;
  sink = x;
  return sink;
}

/* Measures bounds of the rate. The clock is read before and after each read of the counter, and may
   be off by one microsecond. */
static void time_loops(struct loop_rate *rate, long long loops)
{
  unsigned long long x = 1;
  long long before = cpuc_os_clock_raw(), first = cpucycles(), begin = cpuc_os_clock_raw();
  long long i, end, cycles, time, longest;

  for (i = 0; i < loops; i++)
    x = multiply(x);
  end = cpuc_os_clock_raw();
  cycles = cpuc_step_between(first, cpucycles());
  longest = (cpuc_os_clock_raw() - before) / 1000 + 1;
  time = (end - begin) / 1000;
  rate->low = (double)cycles * 1e6 / (double)(longest > 1 ? longest : 1);
  rate->high = (double)cycles * 1e6 / (double)(time > 1 ? time - 1 : 1);
  rate->loops = loops;
  rate->microseconds = time > 0 ? time : 0; /* the clock may have stepped back */
}

void measure_loops(struct report *report)
{
  int i;

  for (i = 0; i < LOOP_RATES; i++)
    time_loops(&report->loop_rates[i], 1024LL << i);
}

void fill_library(struct library_info *library)
{
  const struct cpucycles_counter_info *counter;
  int i;

  library->version = cpucycles_version();
  library->persecond = cpucycles_persecond();
  library->implementation = cpucycles_implementation();
  library->implementation_ignored = cpucycles_implementation_ignored();
  library->frequency_source = cpucycles_frequency_source();
  library->frequency_ignored = cpucycles_frequency_ignored();
  for (i = 0; i < MAX_COUNTERS && (counter = cpucycles_counter(i)) != NULL; i++)
    library->counters[i] = counter;
  library->counter_count = i;
  library->selected = cpucycles_selected();
}

void fill_surroundings(struct report *report)
{
  fill_system(&report->system);
  fill_cpu(&report->cpu, report->system.architecture);
  if (report->cpu.foreign && !*report->system.emulator)
    strcpy(report->system.emulator, "user-mode (foreign /proc/cpuinfo)");
  fill_settings(&report->settings);
  cpuc_trapped_call_list(report->system.trapped_calls, sizeof report->system.trapped_calls);
}

void fill_report(struct report *report, const struct counter_list *list, double seconds)
{
  const char *limit = getenv("CPUCYCLES_IMPLEMENTATION");
  struct unlimited unlimited = { list, &report->better };

  report->clock = cpuc_os_clock_raw_name;
  report->is_limited = limit && *limit && !list->no_child
    && run_in_child(find_better_without_limit, &unlimited, &report->better,
         sizeof report->better) == 0;
  /* Starts children that select a counter each, so this process must not have selected one. */
  examine_each(report, list, seconds);
  measure_iqm(report);
  measure_loops(report);
  fill_library(&report->library);
  report->core.persecond_before = list->core_persecond;
  report->core.counted_persecond = cpucycles_rate();
  report->core.persecond_after = cpucycles_core_persecond();
  fill_surroundings(report);
}
