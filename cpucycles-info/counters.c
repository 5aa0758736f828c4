/* SPDX-License-Identifier: 0BSD OR MIT */
/* Each counter that works, in a process of its own that selects it: so all of them are seen
   through the same public calls as the one that is in use, and one that ends its process ends
   nothing else. Where there is no fork, or it is refused, only the counter in use is examined. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_FORK
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

void list_counters(struct counter_list *list)
{
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; i < TIMERS && (counter = cpucycles_counter(i)) != NULL; i++) {
    snprintf(list->names[i], sizeof list->names[i], "%s", counter->name);
    list->works[i] = counter->state != CPUCYCLES_DROPPED && strcmp(counter->kind, "none") != 0;
  }
  list->count = i;
}

static void list_and_measure(void *argument)
{
  struct counter_list *list = argument;

  list_counters(list);
  list->core_persecond = cpucycles_core_persecond();
}

struct task {
  struct timer *timer;
  double seconds;
  int progress;
};

#ifdef HAVE_FORK

static int write_all(int to, const char *bytes, size_t size)
{
  ssize_t written;

  while (size > 0) {
    written = write(to, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return -1;
    bytes += written;
    size -= (size_t)written;
  }
  return 0;
}

static int read_all(int from, char *bytes, size_t size)
{
  ssize_t length = 1;

  while (size > 0 && length != 0) {
    length = read(from, bytes, size);
    if (length < 0 && errno != EINTR)
      return -1;
    if (length > 0) {
      bytes += length;
      size -= (size_t)length;
    }
  }
  return size == 0 ? 0 : -1;
}

static int wait_for(pid_t child)
{
  int status;

  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return status;
}

/* Runs body(argument) in a child, and takes the result, `size` bytes, from there. Returns 0, or
   the child's status as wait(2) gives it, or -1. */
static int in_child(void (*body)(void *), void *argument, void *result, size_t size)
{
  int pipes[2], status, failed;
  pid_t child;

  if (pipe(pipes) != 0)
    return -1;
  child = fork();
  if (child == 0) {
    close(pipes[0]);
    body(argument);
    _exit(write_all(pipes[1], result, size) == 0 ? 0 : 1);
  }
  close(pipes[1]);
  failed = child < 0 || read_all(pipes[0], result, size) != 0;
  close(pipes[0]);
  status = child < 0 ? -1 : wait_for(child);
  return failed && status == 0 ? -1 : status;
}

int list_counters_apart(struct counter_list *list)
{
  int status = in_child(list_and_measure, list, list, sizeof *list);

  if (status == 0)
    return 0;
  if (status > 0 && WIFSIGNALED(status))
    return WTERMSIG(status);
  fprintf(stderr,
    "cpucycles-info: no other process can be started: only the counter in use is examined\n");
  memset(list, 0, sizeof *list);
  list->alone = 1;
  list_and_measure(list);
  return 0;
}

static void examine_alone(void *argument)
{
  struct task *task = argument;

  setenv("CPUCYCLES_IMPLEMENTATION", task->timer->name, 1);
  examine(task->timer, task->seconds, task->progress);
}

static int is_progress_wanted(double seconds)
{
  return seconds >= 1 && isatty(2);
}

/* Returns 0, or the signal that ended it. */
static int examine_apart(struct timer *timer, double seconds)
{
  struct task task = { timer, seconds, is_progress_wanted(seconds) };
  int status = in_child(examine_alone, &task, timer, sizeof *timer), signal = 0;
  struct timer fresh;

  if (status == 0)
    return 0;
  memset(&fresh, 0, sizeof fresh);
  memcpy(fresh.name, timer->name, sizeof fresh.name);
  if (status > 0 && WIFSIGNALED(status)) {
    signal = WTERMSIG(status);
    snprintf(fresh.failure, sizeof fresh.failure, "the process that examined it ended by %s (%d)",
      signal_name(signal), signal);
  } else
    snprintf(fresh.failure, sizeof fresh.failure, "no process could examine it");
  *timer = fresh;
  return signal;
}

#else

int list_counters_apart(struct counter_list *list)
{
  list->alone = 1;
  list_and_measure(list);
  return 0;
}

static int is_progress_wanted(double seconds)
{
  (void)seconds;
  return 0;
}

static int examine_apart(struct timer *timer, double seconds)
{
  (void)timer, (void)seconds;
  return 0;
}

#endif

static int can_be_examined(const struct counter_list *list, const char *name)
{
  return !list->alone || strcmp(name, cpucycles_implementation()) == 0;
}

void examine_each(struct report *report, const struct counter_list *list, const char *only, double seconds)
{
  int i;

  report->timer = calloc((size_t)list->count + 1, sizeof *report->timer);
  for (i = 0; report->timer && i < list->count; i++) {
    struct timer *timer = &report->timer[report->timers];

    if (!list->works[i] || !can_be_examined(list, list->names[i])
      || (only && strcmp(only, list->names[i]) != 0))
      continue;
    memcpy(timer->name, list->names[i], sizeof timer->name);
    report->timers++;
    if (list->alone)
      examine(timer, seconds, is_progress_wanted(seconds));
    else if (examine_apart(timer, seconds) != 0) {
      fprintf(stderr, "cpucycles-info: %s: %s\n", timer->name, timer->failure);
      report->killed++;
    }
  }
}
