/* SPDX-License-Identifier: 0BSD OR MIT */
/* Opens and closes the events of a thread: one event, or one per core type, whose counts are added.
   The events are pinned, so if other events need the hardware, the kernel stops the pinned events
   instead of counting them part of the time. A mapped page keeps its event open without the
   descriptor. Signals are blocked until the events of a thread are consistent.
   Source: perf_event_open(2), sections "read_format", "pinned" and "ERRORS"; kernel/events/core.c,
   perf_mmap, which sets VM_DONTCOPY, so a forked child does not have the page. */

#include "config.h"

#include "backends/perf/open.h"

#include "sys/perf/kernel.h"
#include "sys/perf/settings.h"
#include "backends/perf/read.h"
#include "sys/perf/remedy.h"
#include "sys/guard.h"
#include "sys/os-thread.h"
#include "sys/perf/event.h"

#include <errno.h>
#include <string.h>

/* The event for a CPU with one core type. */
static const struct cpuc_perf_core_event core_cycles
  = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES };

/* The counter that was opened last. The process reads no other counter of perf events. */
static const struct cpuc_perf_counter *counter;
const struct cpuc_services *cpuc_perf_services;

/* Stored when the counter is opened. */
static struct cpuc_perf_core_types core_types;

int cpuc_perf_owns_descriptor(const struct cpuc_perf_own_event *event)
{
  uint64_t id = 0;

  if (event->descriptor < 0)
    return 0;
  if (event->id == 0)
    return 1; /* just opened, and not identified yet */
  return cpuc_perf_kernel_identify(event->descriptor, &id) && id == event->id;
}

static void close_descriptors(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i;

  for (i = 0; i < self->event_count; i++) {
    if (cpuc_perf_owns_descriptor(&self->events[i]))
      cpuc_perf_event_close(self->events[i].descriptor);
    self->events[i].descriptor = -1;
  }
}

static void unmap_pages(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i;

  for (i = 0; i < self->event_count; i++) {
    if (self->events[i].page)
      cpuc_perf_kernel_unmap(self->events[i].page);
    self->events[i].page = NULL;
  }
}

static void close_events(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;

  self->only_page = &cpuc_perf_no_page;
  close_descriptors();
  unmap_pages();
  self->event_count = 0;
  self->state = CPUC_PERF_UNOPENED;
}

/* Opens one event. Stores whether the last request, granted or refused, was for an event that
   counts the kernel in addition to user mode. Returns 0 or an errno. The caller must close the
   descriptors of the thread if it does not use them, also after a fault in this function. */
static int open_event(struct cpuc_perf_own_event *event, struct cpuc_perf_core_event core_event,
  int *requested_kernel)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  struct perf_event_attr wanted;

  event->id = 0;
  memset(&wanted, 0, sizeof wanted);
  wanted.size = sizeof wanted;
  wanted.type = core_event.type;
  wanted.config = core_event.config;
  if (self->state == CPUC_PERF_UNOPENED) /* otherwise the event is only for read(2) */
    wanted.config1 = counter->config1;
  wanted.read_format = CPUC_PERF_READ_FORMAT;
  wanted.pinned = 1;
  event->descriptor = cpuc_perf_event_open_first_supported(&wanted,
    cpuc_perf_kernel_open);
  *requested_kernel = !wanted.exclude_kernel;
  if (event->descriptor < 0 || !cpuc_perf_kernel_identify(event->descriptor, &event->id))
    return errno;
  return 0;
}

static int open_descriptors(void)
{
  int i, error = 0, requested_kernel;

  for (i = 0; i < core_types.count && error == 0; i++)
    error = open_event(&cpuc_perf_self.events[i], core_types.events[i], &requested_kernel);
  return error;
}

static int move_descriptors_up(void)
{
  int i, error = 0;

  for (i = 0; i < cpuc_perf_self.event_count && error == 0; i++)
    error = cpuc_perf_event_move_up(&cpuc_perf_self.events[i].descriptor);
  return error;
}

