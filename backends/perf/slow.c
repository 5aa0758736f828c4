/* SPDX-License-Identifier: 0BSD OR MIT */
/* The slow path. A thread whose page does not contain the count continues with read(2) on the same
   event, and with the fallback counter if read(2) fails. The count of a thread never steps back,
   with one exception, which cpucycles-internals(7), THREADS, describes. */

#include "config.h"

#include "backends/perf/hot.h"

#include "backends/perf/kernel.h"
#include "backends/perf/open.h"
#include "backends/perf/read.h"

#include <errno.h>

/* Reads with the descriptors. Returns -1 if they cannot be read, or if the event has stopped, for
   example after PR_TASK_PERF_EVENTS_DISABLE. If the thread has one descriptor,
   cpuc_perf_read_slowly() has already called read(2) for it. The descriptor may belong to another
   file, which must not be read twice, so this function identifies the descriptor first. */
static int reread_descriptors(long long *count)
{
  const struct cpuc_perf_thread *self = &cpuc_perf_self;

  if (self->reads_one_descriptor && !cpuc_perf_owns_descriptor(&self->events[0]))
    return -1;
  return cpuc_perf_read_descriptors(count) == 0 && *count != self->last ? 0 : -1;
}

/* Reads in every state, and changes the state if a read fails. */
static __attribute__((noinline)) long long read_and_recover(const struct cpuc_perf_counter *counter)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  long long count = self->last;

  if (self->state == CPUC_PERF_UNOPENED)
    cpuc_perf_run_uninterrupted(cpuc_perf_open_thread);
  if (self->state == CPUC_PERF_VIA_MMAP && cpuc_perf_read_pages(counter, &count) != 0)
    cpuc_perf_run_uninterrupted(cpuc_perf_leave_pages);
  if (self->state == CPUC_PERF_VIA_READ && reread_descriptors(&count) != 0)
    cpuc_perf_run_uninterrupted(cpuc_perf_leave_events);
  if (self->state == CPUC_PERF_VIA_FALLBACK)
    count = self->fallback_base + cpuc_perf_services->fallback();
  if (count > self->last)
    self->last = count;
  return self->last;
}

/* Tries the most frequent case first: one event and one read(2). */
long long cpuc_perf_read_slowly(const struct cpuc_perf_counter *counter)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int reads_one_descriptor = self->reads_one_descriptor, saved_errno = errno;
  unsigned long long base = cpuc_perf_load_base();
  struct cpuc_perf_reading reading;
  long long count;

  if (reads_one_descriptor && cpuc_perf_read_descriptor(&self->events[0], &reading)
    && reading.enabled == reading.running) {
    count = (long long)(base + reading.value);
    if (count > self->last)
      return self->last = count;
  }
  count = read_and_recover(counter);
  errno = saved_errno;
  return count;
}
