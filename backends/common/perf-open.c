/* SPDX-License-Identifier: 0BSD OR MIT */
/* Opens and closes a thread's events, which perf-cycles.c reads: one event, or one for each kind of
   core, which are then added up. They are pinned: if other events need the hardware, the kernel
   gives ours up instead of counting part of the time. The mapping of a page keeps its event open:
   an event that is read through the page needs no descriptor. A forked child opens its own events.
   Signals are blocked until a thread's events are consistent.
   Source: perf_event_open(2), sections "read_format", "pinned" and "ERRORS"; madvise(2),
   MADV_WIPEONFORK; Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices*;
   tools/perf/pmu-events and tools/perf/util/pmus.c for the files of a core PMU's folder ("cpus",
   "type"). */

/* For the jump out of a handler: sys/signal-stack.h. */
#undef _FORTIFY_SOURCE

#include "config.h"

#include "backends/backend.h"
#include "sys/kernel-file.h"
#include "backends/common/perf-cycles.h"
#include "sys/perf-event.h"
#include "sys/signal-stack.h"
#include "backends/common/perf-remedy.h"
#include "backends/common/perf-thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>

/* The kernel's list of PMUs. Tests define another. */
#ifndef CPUCYCLES_PERF_DEVICES
#define CPUCYCLES_PERF_DEVICES "/sys/bus/event_source/devices/"
#endif

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum {
  /* Left to the program if the soft limit allows: select(2) works below FD_SETSIZE only. */
  PROGRAM_DESCRIPTORS = 1024,
  STANDARD_DESCRIPTORS = 3 /* descriptors: input, output, error */
};

/* The destructor of this key closes the events of a thread that exits. */
static pthread_key_t exit_key;
static int has_exit_key;

/* cpucycles_perf_process points to a word in memory that the kernel zeroes in a forked child, even
   if no fork handler runs there; or, since Linux before 4.14 cannot do that, to unwiped_word. */
static pid_t unwiped_word;
pid_t *cpucycles_perf_process = &unwiped_word;

/* The kinds of core, found when the counter is opened; none if there is only one kind, or if the
   kinds are unknown. */
static struct core_kind {
  uint32_t type;
  uint64_t config;
} core_kinds[CPUCYCLES_PERF_KINDS];
static int core_kind_count;

static void close_descriptors(void)
{
  int i;

  self.only_descriptor = -1;
  for (i = 0; i < self.event_count; i++) {
    if (cpucycles_perf_has_descriptor(&self.events[i]))
      kernel_close(self.events[i].descriptor);
    self.events[i].descriptor = -1;
  }
}

static void unmap_pages(void)
{
  int i;

  for (i = 0; i < self.event_count; i++) {
    if (self.events[i].page && cpucycles_perf_is_page(self.events[i].page))
      kernel_unmap(self.events[i].page);
    self.events[i].page = NULL;
  }
}

/* A forked child has copies of the descriptors, but not the pages. */
static void close_events(void)
{
  self.only_page = &cpucycles_perf_no_page;
  close_descriptors();
  if (!is_forked())
    unmap_pages();
  self.event_count = 0;
  self.state = CPUCYCLES_PERF_UNOPENED;
}

/* Opens one event. Returns 0 or an errno. */
static int open_event(struct cpucycles_perf_event *event, uint32_t type, uint64_t config,
  const struct cpucycles_perf_method *method)
{
  struct perf_event_attr wanted;
  int error;

  memset(&wanted, 0, sizeof wanted);
  wanted.size = sizeof wanted;
  wanted.type = type;
  wanted.config = config;
  if (self.state == CPUCYCLES_PERF_UNOPENED) /* else for read(2), which works with any counter */
    wanted.config1 = method->config1;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
    | PERF_FORMAT_ID;
  wanted.pinned = 1;
  event->descriptor = perf_event_open_excluding(&wanted, PERF_EVENT_ANY, kernel_open);
  self.counts_kernel = !wanted.exclude_kernel;
  if (event->descriptor < 0)
    return errno;
  if (kernel_identify(event->descriptor, &event->id) == 0)
    return 0;
  error = errno;
  kernel_close(event->descriptor);
  event->descriptor = -1;
  return error;
}

