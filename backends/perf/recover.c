/* SPDX-License-Identifier: 0BSD OR MIT */
/* Continues a thread's count after a loss: of the page's index or the instruction, of the
   descriptor or its event, and of all events in a forked child, which opens its own. In the parent,
   reads that a signal handler or a fault has interrupted find an empty page in the place of the
   event's, and repeat.
   Source: perf_event_open(2), "MMAP layout"; kernel/events/core.c, perf_mmap, which sets
   VM_DONTCOPY: a forked child does not have the page. */

#include "config.h"

#include "backends/perf/thread.h"

#include "backends/perf/kernel.h"

#include <errno.h>

/* The empty page has no index. Its lock is odd, a value that the kernel's page never keeps: the
   interrupted read finds that the lock has changed. */
static void mark_as_changed(struct perf_event_mmap_page *page)
{
  page->lock = 1;
}

/* The pages stay mapped: this read may have interrupted another one that uses them. */
void cpuc_perf_use_fallback(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;

  cpuc_perf_close_descriptors();
  self->state = CPUC_PERF_VIA_FALLBACK;
  self->base = self->last - cpuc_perf_services->fallback();
  if (!self->is_exiting)
    cpuc_perf_services->note_fallback("by-next-best");
}

void cpuc_perf_switch_to_fallback(void)
{
  if (cpuc_perf_self.state == CPUC_PERF_VIA_READ)
    cpuc_perf_use_fallback();
}

/* Adds up the pages, whose events have all lost their index: the offset is then an event's whole
   count. Does nothing if one has an index. */
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

/* The new events are opened first: when a pinned event is opened, the kernel schedules this
   thread's events again and updates their pages. */
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
  if (error != 0 || cpuc_perf_use_descriptors() != 0)
    cpuc_perf_use_fallback();
}

/* If the thread is in another state, a signal handler had interrupted the read before the fault,
   and lost the page. That read repeats, too. */
void cpuc_perf_fix_up_instruction(void)
{
  int saved_errno = errno;

  cpuc_perf_kernel_block_signals(cpuc_perf_switch_to_read);
  errno = saved_errno;
}

/* The child has no pages of events, only empty ones. These and the copies of the descriptors are
   released when the child opens its own events. No system call: many children never count. */
void cpuc_perf_forked(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i;

  for (i = 0; self->state == CPUC_PERF_VIA_MMAP && i < self->event_count; i++)
    self->events[i].page = NULL;
  self->only_page = &cpuc_perf_no_page;
  self->only_descriptor = -1;
  self->state = CPUC_PERF_UNOPENED;
}
