/* SPDX-License-Identifier: 0BSD OR MIT */
/* Opens and ends the events of a thread that perf-cycles.c reads: one, or one for each kind of core
   where there are several, of which the sum counts. They are pinned: where other events take the
   hardware, the kernel gives them up instead of counting part of the time. A forked child opens its
   own. Signals wait until a thread's events are of one piece.
   Source: perf_event_open(2), sections "read_format", "pinned" and "ERRORS"; madvise(2),
   MADV_WIPEONFORK; Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices*;
   tools/perf/pmu-events and tools/perf/util/pmus.c for what a core PMU's folder has ("cpus",
   "type"). */

#include "config.h"

#include "backends/backend.h"
#include "backends/kernel-file.h"
#include "backends/perf-cycles.h"
#include "backends/perf-event.h"
#include "backends/perf-remedy.h"
#include "backends/perf-thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* Tests put a software event here, which needs no PMU. */
#ifndef CPUCYCLES_PERF_TYPE
#define CPUCYCLES_PERF_TYPE PERF_TYPE_HARDWARE
#define CPUCYCLES_PERF_CONFIG PERF_COUNT_HW_CPU_CYCLES
#endif

/* Where PMUs are listed; tests have a list of their own. */
#ifndef CPUCYCLES_PERF_DEVICES
#define CPUCYCLES_PERF_DEVICES "/sys/bus/event_source/devices/"
#endif

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Its destructor closes the events of a thread that exits. */
static pthread_key_t at_exit;
static int at_exit_made;

/* The kinds of core, found when the counter is opened; none: there is one kind, or it cannot be
   told. */
static struct {
  uint32_t type;
  uint64_t config;
} kinds[KINDS];
static int kind_count;

/* Reads follow the page of a single event; several are added up in the slow way. */
static void lead_to_page(void)
{
  int is_single = own.count == 1 && cpucycles_perf_are_pages_readable();

  cpucycles_perf_mark->base = own.base;
  cpucycles_perf_mark->page = is_single
    ? (intptr_t)((uintptr_t)own.event[0].page - (uintptr_t)cpucycles_perf_mark) : 0;
}

/* Closes what is still ours. A forked child has descriptors, and no pages. */
static void close_events(int unmap)
{
  int i, count = own.count;

  own.count = 0;
  own.state = UNOPENED;
  if (cpucycles_perf_mark != &cpucycles_perf_no_mark)
    cpucycles_perf_mark->page = 0;
  for (i = 0; i < count; i++) {
    if (unmap && own.event[i].page && cpucycles_perf_is_page(own.event[i].page))
      kernel_unmap(own.event[i].page);
    if (cpucycles_perf_is_ours(&own.event[i]))
      kernel_close(own.event[i].descriptor);
  }
}

static void leave_mark(void)
{
  void *mark = cpucycles_perf_mark;

  cpucycles_perf_mark = &cpucycles_perf_no_mark;
  if (mark != &cpucycles_perf_no_mark)
    munmap(mark, (size_t)sysconf(_SC_PAGESIZE));
}

static void take_mark(void)
{
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *mark;

  if (cpucycles_perf_mark == &cpucycles_perf_no_mark) {
    mark = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark == MAP_FAILED)
      return;
    if (madvise(mark, size, MADV_WIPEONFORK) != 0) { /* Linux before 4.14 */
      munmap(mark, size);
      return;
    }
    cpucycles_perf_mark = mark;
  }
  cpucycles_perf_mark->alive = 1;
}

/* Opens one event. Returns 0 or an errno. */
static int open_event(uint32_t type, uint64_t config, const struct cpucycles_perf_method *method)
{
  struct event *event = &own.event[own.count];
  struct perf_event_attr wanted;
  int error;

  memset(&wanted, 0, sizeof wanted);
  wanted.size = sizeof wanted;
  wanted.type = type;
  wanted.config = config;
  wanted.config1 = method->config1;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
    | PERF_FORMAT_ID;
  wanted.pinned = 1;
  event->descriptor = perf_event_open_excluding(&wanted, PERF_EVENT_ANY, kernel_open);
  own.counts_kernel = !wanted.exclude_kernel;
  if (event->descriptor < 0)
    return errno;
  event->page = NULL;
  if (kernel_identify(event->descriptor, &event->id) != 0) {
    error = errno;
    kernel_close(event->descriptor);
    return error;
  }
  own.count++;
  return 0;
}