/* Opens this thread's events, and leaves its pages in place. Returns 0 or an errno. */
static int open_descriptors(const struct cpucycles_perf_method *method)
{
  int i, error = 0;

  if (core_kind_count == 0)
    error = open_event(&self.events[0], method->type, method->config, method);
  for (i = 0; i < core_kind_count && error == 0; i++)
    error = open_event(&self.events[i], core_kinds[i].type, core_kinds[i].config, method);
  return error;
}

/* Moves a descriptor to numbers that the program's files do not reach by themselves. Half of the
   numbers below the soft limit are left to the program. Returns 0 or an errno. */
static int move_descriptor_up(int *descriptor)
{
  struct rlimit limit = { 0, 0 };
  long half, first;
  int moved;

  getrlimit(RLIMIT_NOFILE, &limit);
  half = limit.rlim_cur < INT_MAX ? (long)limit.rlim_cur / 2 : INT_MAX / 2;
  first = half < PROGRAM_DESCRIPTORS ? half : PROGRAM_DESCRIPTORS;
  moved = fcntl(*descriptor, F_DUPFD_CLOEXEC,
    (int)(first > STANDARD_DESCRIPTORS ? first : STANDARD_DESCRIPTORS));
  if (moved < 0)
    return EMFILE;
  kernel_close(*descriptor);
  *descriptor = moved;
  return moved - first < half ? 0 : EMFILE;
}

/* Makes this thread read by read(2), and continues its count. Returns 0 or an errno. */
static int use_descriptors(const struct cpucycles_perf_method *method)
{
  long long count;
  int i, error = 0;

  for (i = 0; i < self.event_count && error == 0; i++)
    error = move_descriptor_up(&self.events[i].descriptor);
  self.base = 0;
  if (error == 0 && cpucycles_perf_read_descriptors(&count) != 0)
    error = EIO;
  if (error != 0)
    return error;
  self.base = self.last - count;
  self.only_descriptor = self.event_count == 1 ? self.events[0].descriptor : -1;
  self.state = CPUCYCLES_PERF_BY_DESCRIPTORS;
  if (method->instruction)
    cpucycles_note_fallback("by-read");
  return 0;
}

/* Maps the pages and makes this thread read through them. Returns 0 if they do not show the
   count. */
static int use_pages(const struct cpucycles_perf_method *method)
{
  long long count;
  int i, width;

  for (i = 0; i < self.event_count; i++)
    self.events[i].page = kernel_map(self.events[i].descriptor);
  self.base = 0;
  if (!cpucycles_perf_pages_show_count() || cpucycles_perf_read_descriptors(&count) != 0) {
    unmap_pages();
    return 0;
  }
  self.base = self.last - count;
  width = self.events[0].page->pmc_width;
  self.shift = 64 - width;
  self.index = UINT32_MAX; /* no counter's: the first read finds the index */
  if (self.event_count == 1 && (method->width == 0 || method->width == width))
    self.only_page = self.events[0].page;
  self.state = CPUCYCLES_PERF_BY_PAGES;
  close_descriptors();
  return 1;
}

/* Opens this thread's events, and continues from its last read. Returns 0 or an errno. */
static int open_events(const struct cpucycles_perf_method *method)
{
  int i, error;

  self.process = cpucycles_perf_this_process();
  self.method = method;
  self.event_count = core_kind_count > 0 ? core_kind_count : 1;
  for (i = 0; i < self.event_count; i++) {
    self.events[i].descriptor = -1;
    self.events[i].page = NULL;
  }
  error = open_descriptors(method);
  if (error == 0)
    error = pthread_setspecific(exit_key, &self);
  if (error == 0 && !(method->instruction && use_pages(method)))
    error = use_descriptors(method);
  return error;
}

/* Set in catch_sigsys(): cpucycles_perf_rescue_filtered() jumps there. */
static CPUCYCLES_TLS sigjmp_buf *sigsys_escape;