/* Sets the base for events that were just opened. Returns 0, or EIO if they do not count. */
static int continue_count(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  long long count;

  self->base = 0;
  if (cpuc_perf_read_descriptors(&count) != 0)
    return EIO;
  self->base = self->last - count;
  return 0;
}

static void use_descriptors(void)
{
  cpuc_perf_self.state = CPUC_PERF_VIA_READ;
  if (counter->instruction)
    cpuc_perf_services->note_indirect_read(CPUC_REASON_BY_READ);
}

/* Maps the pages. Returns 0 if they do not contain the count. */
static int map_pages(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i;

  for (i = 0; i < self->event_count; i++)
    self->events[i].page = cpuc_perf_kernel_map(self->events[i].descriptor);
  if (cpuc_perf_pages_have_count(counter))
    return 1;
  unmap_pages();
  return 0;
}

/* The thread keeps the descriptors for read(2), unless no number is free for them. */
static void use_pages(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int width = self->events[0].page->pmc_width;

  self->shift = 64 - width;
  self->index = UINT32_MAX; /* not a valid index, so the first read stores the real one */
  if (self->event_count == 1 && (counter->width == 0 || counter->width == width))
    self->only_page = self->events[0].page;
  self->state = CPUC_PERF_VIA_MMAP;
}

/* The pages stay mapped, because this read may have interrupted another read, which uses the
   pages. */
static void use_fallback(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;

  close_descriptors();
  self->fallback_base = self->last - cpuc_perf_services->fallback();
  self->state = CPUC_PERF_VIA_FALLBACK;
  if (!self->is_exiting)
    cpuc_perf_services->note_indirect_read(CPUC_REASON_BY_FALLBACK);
}

/* Initializes `count` events of the thread, which are not open yet. */
static void reset_events(int count)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i;

  for (i = 0; i < count; i++) {
    self->events[i].descriptor = -1;
    self->events[i].page = NULL;
  }
  self->event_count = count;
}

/* Destructors that run later may read the counter, but must not open events, because no destructor
   would close these. Without events, exit() needs no system calls. */
static void leave_thread(void)
{
  struct cpuc_os_thread_saved saved;

  cpuc_perf_self.is_exiting = 1;
  if (cpuc_perf_self.event_count == 0)
    return;
  cpuc_os_thread_block_signals_and_cancellation(&saved);
  close_events();
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
}

/* Opens the events of this thread, and continues its count. Returns 0 or an errno. */
static int open_events(void)
{
  int error, has_pages = 0;

  reset_events(core_types.count);
  error = open_descriptors();
  if (error == 0)
    error = cpuc_perf_services->on_thread_exit(leave_thread);
  if (error == 0) {
    has_pages = counter->instruction && map_pages();
    error = continue_count();
  }
  if (error == 0 && (error = move_descriptors_up()) != 0 && has_pages) {
    close_descriptors();
    error = 0;
  }
  if (error == 0 && has_pages)
    use_pages();
  else if (error == 0)
    use_descriptors();
  return error;
}

static void open_or_use_fallback(void)
{
  close_events(); /* in a forked child, the events of the parent */
  if (cpuc_perf_self.is_exiting || open_events() != 0) {
    close_events();
    use_fallback();
  }
}

/* The events count on, and their base stays. A pinned event that has lost its hardware never counts
   again. A new event without config1 may find other hardware: on arm64, an event for user-space
   access fits the cycle counter alone. */
static void leave_pages(void)
{
  long long count;
  int error = 0;

  cpuc_perf_self.only_page = &cpuc_perf_no_page;
  if (cpuc_perf_read_descriptors(&count) != 0) {
    close_descriptors();
    error = open_descriptors();
    if (error == 0)
      error = move_descriptors_up();
    if (error == 0)
      error = continue_count();
  }
  if (error == 0)
    use_descriptors();
  else
    use_fallback();
}

