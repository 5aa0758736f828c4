/* SPDX-License-Identifier: 0BSD OR MIT */
/* The slow path: reads the events of the calling thread with read(2), or with the instruction and
   all mmap pages of the thread. A thread that loses the page continues its count with read(2), or with the fallback counter if read(2) fails. A thread that loses the descriptor
   continues with the fallback counter. The count of a thread never steps back, with one exception,
   which cpucycles(3), Threads, describes.
   Width: 64 bits, extended by the kernel. Rate: the current core frequency.
   Source: perf_event_open(2), sections "read_format", "MMAP layout" and "pinned". */

#include "config.h"

#include "backends/perf/private.h"

#include "backends/perf/kernel.h"

#include <errno.h>

const struct perf_event_mmap_page cpuc_perf_no_page;

CPUC_THREAD_LOCAL struct cpuc_perf_thread cpuc_perf_self = {
  .only_page = &cpuc_perf_no_page,
  .index = UINT32_MAX,
};

/* Returns the base for a read that does not use pages. A read loads the state or
   reads_one_descriptor first, then the base, and then reads the events or the fallback counter. If
   the state is CPUC_PERF_VIA_READ, a read in a signal handler can close the events, and the
   interrupted read then finds them closed. It opens others only in a child that the handler has
   forked. If the state is CPUC_PERF_VIA_FALLBACK, a read in a handler changes neither the state nor
   the base. In other states, the loaded base is not used. */
static inline unsigned long long load_base(void)
{
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return (unsigned long long)cpuc_perf_self.base;
}

/* Returns 0 if the program has closed the descriptor or reused its number, or if the pinned event
   has lost its hardware. */
static inline int read_event(const struct cpuc_perf_own_event *event,
  struct cpuc_perf_reading *reading)
{
  return cpuc_perf_kernel_read(event->descriptor, reading) && reading->id == event->id;
}

int cpuc_perf_read_descriptors(long long *count)
{
  const struct cpuc_perf_thread *self = &cpuc_perf_self;
  unsigned long long sum = load_base();
  struct cpuc_perf_reading reading;
  int i;

  for (i = 0; i < self->event_count; i++) {
    if (!read_event(&self->events[i], &reading))
      return -1;
    if (self->event_count == 1 && reading.enabled != reading.running)
      return -1; /* the only event did not count all of the time, but several events take turns */
    sum += reading.value;
  }
  *count = (long long)sum;
  return 0;
}

/* The sum over the pages. */
struct total {
  unsigned long long count;
  uint32_t index; /* index in the page of the event that is counting; 0: none is readable */
  int shift;      /* 64 minus the width of the hardware counter with this index */
  int is_partial; /* 1 if the only event missed some time, or if two events have an index */
};

static inline int is_readable(const struct cpuc_perf_counter *counter, uint32_t index)
{
  return index != 0 && (cpuc_perf_self.event_count == 1 || index == counter->fixed_index);
}

/* Only the event for the type of the current core has an index. The other events have stopped. */
static inline void add_page(const struct cpuc_perf_counter *counter,
  const volatile struct perf_event_mmap_page *page, struct total *total)
{
  uint32_t index = page->index;

  total->count += (unsigned long long)page->offset;
  if (!is_readable(counter, index))
    return;
  total->is_partial |= total->index != 0
    || (cpuc_perf_self.event_count == 1 && page->time_enabled != page->time_running);
  total->index = index;
  total->shift = 64 - page->pmc_width;
  total->count
    += (unsigned long long)((int64_t)(counter->instruction(index) << total->shift) >> total->shift);
}

/* Returns 0 if a page has changed during the sum. */
static inline int add_pages(const struct cpuc_perf_counter *counter, struct total *total)
{
  const struct cpuc_perf_thread *self = &cpuc_perf_self;
  const volatile struct perf_event_mmap_page *pages[CPUC_PERF_CORE_TYPES];
  uint32_t locks[CPUC_PERF_CORE_TYPES];
  int i, count = self->event_count, is_stable = 1;

  total->count = (unsigned long long)self->base;
  total->index = 0;
  total->shift = total->is_partial = 0;
  for (i = 0; i < count; i++) {
    pages[i] = self->events[i].page;
    locks[i] = pages[i]->lock;
  }
  for (i = 0; i < count; i++)
    add_page(counter, pages[i], total);
  for (i = 0; i < count; i++)
    is_stable &= pages[i]->lock == locks[i];
  return is_stable;
}

/* Reads the count of this thread with the instruction and the pages. Returns -1 if the pages do not
   contain it. */
static int read_pages(const struct cpuc_perf_counter *counter, long long *count)
{
  struct total total;

  while (!add_pages(counter, &total))
    ;
  if (total.index != 0 && total.shift == cpuc_perf_self.shift)
    cpuc_perf_self.index = total.index; /* on the first read, or after the event was moved */
  *count = (long long)total.count;
  return total.index != 0 && !total.is_partial ? 0 : -1;
}

int cpuc_perf_pages_have_count(const struct cpuc_perf_counter *counter)
{
  const struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i, has_index = 0;

  for (i = 0; i < self->event_count; i++) {
    const volatile struct perf_event_mmap_page *page = self->events[i].page;

    if (!page || !page->cap_user_rdpmc || page->pmc_width == 0 || page->pmc_width > 64)
      return 0;
    has_index |= is_readable(counter, page->index);
  }
  return has_index;
}

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
    cpuc_perf_kernel_run_uninterrupted(cpuc_perf_open_thread);
  if (self->state == CPUC_PERF_VIA_MMAP && read_pages(counter, &count) != 0)
    cpuc_perf_kernel_run_uninterrupted(cpuc_perf_switch_to_read);
  if (self->state == CPUC_PERF_VIA_READ && reread_descriptors(&count) != 0)
    cpuc_perf_kernel_run_uninterrupted(cpuc_perf_switch_to_fallback);
  if (self->state == CPUC_PERF_VIA_FALLBACK)
    count = (long long)load_base() + cpuc_perf_services->fallback();
  if (count > self->last)
    self->last = count;
  return self->last;
}

/* Tries the most frequent case first: one event and one read(2). */
long long cpuc_perf_read_slowly(const struct cpuc_perf_counter *counter)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int reads_one_descriptor = self->reads_one_descriptor, saved_errno = errno;
  unsigned long long base = load_base();
  struct cpuc_perf_reading reading;
  long long count;

  if (reads_one_descriptor && read_event(&self->events[0], &reading)
    && reading.enabled == reading.running) {
    count = (long long)(base + reading.value);
    if (count > self->last)
      return self->last = count;
  }
  count = read_and_recover(counter);
  errno = saved_errno;
  return count;
}