/* Nanoseconds by a clock. */
static long long nanoseconds(clockid_t clock)
{
  struct timespec now;

  return clock_gettime(clock, &now) == 0 ? now.tv_sec * 1000000000LL + now.tv_nsec : 0;
}

/* Opens this thread's events, to go on from own.last. Returns 0 or an errno. */
static int open_events(const struct cpucycles_perf_method *method)
{
  long long count;
  int i, error = 0;

  own.process = getpid();
  own.opened = nanoseconds(CLOCK_MONOTONIC);
  own.is_page_replaced = 0;
  if (kind_count == 0)
    error = open_event(CPUCYCLES_PERF_TYPE, CPUCYCLES_PERF_CONFIG, method);
  for (i = 0; i < kind_count && error == 0; i++)
    error = open_event(kinds[i].type, kinds[i].config, method);
  if (error == 0) {
    own.state = EVENTS;
    take_mark();
    if (cpucycles_perf_mark != &cpucycles_perf_no_mark && method->instruction)
      for (i = 0; i < own.count; i++)
        own.event[i].page = kernel_map(own.event[i].descriptor);
    if (pthread_setspecific(at_exit, &own) != 0 || cpucycles_perf_read_events(&count) != 0)
      error = EIO;
  }
  if (error != 0) {
    close_events(1);
    leave_mark();
    return error;
  }
  own.base = own.last - count;
  if (cpucycles_perf_mark != &cpucycles_perf_no_mark)
    lead_to_page();
  return 0;
}

/* Finds out where this thread's count is, without descriptors. */
static void last_from_pages(void)
{
  long long bound;
  int i;

  if (cpucycles_perf_mark != &cpucycles_perf_no_mark && cpucycles_perf_are_pages_readable()
    && !own.is_page_replaced) {
    /* When an event left its hardware counter, all that it had counted went to its page. */
    unsigned long long sum = (unsigned long long)own.base;

    for (i = 0; i < own.count; i++)
      sum += (unsigned long long)own.event[i].page->offset;
    bound = (long long)sum;
  } else {
    /* Nobody knows. There is no core of 10 GHz. */
    bound = own.base + 10 * nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  }
  if (bound > own.last)
    own.last = bound;
}

/* The pages stay: a read that this one has interrupted may be looking at them. */
void cpucycles_perf_lose(const struct cpucycles_perf_method *method)
{
  int i;

  if (own.state == NEXT_BEST)
    return; /* a signal handler was faster */
  if (own.state == EVENTS && method->instruction)
    last_from_pages();
  for (i = 0; i < own.count; i++)
    if (cpucycles_perf_is_ours(&own.event[i])) {
      kernel_close(own.event[i].descriptor);
      own.event[i].descriptor = -1;
    }
  if (cpucycles_perf_mark != &cpucycles_perf_no_mark)
    cpucycles_perf_mark->page = 0;
  own.state = NEXT_BEST;
  own.base = own.last - cpucycles_next_best();
  if (!own.is_exiting)
    cpucycles_note("by-next-best");
}

/* Ends what this thread has, and knows where its count is. */
static void end_events(void)
{
  int forked = cpucycles_perf_is_forked();
  long long count;

  if (own.state == EVENTS && !forked) {
    if (cpucycles_perf_read_events(&count) != 0)
      last_from_pages();
    else if (own.base + count > own.last)
      own.last = own.base + count;
  }
  close_events(!forked);
  leave_mark();
}

void cpucycles_perf_end(const struct cpucycles_perf_method *unused)
{
  (void)unused;
  end_events();
  own.is_exiting = 1;
}

