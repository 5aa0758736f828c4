/* SPDX-License-Identifier: 0BSD OR MIT */
/* Perf events of the calling thread: attributes, descriptors and pages. Source:
   perf_event_open(2). */

#ifndef CPUCYCLES_PERF_EVENT_H
#define CPUCYCLES_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* An event in the storage of the caller. */
struct cpuc_perf_event {
  int descriptor; /* -1: none; the event is then open only if its page is mapped */
  uint64_t id;    /* unique among all events, never reused; 0: not identified yet */
};

/* Modes of the CPU that an event counts. */
enum { CPUC_PERF_USER = 1, CPUC_PERF_KERNEL = 2 };

/* Returns the attributes of an event that counts these modes. */
static inline struct perf_event_attr cpuc_perf_event_attributes(uint32_t type, uint64_t config,
  int modes)
{
  return (struct perf_event_attr){ .type = type, .size = sizeof(struct perf_event_attr),
    .config = config, .exclude_user = !(modes & CPUC_PERF_USER),
    .exclude_kernel = !(modes & CPUC_PERF_KERNEL),
    .exclude_hv = modes != (CPUC_PERF_USER | CPUC_PERF_KERNEL) };
}

/* Opens the event, in the group of the leader or, if this is -1, as a leader. If the PMU cannot
   exclude what *wanted excludes, tries other exclusions, with may_count_kernel also that of
   nothing, and leaves in *wanted what was requested last. Returns 0 or an errno. The caller closes
   the event, also after an error or after a fault in this function. */
int cpuc_perf_event_open(struct cpuc_perf_event *event, struct perf_event_attr *wanted, int leader,
  int may_count_kernel);

/* Moves the descriptor to a number that the program hardly uses. Returns 0 or an errno. */
int cpuc_perf_event_move_up(struct cpuc_perf_event *event);

/* Returns 1 if the descriptor still belongs to the event. The program may have closed the
   descriptor, and another file may have its number. */
int cpuc_perf_event_owns_descriptor(const struct cpuc_perf_event *event);

/* Closes the descriptor if it still belongs to the event. With must_stop, stops the event first,
   because copies of the descriptor, for example in a forked child, keep it open. Is not a
   cancellation point. */
void cpuc_perf_event_close_descriptor(struct cpuc_perf_event *event, int must_stop);

/* Maps the pages of events. Returns 1, or 0 if an event has no page, or one that gives no access;
   then maps none. */
int cpuc_perf_event_map_pages(const struct cpuc_perf_event *events, int count,
  const volatile struct perf_event_mmap_page **pages);

/* Unmaps the pages that are not NULL, and sets them to NULL. */
void cpuc_perf_event_unmap_pages(const volatile struct perf_event_mmap_page **pages, int count);

/* Calls visit(page, argument) with the page of an event that counts nothing and needs no PMU, if
   the kernel gives one. */
void cpuc_perf_event_visit_page(
  void (*visit)(const volatile struct perf_event_mmap_page *page, void *argument), void *argument);

/* Opens and closes an event as cpuc_perf_event_open() does. Returns 0 or an errno. Uses the storage
   of the caller, who can close the event after a fault in this function. */
int cpuc_perf_event_try(struct cpuc_perf_event *event, struct perf_event_attr *wanted,
  int may_count_kernel);

#pragma GCC visibility pop

#endif