/* Calls action(method). Returns its result, or EPERM if a filter raised SIGSYS there. */
static int catch_sigsys(int (*action)(const struct cpucycles_perf_method *),
  const struct cpucycles_perf_method *method)
{
  sigjmp_buf here;
  int error;

  if (sigsetjmp(here, 0)) {
    sigsys_escape = NULL;
    return EPERM;
  }
  sigsys_escape = &here;
  error = action(method);
  sigsys_escape = NULL;
  return error;
}

void cpucycles_perf_begin_thread(const struct cpucycles_perf_method *method)
{
  if (cpucycles_perf_this_process() == 0) {
    self.process = -1; /* in a new PID namespace, a child may have its parent's number */
    __atomic_store_n(cpucycles_perf_process_word(), getpid(), __ATOMIC_RELAXED);
  }
  if (is_forked() && self.state != CPUCYCLES_PERF_BY_NEXT_BEST)
    close_events();
  self.process = cpucycles_perf_this_process();
  if (self.state == CPUCYCLES_PERF_UNOPENED
    && (self.is_exiting || catch_sigsys(open_events, method) != 0)) {
    close_events();
    cpucycles_perf_use_next_best(method);
  }
}

/* The pages stay mapped: this read may have interrupted another one that uses them. */
void cpucycles_perf_use_next_best(const struct cpucycles_perf_method *method)
{
  (void)method;
  if (self.state == CPUCYCLES_PERF_BY_NEXT_BEST)
    return; /* a signal handler did it already */
  close_descriptors();
  self.state = CPUCYCLES_PERF_BY_NEXT_BEST;
  self.base = self.last - cpucycles_next_best();
  if (!self.is_exiting)
    cpucycles_note_fallback("by-next-best");
}

/* When a pinned event is opened, the kernel schedules this thread's events anew and updates their
   pages: the offset in a page without an index is then its event's whole count. */
void cpucycles_perf_leave_pages(const struct cpucycles_perf_method *method)
{
  unsigned long long sum = (unsigned long long)self.base;
  int i, error, complete = 1;

  if (self.state != CPUCYCLES_PERF_BY_PAGES)
    return; /* a signal handler did it already */
  if (getpid() != self.process)
    return; /* a child of vfork(), with its parent's storage: the parent's event stands still */
  error = catch_sigsys(open_descriptors, method);
  for (i = 0; i < self.event_count; i++) {
    complete &= self.events[i].page->index == 0;
    sum += (unsigned long long)self.events[i].page->offset;
  }
  if (complete && (long long)sum > self.last)
    self.last = (long long)sum;
  self.only_page = &cpucycles_perf_no_page;
  for (i = 0; i < self.event_count; i++)
    if (cpucycles_perf_is_page(self.events[i].page))
      cpucycles_perf_replace_page(&self.events[i], MAP_FIXED);
  if (error != 0 || catch_sigsys(use_descriptors, method) != 0)
    cpucycles_perf_use_next_best(method);
}

/* Closes this thread's events for good. */
static void end_events(const struct cpucycles_perf_method *unused)
{
  (void)unused;
  close_events();
  self.is_exiting = 1;
}

/* A destructor that runs later may read the counter, but must not open events: no destructor would
   close them. */
static void on_thread_exit(void *unused)
{
  (void)unused;
  cpucycles_perf_with_signals_blocked(end_events, NULL);
}

/* The child continues from this count. */
static void before_fork(void)
{
  if ((self.state == CPUCYCLES_PERF_BY_PAGES || self.state == CPUCYCLES_PERF_BY_DESCRIPTORS)
    && !is_forked())
    cpucycles_perf_slow(self.method);
}

/* The page is not mapped in the child, which must not access it. */
static void after_fork_in_child(void)
{
  self.only_page = &cpucycles_perf_no_page;
  self.process = -1;
  __atomic_store_n(cpucycles_perf_process_word(), 0, __ATOMIC_RELAXED);
}

/* Runs when the library is loaded, for two reasons. Fork handlers cannot be added while a fork runs
   them. And the C library has room in each thread for the values of the first keys; later keys cost
   an allocation in a thread's first read. The number: before the constructors of the program, which
   come first in a program that is linked statically, and may count. */
