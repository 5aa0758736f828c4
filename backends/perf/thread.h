/* SPDX-License-Identifier: 0BSD OR MIT */
/* Counters that read perf events of core cycles: what belongs to a counter, and to a thread. Each
   file of this directory calls only files before it in this list, and sys/perf/: open.c opens and
   closes the events of a thread and changes its state, read.c has the slow path, and counter.h the
   hot path. A thread changes its state as follows:

   UNOPENED     -> VIA_MMAP, VIA_READ or VIA_FALLBACK   at its first read
   VIA_MMAP     -> VIA_READ or VIA_FALLBACK   if the page does not contain the count
   VIA_READ     -> VIA_FALLBACK   if read(2) does not return the count
   all of them  -> UNOPENED   in a forked child, and at the exit of the thread

   Source: linux/perf_event.h, struct perf_event_mmap_page. */

#ifndef CPUCYCLES_PERF_THREAD_H
#define CPUCYCLES_PERF_THREAD_H

#include "backends/backend.h"
#include "sys/perf/kernel.h"
#include "sys/perf/pmu.h"
#include "sys/perf/event.h"
#include "sys/thread-local.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The result of read(2), in the order of the bits in read_format. */
enum {
  CPUC_PERF_READ_FORMAT
    = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID
};
struct cpuc_perf_reading {
  uint64_t value, enabled, running, id;
};

/* Properties of one counter. The functions for opening, reading and explaining get a pointer to
   them. */
struct cpuc_perf_counter {
  /* Reads hardware counter number index - 1. index is the index in the page, and not 0. NULL: the
     counter is read with read(2). */
  uint64_t (*instruction)(uint32_t index);
  /* The index of the fixed counter of cycles, which cores of all types have. On a hybrid CPU, the
     instruction reads only this counter: after a move of the thread, an index that the new core
     lacks would fault. */
  uint32_t fixed_index;
  /* The width that read() of the backend requires; 0: any. The slow path reads hardware counters of
     other widths. */
  int width;
  /* config1 of perf_event_attr, for a PMU on which an event must request user-space access. */
  uint64_t config1;
  /* Explains why programs may not read the register, although the event opened. */
  void (*diagnose_access)(struct cpuc_diagnosis *diagnosis);
};

/* How a thread reads. */
enum cpuc_perf_state {
  CPUC_PERF_UNOPENED,
  CPUC_PERF_VIA_MMAP,
  CPUC_PERF_VIA_READ,
  CPUC_PERF_VIA_FALLBACK
};

/* The storage of a thread. The hot path uses the first members. A signal handler that reads may
   change all members, at any point of an interrupted read. */
struct cpuc_perf_thread {
  /* The page of the only event of the thread, if the hot path can use it; otherwise a page whose
     index is 0. */
  const volatile struct perf_event_mmap_page *only_page;
  long long base;          /* added to the count of the events, by page and by read(2) */
  long long fallback_base; /* added to the count of the fallback counter */
  long long last; /* result of the last read; after a loss, the count continues from here */
  /* The index of a hardware counter that, as the slow path has found, has 64 - shift bits. The hot
     path uses `shift` only while page->index has this value. UINT32_MAX: no index yet. */
  uint32_t index;
  int shift; /* 64 minus the width of the hardware counter at the opening */
  enum cpuc_perf_state state;
  /* In a forked child that has not read yet, the events are those of the parent: the descriptors
     are copies, and each page is NULL. */
  int event_count;
  struct cpuc_perf_event events[CPUC_PERF_CORE_TYPES];
  const volatile struct perf_event_mmap_page *pages[CPUC_PERF_CORE_TYPES]; /* NULL: not mapped */
  int is_exiting; /* 1: the thread must not open events, because nothing would close them */
};

extern CPUC_THREAD_LOCAL struct cpuc_perf_thread cpuc_perf_self;

/* The only_page of a thread that cannot take the hot path. The index in this page is 0. */
extern const struct perf_event_mmap_page cpuc_perf_no_page;

/* Returns the only index that the instruction may read, or 0 if it may read any. */
static inline uint32_t cpuc_perf_only_index(const struct cpuc_perf_counter *counter,
  int event_count)
{
  return event_count == 1 ? 0 : counter->fixed_index;
}

/* Returns the base. A read loads the state first, then the base, and then reads the events: only
   the first read of a thread, and the change from VIA_MMAP to VIA_READ, store a base, and a read in
   a signal handler can make both. */
static inline unsigned long long cpuc_perf_load_base(void)
{
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return (unsigned long long)cpuc_perf_self.base;
}

/* Reads one event with read(2). Returns 0 if the program has closed the descriptor or reused its
   number, or if the pinned event has lost its hardware. */
static inline int cpuc_perf_read_descriptor(const struct cpuc_perf_event *event,
  struct cpuc_perf_reading *reading)
{
  return cpuc_perf_kernel_read(event->descriptor, reading, sizeof *reading)
      == (ssize_t)sizeof *reading
    && reading->id == event->id;
}

/* The services for the counter that was opened last. */
extern const struct cpuc_services *cpuc_perf_services;

/* Functions for struct cpuc_backend. open() fails if the counter has an instruction and the kernel
   does not allow this instruction. */
int cpuc_perf_open(const struct cpuc_perf_counter *opened, const struct cpuc_services *services,
  struct cpuc_diagnosis *diagnosis);
void cpuc_perf_close(void);
void cpuc_perf_explain(const struct cpuc_perf_counter *dropped, int error, int signal,
  struct cpuc_diagnosis *diagnosis);
void cpuc_perf_forked(void);

/* Changes the state of the thread, as shown above, unless it is no longer `state`. UNOPENED: opens
   the events of a thread or of a forked child at its first read. VIA_MMAP: reads the same events
   with read(2), and opens them once more if read(2) does not return their count. VIA_READ:
   continues with the fallback counter. */
void cpuc_perf_change_from(enum cpuc_perf_state state);

/* Reads the count of this thread with read(2). Returns 0, or -1 if read(2) fails, or if the only
   event of the thread did not count all of the time. The times of several events are not tested,
   because only one of these events counts at a time. */
int cpuc_perf_read_descriptors(long long *count);

/* The slow path: returns the count of the calling thread in every state. Opens its events, and
   changes the state, as needed. Not inlined by link-time optimization either, because the hot path
   would then save the registers that only this function needs. */
__attribute__((noinline)) long long cpuc_perf_read_slowly(const struct cpuc_perf_counter *counter);

#pragma GCC visibility pop

#endif
