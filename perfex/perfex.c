/* SPDX-License-Identifier: 0BSD OR MIT */
/* perfex_open(), perfex_read() and perfex_close(): groups of any events. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/early.h"
#include "perfex/group.h"
#include "perfex/names.h"
#include "perfex/why.h"
#include "sys/diagnosis.h"
#include "sys/parse.h"
#include "sys/perf/group.h"
#include "sys/perf/page.h"
#include "sys/perf/pmu.h"
#include "sys/perf/register.h"
#include "sys/perf/remedy.h"
#include "sys/trapped-call.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* What perfex_open() collects before it opens events. */
struct request {
  const char *list;
  int flags;
  int count;
  struct pfx_names_event events[CPUC_PERF_GROUP_EVENTS];
  struct cpuc_perf_core_types cores; /* `listed`: those on which the thread can run */
  struct cpuc_machine machine;
};

struct perfex_group {
  struct cpuc_perf_group open;
  unsigned long thread; /* number of the thread that is counted, also after a fork */
  unsigned long forks;  /* number of forks before the process that has opened the group */
  unsigned long page_reader; /* `thread` if it reads pages, else a number of no thread */
  const volatile struct perf_event_mmap_page *pages[CPUC_PERF_GROUP_EVENTS]; /* or NULL */
  struct cpuc_perf_event events[CPUC_PERF_CORE_TYPES * CPUC_PERF_GROUP_EVENTS];
  struct request request;
  double instructions_per_cycle; /* of the last perfex_bench(); 0: not known */
};

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
static int find_core_types(struct request *request)
{
  struct cpuc_perf_core_types *cores = &request->cores;
  int i, types = 0, needs_cores = 0;

  for (i = 0; i < request->count; i++)
    needs_cores |= request->events[i].counter < PFX_NAMES_SOFTWARE;
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
  if (request->flags & PERFEX_INHERIT)
    return pfx_why(ENOTSUP, "PERFEX_INHERIT cannot count on a CPU with several core types");
  for (i = 0; i < request->count; i++) {
    const struct pfx_names_event *event = &request->events[i];

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
static struct perf_event_attr wanted_event(const struct request *request, int i)
{
  const struct pfx_names_event *event = &request->events[i % request->count];
  const struct cpuc_perf_core_type *core = &request->cores.types[i / request->count];
  struct perf_event_attr wanted
    = cpuc_perf_event_attributes(event->type, event->config[0], event->modes);

  wanted.config1 = event->config[1];
  wanted.config2 = event->config[2];
  if (request->cores.count > 1 && event->counter == PFX_NAMES_GENERIC)
    wanted.config = cpuc_perf_pmu_generic_config(core, wanted.config);
  if (request->cores.count > 1 && event->counter == PFX_NAMES_RAW)
    wanted.type = core->type;
#ifdef CPUC_PERF_HAS_REGISTER
  if (event->counter != PFX_NAMES_SOFTWARE && request->cores.count == 1
    && !(request->flags & PERFEX_INHERIT)) {
    wanted.config1 |= CPUC_PERF_USER_ACCESS;
    if (request->count == 1 && event->type == PERF_TYPE_HARDWARE
      && event->config[0] == PERF_COUNT_HW_CPU_CYCLES)
      wanted.config1 |= CPUC_PERF_LONG; /* other events take two counters for 64 bits */
  }
#endif
  return wanted;
}

/* Fails with a sentence on what refuses events to all programs here. */
static int explain_machine(struct request *request, const struct pfx_names_event *event, int error)
{
  struct cpuc_diagnosis found = { .machine = &request->machine };

  cpuc_remedy_for_perf_event(error, 0, event->counter < PFX_NAMES_SOFTWARE, &found);
  if (found.explanation && found.remedy)
    return pfx_why(error, "%s: %s; remedy: %s", event->name, found.explanation, found.remedy);
  return pfx_why(error, "%s: %s", event->name,
    found.explanation ? found.explanation : strerror(error));
}

/* Explains why the kernel refused the event that was added last, while those before it are open. */
static int explain_refusal(struct perfex_group *group, int error)
{
  struct request *request = &group->request;
  int last = group->open.added - 1, place = last % request->count;
  const struct pfx_names_event *event = &request->events[place];
  const char *pmu
    = request->cores.count > 1 ? request->cores.types[last / request->count].pmu : "this PMU";
  struct cpuc_perf_event *storage = &group->events[last];
  struct perf_event_attr wanted = wanted_event(request, last);
  int is_unknown = error == ENOENT || error == EINVAL || error == EOPNOTSUPP || error == ENODEV;
  int is_counted_alone = is_unknown && (place > 0 || (request->flags & PERFEX_INHERIT))
    && cpuc_perf_event_try(storage, &wanted, 0) == 0;

  if (is_counted_alone && place > 0)
    return event->counter == PFX_NAMES_OTHER_PMU
      ? pfx_why(EINVAL, "%s cannot be counted in a group with the events before it", event->name)
      : pfx_why(ENOSPC, "%d of %d events fit %s", place, request->count, pmu);
  if (is_counted_alone && error == EINVAL)
    return pfx_why(ENOTSUP, "PERFEX_INHERIT needs Linux 4.13");
  if (is_unknown && (request->cores.count > 1
    || cpuc_perf_cycles_find(&request->machine.cycles, storage) == 0))
    return pfx_why(ENOTSUP, "%s: %s does not have this event", event->name, pmu);
  if (is_unknown && event->counter == PFX_NAMES_OTHER_PMU)
    return pfx_why(ENOTSUP, "%s: its PMU does not count in %s", event->name,
      event->modes == CPUC_PERF_USER ? "user mode alone: append :uk" : "a thread");
  if ((error == EACCES || error == EPERM) && (event->modes & CPUC_PERF_KERNEL))
    return pfx_why(error, "%s: this user may not count the kernel; kernel.perf_event_paranoid at 1 "
                          "or less permits it", event->name);
  if (is_unknown || error == EACCES || error == EPERM || error == ENOSYS)
    return explain_machine(request, event, error);
  return pfx_why(error, "%s: %s", event->name, strerror(error));
}

static int open_events(struct perfex_group *group)
{
  int i, error = 0, all = group->open.count * group->open.types;

  for (i = 0; i < all && error == 0; i++) {
    struct perf_event_attr wanted = wanted_event(&group->request, i);

    error = cpuc_perf_group_add(&group->open, &wanted);
  }
  return error ? explain_refusal(group, error) : 0;
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

/* Starts the events, and tests that they count. Before the start, no page has an index. */
static int start(struct perfex_group *group)
{
  long long counts[CPUC_PERF_GROUP_EVENTS];
  int error = cpuc_perf_group_start(&group->open);

  if (error != 0)
    return pfx_why(error, "the events do not start: %s", strerror(error));
#ifdef CPUC_PERF_HAS_REGISTER
  if (group->open.types == 1 && !group->open.inherits
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

static int open_and_start(struct perfex_group *group)
{
  const struct request *request = &group->request;

  group->page_reader = ULONG_MAX;
  group->open = (struct cpuc_perf_group){ group->events, request->count, request->cores.listed,
    (request->flags & PERFEX_INHERIT) != 0, 0 };
  if (open_events(group) == 0 && start(group) == 0)
    return 0;
  close_events(group);
  return -1;
}

/* With PERFEX_FIRST, tries again without the last event as long as the events do not fit. */
static int open_group(struct perfex_group *group)
{
  static unsigned long last_thread;
  struct request *request = &group->request;

  if (request->flags & ~(PERFEX_INHERIT | PERFEX_FIRST) || !request->list)
    return pfx_why(EINVAL, request->list ? "a flag is not known" : "there is no list of names");
  request->count = pfx_names_parse(request->list, request->events, CPUC_PERF_GROUP_EVENTS);
  if (request->count < 0 || find_core_types(request) != 0)
    return -1;
  if (pfx_early_thread == 0)
    pfx_early_thread = __atomic_add_fetch(&last_thread, 1, __ATOMIC_RELAXED);
  group->thread = pfx_early_thread;
  group->forks = pfx_early_forks;
  while (open_and_start(group) != 0)
    if (!(request->flags & PERFEX_FIRST) || (errno != ENOSPC && errno != EBUSY)
      || --request->count == 0)
      return -1;
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
  group->request.list = events;
  group->request.flags = flags;
  if (open_group(group) != 0) {
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

const struct pfx_names_event *pfx_group_event(const struct perfex_group *group, int i)
{
  return &group->request.events[i];
}

double pfx_group_instructions_per_cycle(const struct perfex_group *group)
{
  return group->instructions_per_cycle;
}

void pfx_group_set_instructions_per_cycle(struct perfex_group *group, double ratio)
{
  group->instructions_per_cycle = ratio;
}

void perfex_close(struct perfex_group *group)
{
  int saved_errno = errno;

  if (group)
    close_events(group);
  free(group);
  errno = saved_errno;
}
