/* SPDX-License-Identifier: 0BSD OR MIT */
/* perfex_open(), perfex_read() and perfex_close(): groups of any events. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/perfex.h"
#include "perfex/names.h"
#include "perfex/set.h"
#include "perfex/why.h"
#include "sys/early.h"
#include "sys/os-thread.h"
#include "sys/parse.h"
#include "sys/perf/core-types.h"
#include "sys/perf/page.h"
#include "sys/perf/pmu.h"
#include "sys/perf/register.h"
#include "sys/thread-local.h"
#include "sys/trapped-call.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What perfex_open() collects before it opens events. */
struct request {
  int count;
  struct pfx_names_event events[PFX_GROUP_EVENTS];
  int cores; /* core types of the CPU */
  int types; /* core types on which the thread can run */
  struct {
    uint32_t type;
    char pmu[32];
  } type[CPUC_PERF_CORE_TYPES];
};

struct perfex_group {
  struct pfx_set open;
  unsigned long thread; /* number of the thread that is counted, also after a fork */
  unsigned long forks;  /* number of forks before the process that has opened the group */
  unsigned long page_reader; /* `thread` if it reads pages, else a number of no thread */
  int page_count;       /* pages that are mapped: one for each event, or none */
  const volatile struct perf_event_mmap_page *pages[PFX_GROUP_EVENTS];
  struct pfx_set_event events[CPUC_PERF_CORE_TYPES * PFX_GROUP_EVENTS];
  struct request request;
};

/* Numbers of threads, not reused before 2^32 threads; 0: the thread has opened no group in this
   process. */
static unsigned long last_thread, forks;
static CPUC_THREAD_LOCAL unsigned long this_thread;

/* The pages of the parent's groups are not mapped in the child. */
static void after_fork_in_child(void)
{
  this_thread = 0;
  forks++;
  cpuc_trapped_call_forked();
}

static CPUC_EARLY_LOAD void load(void)
{
  cpuc_os_thread_on_fork(after_fork_in_child);
}

/* Returns 1 if the thread can run on one of these CPUs. */
static int can_run_on(const char *cpus)
{
  cpu_set_t allowed;
  int first, last;

  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return 1;
  while ((cpus = cpuc_parse_next_cpu_range(cpus, &first, &last)) != NULL)
    for (; first <= last; first++)
      if (first >= CPU_SETSIZE || CPU_ISSET((size_t)first, &allowed))
        return 1;
  return 0;
}

static void add_core_type(const char *pmu, void *argument)
{
  struct request *request = argument;
  char cpus[512];
  long long type;

  if (!cpuc_perf_core_types_read_cpus(pmu, cpus, sizeof cpus))
    return;
  request->cores++;
  type = cpuc_perf_core_types_read_type(pmu);
  if (type < 0 || request->types == CPUC_PERF_CORE_TYPES || strlen(pmu) >= 32 || !can_run_on(cpus))
    return;
  request->type[request->types].type = (uint32_t)type;
  strcpy(request->type[request->types++].pmu, pmu);
}

/* Finds the core types if an event of a core is requested. Returns 0, or -1 if an event cannot be
   counted on all of them. */
static int find_core_types(struct request *request, int flags)
{
  int i, needs_cores = 0;

  request->cores = request->types = 0;
  for (i = 0; i < request->count; i++)
    needs_cores |= request->events[i].counter < PFX_NAMES_SOFTWARE;
  if (needs_cores)
    cpuc_perf_pmu_visit(add_core_type, request);
  if (request->cores <= 1 || request->types == 0) {
    request->cores = request->types = 1;
    return 0;
  }
  if (flags & PERFEX_INHERIT)
    return pfx_why(ENOTSUP, "PERFEX_INHERIT cannot count on a CPU with several core types");
  for (i = 0; i < request->count; i++) {
    const struct pfx_names_event *event = &request->events[i];

    if (event->counter == PFX_NAMES_RAW && request->types > 1)
      return pfx_why(ENOTSUP, "%s has a meaning for one core type: bind the thread to CPUs of one "
                              "type", event->name);
    if (event->counter == PFX_NAMES_CORE_PMU
      && (request->types > 1 || event->type != request->type[0].type))
      return pfx_why(ENOTSUP, "%s: the thread can run on CPUs of another PMU: bind it to those in "
                              "the file \"cpus\" of this one", event->name);
  }
  return 0;
}

/* Returns the attributes of event `opened`: those of core type 0, then those of core type 1... */
static struct pfx_set_wanted wanted_event(const struct request *request, int opened, int flags)
{
  const struct pfx_names_event *event = &request->events[opened % request->count];
  uint32_t type = request->type[opened / request->count].type;
  struct pfx_set_wanted wanted = { event->type,
    { event->config[0], event->config[1], event->config[2] }, event->modes };