/* The state may have changed before signals were blocked, because signal handlers may read. */
void cpuc_perf_leave(enum cpuc_perf_state state)
{
  struct cpuc_os_thread_saved saved;

  cpuc_os_thread_block_signals_and_cancellation(&saved);
  if (cpuc_perf_self.state != state)
    ;
  else if (state == CPUC_PERF_UNOPENED)
    open_or_use_fallback();
  else if (state == CPUC_PERF_VIA_MMAP)
    leave_pages();
  else
    use_fallback();
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
}

/* The child releases the copies of descriptors when it opens its own events. This function makes no
   system call, because many children never read. */
void cpuc_perf_forked(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i;

  for (i = 0; i < self->event_count; i++)
    self->events[i].page = NULL;
  self->only_page = &cpuc_perf_no_page;
  self->state = CPUC_PERF_UNOPENED;
}

/* Opens an event, and closes it. Stores in *requested_kernel whether the last request, granted or
   refused, was for an event that counts the kernel. Returns 0 or an errno. Uses the storage of the
   thread, so that cpuc_perf_close() closes the event if a fault ends this function. */
static int try_event(struct cpuc_perf_core_event core_event, int *requested_kernel)
{
  int error;

  reset_events(1);
  error = open_event(&cpuc_perf_self.events[0], core_event, requested_kernel);
  close_events();
  return error;
}

/* The counter counts the kernel if the event of any core type does. */
static int try_core_event(struct cpuc_perf_core_event core_event)
{
  int requested_kernel, error = try_event(core_event, &requested_kernel);

  if (error == 0)
    counter->findings->requested_kernel |= requested_kernel;
  return error;
}

void cpuc_perf_explain(const struct cpuc_perf_counter *dropped, int error, int signal,
  struct cpuc_diagnosis *diagnosis)
{
  if (signal == SIGSYS)
    cpuc_remedy_for_perf_filter(diagnosis);
  else if (error != 0 && dropped->findings->access_denied)
    dropped->diagnose_access(diagnosis);
  else if (error != 0 && error != EIO)
    cpuc_remedy_for_perf_event(error, dropped->findings->requested_kernel, diagnosis);
}

/* Tests whether the kernel has the event. Returns 0 or an errno. If there is no PMU, the trial of
   the first counter finds this out for all counters. */
static int try_counter(void)
{
  int error;

  counter->findings->access_denied = 0;
  error = cpuc_perf_settings_no_pmu
    ? ENOENT : try_event(core_cycles, &counter->findings->requested_kernel);
  cpuc_perf_settings_no_pmu = error == ENOENT;
  return error;
}

static void count_core_types(void *count)
{
  *(int *)count = cpuc_perf_core_types_count();
}

/* Searches for the core types after the event was tried, because without a PMU the search would
   find nothing. */
int cpuc_perf_open(const struct cpuc_perf_counter *opened, const struct cpuc_services *services,
  struct cpuc_diagnosis *diagnosis)
{
  int error, count = 0;

  counter = opened;
  cpuc_perf_services = services;
  error = try_counter();
  if (error != 0)
    return error;
  /* If a filter raises SIGSYS at a directory or file of the PMUs, they are as unknown as without
     these files. */
  cpuc_guard_run(count_core_types, &count);
  error = cpuc_perf_core_types_find(&core_types, count, core_cycles, try_core_event);
  if (error != 0) {
    diagnosis->explanation = "there are more than 4 core types, or one of them has no event";
    return error;
  }
  error = open_events();
  if (error == EIO)
    diagnosis->explanation
      = "the event opened, but does not count: other events may use its hardware";
  if (error == 0 && counter->instruction && cpuc_perf_self.state != CPUC_PERF_VIA_MMAP) {
    diagnosis->explanation
      = "the kernel has the event, but its page is missing or does not give programs access";
    counter->findings->access_denied = 1;
    error = EACCES;
  }
  if (error == 0 && counter->findings->requested_kernel)
    diagnosis->unit = "core cycles in user mode and kernel";
  return error;
}

void cpuc_perf_close(void)
{
  close_events();
  cpuc_perf_self.base = cpuc_perf_self.last = 0;
}
