/* SPDX-License-Identifier: 0BSD OR MIT */
/* Continues the count of a thread after a loss of the index in the page, of the descriptor, or of the
   event; and in a forked child, which opens its own events. If a read in a signal handler interrupts
   a read through a page and switches the thread away from the page, the interrupted read finds an
   empty page instead, and is repeated.
   Source: perf_event_open(2), "MMAP layout"; kernel/events/core.c, perf_mmap, which sets
   VM_DONTCOPY, so a forked child does not have the page. */

#include "config.h"

#include "backends/perf/private.h"

#include "backends/perf/kernel.h"

/* Makes the lock of the empty page odd. An interrupted read then finds a changed lock, because it
   began with an even one: the lock of a kernel page is odd only while the kernel writes to it. */
static void mark_as_changed(struct perf_event_mmap_page *page)
{
  page->lock = 1;
}

/* The pages stay mapped, because this read may have interrupted another read, which uses the
   pages. */
void cpuc_perf_use_fallback(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;

  cpuc_perf_close_descriptors();
  self->state = CPUC_PERF_VIA_FALLBACK;
  self->base = self->last - cpuc_perf_services->fallback();
  if (!self->is_exiting)
    cpuc_perf_services->note_indirect_read("by-fallback");
}

void cpuc_perf_switch_to_fallback(void)
{
  if (cpuc_perf_self.state == CPUC_PERF_VIA_READ)
    cpuc_perf_use_fallback();
}

/* Takes the count from the pages if no page has an index, because the offset of each page is then
   the whole count of its event. If a page has an index, does nothing. */
static void take_last_count(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  unsigned long long sum = (unsigned long long)self->base;
  int i;

  for (i = 0; i < self->event_count; i++) {
    const volatile struct perf_event_mmap_page *page = self->events[i].page;

    if (page->index != 0)
      return;
    sum += (unsigned long long)page->offset;
  }
  if ((long long)sum > self->last)
    self->last = (long long)sum;
}

/* Opens the new events first, because opening a pinned event makes the kernel reschedule the events
   of this thread and update their pages. If the old events held the last hardware counters, the new
   events do not count. In this case the new events are closed and opened once more after the pages
   are replaced, because replacing the pages closes the old events. */
void cpuc_perf_switch_to_read(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i, error;

  if (self->state != CPUC_PERF_VIA_MMAP)
    return;
  error = cpuc_perf_open_descriptors();
  take_last_count();
  self->only_page = &cpuc_perf_no_page;
  for (i = 0; i < self->event_count; i++) {
    struct perf_event_mmap_page *page = self->events[i].page;

    if (cpuc_perf_kernel_replace(page))
      mark_as_changed(page);
  }
  if (error == 0 && cpuc_perf_use_descriptors() == 0)
    return;
  cpuc_perf_close_descriptors();
  if (cpuc_perf_open_descriptors() != 0 || cpuc_perf_use_descriptors() != 0)
    cpuc_perf_use_fallback();
}

/* The child does not have the pages of events. Empty pages that replaced pages of events in the
   parent stay mapped in the child. The child releases the copies of descriptors when it opens its
   own events. This function makes no system call, because many children never read. */
void cpuc_perf_forked(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i;

  for (i = 0; i < self->event_count; i++)
    self->events[i].page = NULL;
  self->only_page = &cpuc_perf_no_page;
  self->reads_one_descriptor = 0;
  self->state = CPUC_PERF_UNOPENED;
}
