/* SPDX-License-Identifier: 0BSD OR MIT */
/* perfex_open(), perfex_read() and perfex_close(): groups of any events. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/early.h"
#include "perfex/group.h"
#include "perfex/why.h"
#include "sys/parse.h"
#include "sys/perf/page.h"
#include "sys/perf/register.h"
#include "sys/perf/remedy.h"
#include "sys/trapped-call.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Returns 1 if the thread can run on a CPU of this core type. */
static int can_run_on(const struct cpuc_perf_core_type *core)
{
  char text[512];
  const char *cpus = text;
  cpu_set_t allowed;
  int first, last;

  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0
    || !cpuc_perf_pmu_read(core->pmu, "cpus", text, sizeof text))
    return 1;
  while ((cpus = cpuc_parse_next_cpu_range(cpus, &first, &last)) != NULL)
    for (; first <= last; first++)
      if (first >= CPU_SETSIZE || CPU_ISSET((size_t)first, &allowed))
        return 1;
  return 0;
}

/* Finds the core types if an event of a core is requested. Returns 0, or -1 if an event cannot be
   counted on all of them. */
static int find_core_types(struct perfex_group *group)
{
  struct cpuc_perf_core_types *cores = &group->cores;
  int i, types = 0, needs_cores = 0;

  for (i = 0; i < group->open.count; i++)
    needs_cores |= group->names[i].counter < PFX_NAMES_SOFTWARE;
  if (needs_cores)
    cpuc_perf_pmu_find_core_types(cores);
  for (i = 0; i < cores->listed && cores->count > 1; i++)
    if (can_run_on(&cores->types[i]))
      cores->types[types++] = cores->types[i];
  if (types == 0) {
    cores->count = cores->listed = 1;
    return 0;
  }
  cores->listed = types;
  if (group->open.inherits)
    return pfx_why(ENOTSUP, "PERFEX_INHERIT cannot count on a CPU with several core types");
  for (i = 0; i < group->open.count; i++) {
    const struct pfx_names_event *event = &group->names[i];

    if (event->counter == PFX_NAMES_RAW && types > 1)
      return pfx_why(ENOTSUP, "%s has a meaning for one core type: bind the thread to CPUs of one "
                              "type", event->name);
    if (event->counter == PFX_NAMES_CORE_PMU
      && (types > 1 || event->type != cores->types[0].type))
      return pfx_why(ENOTSUP, "%s: the thread can run on CPUs of another PMU: bind it to those in "
                              "the file \"cpus\" of this one", event->name);
  }
  return 0;
}

/* Returns the attributes of event `i`: those of core type 0, then those of core type 1... */
static struct perf_event_attr wanted_event(const struct perfex_group *group, int i)
{
  const struct pfx_names_event *event = &group->names[i % group->open.count];
  const struct cpuc_perf_core_type *core = &group->cores.types[i / group->open.count];
  struct perf_event_attr wanted
    = cpuc_perf_event_attributes(event->type, event->config[0], event->modes);

  wanted.config1 = event->config[1];
  wanted.config2 = event->config[2];
  if (group->cores.count > 1 && event->counter == PFX_NAMES_GENERIC)
    wanted.config = cpuc_perf_pmu_generic_config(core, wanted.config);
  if (group->cores.count > 1 && event->counter == PFX_NAMES_RAW)
    wanted.type = core->type;
#ifdef CPUC_PERF_HAS_REGISTER
  if (event->counter != PFX_NAMES_SOFTWARE && group->cores.count == 1 && !group->open.inherits) {
    wanted.config1 |= CPUC_PERF_USER_ACCESS;
    if (group->open.count == 1 && event->type == PERF_TYPE_HARDWARE
      && event->config[0] == PERF_COUNT_HW_CPU_CYCLES)
      wanted.config1 |= CPUC_PERF_LONG; /* other events take two counters for 64 bits */
  }
#endif
  return wanted;
}

