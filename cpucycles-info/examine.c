/* SPDX-License-Identifier: 0BSD OR MIT */
/* Examines each working counter in a child process that selects this counter. So all counters are
   measured with the public functions, like the counter in use, and a signal ends only the child. If
   this process is killed, the child ends within a second. Without fork(), or if the first fork()
   fails, only the counter in use is examined. */

#include "config.h"

#include "cpucycles-info/fill.h"

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
    list->works[i] = counter->state != CPUCYCLES_DROPPED && strcmp(counter->kind, "none") != 0;
  }
  list->count = i;
}

static void list_and_measure_core(void *argument)
{
  struct counter_list *list = argument;

  list_counters(list);
  list->core_persecond = cpucycles_core_persecond();
}

int list_and_measure_core_in_child(struct counter_list *list)
{
  int signal = run_in_child(list_and_measure_core, list, list, sizeof *list);

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
  return 0;
}

int request_counter(const char *name)
{
#ifdef CPUCYCLES_POSIX
  return setenv("CPUCYCLES_IMPLEMENTATION", name, 1);
#else
  char setting[64];

  return snprintf(setting, sizeof setting, "CPUCYCLES_IMPLEMENTATION=%s", name)
      < (int)sizeof setting
      ? putenv(strdup(setting)) : -1;
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
static int examine_in_child(struct counter_results *results, double seconds)
{
  struct examination examination = { results, seconds };
  int signal = run_in_child(examine_as_selected, &examination, results, sizeof *results);
  char name[sizeof results->name];

  if (signal == 0)
    return 0;
  memcpy(name, results->name, sizeof name);
  memset(results, 0, sizeof *results);
  memcpy(results->name, name, sizeof name);
  if (signal > 0)
    snprintf(results->failure, sizeof results->failure,
      "%s (%d) ended the process that examined it", signal_name(signal), signal);
  else
    snprintf(results->failure, sizeof results->failure,
      "the process to examine it did not start, or failed");
  return signal > 0;
}

void examine_each(struct report *report, const struct counter_list *list, const char *only,
  double seconds)
{
  struct counter_results *results;
  int i;

  report->results = calloc((size_t)list->count + 1, sizeof *report->results);
  if (!report->results)
    fprintf(stderr, "cpucycles-info: cannot examine the counters: %s\n", strerror(errno));
  for (i = 0; report->results && i < list->count; i++) {
    if (!list->works[i] || (only && strcmp(only, list->names[i]) != 0)
      || (list->no_child && strcmp(list->names[i], cpucycles_implementation()) != 0))
      continue;
    results = &report->results[report->result_count++];
    memcpy(results->name, list->names[i], sizeof results->name);
    if (list->no_child)
      measure_counter(results, seconds);
    else if (examine_in_child(results, seconds)) {
      fprintf(stderr, "cpucycles-info: %s: %s\n", results->name, results->failure);
      report->killed_count++;
    }
  }
}
