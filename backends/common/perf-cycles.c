/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the calling thread's perf events of user-mode core cycles: by an instruction and the mmap
   page (hot path: perf-cycles.h), or by read(2). perf-open.c opens them at a thread's first read,
   and closes them when it exits. A thread that loses the page, the instruction or the descriptor
   continues by read(2), then by the next best counter, upward from its last read.
   Width: 64 bits, extended by the kernel. Rate: the core's current frequency.
   Source: perf_event_open(2), sections "read_format", "MMAP layout" and "pinned". */

#include "config.h"

#include "backends/backend.h"
#include "backends/common/perf-cycles.h"
#include "backends/common/perf-thread.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { RETRIES = 100 /* of the page's seqlock, before read(2) is used */ };

const struct perf_event_mmap_page cpucycles_perf_no_page;

CPUCYCLES_TLS struct cpucycles_perf_thread cpucycles_perf_self = {
  .only_page = &cpucycles_perf_no_page,
  .index = UINT32_MAX,
  .only_descriptor = -1,
};

int cpucycles_perf_has_descriptor(const struct cpucycles_perf_event *event)
{
  uint64_t id = 0;

  return event->descriptor >= 0 && kernel_identify(event->descriptor, &id) == 0 && id == event->id;
}

/* Returns 0 if the program has closed the descriptor or reused its number, and for a pinned event
   that lost its hardware: read(2) then returns 0. */
static inline int read_event(const struct cpucycles_perf_event *event, struct reading *reading)
{
  return kernel_read(event->descriptor, reading) == (ssize_t)sizeof *reading
    && reading->id == event->id;
}

int cpucycles_perf_read_descriptors(long long *count)
{
  unsigned long long sum = (unsigned long long)self.base;
  struct reading reading;
  int i;

  for (i = 0; i < self.event_count; i++) {
    if (!read_event(&self.events[i], &reading))
      return -1;
    if (self.event_count == 1 && reading.enabled != reading.running)
      return -1; /* some time is missing; of several events, one runs at a time */
    sum += reading.value;
  }
  *count = (long long)sum;
  return 0;
}

/* Volatile, as the kernel changes the page. */
static inline __attribute__((always_inline)) const volatile struct perf_event_mmap_page *
page_of(int i)
{
  return self.events[i].page;
}

/* Reads this thread's count by the instruction and the pages. Returns -1 if no page shows it, or if
   the events did not count all of the time. Only the event for this kind of core has an index; the
   others stand still. */
static CPUCYCLES_PERF_GUARDED int read_pages(const struct cpucycles_perf_method *method,
  long long *count)
{
  int tries;

  for (tries = 0; tries < RETRIES; tries++) {
    unsigned long long sum = (unsigned long long)self.base;
    uint32_t lock[CPUCYCLES_PERF_KINDS] = { 0 }, current = 0;
    int i, is_changed = 0, shift = 0, is_partial = 0;

    for (i = 0; i < self.event_count; i++)
      lock[i] = page_of(i)->lock;
    for (i = 0; i < self.event_count; i++) {
      const volatile struct perf_event_mmap_page *page = page_of(i);
      uint32_t index = page->index;

      sum += (unsigned long long)page->offset;
      is_partial |= (index != 0 && current != 0)
        || (self.event_count == 1 && page->time_enabled != page->time_running);
      if (index != 0) {
        current = index;
        shift = 64 - page->pmc_width;
        sum += (unsigned long long)((int64_t)(method->instruction(index) << shift) >> shift);
      }
    }
    for (i = 0; i < self.event_count; i++)
      is_changed |= page_of(i)->lock != lock[i];
    if (!is_changed) {
      if (shift == self.shift && current != 0)
        self.index = current; /* the kernel has moved the event to another counter */
      *count = (long long)sum;
      return current != 0 && !is_partial ? 0 : -1;
    }
  }
  return -1;
}

int cpucycles_perf_pages_show_count(void)
{
  int i, shown = 0;

  for (i = 0; i < self.event_count; i++) {
    const volatile struct perf_event_mmap_page *page = page_of(i);

    if (!page || !page->cap_user_rdpmc || page->pmc_width == 0 || page->pmc_width > 64)
      return 0;
    shown |= page->index != 0;
  }
  return shown;
}

/* data_offset of the kernel's page is the size of a page, as the ring buffer would follow. */
int cpucycles_perf_is_page(const struct perf_event_mmap_page *page)
{
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char resident;

  return mincore((void *)page, size, &resident) == 0
    && ((const volatile struct perf_event_mmap_page *)page)->data_offset == size;
}

void cpucycles_perf_with_signals_blocked(void (*change)(const struct cpucycles_perf_method *),
  const struct cpucycles_perf_method *method)
{
  sigset_t mask;

  perf_event_block_signals(&mask);
  change(method);
  perf_event_restore_signals(&mask);
}

