/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the events of the calling thread with read(2), or with the instruction and all mmap pages
   of the thread. Width: 64 bits, extended by the kernel. Rate: the current core frequency.
   Source: perf_event_open(2), sections "read_format", "MMAP layout" and "pinned". */

#include "config.h"

#include "backends/perf/read.h"

const struct perf_event_mmap_page cpuc_perf_no_page;

CPUC_THREAD_LOCAL struct cpuc_perf_thread cpuc_perf_self = {
  .only_page = &cpuc_perf_no_page,
  .index = UINT32_MAX,
};

int cpuc_perf_read_descriptors(long long *count)
{
  const struct cpuc_perf_thread *self = &cpuc_perf_self;
  unsigned long long sum = cpuc_perf_load_base();
  struct cpuc_perf_reading reading;
  int i;

  for (i = 0; i < self->event_count; i++) {
    if (!cpuc_perf_read_descriptor(&self->events[i], &reading))
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

int cpuc_perf_read_pages(const struct cpuc_perf_counter *counter, long long *count)
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
