/* SPDX-License-Identifier: 0BSD OR MIT */
/* The system calls that open and read a group of events. A test defines these functions itself, so
   that the linker leaves group.c out. */

#ifndef PERFEX_GROUP_H
#define PERFEX_GROUP_H

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

/* Opens an event of the calling thread. leader: the descriptor of the group's leader; -1: the event
   is the leader of a new group. Returns a descriptor, or -1 with errno. */
int pfx_group_open(struct perf_event_attr *wanted, int leader);

/* Reads the leader's group. Returns the number of bytes, 0 for a pinned group that has lost its
   hardware; or -1 with errno. */
ssize_t pfx_group_read(int leader, struct pfx_group_reading *reading);

#endif
