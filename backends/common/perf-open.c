/* SPDX-License-Identifier: 0BSD OR MIT */
/* Opens and ends the events of a thread that perf-cycles.c reads: one, or one for each kind of core
   where there are several, of which the sum counts. They are pinned: where other events take the
   hardware, the kernel gives them up instead of counting part of the time. A page keeps its event:
   an event that is read through it keeps no descriptor. A forked child opens its own events.
   Signals wait until a thread's events are consistent.
   Source: perf_event_open(2), sections "read_format", "pinned" and "ERRORS"; madvise(2),
   MADV_WIPEONFORK; Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices*;
   tools/perf/pmu-events and tools/perf/util/pmus.c for what a core PMU's folder has ("cpus",
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

/* Where PMUs are listed; tests have a list of their self. */
#ifndef CPUCYCLES_PERF_DEVICES
#define CPUCYCLES_PERF_DEVICES "/sys/bus/event_source/devices/"
#endif

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum {
  DESCRIPTORS_BELOW = 1024, /* where the soft limit leaves them: select(2) has FD_SETSIZE */
  STANDARD = 3              /* descriptors: input, output, error */
};

/* Its destructor closes the events of a thread that exits. */
static pthread_key_t exit_key;
static int has_exit_key;

/* The word that cpucycles_perf_process points to: in memory that the kernel zeroes in a forked
   child, however it was made; before Linux 4.14, which does not do that, here. */
static pid_t unwiped_word;
pid_t *cpucycles_perf_process = &unwiped_word;

/* The kinds of core, found when the counter is opened; none: there is one kind, or it cannot be
   told. */
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

/* A forked child has copies of the descriptors, and no pages. */
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
  if (self.state == CPUCYCLES_PERF_UNOPENED) /* else it is for read(2), which any counter serves */
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

/* Opens this thread's events, beside the pages that it may have. Returns 0 or an errno. */
static int open_descriptors(const struct cpucycles_perf_method *method)
{
  int i, error = 0;

  if (core_kind_count == 0)
    error = open_event(&self.events[0], method->type, method->config, method);
  for (i = 0; i < core_kind_count && error == 0; i++)
    error = open_event(&self.events[i], core_kinds[i].type, core_kinds[i].config, method);
  return error;
}

/* Moves a descriptor to where the program's do not come by themselves. Half of what the soft limit
   allows is the program's. Returns 0 or an errno. */
static int move_descriptor_up(int *descriptor)
{
  struct rlimit limit = { 0, 0 };
  long half, first;
  int moved;

  getrlimit(RLIMIT_NOFILE, &limit);
  half = limit.rlim_cur < INT_MAX ? (long)limit.rlim_cur / 2 : INT_MAX / 2;
  first = half < DESCRIPTORS_BELOW ? half : DESCRIPTORS_BELOW;
  moved = fcntl(*descriptor, F_DUPFD_CLOEXEC, (int)(first > STANDARD ? first : STANDARD));
  if (moved < 0)
    return EMFILE;
  kernel_close(*descriptor);
  *descriptor = moved;
  return moved - first < half ? 0 : EMFILE;
}

/* Puts the descriptors where they can stay, and lets the count go on. Returns 0 or an errno. */
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

/* Maps the pages, which keep the events. Returns 0 if they do not show the count. */
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
  self.index = UINT32_MAX; /* the first read looks */
  if (self.event_count == 1 && (method->width == 0 || method->width == width))
    self.only_page = self.events[0].page;
  self.state = CPUCYCLES_PERF_BY_PAGES;
  close_descriptors();
  return 1;
}

/* Opens this thread's events, to go on from its last read. Returns 0 or an errno. */
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

/* SIGSYS leads here, while this thread opens its events. */
static CPUCYCLES_TLS sigjmp_buf *filter_escape;

/* Calls open_some(method); a filter that raises SIGSYS there is one that refuses. */
static int catch_filter(int (*open_some)(const struct cpucycles_perf_method *),
  const struct cpucycles_perf_method *method)
{
  sigjmp_buf here;
  int error;

  if (sigsetjmp(here, 0)) {
    filter_escape = NULL;
    return EPERM;
  }
  filter_escape = &here;
  error = open_some(method);
  filter_escape = NULL;
  return error;
}

void cpucycles_perf_begin_thread(const struct cpucycles_perf_method *method)
{
  if (cpucycles_perf_this_process() == 0) {
    self.process = -1; /* in a PID namespace of its own, a child may have its parent's number */
    __atomic_store_n(cpucycles_perf_process_word(), getpid(), __ATOMIC_RELAXED);
  }
  if (is_forked() && self.state != CPUCYCLES_PERF_BY_NEXT_BEST)
    close_events();
  self.process = cpucycles_perf_this_process();
  if (self.state == CPUCYCLES_PERF_UNOPENED
    && (self.is_exiting || catch_filter(open_events, method) != 0)) {
    close_events();
    cpucycles_perf_use_next_best(method);
  }
}