/* Does the event stand still in the process that opened it, as after PR_TASK_PERF_EVENTS_DISABLE?
   Not in a child of vfork(): it shares its parent's storage, and the parent's event stands still
   there. */
static int is_disabled(long long count)
{
  return count == self.last && getpid() == self.process;
}

/* Reads in every state, and changes the state where a read fails. If the thread has one descriptor,
   cpucycles_perf_slow() has failed to read it. The descriptor is then identified before it is read
   again, because it may belong to another file. */
static __attribute__((noinline)) long long
read_and_recover(const struct cpucycles_perf_method *method, int saved_errno)
{
  long long count = self.last;

  if (self.state == CPUCYCLES_PERF_UNOPENED || is_forked())
    cpucycles_perf_with_signals_blocked(cpucycles_perf_begin_thread, method);
  if (self.state == CPUCYCLES_PERF_BY_PAGES && read_pages(method, &count) != 0)
    cpucycles_perf_with_signals_blocked(cpucycles_perf_leave_pages, method);
  if (self.state == CPUCYCLES_PERF_BY_DESCRIPTORS
    && ((self.only_descriptor >= 0 && !cpucycles_perf_has_descriptor(&self.events[0]))
      || cpucycles_perf_read_descriptors(&count) != 0 || is_disabled(count)))
    cpucycles_perf_with_signals_blocked(cpucycles_perf_use_next_best, method);
  if (self.state == CPUCYCLES_PERF_BY_NEXT_BEST)
    count = self.base + cpucycles_next_best();
  if (count > self.last)
    self.last = count;
  errno = saved_errno;
  return self.last;
}

/* The usual read by read(2) comes first, and is one system call. */
long long cpucycles_perf_slow(const struct cpucycles_perf_method *method)
{
  unsigned long long base = (unsigned long long)self.base;
  int saved_errno = errno;
  struct reading reading;

  if (self.only_descriptor >= 0 && self.process == cpucycles_perf_this_process()
    && read_event(&self.events[0], &reading)
    && reading.enabled == reading.running) {
    long long count = (long long)(base + reading.value);

    if (count > self.last)
      return self.last = count;
  }
  return read_and_recover(method, saved_errno);
}

/* The linker's names of the section's begin and end. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): they are the linker's */
extern const char __start_cpucycles_perf_reads[] __attribute__((visibility("hidden")));
/* NOLINTNEXTLINE(bugprone-reserved-identifier): as above; hidden, or lld exports both */
extern const char __stop_cpucycles_perf_reads[] __attribute__((visibility("hidden")));

int cpucycles_perf_is_guarded(uintptr_t address)
{
  return address >= (uintptr_t)__start_cpucycles_perf_reads
    && address < (uintptr_t)__stop_cpucycles_perf_reads;
}

/* The new page's lock is odd, a value that the kernel's page never keeps. */
int cpucycles_perf_replace_page(struct cpucycles_perf_event *event, int flags)
{
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(event->page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
    -1, 0);

  if (page == MAP_FAILED)
    return 0;
  if (page != event->page) { /* the place is in use by something else */
    munmap(page, size);
    return 0;
  }
  event->page->lock = 1;
  event->page->data_offset = size;
  /* cppcheck-suppress memleak ; event->page points to it */
  return 1;
}

int cpucycles_perf_rescue_instruction(void)
{
  int saved_errno = errno, i, done = self.event_count > 0;

  if (is_forked())
    return 1; /* the read of the lock comes next and faults, too: cpucycles_perf_rescue_page() */
  for (i = 0; i < self.event_count; i++)
    done &= self.events[i].page && cpucycles_perf_is_page(self.events[i].page);
  if (done && self.state == CPUCYCLES_PERF_BY_PAGES)
    cpucycles_perf_with_signals_blocked(cpucycles_perf_leave_pages, self.method);
  for (i = 0; done && self.state == CPUCYCLES_PERF_BY_PAGES && i < self.event_count; i++)
    done = cpucycles_perf_replace_page(&self.events[i], MAP_FIXED); /* in a child of vfork() */
  errno = saved_errno;
  return done;
}

const int cpucycles_perf_rescued[] = { SIGILL, SIGBUS, SIGSEGV, SIGSYS, 0 };

int cpucycles_perf_rescue_page(const void *info)
{
  uintptr_t address = (uintptr_t)((const siginfo_t *)info)->si_addr;
  int saved_errno = errno, i, done = 0;

  for (i = 0; i < self.event_count; i++) {
    uintptr_t page = (uintptr_t)self.events[i].page;

    if (page && address >= page && address - page < (uintptr_t)sysconf(_SC_PAGESIZE))
      done = cpucycles_perf_replace_page(&self.events[i], MAP_FIXED_NOREPLACE);
  }
  errno = saved_errno;
  return done;
}
