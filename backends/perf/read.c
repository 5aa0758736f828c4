/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the events of the calling thread with read(2), or with the instruction and all mmap pages
   of the thread. Width: 64 bits, extended by the kernel. Rate: the current core frequency.
   Source: perf_event_open(2), sections "read_format", "MMAP layout" and "pinned". */

#include "config.h"
#ifdef HAVE_PERF_EVENTS

#include "backends/perf/read.h"

#include "sys/perf/page.h"

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

/* Returns the index that the instruction may read, or 0 for any. */
static uint32_t only_index(const struct cpuc_perf_counter *counter)
{
  return cpuc_perf_self.event_count == 1 ? 0 : counter->fixed_index;
}

/* Only the event for the type of the current core has an index. The other events have stopped. */
int cpuc_perf_read_pages(const struct cpuc_perf_counter *counter, long long *count)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  long long counts[CPUC_PERF_CORE_TYPES];
  struct cpuc_perf_page_found found = { 0, 0, 0 };
  unsigned long long sum;
  int i, has_all_time, event_count = self->event_count;

  if (event_count <= 0)
    return -1;
  do {
    sum = cpuc_perf_load_base();
    has_all_time = event_count > 1 || cpuc_perf_page_has_all_time(self->pages[0]);
  } while (!cpuc_perf_page_read_all(self->pages, event_count, counter->instruction,
    only_index(counter), counts, &found));
  for (i = 0; i < event_count; i++)
    sum += (unsigned long long)counts[i];
  if (found.indexed != 0 && found.shift == self->shift)
    self->index = found.index; /* on the first read, or after the event was moved */
  *count = (long long)sum;
  return found.indexed == 1 && has_all_time ? 0 : -1;
}

int cpuc_perf_pages_have_count(const struct cpuc_perf_counter *counter)
{
  uint32_t only = only_index(counter);
  int i, has_index = 0;

  for (i = 0; i < cpuc_perf_self.event_count; i++) {
    uint32_t index = cpuc_perf_self.pages[i]->index;

    has_index |= index != 0 && (only == 0 || index == only);
  }
  return has_index;
}
#endif
