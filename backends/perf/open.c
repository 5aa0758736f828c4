/* SPDX-License-Identifier: 0BSD OR MIT */
/* Opens and closes the events of a thread: one event, or one per core type, whose counts are added.
   Changes the state of the thread.
   The events are pinned, so if other events need the hardware, the kernel stops the pinned events
   instead of counting them part of the time. A mapped page keeps its event open without the
   descriptor. Signals are blocked until the events of a thread are consistent.
   Source: perf_event_open(2), sections "read_format", "pinned" and "ERRORS"; kernel/events/core.c,
   perf_mmap, which sets VM_DONTCOPY, so a forked child does not have the page. */

#include "config.h"
#ifdef HAVE_PERF_EVENTS

#include "backends/perf/thread.h"

#include "sys/os-thread.h"
#include "sys/perf/remedy.h"

#include <errno.h>

const struct perf_event_mmap_page cpuc_perf_no_page;

CPUC_THREAD_LOCAL struct cpuc_perf_thread cpuc_perf_self = {
  .only_page = &cpuc_perf_no_page,
  .index = UINT32_MAX,
};

/* The counter that was opened last. The process reads no other counter of perf events. */
static const struct cpuc_perf_counter *counter;
const struct cpuc_services *cpuc_perf_services;

/* Copied when the counter is opened. */
static struct cpuc_perf_cycles cycles;

static void close_descriptors(void)
{
  int i;

  for (i = 0; i < cpuc_perf_self.event_count; i++)
    cpuc_perf_event_close_descriptor(&cpuc_perf_self.events[i], 0);
}

static void close_events(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;

  self->only_page = &cpuc_perf_no_page;
  close_descriptors();
  cpuc_perf_event_unmap_pages(self->pages, self->event_count);
  self->event_count = 0;
  self->state = CPUC_PERF_UNOPENED;
}

/* Opens the events. The caller must close the descriptors of the thread if it does not use them,
   also after a fault in this function. */
static int open_descriptors(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int i, error = 0;

  for (i = 0; i < cycles.count && error == 0; i++) {
    struct perf_event_attr wanted = cpuc_perf_event_attributes(cycles.events[i].type,
      cycles.events[i].config, CPUC_PERF_USER);

    if (self->state == CPUC_PERF_UNOPENED) /* otherwise the event is only for read(2) */
      wanted.config1 = counter->config1;
    wanted.read_format = CPUC_PERF_READ_FORMAT;
    wanted.pinned = 1;
    error = cpuc_perf_event_open(&self->events[i], &wanted, -1, 1);
  }
  return error;
}

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

static int move_descriptors_up(void)
{
  int i, error = 0;

  for (i = 0; i < cpuc_perf_self.event_count && error == 0; i++)
    error = cpuc_perf_event_move_up(&cpuc_perf_self.events[i]);
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

/* Returns 1 if one of the pages has an index that the instruction may read. Events for core types
   other than that of the current core have no index. */
static int pages_have_count(void)
{
  uint32_t only = cpuc_perf_only_index(counter, cpuc_perf_self.event_count);
  int i, has_index = 0;

  for (i = 0; i < cpuc_perf_self.event_count; i++) {
    uint32_t index = cpuc_perf_self.pages[i]->index;

    has_index |= index != 0 && (only == 0 || index == only);
  }
  return has_index;
}

/* Maps the pages. Returns 0 if they do not contain the count. */
static int map_pages(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;

  if (cpuc_perf_event_map_pages(self->events, self->event_count, self->pages) && pages_have_count())
    return 1;
  cpuc_perf_event_unmap_pages(self->pages, self->event_count);
  return 0;
}

/* The thread keeps the descriptors for read(2), unless no number is free for them. */
static void use_pages(void)
{
  struct cpuc_perf_thread *self = &cpuc_perf_self;
  int width = self->pages[0]->pmc_width;

  self->shift = 64 - width;
  self->index = UINT32_MAX; /* not a valid index, so the first read stores the real one */
  if (self->event_count == 1 && (counter->width == 0 || counter->width == width))
    self->only_page = self->pages[0];
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

  self->event_count = count;
  while (count-- > 0) {
    self->events[count].descriptor = -1;
    self->pages[count] = NULL;
  }
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

  reset_events(cycles.count);
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
void cpuc_perf_change_from(enum cpuc_perf_state state)
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
    self->pages[i] = NULL;
  self->only_page = &cpuc_perf_no_page;
  self->state = CPUC_PERF_UNOPENED;
}

void cpuc_perf_explain(const struct cpuc_perf_counter *dropped, int error, int signal,
  struct cpuc_diagnosis *diagnosis)
{
  if (signal == SIGSYS || error != 0)
    cpuc_remedy_for_perf_event(error, signal, 1, 0, diagnosis);
  if (error == EACCES && diagnosis->machine->cycles.is_known && dropped->diagnose_access)
    dropped->diagnose_access(diagnosis);
}

/* First tests whether the kernel has the event. The test uses the storage of the thread, so that
   cpuc_perf_close() closes the event after a fault. */
int cpuc_perf_open(const struct cpuc_perf_counter *opened, const struct cpuc_services *services,
  struct cpuc_diagnosis *diagnosis)
{
  int error;

  counter = opened;
  cpuc_perf_services = services;
  reset_events(1);
  error = cpuc_perf_cycles_find(&diagnosis->machine->cycles, &cpuc_perf_self.events[0]);
  close_events();
  cycles = diagnosis->machine->cycles;
  if (error == 0)
    error = open_events();
  if (error == 0 && counter->instruction && cpuc_perf_self.state != CPUC_PERF_VIA_MMAP)
    error = EACCES;
  if (error == 0 && cycles.with_kernel)
    diagnosis->unit = "core cycles in user mode and kernel";
  return error;
}

void cpuc_perf_close(void)
{
  close_events();
  cpuc_perf_self.base = cpuc_perf_self.last = 0;
}
#endif