/* Explains that the kernel counts no event of this kind for this user. */
static int explain_all(struct perfex_group *group, const struct pfx_names_event *event, int error)
{
  struct cpuc_diagnosis found = { .machine = &group->machine };

  cpuc_remedy_for_perf_event(error, 0, event->counter < PFX_NAMES_SOFTWARE,
    (event->modes & CPUC_PERF_KERNEL) != 0, &found);
  if (found.explanation && found.remedy)
    return pfx_why(error, "%s: %s; remedy: %s", event->name, found.explanation, found.remedy);
  return pfx_why(error, "%s: %s", event->name,
    found.explanation ? found.explanation : strerror(error));
}

/* Explains why the kernel refused the event that was added last, while those before it are open. */
static int explain_refusal(struct perfex_group *group, int error)
{
  int last = group->open.added - 1, place = last % group->open.count;
  const struct pfx_names_event *event = &group->names[place];
  const char *pmu = event->counter == PFX_NAMES_SOFTWARE ? "this kernel"
    : group->cores.count > 1 ? group->cores.types[last / group->open.count].pmu : "this PMU";
  struct perf_event_attr wanted = wanted_event(group, last);
  enum cpuc_perf_group_refusal refusal
    = cpuc_perf_group_find_refusal(&group->open, error, &wanted);

  if (refusal == CPUC_PERF_GROUP_FULL && place == 0)
    return pfx_why(ENOTSUP, "PERFEX_INHERIT needs Linux 4.13");
  if (refusal == CPUC_PERF_GROUP_FULL)
    return event->counter == PFX_NAMES_OTHER_PMU
      ? pfx_why(EINVAL, "%s cannot be counted in a group with the events before it", event->name)
      : pfx_why(ENOSPC, "%d of %d events fit %s", place, group->open.count, pmu);
  if (refusal < CPUC_PERF_GROUP_REFUSED && event->counter == PFX_NAMES_OTHER_PMU)
    return pfx_why(ENOTSUP, "%s: its PMU lacks this event, or does not count in %s", event->name,
      event->modes == CPUC_PERF_USER ? "user mode alone: append :uk" : "a thread");
  if (refusal == CPUC_PERF_GROUP_NO_CYCLES
    && cpuc_perf_cycles_find(&group->machine.cycles, &group->events[last]) == 0) {
    if (event->modes == CPUC_PERF_USER)
      return pfx_why(ENOTSUP, "%s: %s cannot exclude the kernel: append :uk", event->name, pmu);
    refusal = CPUC_PERF_GROUP_NO_EVENT;
  }
  if (refusal == CPUC_PERF_GROUP_NO_EVENT)
    return pfx_why(ENOTSUP, "%s: %s does not have this event", event->name, pmu);
  return refusal == CPUC_PERF_GROUP_FAILED ? pfx_why(error, "%s: %s", event->name, strerror(error))
                                           : explain_all(group, event, error);
}

#ifdef CPUC_PERF_HAS_REGISTER

/* Returns 1 if the pages contain the counts. */
static inline int read_pages(const struct perfex_group *group, long long *counts)
{
  int result;

  do
    result = cpuc_perf_page_read_all(group->pages, group->open.count, cpuc_perf_register, 0,
      counts, NULL);
  while (result == 0);
  return result > 0 && cpuc_perf_page_has_all_time(group->pages[0]);
}

#endif

static __attribute__((noinline)) int read_descriptors(const struct perfex_group *group,
  long long *counts)
{
  int saved_errno = errno, error;

  if (group->forks != pfx_early_forks)
    return pfx_why(EPERM, "the group counts in the parent process");
  if (group->thread != pfx_early_thread && !group->open.inherits)
    return pfx_why(EPERM, "the group counts in another thread");
  error = cpuc_perf_group_read(&group->open, counts);
  if (error == EBADF)
    return pfx_why(EBADF, "a descriptor of the group was closed");
  if (error != 0)
    return pfx_why(error, "the group did not count all the time: other events took its counters, "
                          "or the thread ran on a core without its PMU");
  errno = saved_errno;
  return 0;
}

