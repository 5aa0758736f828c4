/* SPDX-License-Identifier: 0BSD OR MIT */
/* Perf events of user-mode core cycles, for the counters that read them: by an instruction and
   the kernel's page (perf-cycles.h), or by read(2). Each thread has its own, opened at its first
   read and closed when it exits: one event, or one for each kind of core where there are
   several, of which the sum counts. They are pinned: where other events take the hardware, the
   kernel gives them up instead of counting part of the time. A forked child opens its own. What
   is lost (the page, the instruction, the descriptor) is done without: by read(2), then by the
   next best counter, and a thread's count goes on upward from where it was.
   Width: 64 bits, extended by the kernel. Rate: the core's, as it runs.
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

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
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
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
  KINDS = 4,     /* of core, that are told apart */
  PATIENCE = 100 /* pages that change under the reader's eyes, until read(2) is asked */
};

/* What read_format asks for, in the kernel's order. */
struct reading {
  uint64_t value, enabled, running, id;
};

struct event {
  int descriptor;
  uint64_t id;                       /* which no other event has */
  struct perf_event_mmap_page *page; /* 0: not mapped */
};

/* What the kernel does for this file. Tests have another one. */
#ifndef CPUCYCLES_PERF_KERNEL

static int kernel_open(struct perf_event_attr *wanted)
{
  return perf_event_open_in(wanted, -1);
}

static int kernel_identify(int descriptor, uint64_t *id)
{
  return perf_event_identify(descriptor, id);
}

static ssize_t kernel_read(int descriptor, struct reading *reading)
{
  return perf_event_read(descriptor, reading, sizeof *reading);
}

static struct perf_event_mmap_page *kernel_map(int descriptor)
{
  void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, descriptor, 0);

  /* cppcheck-suppress memleak ; the caller has it */
  return page == MAP_FAILED ? NULL : page;
}