__attribute__((constructor(101))) static void load(void)
{
  has_exit_key = pthread_key_create(&exit_key, on_thread_exit) == 0;
  pthread_atfork(before_fork, NULL, after_fork_in_child);
}

/* Deletes the key, so that no thread that exits later calls into an unloaded library. The events of
   other threads stay open until the process ends, and the process word stays mapped, as they may
   still read. */
__attribute__((destructor)) static void unload(void)
{
  if (self.state != CPUCYCLES_PERF_UNOPENED) /* else exit() costs no system calls */
    on_thread_exit(NULL);
  self.is_exiting = 1;
  if (has_exit_key)
    pthread_key_delete(exit_key);
  has_exit_key = 0;
}

/* Builds the path of a file in a PMU's folder. Returns 0 if it is too long. */
static int pmu_path(char *path, size_t size, const char *pmu, const char *file)
{
  int length = snprintf(path, size, "%s%s%s", CPUCYCLES_PERF_DEVICES, pmu, file);

  return length > 0 && (size_t)length < size;
}

/* Reads a file of the form prefix, number, newline. Returns the number, or -1. */
static long read_pmu_number(const char *pmu, const char *file, const char *prefix, int base)
{
  char path[256], text[64], *begin = text + strlen(prefix), *end;
  long number;

  if (!pmu_path(path, sizeof path, pmu, file)
    || cpucycles_read_kernel_text("", path, text, sizeof text) <= 0
    || strncmp(text, prefix, strlen(prefix)) != 0)
    return -1;
  number = strtol(begin, &end, base);
  return end > begin && *end == '\n' && number >= 0 && number < INT32_MAX ? number : -1;
}

/* Is this the PMU of some of the cores? Such a PMU has a file "cpus". Most other PMUs are excluded
   by their names, without a system call. */
static int is_core_pmu(const char *name)
{
  char path[256];

  if (strncmp(name, "cpu_", 4) != 0 && strncmp(name, "arm", 3) != 0
    && strncmp(name, "apple_", 6) != 0)
    return 0;
  return pmu_path(path, sizeof path, name, "/cpus") && access(path, R_OK) == 0;
}

/* Opens an event of this kind and closes it. Returns 0 or an errno. */
static int try_event(uint32_t type, uint64_t config, const struct cpucycles_perf_method *method)
{
  struct cpucycles_perf_event event;
  int error = open_event(&event, type, config, method);

  if (error == 0)
    kernel_close(event.descriptor);
  return error;
}

/* Adds a kind of core: by the generic event, with the PMU's type in the upper half of config; if
   the kernel rejects that (Arm, before 6.6), by the PMU's own number of the event. Returns 0 or an
   errno. */
static int add_core_kind(const char *pmu, const struct cpucycles_perf_method *method)
{
  struct core_kind *kind = &core_kinds[core_kind_count];
  long type = read_pmu_number(pmu, "/type", "", 10), config;

  if (core_kind_count == CPUCYCLES_PERF_KINDS || type < 0)
    return ENODEV;
  kind->type = method->type;
  kind->config = (uint64_t)type << 32 | method->config;
  if (try_event(kind->type, kind->config, method) != 0) {
    config = read_pmu_number(pmu, "/events/cpu_cycles", "event=0x", 16);
    if (config < 0)
      config = read_pmu_number(pmu, "/events/cycles", "event=0x", 16);
    kind->type = (uint32_t)type;
    kind->config = (uint64_t)config;
    if (config < 0 || try_event(kind->type, kind->config, method) != 0)
      return ENODEV;
  }
  core_kind_count++;
  return 0;
}

/* Result of getdents64(2), which not all C libraries declare. */
struct directory_entry {
  uint64_t inode;
  int64_t next;
  unsigned short length;
  unsigned char type;
  char name[];
};