int perfex_read(struct perfex_group *group, long long counts[])
{
#ifdef CPUC_PERF_HAS_REGISTER
  if (group->page_reader == pfx_early_thread && read_pages(group, counts))
    return 0;
#endif
  return read_descriptors(group, counts);
}

/* Opens and starts the events, and tests that they count. */
static int open_and_start(struct perfex_group *group)
{
  long long counts[CPUC_PERF_GROUP_EVENTS];
  int i, error = 0, all = group->open.count * group->cores.listed;

  group->page_reader = ULONG_MAX;
  for (i = 0; i < all && error == 0; i++) {
    struct perf_event_attr wanted = wanted_event(group, i);

    error = cpuc_perf_group_add(&group->open, &wanted);
  }
  if (error != 0)
    return explain_refusal(group, error);
  error = cpuc_perf_group_start(&group->open);
  if (error != 0)
    return pfx_why(error, "the events do not start: %s", strerror(error));
#ifdef CPUC_PERF_HAS_REGISTER
  /* Before the start, no page has an index. Pages of arm64 that are mapped after the first read(2)
     can be off by 2^32. */
  if (group->cores.listed == 1 && !group->open.inherits
    && cpuc_perf_event_map_pages(group->events, group->open.count, group->pages))
    group->page_reader = group->thread;
#endif
  return cpuc_perf_group_read(&group->open, counts) == 0 ? 0
    : pfx_why(EBUSY, "other events have the counters of this PMU");
}

/* In a forked child, the pages are not mapped, and the events are those of the parent. */
static void close_events(struct perfex_group *group)
{
  int saved_errno = errno, are_copies = group->forks != pfx_early_forks;

  if (!are_copies)
    cpuc_perf_event_unmap_pages(group->pages, group->open.count);
  cpuc_perf_group_close(&group->open, are_copies);
  errno = saved_errno;
}

/* With PERFEX_FIRST, tries again without the last event as long as the events do not fit. */
static int open_group(struct perfex_group *group, const char *list, int flags)
{
  static unsigned long last_thread;

  if (flags & ~(PERFEX_INHERIT | PERFEX_FIRST) || !list)
    return pfx_why(EINVAL, list ? "a flag is not known" : "there is no list of names");
  group->open.events = group->events;
  group->open.inherits = (flags & PERFEX_INHERIT) != 0;
  group->open.count = pfx_names_parse(list, group->names, CPUC_PERF_GROUP_EVENTS);
  if (group->open.count < 0 || find_core_types(group) != 0)
    return -1;
  if (pfx_early_thread == 0)
    pfx_early_thread = __atomic_add_fetch(&last_thread, 1, __ATOMIC_RELAXED);
  group->thread = pfx_early_thread;
  group->forks = pfx_early_forks;
  while (open_and_start(group) != 0) {
    close_events(group);
    if (!(flags & PERFEX_FIRST) || (errno != ENOSPC && errno != EBUSY) || --group->open.count == 0)
      return -1;
  }
  return 0;
}

struct perfex_group *perfex_open(const char *events, int flags)
{
  struct perfex_group *group = calloc(1, sizeof *group);
  int saved_errno = errno, cancel_state;

  if (!group) {
    pfx_why(ENOMEM, "there is no memory for the group");
    return NULL;
  }
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  cpuc_trapped_call_begin();
  if (open_group(group, events, flags) != 0) {
    saved_errno = errno;
    free(group);
    group = NULL;
  }
  errno = saved_errno;
  cpuc_trapped_call_end();
  pthread_setcancelstate(cancel_state, NULL);
  return group;
}

int perfex_group_size(const struct perfex_group *group)
{
  return group ? group->open.count : 0;
}

void perfex_close(struct perfex_group *group)
{
  int saved_errno = errno;

  if (group)
    close_events(group);
  free(group);
  errno = saved_errno;
}