/* The pages stay: a read that this one has interrupted may be in the middle of one. */
void cpucycles_perf_use_next_best(const struct cpucycles_perf_method *method)
{
  (void)method;
  if (self.state == CPUCYCLES_PERF_BY_NEXT_BEST)
    return; /* a signal handler was faster */
  close_descriptors();
  self.state = CPUCYCLES_PERF_BY_NEXT_BEST;
  self.base = self.last - cpucycles_next_best();
  if (!self.is_exiting)
    cpucycles_note_fallback("by-next-best");
}

/* Opening a pinned event makes the kernel schedule this thread's events anew, and that brings their
   pages up to date: the offset of one without an index is all that it has counted. */
void cpucycles_perf_leave_pages(const struct cpucycles_perf_method *method)
{
  unsigned long long sum = (unsigned long long)self.base;
  int i, error, complete = 1;

  if (self.state != CPUCYCLES_PERF_BY_PAGES)
    return; /* a signal handler was faster */
  if (getpid() != self.process)
    return; /* a child of vfork(), which has its parent's storage: the parent's event rests */
  error = catch_filter(open_descriptors, method);
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
  if (error != 0 || catch_filter(use_descriptors, method) != 0)
    cpucycles_perf_use_next_best(method);
}

/* Ends this thread's events for good. */
static void end_events(const struct cpucycles_perf_method *unused)
{
  (void)unused;
  close_events();
  self.is_exiting = 1;
}

/* There is no other destructor after the last one, to close what a read in a later one would
   open. */
static void on_thread_exit(void *unused)
{
  (void)unused;
  cpucycles_perf_with_signals_blocked(end_events, NULL);
}

/* The child goes on from the count of this moment. */
static void before_fork(void)
{
  if ((self.state == CPUCYCLES_PERF_BY_PAGES || self.state == CPUCYCLES_PERF_BY_DESCRIPTORS)
    && !is_forked())
    cpucycles_perf_slow(self.method);
}

/* The page is not mapped here, and must not be touched. */
static void after_fork_in_child(void)
{
  self.only_page = &cpucycles_perf_no_page;
  self.process = -1;
  __atomic_store_n(cpucycles_perf_process_word(), 0, __ATOMIC_RELAXED);
}

/* As the library is loaded: fork handlers cannot be added while a fork runs them, and the C library
   has room in each thread for the values of the first keys. Later ones cost an allocation in a
   thread's first read. */
__attribute__((constructor)) static void load(void)
{
  has_exit_key = pthread_key_create(&exit_key, on_thread_exit) == 0;
  pthread_atfork(before_fork, NULL, after_fork_in_child);
}

/* A thread that exits later must not be led into an unloaded library; its events stay open until
   the process ends, and so does the word, as other threads read until then. */
__attribute__((destructor)) static void unload(void)
{
  if (self.state != CPUCYCLES_PERF_UNOPENED) /* else exit() makes no system call of ours */
    on_thread_exit(NULL);
  self.is_exiting = 1;
  if (has_exit_key)
    pthread_key_delete(exit_key);
  has_exit_key = 0;
}

/* Makes the path of something in a PMU's folder. Returns 0 if it is too long for one. */
static int pmu_path(char *path, size_t size, const char *pmu, const char *file)
{
  int length = snprintf(path, size, "%s%s%s", CPUCYCLES_PERF_DEVICES, pmu, file);

  return length > 0 && (size_t)length < size;
}

/* Reads what follows `before` in such a file, a number that ends the line; -1 if it is not that. */
static long read_pmu_number(const char *pmu, const char *file, const char *prefix, int base)
{
  char path[256], text[64], *begin = text + strlen(prefix), *end;
  long number;

  if (!pmu_path(path, sizeof path, pmu, file) || read_kernel_text("", path, text, sizeof text) <= 0
    || strncmp(text, prefix, strlen(prefix)) != 0)
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

/* Can an event of this kind be opened? Returns 0 or an errno. */
static int try_event(uint32_t type, uint64_t config, const struct cpucycles_perf_method *method)
{
  struct cpucycles_perf_event event;
  int error = open_event(&event, type, config, method);

  if (error == 0)
    kernel_close(event.descriptor);
  return error;
}

/* Adds a kind of core: by the generic event, with the PMU's type in the upper half of the
   config; where the kernel does not take that (Arm, before 6.6), by the number that the PMU
   gives the event. Returns 0 or an errno. */
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

/* getdents64(2), which has no declaration that all C libraries share. */
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
    core_kind_count = 0; /* one kind is what a plain event counts */
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

/* Has the kernel zero the word in forked children. */
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
  error = find_core_kinds(method); /* only now, as it costs more: several need a PMU, too */
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
  /* a child may be forked by another thread at any moment, and looks at the word */
  __atomic_store_n(&cpucycles_perf_process, &unwiped_word, __ATOMIC_RELEASE);
  if (word != &unwiped_word)
    munmap(word, (size_t)sysconf(_SC_PAGESIZE));
}

const int cpucycles_perf_rescued_filtered[] = { SIGSYS, 0 };

int cpucycles_perf_rescue_filtered(int signal, const void *info, void *context)
{
  (void)info;
  if (signal != SIGSYS || !filter_escape)
    return 0;
  rearm_signal_stack(&((const ucontext_t *)context)->uc_stack);
  siglongjmp(*filter_escape, 1);
}