  if (request->cores > 1 && event->counter == PFX_NAMES_GENERIC)
    wanted.config[0] |= (uint64_t)type << 32; /* PERF_TYPE_HARDWARE in perf_event_open(2) */
  if (request->cores > 1 && event->counter == PFX_NAMES_RAW)
    wanted.type = type;
#ifdef CPUC_PERF_HAS_REGISTER
  if (event->counter != PFX_NAMES_SOFTWARE && request->cores == 1 && !(flags & PERFEX_INHERIT)) {
    wanted.config[1] |= CPUC_PERF_USER_ACCESS;
    if (request->count == 1 && event->type == PERF_TYPE_HARDWARE
      && event->config[0] == PERF_COUNT_HW_CPU_CYCLES)
      wanted.config[1] |= CPUC_PERF_LONG; /* other events take two counters for 64 bits */
  }
#else
  (void)flags;
#endif
  return wanted;
}

/* Returns what cpucycles_counter() reports of perf events, if it failed with this errno. */
static const struct cpucycles_counter_info *find_refusal(int error)
{
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (strcmp(counter->name, "default-perfevent") == 0)
      return counter->error_number == error && counter->explanation ? counter : NULL;
  return NULL;
}

/* Explains why the kernel refused event `opened`, while the events before it are open. */
static int explain_refusal(const struct request *request, int opened, int error, int flags)
{
  static const struct pfx_set_wanted cycles
    = { PERF_TYPE_HARDWARE, { PERF_COUNT_HW_CPU_CYCLES, 0, 0 }, PFX_NAMES_USER };
  const struct pfx_names_event *event = &request->events[opened % request->count];
  const struct pfx_set_wanted wanted = wanted_event(request, opened, flags);
  const struct cpucycles_counter_info *refusal;
  const char *pmu = request->cores > 1 ? request->type[opened / request->count].pmu : "this PMU";
  int is_unknown = error == ENOENT || error == EINVAL || error == EOPNOTSUPP || error == ENODEV;

  if (is_unknown && opened % request->count > 0 && pfx_set_can_open(&wanted))
    return event->counter == PFX_NAMES_OTHER_PMU
      ? pfx_why(EINVAL, "%s cannot be counted in a group with the events before it", event->name)
      : pfx_why(ENOSPC, "%d of %d events fit %s", opened % request->count, request->count, pmu);
  if (error == EINVAL && (flags & PERFEX_INHERIT) && pfx_set_can_open(&wanted))
    return pfx_why(ENOTSUP, "PERFEX_INHERIT needs Linux 4.13");
  if (is_unknown && (request->cores > 1 || pfx_set_can_open(&cycles)))
    return pfx_why(ENOTSUP, "%s: %s does not have this event", event->name, pmu);
  if (is_unknown && event->counter == PFX_NAMES_OTHER_PMU)
    return pfx_why(ENOTSUP, "%s: its PMU does not count in %s", event->name,
      event->modes == PFX_NAMES_USER ? "user mode alone: append :uk" : "a thread");
  if ((error == EACCES || error == EPERM) && (event->modes & PFX_NAMES_KERNEL))
    return pfx_why(error, "%s: this user may not count the kernel; kernel.perf_event_paranoid at 1 "
                          "or less permits it", event->name);
  refusal = event->counter == PFX_NAMES_SOFTWARE ? NULL : find_refusal(error);
  if (refusal && refusal->remedy)
    return pfx_why(error, "%s: %s; remedy: %s", event->name, refusal->explanation, refusal->remedy);
  return pfx_why(error, "%s: %s", event->name, refusal ? refusal->explanation
    : error == EACCES || error == EPERM ? "kernel.perf_event_paranoid, a security module or a "
                                          "seccomp filter refuses perf events"
    : error == ENOSYS ? "the kernel, or a seccomp filter, does not offer perf_event_open(2)"
                      : strerror(error));
}

static void unmap_pages(struct perfex_group *group)
{
  while (group->page_count > 0)
    munmap((void *)group->pages[--group->page_count], (size_t)sysconf(_SC_PAGESIZE));
}

/* Closes the first `opened` events. In a forked child, the pages are not mapped, and the events are
   those of the parent. */
static void close_events(struct perfex_group *group, int opened)
{
  int saved_errno = errno;

  if (group->forks == forks)
    unmap_pages(group);
  pfx_set_close(&group->open, opened, group->forks != forks);
  errno = saved_errno;
}

