/* SPDX-License-Identifier: 0BSD OR MIT */
/* What perf-cycles.c, which reads a thread's events, and perf-open.c, which opens and ends them,
   know of each other, and nobody else does. */

#ifndef CPUCYCLES_PERF_THREAD_H
#define CPUCYCLES_PERF_THREAD_H

#include "backends/perf-cycles.h"
#include "backends/perf-event.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

enum { KINDS = 4 /* of core, that are told apart */ };

/* What read_format asks for, in the kernel's order. */
struct reading {
  uint64_t value, enabled, running, id;
};

struct event {
  int descriptor;
  uint64_t id;                       /* which no other event has */
  struct perf_event_mmap_page *page; /* 0: not mapped */
};

/* What the kernel does for these files. Tests have another one. */
#ifndef CPUCYCLES_PERF_KERNEL

static inline int kernel_open(struct perf_event_attr *wanted)
{
  return perf_event_open_in(wanted, -1);
}

static inline int kernel_identify(int descriptor, uint64_t *id)
{
  return perf_event_identify(descriptor, id);
}

static inline ssize_t kernel_read(int descriptor, struct reading *reading)
{
  return perf_event_read(descriptor, reading, sizeof *reading);
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

enum state { UNOPENED, EVENTS, NEXT_BEST };

/* What a thread owns, and a forked child has a copy of. */
struct cpucycles_perf_thread {
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
};

extern CPUCYCLES_TLS struct cpucycles_perf_thread cpucycles_perf_own;
#define own cpucycles_perf_own

/* Of a thread that has no events. */
extern struct cpucycles_perf_mark cpucycles_perf_no_mark;

/* perf-cycles.c. */

/* Is this a child that has been forked off since the events were opened? */
int cpucycles_perf_is_forked(void);

/* Is the descriptor still the event's? */
int cpucycles_perf_is_ours(const struct event *event);

/* What the events have counted together, by read(2). Returns -1 if that is not the whole count. */
int cpucycles_perf_read_events(long long *count);

/* Do all events have a page by which programs may read? And does the kernel show the register of
   the core that this is? */
int cpucycles_perf_are_pages_readable(void);
int cpucycles_perf_is_shown(void);

/* Is the page still there, and the kernel's, or what we have put in its place? */
int cpucycles_perf_is_page(const struct perf_event_mmap_page *page);

/* Closes the events of a thread that exits. */
void cpucycles_perf_thread_exits(void *unused);

/* perf-open.c: called while signals wait. */

/* A thread's first read, and a forked child's: opens its events, or goes on with the next best. */
void cpucycles_perf_begin(const struct cpucycles_perf_method *method);

/* The events cannot be read: the next best, for this thread, from here on. */
void cpucycles_perf_lose(const struct cpucycles_perf_method *method);

/* Ends what this thread has, for good. */
void cpucycles_perf_end(const struct cpucycles_perf_method *unused);

#pragma GCC visibility pop

#endif