static void kernel_unmap(void *page)
{
  munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

static void kernel_close(int descriptor)
{
  perf_event_close(descriptor);
}

#endif

/* Of a thread that has no events. */
static struct cpucycles_perf_mark no_mark;

CPUCYCLES_PERF_TLS struct cpucycles_perf_mark *cpucycles_perf_mark = &no_mark;

enum state { UNOPENED, EVENTS, NEXT_BEST };

/* What a thread owns, and a forked child has a copy of. */
static CPUCYCLES_PERF_TLS struct {
  enum state state;
  int count;
  struct event event[KINDS];
  int is_page_replaced; /* some page is not the kernel's any more */
  int is_exiting;       /* nothing may be opened that nobody would close */
  int counts_kernel;    /* the kernel's cycles could not be left out, or so it was tried last */
  pid_t process;        /* that opened the events */
  long long base;       /* what to add to what they, or the next best counter, say */
  long long last;       /* what was returned last by any other way than the instruction */
  long long opened;     /* when the events were, by CLOCK_MONOTONIC, in nanoseconds */
} own;

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

/* Where the kernel wipes no mark, the process tells. */
static int is_forked(void)
{
  if (cpucycles_perf_mark != &no_mark)
    return !cpucycles_perf_mark->alive;
  return own.state == EVENTS && own.process != getpid();
}

/* The descriptor may have been closed behind our back, and be something else by now. */
static int is_still_ours(const struct event *event)
{
  uint64_t id = 0;

  return kernel_identify(event->descriptor, &id) == 0 && id == event->id;
}

/* What the events have counted together, by read(2), if it is the whole count. */
static int read_events(long long *count)
{
  unsigned long long sum = 0;
  int i;

  if (own.count == 0)
    return -1;
  for (i = 0; i < own.count; i++) {
    struct reading reading;

    if (!is_still_ours(&own.event[i])
      || kernel_read(own.event[i].descriptor, &reading) != (ssize_t)sizeof reading
      || reading.id != own.event[i].id)
      return -1;
    if (own.count == 1 && reading.enabled != reading.running)
      return -1; /* some of the time is missing */
    /* Of several kinds of core, one runs at a time, and that none is given up half-way is what
       pinning is for: a pinned event that lost its hardware reads as the end of a file. */
    sum += reading.value;
  }
  *count = (long long)sum;
  return 0;
}

/* The same by instruction: the event of the core that this is has an index, the others stand
   still. */
static CPUCYCLES_PERF_GUARDED int read_pages(const struct cpucycles_perf_method *method,
  long long *count)
{
  int tries;

  for (tries = 0; tries < PATIENCE; tries++) {
    uint32_t lock[KINDS] = { 0 };
    unsigned long long sum = 0;
    int i, live = 0, changed = 0;

    for (i = 0; i < own.count; i++)
      lock[i] = ((const volatile struct perf_event_mmap_page *)own.event[i].page)->lock;
    for (i = 0; i < own.count; i++) {
      const volatile struct perf_event_mmap_page *page = own.event[i].page;
      uint32_t index = page->index;
      int spare = 64 - page->pmc_width;

      sum += (unsigned long long)page->offset;
      if (index != 0) {
        sum += (unsigned long long)((int64_t)(method->instruction(index) << spare) >> spare);
        live++;
      }
    }
    for (i = 0; i < own.count; i++)
      changed |= ((const volatile struct perf_event_mmap_page *)own.event[i].page)->lock != lock[i];
    if (!changed) {
      *count = (long long)sum;
      return live == 1 ? 0 : -1;
    }
  }
  return -1;
}

static int are_pages_readable(void)
{
  int i;

  for (i = 0; i < own.count; i++)
    if (!own.event[i].page || !own.event[i].page->cap_user_rdpmc
      || own.event[i].page->pmc_width == 0
      || own.event[i].page->pmc_width > 64)
      return 0;
  return own.count > 0;
}

/* Does the kernel show the register of the core that this is? Others' have no index. */
static int is_shown(void)
{
  int i;

  if (!are_pages_readable())
    return 0;
  for (i = 0; i < own.count; i++)
    if (((const volatile struct perf_event_mmap_page *)own.event[i].page)->index != 0)
      return 1;
  return 0;
}

/* Reads follow the page of a single event; several are added up in the slow way. */
static void lead_to_page(void)
{
  int is_single = own.count == 1 && are_pages_readable();

  cpucycles_perf_mark->base = own.base;
  cpucycles_perf_mark->page = is_single
    ? (intptr_t)((uintptr_t)own.event[0].page - (uintptr_t)cpucycles_perf_mark) : 0;
}

/* Is the page still there, and the kernel's, or what we have put in its place? Its first page
   ends where data would begin. */
static int is_page(const struct perf_event_mmap_page *page)
{
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char resident;

  return mincore((void *)page, size, &resident) == 0
    && ((const volatile struct perf_event_mmap_page *)page)->data_offset == size;
}

/* Closes what is still ours. A forked child has descriptors, and no pages. */
static void close_events(int unmap)
{
  int i, count = own.count;

  own.count = 0;
  own.state = UNOPENED;
  if (cpucycles_perf_mark != &no_mark)
    cpucycles_perf_mark->page = 0;
  for (i = 0; i < count; i++) {
    if (unmap && own.event[i].page && is_page(own.event[i].page))
      kernel_unmap(own.event[i].page);
    if (is_still_ours(&own.event[i]))
      kernel_close(own.event[i].descriptor);
  }
}

static void leave_mark(void)
{
  void *mark = cpucycles_perf_mark;

  cpucycles_perf_mark = &no_mark;
  if (mark != &no_mark)
    munmap(mark, (size_t)sysconf(_SC_PAGESIZE));
}

static void take_mark(void)
{
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *mark;

  if (cpucycles_perf_mark == &no_mark) {
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
    if (cpucycles_perf_mark != &no_mark && method->instruction)
      for (i = 0; i < own.count; i++)
        own.event[i].page = kernel_map(own.event[i].descriptor);
    if (pthread_setspecific(at_exit, &own) != 0 || read_events(&count) != 0)
      error = EIO;
  }
  if (error != 0) {
    close_events(1);
    leave_mark();
    return error;
  }
  own.base = own.last - count;
  if (cpucycles_perf_mark != &no_mark)
    lead_to_page();
  return 0;
}

/* Finds out where this thread's count is, without descriptors. */
static void last_from_pages(void)
{
  long long bound;
  int i;

  if (cpucycles_perf_mark != &no_mark && are_pages_readable() && !own.is_page_replaced) {
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

/* The next best, for this thread, from here on. The pages stay: a read that this one has
   interrupted may be looking at them. */
static void go_on_with_next_best(const struct cpucycles_perf_method *method)
{
  int i;

  if (own.state == NEXT_BEST)
    return; /* a signal handler was faster */
  if (own.state == EVENTS && method->instruction)
    last_from_pages();
  for (i = 0; i < own.count; i++)
    if (is_still_ours(&own.event[i])) {
      kernel_close(own.event[i].descriptor);
      own.event[i].descriptor = -1;
    }
  if (cpucycles_perf_mark != &no_mark)
    cpucycles_perf_mark->page = 0;
  own.state = NEXT_BEST;
  own.base = own.last - cpucycles_next_best();
  if (!own.is_exiting)
    cpucycles_note("by-next-best");
}

/* Ends what this thread has, and knows where its count is. */
static void end_events(void)
{
  int forked = is_forked();
  long long count;

  if (own.state == EVENTS && !forked) {
    if (read_events(&count) != 0)
      last_from_pages();
    else if (own.base + count > own.last)
      own.last = own.base + count;
  }
  close_events(!forked);
  leave_mark();
}

/* There is no other destructor after the last one, to close what a read in a later one would
   open. */
static void thread_exits(void *unused)
{
  sigset_t mask;

  (void)unused;
  perf_event_wait_begin(&mask);
  end_events();
  own.is_exiting = 1;
  perf_event_wait_end(&mask);
}

/* The copies of the parent's descriptors tell what it had counted, and a little more; without
   them, only time tells what it cannot have exceeded. */
static void begin_in_child(void)
{
  long long count;

  if (own.state == EVENTS) {
    if (read_events(&count) != 0)
      count = 10 * (nanoseconds(CLOCK_MONOTONIC) - own.opened);
    if (own.base + count > own.last)
      own.last = own.base + count;
    close_events(0);
  }
  if (cpucycles_perf_mark != &no_mark)
    cpucycles_perf_mark->alive = 1;
}

/* Where SIGSYS leads, while this thread opens its events. */
static CPUCYCLES_PERF_TLS sigjmp_buf *escape;

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

/* A thread's first read, and a forked child's. */
static void begin(const struct cpucycles_perf_method *method)
{
  sigset_t mask;

  perf_event_wait_begin(&mask);
  if (is_forked())
    begin_in_child();
  if (own.state == UNOPENED && (own.is_exiting || open_unless_filtered(method) != 0))
    go_on_with_next_best(method);
  perf_event_wait_end(&mask);
}

static void lose(const struct cpucycles_perf_method *method)
{
  sigset_t mask;

  perf_event_wait_begin(&mask);
  go_on_with_next_best(method);
  perf_event_wait_end(&mask);
}

long long cpucycles_perf_slow(const struct cpucycles_perf_method *method)
{
  int saved_errno = errno;
  long long count = own.last;

  if (own.state == UNOPENED || is_forked())
    begin(method);
  if (own.state == EVENTS) {
    if (method->instruction && own.count > 1 && are_pages_readable()
      && read_pages(method, &count) == 0)
      count += own.base;
    else if (read_events(&count) == 0) {
      count += own.base;
      /* else it was only a thread's first */
      if (method->instruction && (own.count > 1 || !is_shown()))
        cpucycles_note("by-read");
    } else
      lose(method);
  }
  if (own.state == NEXT_BEST)
    count = own.base + cpucycles_next_best();
  if (count > own.last)
    own.last = count;
  errno = saved_errno;
  return own.last;
}

/* Makes the path of something in a PMU's folder. Returns 0 if it is too long for one. */
static int pmu_path(char *path, size_t size, const char *pmu, const char *file)
{
  if (strlen(CPUCYCLES_PERF_DEVICES) + strlen(pmu) + strlen(file) >= size)
    return 0;
  strcpy(path, CPUCYCLES_PERF_DEVICES);
  strcat(path, pmu);
  strcat(path, file);
  return 1;
}

/* Reads what follows `before` in such a file, a number that ends the line or comes before a
   comma. */
static int pmu_number(const char *pmu, const char *file, const char *before, unsigned base,
  uint64_t *number)
{
  static const char digits[] = "0123456789abcdef";
  char path[512], text[64];
  int i = (int)strlen(before), begin = i, length;

  if (!pmu_path(path, sizeof path, pmu, file))
    return -1;
  length = read_kernel_file(path, text, sizeof text);
  if (length <= begin || memcmp(text, before, (size_t)begin) != 0)
    return -1;
  for (*number = 0; i < length && text[i] != '\n'; i++) {
    const char *digit = memchr(digits, text[i], base);

    if (!digit || *number > UINT32_MAX / base - 1)
      return -1;
    *number = *number * base + (uint64_t)(digit - digits);
  }
  return i > begin ? 0 : -1;
}

/* Is it the PMU of some of the cores? Then it says of which. Names that no such PMU has are not
   looked at. */
static int is_core_pmu(const char *name)
{
  char path[512];

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
  uint64_t type, config;

  if (kind_count == KINDS || pmu_number(pmu, "/type", "", 10, &type) != 0)
    return ENODEV;
  kinds[kind_count].type = CPUCYCLES_PERF_TYPE;
  kinds[kind_count].config = type << 32 | CPUCYCLES_PERF_CONFIG;
  if (!can_open(kinds[kind_count].type, kinds[kind_count].config, method)) {
    if (pmu_number(pmu, "/events/cpu_cycles", "event=0x", 16, &config) != 0
      && pmu_number(pmu, "/events/cycles", "event=0x", 16, &config) != 0)
      return ENODEV;
    kinds[kind_count].type = (uint32_t)type;
    kinds[kind_count].config = config;
    if (!can_open(kinds[kind_count].type, kinds[kind_count].config, method))
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
    error = pthread_key_create(&at_exit, thread_exits);
    at_exit_made = error == 0;
  }
  if (error == 0)
    error = open_event(CPUCYCLES_PERF_TYPE, CPUCYCLES_PERF_CONFIG, method);
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
  if (error == 0 && method->instruction && !is_shown()) {
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
  close_events(!is_forked());
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
  end_events();
  own.is_exiting = 1;
  if (at_exit_made)
    pthread_key_delete(at_exit);
  at_exit_made = 0;
}

/* The linker's names for where the section begins and ends. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): they are the linker's */
extern const char __start_cpucycles_perf_reads[] __attribute__((visibility("hidden")));
/* NOLINTNEXTLINE(bugprone-reserved-identifier): as above; hidden, or lld exports both */
extern const char __stop_cpucycles_perf_reads[] __attribute__((visibility("hidden")));

int cpucycles_perf_is_guarded(uintptr_t place)
{
  return place >= (uintptr_t)__start_cpucycles_perf_reads
    && place < (uintptr_t)__stop_cpucycles_perf_reads;
}

/* Puts memory of our own where a page is, or was. A reader that has its lock from the page finds
   another, an odd one as the kernel never leaves it, and begins again, without an index. */
static int replace_page(struct event *event, int flags)
{
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(event->page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
    -1, 0);

  if (page == MAP_FAILED)
    return 0;
  if (page != event->page) { /* something else is there */
    munmap(page, size);
    return 0;
  }
  event->page->lock = 1;
  event->page->data_offset = size;
  own.is_page_replaced = 1;
  /* cppcheck-suppress memleak ; it is where event->page says */
  return 1;
}

int cpucycles_perf_rescue_instruction(void)
{
  int saved_errno = errno, i, done = own.count > 0;

  for (i = 0; i < own.count; i++)
    done &= own.event[i].page && is_page(own.event[i].page)
      && replace_page(&own.event[i], MAP_FIXED);
  errno = saved_errno;
  return done;
}

const int cpucycles_perf_rescued[] = { SIGILL, SIGBUS, SIGSEGV, SIGSYS, 0 };
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

int cpucycles_perf_rescue_page(const void *info)
{
  uintptr_t place = (uintptr_t)((const siginfo_t *)info)->si_addr;
  int saved_errno = errno, i, done = 0;

  for (i = 0; i < own.count; i++) {
    uintptr_t page = (uintptr_t)own.event[i].page;

    if (page && place >= page && place - page < (uintptr_t)sysconf(_SC_PAGESIZE))
      done = replace_page(&own.event[i], MAP_FIXED_NOREPLACE);
  }
  errno = saved_errno;
  return done;
}
