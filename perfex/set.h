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

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

enum { PFX_GROUP_EVENTS = 32 /* at most */ };

/* The data that read(2) returns for a group with this read_format. */
enum {
  PFX_GROUP_READ_FORMAT = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED
    | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID
};
struct pfx_group_reading {
  uint64_t event_count, enabled, running;
  struct {
    uint64_t value, id;
  } event[PFX_GROUP_EVENTS];
};

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

/* The system calls of group.c. A test defines these two functions itself, so that the linker leaves
   group.c out. The first opens an event of the calling thread. leader: the descriptor of the
   group's leader; -1: the event is the leader of a new group. Returns a descriptor, or -1 with
   errno. The second reads the leader's group. Returns the number of bytes, 0 for a pinned group
   that has lost its hardware; or -1 with errno. */
int pfx_group_open(struct perf_event_attr *wanted, int leader);
ssize_t pfx_group_read(int leader, struct pfx_group_reading *reading);

#endif
