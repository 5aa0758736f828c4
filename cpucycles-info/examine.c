/* SPDX-License-Identifier: 0BSD OR MIT */
/* Examines each working counter in a child process that selects this counter. So all counters are
   measured with the public functions, like the counter in use, and a signal ends only the child. If
   this process is killed, the child ends within a second. Without fork(), or if the first fork()
   fails, only the counter in use is examined. */

#include "config.h"

#include "cpucycles-info/child.h"
#include "cpucycles-info/fill.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_FORK
#include <sys/wait.h>
#include <unistd.h>
#endif

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

struct examination {
  struct counter_results *results;
  double seconds;
  int progress;
};

#ifdef HAVE_FORK

int list_and_measure_core_in_child(struct counter_list *list)
{
  int status = run_in_child(list_and_measure_core, list, list, sizeof *list);

  if (status == 0)
    return 0;
  if (status > 0 && WIFSIGNALED(status))
    return WTERMSIG(status);
  fprintf(stderr,
    "cpucycles-info: the child that lists the counters did not start or failed, so only the "
    "counter in use is examined\n");
  memset(list, 0, sizeof *list);
  list->no_child = 1;
  list_and_measure_core(list);
  return 0;
}

static void examine_as_selected(void *argument)
{
  struct examination *examination = argument;

  setenv("CPUCYCLES_IMPLEMENTATION", examination->results->name, 1);
  measure_counter(examination->results, examination->seconds, examination->progress);
}

static int is_progress_wanted(double seconds)
{
  return seconds >= 1 && isatty(2);
}

/* Returns 0, or the signal that ended the child. Only results->failure describes other failures. */
static int examine_in_child(struct counter_results *results, double seconds)
{
  struct examination examination = { results, seconds, is_progress_wanted(seconds) };
  int status = run_in_child(examine_as_selected, &examination, results, sizeof *results),
      signal = 0;
  struct counter_results failed;

  if (status == 0)
    return 0;
  memset(&failed, 0, sizeof failed);
  memcpy(failed.name, results->name, sizeof failed.name);
  if (status > 0 && WIFSIGNALED(status)) {
    signal = WTERMSIG(status);
    snprintf(failed.failure, sizeof failed.failure, "%s (%d) ended the process that examined it",
      signal_name(signal), signal);
  } else
    snprintf(failed.failure, sizeof failed.failure,
      "the process to examine it did not start, or failed");
  *results = failed;
  return signal;
}

#else

int list_and_measure_core_in_child(struct counter_list *list)
{
  list->no_child = 1;
  list_and_measure_core(list);
  return 0;
}

static int is_progress_wanted(double seconds)
{
  (void)seconds;
  return 0;
}

static int examine_in_child(struct counter_results *results, double seconds)
{
  (void)results, (void)seconds;
  return 0;
}

#endif

static int can_be_examined(const struct counter_list *list, const char *name)
{
  return !list->no_child || strcmp(name, cpucycles_implementation()) == 0;
}

void examine_each(struct report *report, const struct counter_list *list, const char *only,
  double seconds)
{
  int i;

  report->results = calloc((size_t)list->count + 1, sizeof *report->results);
  if (!report->results)
    fprintf(stderr, "cpucycles-info: cannot examine the counters: %s\n", strerror(errno));
  for (i = 0; report->results && i < list->count; i++) {
    struct counter_results *results = &report->results[report->result_count];

    if (!list->works[i] || !can_be_examined(list, list->names[i])
      || (only && strcmp(only, list->names[i]) != 0))
      continue;
    memcpy(results->name, list->names[i], sizeof results->name);
    report->result_count++;
    if (list->no_child)
      measure_counter(results, seconds, is_progress_wanted(seconds));
    else if (examine_in_child(results, seconds) != 0) {
      fprintf(stderr, "cpucycles-info: %s: %s\n", results->name, results->failure);
      report->killed_count++;
    }
  }
}