/* The copies of the parent's descriptors tell what it had counted, and a little more; without
   them, only time tells what it cannot have exceeded. */
static void begin_in_child(void)
{
  long long count;

  if (own.state == EVENTS) {
    if (cpucycles_perf_read_events(&count) != 0)
      count = 10 * (nanoseconds(CLOCK_MONOTONIC) - own.opened);
    if (own.base + count > own.last)
      own.last = own.base + count;
    close_events(0);
  }
  if (cpucycles_perf_mark != &cpucycles_perf_no_mark)
    cpucycles_perf_mark->alive = 1;
}

/* Where SIGSYS leads, while this thread opens its events. */
static CPUCYCLES_TLS sigjmp_buf *escape;

/* Opens this thread's events; a filter that raises SIGSYS there is one that refuses. */
static int open_unless_filtered(const struct cpucycles_perf_method *method)
{
  sigjmp_buf here;
  int error;

  if (sigsetjmp(here, 0)) {
    escape = NULL;
    return EPERM;
  }
  escape = &here;
  error = open_events(method);
  escape = NULL;
  return error;
}

void cpucycles_perf_begin(const struct cpucycles_perf_method *method)
{
  if (cpucycles_perf_is_forked())
    begin_in_child();
  if (own.state == UNOPENED && (own.is_exiting || open_unless_filtered(method) != 0))
    cpucycles_perf_lose(method);
}

/* Makes the path of something in a PMU's folder. Returns 0 if it is too long for one. */
static int pmu_path(char *path, size_t size, const char *pmu, const char *file)
{
  int length = snprintf(path, size, "%s%s%s", CPUCYCLES_PERF_DEVICES, pmu, file);

  return length > 0 && (size_t)length < size;
}

/* Reads what follows `before` in such a file, a number that ends the line; -1 if it is not that. */
static long pmu_number(const char *pmu, const char *file, const char *before, int base)
{
  char path[256], text[64], *begin = text + strlen(before), *end;
  long number;

  if (!pmu_path(path, sizeof path, pmu, file) || read_kernel_text("", path, text, sizeof text) <= 0
    || strncmp(text, before, strlen(before)) != 0)
    return -1;
  number = strtol(begin, &end, base);
  return end > begin && *end == '\n' && number >= 0 && number < INT32_MAX ? number : -1;
}

/* Is it the PMU of some of the cores? Then it says of which. Names that no such PMU has are not
   looked at. */
static int is_core_pmu(const char *name)
{
  char path[256];

  if (strncmp(name, "cpu_", 4) != 0 && strncmp(name, "arm", 3) != 0
    && strncmp(name, "apple_", 6) != 0)
    return 0;
  return pmu_path(path, sizeof path, name, "/cpus") && access(path, R_OK) == 0;
}

/* Can an event of this kind be opened? */
static int can_open(uint32_t type, uint64_t config, const struct cpucycles_perf_method *method)
{
  if (open_event(type, config, method) != 0)
    return 0;
  close_events(1);
  return 1;
}

/* Adds a kind of core: by the generic event, with the PMU's type in the upper half of the
   config; where the kernel does not take that (Arm, before 6.6), by the number that the PMU
   gives the event. Returns 0 or an errno. */
static int add_kind(const char *pmu, const struct cpucycles_perf_method *method)
{
  long type = pmu_number(pmu, "/type", "", 10), config;

  if (kind_count == KINDS || type < 0)
    return ENODEV;
  kinds[kind_count].type = CPUCYCLES_PERF_TYPE;
  kinds[kind_count].config = (uint64_t)type << 32 | CPUCYCLES_PERF_CONFIG;
  if (!can_open(kinds[kind_count].type, kinds[kind_count].config, method)) {
    config = pmu_number(pmu, "/events/cpu_cycles", "event=0x", 16);
    if (config < 0)
      config = pmu_number(pmu, "/events/cycles", "event=0x", 16);
    kinds[kind_count].type = (uint32_t)type;
    kinds[kind_count].config = (uint64_t)config;
    if (config < 0 || !can_open(kinds[kind_count].type, kinds[kind_count].config, method))
      return ENODEV;
  }
  kind_count++;
  return 0;
}

