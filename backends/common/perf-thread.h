/* SPDX-License-Identifier: 0BSD OR MIT */
/* Private to perf-cycles.c, which reads a thread's events, and perf-open.c, which opens and closes
   them. */

#ifndef CPUCYCLES_PERF_THREAD_H
#define CPUCYCLES_PERF_THREAD_H

#include "backends/common/perf-cycles.h"
#include "sys/perf-event.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

/* Result of read(2), in the order of read_format's bits. */
struct reading {
  uint64_t value, enabled, running, id;
};

/* System calls. A test defines its own instead. */
#ifndef CPUCYCLES_PERF_KERNEL

static inline int kernel_open(struct perf_event_attr *wanted)
{
  return perf_event_open_in(wanted, -1);
}

static inline int kernel_identify(int descriptor, uint64_t *id)
{
  return perf_event_identify(descriptor, id);
}

/* Needs no retry: a signal does not interrupt the read of an event. By syscall(), because read() is
   a cancellation point. */
static inline ssize_t kernel_read(int descriptor, struct reading *reading)
{
  return syscall(SYS_read, descriptor, reading, sizeof *reading);
}

static inline struct perf_event_mmap_page *kernel_map(int descriptor)
{
  void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, descriptor, 0);

  /* cppcheck-suppress memleak ; the caller has it */
  return page == MAP_FAILED ? NULL : page;
}

static inline void kernel_unmap(void *page)
{
  munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

static inline void kernel_close(int descriptor)
{
  perf_event_close(descriptor);
}

#endif

/* The calling thread's storage. */
#define self cpucycles_perf_self

/* The page of a thread without events, or with several. */
extern const struct perf_event_mmap_page cpucycles_perf_no_page;

/* Points to a word with the PID of this process; in a forked child, 0 until its first read. */
extern pid_t *cpucycles_perf_process;

static inline pid_t *cpucycles_perf_process_word(void)
{
  return __atomic_load_n(&cpucycles_perf_process, __ATOMIC_ACQUIRE);
}

static inline pid_t cpucycles_perf_this_process(void)
{
  return __atomic_load_n(cpucycles_perf_process_word(), __ATOMIC_RELAXED);
}

/* Is this thread's storage a copy of another process's? */
static inline int is_forked(void)
{
  return self.state != CPUCYCLES_PERF_UNOPENED && self.process != cpucycles_perf_this_process();
}

/* perf-cycles.c. */

/* Is the descriptor still the event's? The program may have closed or reused it. */
int cpucycles_perf_has_descriptor(const struct cpucycles_perf_event *event);

/* Reads this thread's count by read(2). Returns -1 if the events did not count all of the time. */
int cpucycles_perf_read_descriptors(long long *count);

/* Does every event have a page that lets programs read a register, and does one of them have an
   index? Events for other kinds of core have none. */
int cpucycles_perf_pages_show_count(void);

/* Is the page the kernel's or our replacement, and not memory of the program? */
int cpucycles_perf_is_page(const struct perf_event_mmap_page *page);

/* Replaces an event's page by one without an index. A read that was interrupted there finds another
   lock, and retries. Returns 0 if the page cannot be replaced. */
int cpucycles_perf_replace_page(struct cpucycles_perf_event *event, int flags);

/* Calls change(method) with signals blocked. */
void cpucycles_perf_with_signals_blocked(void (*change)(const struct cpucycles_perf_method *),
  const struct cpucycles_perf_method *method);

/* perf-open.c. To be called with signals blocked. */

/* First read of a thread, or of a forked child: opens its events, or falls back to the next best
   counter. */
void cpucycles_perf_begin_thread(const struct cpucycles_perf_method *method);

/* If the pages do not show the count: opens the events again, for read(2). */
void cpucycles_perf_leave_pages(const struct cpucycles_perf_method *method);

/* If the events cannot be read: continues with the next best counter. */
void cpucycles_perf_use_next_best(const struct cpucycles_perf_method *method);

#pragma GCC visibility pop

#endif