static int open_events(struct perfex_group *group, int flags)
{
  int i, error = 0, all = group->open.count * group->open.types;

  for (i = 0; i < all && error == 0; i++) {
    const struct pfx_set_wanted wanted = wanted_event(&group->request, i, flags);

    error = pfx_set_open(&group->open, &wanted, i);
  }
  if (error == 0)
    return 0;
  explain_refusal(&group->request, i - 1, error, flags);
  close_events(group, i - 1);
  return -1;
}

#ifdef CPUC_PERF_HAS_REGISTER

/* Maps the pages, unless one of them gives no access. Before the start, no page has an index. */
static void map_pages(struct perfex_group *group)
{
  int i, has_access = 1;

  for (i = 0; i < group->open.count && has_access; i++) {
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
      group->events[i].descriptor, 0);

    has_access = page != MAP_FAILED && cpuc_perf_page_gives_access(page);
    if (page != MAP_FAILED)
      group->pages[group->page_count++] = page;
  }
  if (!has_access)
    unmap_pages(group);
  else
    group->page_reader = group->thread;
}

/* Returns 1 if the pages contain the counts. */
static inline int read_pages(const struct perfex_group *group, long long *counts)
{
  int result;

  do
    result = cpuc_perf_page_read_all(group->pages, group->open.count, cpuc_perf_register, 0,
      (uint64_t *)counts, NULL);
  while (result == 0);
  return result > 0 && cpuc_perf_page_has_all_time(group->pages[0]);
}

#endif

static __attribute__((noinline)) int read_descriptors(const struct perfex_group *group,
  long long *counts)
{
  int saved_errno = errno, error;

  if (group->forks != forks)
    return pfx_why(EPERM, "the group counts in the parent process");
  if (group->thread != this_thread && !group->open.inherits)
    return pfx_why(EPERM, "the group counts in another thread");
  error = pfx_set_read(&group->open, counts);
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
  if (group->page_reader == this_thread && read_pages(group, counts))
    return 0;
#endif
  return read_descriptors(group, counts);
}

/* Starts the events, and tests that they count. */
static int start(struct perfex_group *group)
{
  long long counts[PFX_GROUP_EVENTS];
  int error = pfx_set_start(&group->open);

#ifdef CPUC_PERF_HAS_REGISTER
  if (error == 0 && group->open.types == 1 && !group->open.inherits)
    map_pages(group);
#endif
  if (error != 0)
    return pfx_why(error, "the events do not start: %s", strerror(error));
  return pfx_set_read(&group->open, counts) == 0 ? 0
    : pfx_why(EBUSY, "other events have the counters of this PMU");
}

static int open_and_start(struct perfex_group *group, int flags)
{
  const struct request *request = &group->request;

  group->open = (struct pfx_set){ group->events, request->count, request->types,
    (flags & PERFEX_INHERIT) != 0 };
  group->page_reader = ULONG_MAX;
  if (open_events(group, flags) != 0)
    return -1;
  if (start(group) == 0)
    return 0;
  close_events(group, request->count * request->types);
  return -1;
}

/* With PERFEX_FIRST, tries again without the last event as long as the events do not fit. */
static int open_group(struct perfex_group *group, const char *list, int flags)
{
  struct request *request = &group->request;

  if (flags & ~(PERFEX_INHERIT | PERFEX_FIRST) || !list)
    return pfx_why(EINVAL, list ? "a flag is not known" : "there is no list of names");
  request->count = pfx_names_parse(list, request->events, PFX_GROUP_EVENTS);
  if (request->count < 0 || find_core_types(request, flags) != 0)
    return -1;
  if (this_thread == 0)
    this_thread = __atomic_add_fetch(&last_thread, 1, __ATOMIC_RELAXED);
  group->thread = this_thread;
  group->forks = forks;
  while (open_and_start(group, flags) != 0)
    if (!(flags & PERFEX_FIRST) || (errno != ENOSPC && errno != EBUSY) || --request->count == 0)
      return -1;
  return 0;
}

struct perfex_group *perfex_open(const char *events, int flags)
{
  struct perfex_group *group = calloc(1, sizeof *group);
  int saved_errno = errno, cancel_state;

  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  cpuc_trapped_call_begin();
  if (!group)
    pfx_why(ENOMEM, "there is no memory for the group");
  else if (open_group(group, events, flags) == 0)
    errno = saved_errno;
  else {
    saved_errno = errno;
    free(group);
    group = NULL;
    errno = saved_errno;
  }
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
    close_events(group, group->open.count * group->open.types);
  free(group);
  errno = saved_errno;
}