/* Finds the kinds of core. Returns 0 or an errno. */
static int find_core_kinds(const struct cpucycles_perf_method *method)
{
  union {
    struct directory_entry first;
    char bytes[2048];
  } list;
  int folder = open(CPUCYCLES_PERF_DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
  long length, at;

  core_kind_count = 0;
  if (folder < 0)
    return 0;
  while (error == 0 && (length = syscall(SYS_getdents64, folder, &list, sizeof list)) > 0)
    for (at = 0; at < length && error == 0;) {
      const struct directory_entry *entry = (const void *)(list.bytes + at);

      if (is_core_pmu(entry->name))
        error = add_core_kind(entry->name, method);
      at += entry->length;
    }
  close(folder);
  if (core_kind_count == 1)
    core_kind_count = 0; /* a plain event counts the only kind */
  return error;
}

/* perf-remedy.c lists a folder after the selection. A filter raises SIGSYS before the kernel looks
   at the descriptor. */
void cpucycles_perf_prepare(void)
{
  if (cpucycles_tried.list_folder != 0)
    return;
  cpucycles_tried.list_folder = -1;
  (void)syscall(SYS_getdents64, -1, NULL, 0);
  cpucycles_tried.list_folder = 1;
}

void cpucycles_perf_explain(const struct cpucycles_perf_method *method, int error, int signal,
  struct cpucycles_why *why)
{
  if (signal == SIGSYS)
    cpucycles_perf_filter_why("", why);
  else if (error != 0 && method->refusal->is_hidden)
    method->explain_hidden(why);
  else if (error != 0 && error != EIO)
    cpucycles_perf_event_why("", error, method->refusal->counts_kernel, why);
}

/* Maps the process word so that the kernel zeroes it in forked children. */
static void map_process_word(void)
{
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *word = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (word != MAP_FAILED && madvise(word, size, MADV_WIPEONFORK) == 0)
    __atomic_store_n(&cpucycles_perf_process, word, __ATOMIC_RELEASE);
  else if (word != MAP_FAILED)
    munmap(word, size);
}

int cpucycles_perf_open(const struct cpucycles_perf_method *method, struct cpucycles_why *why)
{
  int error;

  error = EAGAIN;
  method->refusal->is_hidden = 0;
  if (has_exit_key) {
    cpucycles_tried.perf_event_open = -1;
    error = try_event(method->type, method->config, method);
    cpucycles_tried.perf_event_open = 1;
    cpucycles_tried.no_pmu = error == ENOENT;
  }
  method->refusal->counts_kernel = self.counts_kernel;
  if (error != 0)
    return error;
  error = find_core_kinds(method); /* not earlier: the search would be wasted without a PMU */
  if (error != 0) {
    why->explanation = "there are several kinds of core, and not all have an event";
    return error;
  }
  if (cpucycles_perf_process_word() == &unwiped_word)
    map_process_word();
  __atomic_store_n(cpucycles_perf_process_word(), getpid(), __ATOMIC_RELAXED);
  error = open_events(method);
  if (error == 0 && method->instruction && self.state != CPUCYCLES_PERF_BY_PAGES) {
    why->explanation = "the kernel has the event, and does not let programs read its register";
    method->refusal->is_hidden = 1;
    error = EACCES;
  }
  if (error == 0 && self.counts_kernel)
    why->unit = "core cycles in user mode and kernel";
  return error;
}

void cpucycles_perf_close(void)
{
  pid_t *word = cpucycles_perf_process_word();

  close_events();
  self.base = self.last = 0;
  /* before munmap(): another thread may fork at any time, and its child reads the word */
  __atomic_store_n(&cpucycles_perf_process, &unwiped_word, __ATOMIC_RELEASE);
  if (word != &unwiped_word)
    munmap(word, (size_t)sysconf(_SC_PAGESIZE));
}

const int cpucycles_perf_rescued_filtered[] = { SIGSYS, 0 };

int cpucycles_perf_rescue_filtered(int signal, const void *info, void *context)
{
  (void)info;
  if (signal != SIGSYS || !sigsys_escape)
    return 0;
  rearm_signal_stack(&((const ucontext_t *)context)->uc_stack);
  siglongjmp(*sigsys_escape, 1);
}