/* getdents64(2), which has no declaration that all C libraries share. */
struct entry {
  uint64_t inode;
  int64_t next;
  unsigned short length;
  unsigned char type;
  char name[];
};

/* Finds the kinds of core. Returns 0 or an errno. */
static int find_kinds(const struct cpucycles_perf_method *method)
{
  union {
    struct entry first;
    char bytes[2048];
  } list;
  int folder = open(CPUCYCLES_PERF_DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
  long length, at;

  kind_count = 0;
  if (folder < 0)
    return 0;
  while (error == 0 && (length = syscall(SYS_getdents64, folder, &list, sizeof list)) > 0)
    for (at = 0; at < length && error == 0;) {
      const struct entry *entry = (const void *)(list.bytes + at);

      if (is_core_pmu(entry->name))
        error = add_kind(entry->name, method);
      at += entry->length;
    }
  close(folder);
  if (kind_count == 1)
    kind_count = 0; /* one kind is what a plain event counts */
  return error;
}

void cpucycles_perf_explain(const struct cpucycles_perf_method *method, int error, int signal,
  struct cpucycles_why *why)
{
  if (signal == SIGSYS)
    cpucycles_perf_filter_why("", why);
  else if (error != 0 && method->refusal->is_hidden)
    method->hidden_why(why);
  else if (error != 0 && error != EIO)
    cpucycles_perf_event_why("", error, method->refusal->counts_kernel, why);
}

int cpucycles_perf_open(const struct cpucycles_perf_method *method, struct cpucycles_why *why)
{
  int error = 0;

  method->refusal->is_hidden = own.counts_kernel = 0;
  if (!at_exit_made) {
    error = pthread_key_create(&at_exit, cpucycles_perf_thread_exits);
    at_exit_made = error == 0;
  }
  if (error == 0) {
    cpucycles_tried.perf_event_open = -1;
    error = open_event(CPUCYCLES_PERF_TYPE, CPUCYCLES_PERF_CONFIG, method);
    cpucycles_tried.perf_event_open = 1;
    cpucycles_tried.no_pmu = error == ENOENT;
  }
  method->refusal->counts_kernel = own.counts_kernel;
  if (error != 0)
    return error;
  close_events(1); /* there is a PMU: now it is worth asking whether there are several */
  error = find_kinds(method);
  if (error != 0) {
    why->explanation = "there are several kinds of core, and not all have an event";
    return error;
  }
  error = open_events(method);
  if (error == 0 && method->instruction && !cpucycles_perf_is_shown()) {
    why->explanation = "the kernel has the event, and does not let programs read its register";
    method->refusal->is_hidden = 1;
    error = EACCES;
  }
  if (error == 0 && own.counts_kernel)
    why->unit = "core cycles in user mode and kernel";
  return error;
}

void cpucycles_perf_close(void)
{
  close_events(!cpucycles_perf_is_forked());
  leave_mark();
  own.base = own.last = 0;
  if (at_exit_made)
    pthread_key_delete(at_exit);
  at_exit_made = 0;
}

/* A thread that exits later must not be led into an unloaded library; its events stay open until
   the process ends. */
__attribute__((destructor)) static void unload(void)
{
  cpucycles_perf_end(NULL);
  if (at_exit_made)
    pthread_key_delete(at_exit);
  at_exit_made = 0;
}

const int cpucycles_perf_rescued_filtered[] = { SIGSYS, 0 };

int cpucycles_perf_rescue_filtered(int signal, const void *info, void *context)
{
  const stack_t *stack = &((const ucontext_t *)context)->uc_stack;
  const int autodisarm = (int)(1u << 31); /* linux/signal.h, which does not go with signal.h */

  (void)info;
  if (signal != SIGSYS || !escape)
    return 0;
  if (stack->ss_flags & autodisarm)
    sigaltstack(stack, NULL); /* as the handler's return would have armed it again */
  siglongjmp(*escape, 1);
}
