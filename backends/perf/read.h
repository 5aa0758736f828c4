/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the events of the calling thread, and changes nothing but the hint cpuc_perf_self.index. */

#ifndef CPUCYCLES_PERF_READ_H
#define CPUCYCLES_PERF_READ_H

#include "backends/perf/kernel.h"
#include "backends/perf/thread.h"

#pragma GCC visibility push(hidden)

/* Returns the base. A read loads the state or reads_one_descriptor first, then the base, and then
   reads the events: only the first read of a thread, and the change from VIA_MMAP to VIA_READ,
   store a base, and a read in a signal handler can make both. */
static inline unsigned long long cpuc_perf_load_base(void)
{
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return (unsigned long long)cpuc_perf_self.base;
}

/* Reads one event with read(2). Returns 0 if the program has closed the descriptor or reused its
   number, or if the pinned event has lost its hardware. */
static inline int cpuc_perf_read_descriptor(const struct cpuc_perf_own_event *event,
  struct cpuc_perf_reading *reading)
{
  return cpuc_perf_kernel_read(event->descriptor, reading) && reading->id == event->id;
}

/* Reads the count of this thread with read(2). Returns 0, or -1 if read(2) fails, or if the only
   event of the thread did not count all of the time. The times of several events are not tested,
   because only one of these events counts at a time. */
int cpuc_perf_read_descriptors(long long *count);

/* Reads the count of this thread with the instruction and the pages. Returns 0, or -1 if the pages
   do not contain it. */
int cpuc_perf_read_pages(const struct cpuc_perf_counter *counter, long long *count);

/* Returns 1 if every event has a page with user-space access, and one of the pages has an index
   that the instruction may read. Events for core types other than that of the current core have no
   index. */
int cpuc_perf_pages_have_count(const struct cpuc_perf_counter *counter);

#pragma GCC visibility pop

#endif
