/* SPDX-License-Identifier: 0BSD OR MIT */
/* Perf events of user-mode core cycles, for the counters that read them: by an instruction and
   the kernel's page (perf-cycles.h), or by read(2). Each thread has its own, opened at its first
   read and closed when it exits (perf-open.c). What is lost (the page, the instruction, the
   descriptor) is done without: by read(2), then by the next best counter, and a thread's count
   goes on upward from where it was.
   Width: 64 bits, extended by the kernel. Rate: the core's, as it runs.
   Source: perf_event_open(2), sections "read_format", "MMAP layout" and "pinned". */

#include "config.h"

#include "backends/backend.h"
#include "backends/perf-cycles.h"
#include "backends/perf-thread.h"

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

enum { PATIENCE = 100 /* pages that change under the reader's eyes, until read(2) is asked */ };

struct cpucycles_perf_mark cpucycles_perf_no_mark;

CPUCYCLES_TLS struct cpucycles_perf_mark *cpucycles_perf_mark = &cpucycles_perf_no_mark;

CPUCYCLES_TLS struct cpucycles_perf_thread cpucycles_perf_own;

/* Where the kernel wipes no mark, the process tells. */
int cpucycles_perf_is_forked(void)
{
  if (cpucycles_perf_mark != &cpucycles_perf_no_mark)
    return !cpucycles_perf_mark->alive;
  return own.state == EVENTS && own.process != getpid();
}

/* The descriptor may have been closed behind our back, and be something else by now. */
int cpucycles_perf_is_ours(const struct event *event)
{
  uint64_t id = 0;

  return kernel_identify(event->descriptor, &id) == 0 && id == event->id;
}

/* What the events have counted together, by read(2), if it is the whole count. */
int cpucycles_perf_read_events(long long *count)
{
  unsigned long long sum = 0;
  int i;

  if (own.count == 0)
    return -1;
  for (i = 0; i < own.count; i++) {
    struct reading reading;

    if (!cpucycles_perf_is_ours(&own.event[i])
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

int cpucycles_perf_are_pages_readable(void)
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
int cpucycles_perf_is_shown(void)
{
  int i;

  if (!cpucycles_perf_are_pages_readable())
    return 0;
  for (i = 0; i < own.count; i++)
    if (((const volatile struct perf_event_mmap_page *)own.event[i].page)->index != 0)
      return 1;
  return 0;
}

/* Is the page still there, and the kernel's, or what we have put in its place? Its first page
   ends where data would begin. */
int cpucycles_perf_is_page(const struct perf_event_mmap_page *page)
{
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char resident;

  return mincore((void *)page, size, &resident) == 0
    && ((const volatile struct perf_event_mmap_page *)page)->data_offset == size;
}

/* Signals wait while a thread's events are not of one piece; what came meanwhile comes here. */
static void calmly(void (*change)(const struct cpucycles_perf_method *),
  const struct cpucycles_perf_method *method)
{
  sigset_t mask;

  perf_event_wait_begin(&mask);
  change(method);
  perf_event_wait_end(&mask);
}

/* There is no other destructor after the last one, to close what a read in a later one would
   open. */
void cpucycles_perf_thread_exits(void *unused)
{
  (void)unused;
  calmly(cpucycles_perf_end, NULL);
}

long long cpucycles_perf_slow(const struct cpucycles_perf_method *method)
{
  int saved_errno = errno;
  long long count = own.last;

  if (own.state == UNOPENED || cpucycles_perf_is_forked())
    calmly(cpucycles_perf_begin, method);
  if (own.state == EVENTS) {
    if (method->instruction && own.count > 1 && cpucycles_perf_are_pages_readable()
      && read_pages(method, &count) == 0)
      count += own.base;
    else if (cpucycles_perf_read_events(&count) == 0) {
      count += own.base;
      /* else it was only a thread's first */
      if (method->instruction && (own.count > 1 || !cpucycles_perf_is_shown()))
        cpucycles_note("by-read");
    } else
      calmly(cpucycles_perf_lose, method);
  }
  if (own.state == NEXT_BEST)
    count = own.base + cpucycles_next_best();
  if (count > own.last)
    own.last = count;
  errno = saved_errno;
  return own.last;
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
    done &= own.event[i].page && cpucycles_perf_is_page(own.event[i].page)
      && replace_page(&own.event[i], MAP_FIXED);
  errno = saved_errno;
  return done;
}

const int cpucycles_perf_rescued[] = { SIGILL, SIGBUS, SIGSEGV, SIGSYS, 0 };

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
