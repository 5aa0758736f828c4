/* SPDX-License-Identifier: 0BSD OR MIT */
/* Groups of events of the calling thread, in the storage of the caller: opened, started, read and
   closed.

   A group is pinned, so if other events take its hardware, the kernel puts the group into an error
   state instead of multiplexing, and a read detects the error state. The events of several core
   types are one group for each, of which one counts at a time. Disabled events cannot be detected,
   because neither their enabled nor their running time advances.
   Source: perf_event_open(2), sections "read_format", "pinned" and "ERRORS". */

#ifndef PERFEX_SET_H
#define PERFEX_SET_H

#include "perfex/group.h"

#include <stdint.h>

/* What an event counts: members of struct perf_event_attr, and modes as in perfex/names.h. */
struct pfx_set_wanted {
  uint32_t type;
  uint64_t config[3];
  int modes;
};

struct pfx_set_event {
  int descriptor;
  uint64_t id; /* in the kernel, never reused */
};

struct pfx_set {
  struct pfx_set_event *events; /* those of the first core type, then those of the next ones */
  int count; /* events of one core type */
  int types;
  int inherits; /* 1: counts new threads and children, too, and is not pinned */
};

/* Opens one more event, of which there are `opened` so far; the first of each core type is disabled
   and leads the others. Its number is above 2. Returns 0 or an errno. */
int pfx_set_open(struct pfx_set *group, const struct pfx_set_wanted *wanted, int opened);

/* Returns 1 if the kernel can count this event alone. */
int pfx_set_can_open(const struct pfx_set_wanted *wanted);

/* Starts all events. Returns 0 or an errno. */
int pfx_set_start(const struct pfx_set *group);

/* Returns 1 if the descriptor still belongs to the event. The program may have closed the
   descriptor, and another file may have its number. */
int pfx_set_owns(const struct pfx_set_event *event);

/* Reads with one read(2) for each core type. Stores the counts, and returns 0 if the events have
   counted all the time since their start. Otherwise stores 0 and returns EBUSY if the group lost
   its hardware for a time, or EBADF if a descriptor does not belong to the group any more. */
int pfx_set_read(const struct pfx_set *group, long long *counts);

/* Closes those of the first `opened` descriptors that still belong to the events. If they are
   copies of those of the parent, the events of the parent continue. */
void pfx_set_close(const struct pfx_set *group, int opened, int are_copies);

#endif
