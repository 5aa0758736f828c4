/* SPDX-License-Identifier: 0BSD OR MIT */
/* The slow path. A thread whose page does not contain the count continues with read(2) on the same
   event, and with the fallback counter if read(2) fails. The count of a thread never steps back,
   with one exception, which cpucycles-internals(7), THREADS, describes. */

#include "config.h"
#ifdef HAVE_PERF_EVENTS

#include "backends/perf/thread.h"

#include "sys/perf/page.h"

#include <errno.h>

/* Reads with the instruction and the pages. Returns 0, or -1 if the pages do not contain the count.
   Only the event for the type of the current core has an index. The other events have stopped. */
static int read_pages(const struct cpuc_perf_counter *counter, long long *count)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  long long counts[CPUC_PERF_CORE_TYPES] = { 0 };
  struct cpuc_perf_page_found found = { 0, 0, 0 };
  unsigned long long sum;
  int i, has_all_time, event_count = self->event_count;

  if (event_count <= 0)
    return -1;
  do {
    sum = cpuc_perf_load_base();
    has_all_time = event_count > 1 || cpuc_perf_page_has_all_time(self->pages[0]);
  } while (!cpuc_perf_page_read_all(self->pages, event_count, counter->instruction,
    cpuc_perf_only_index(counter, event_count), counts, &found));
  for (i = 0; i < event_count; i++)
    sum += (unsigned long long)counts[i];
  if (found.indexed != 0 && found.shift == self->shift)
    self->index = found.index; /* on the first read, or after the event was moved */
  *count = (long long)sum;
  return found.indexed == 1 && has_all_time ? 0 : -1;
}

/* Reads again after a read with the descriptors has failed, because a signal handler may have
   changed the events in between. A descriptor that now belongs to another file must not be read
   twice, so this function identifies all descriptors first. */
static int reread_descriptors(long long *count)
{
  const struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i;

  for (i = 0; i < self->event_count; i++)
    if (!cpuc_perf_event_owns_descriptor(&self->events[i]))
      return -1;
  return cpuc_perf_read_descriptors(count);
}

/* Reads in every state, and changes the state if a read fails. Sets errno to saved_errno. */
static __attribute__((noinline)) long long read_and_recover(const struct cpuc_perf_counter *counter,
  int saved_errno)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  long long count = self->last;

  if (self->state == CPUC_PERF_UNOPENED)
    cpuc_perf_change_from(CPUC_PERF_UNOPENED);
  if (self->state == CPUC_PERF_VIA_MMAP && read_pages(counter, &count) != 0)
    cpuc_perf_change_from(CPUC_PERF_VIA_MMAP);
  if (self->state == CPUC_PERF_VIA_READ && reread_descriptors(&count) != 0)
    cpuc_perf_change_from(CPUC_PERF_VIA_READ);
  if (self->state == CPUC_PERF_VIA_FALLBACK)
    count = self->fallback_base + cpuc_perf_services->fallback();
  errno = saved_errno;
  if (count > self->last) /* false if a signal handler has read since */
    self->last = count;
  return self->last;
}

/* Tries the most frequent case first: one event and one read(2). */
long long cpuc_perf_read_slowly(const struct cpuc_perf_counter *counter)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int saved_errno = errno;
  struct cpuc_perf_reading reading;
  unsigned long long base;
  long long count;

  if (self->state == CPUC_PERF_VIA_READ && self->event_count == 1) {
    base = cpuc_perf_load_base();
    if (cpuc_perf_read_descriptor(&self->events[0], &reading)
      && reading.enabled == reading.running) {
      count = (long long)(base + reading.value);
      if (count > self->last)
        return self->last = count;
    }
  }
  return read_and_recover(counter, saved_errno);
}
#endif
