/* SPDX-License-Identifier: 0BSD OR MIT */
/* Groups of events of the calling thread, in the storage of the caller.

   A group is pinned, so if other events take its hardware, the kernel puts the group into an error
   state instead of multiplexing, and a read detects the error state. The events of several core
   types are one group for each, of which one counts at a time. Disabled events cannot be detected,
   because neither their enabled nor their running time advances.
   Source: perf_event_open(2), sections "read_format", "pinned" and "ERRORS". */

#ifndef CPUCYCLES_PERF_GROUP_H
#define CPUCYCLES_PERF_GROUP_H

#include "sys/perf/event.h"

#pragma GCC visibility push(hidden)

enum { CPUC_PERF_GROUP_EVENTS = 32 /* at most */ };

/* The data that read(2) returns for a group with this read_format. */
enum {
  CPUC_PERF_GROUP_FORMAT = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED
    | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID
};
struct cpuc_perf_group_reading {
  uint64_t event_count, enabled, running;
  struct {
    uint64_t value, id;
  } event[CPUC_PERF_GROUP_EVENTS];
};

struct cpuc_perf_group {
  struct cpuc_perf_event *events; /* those of the first core type, then those of the next ones */
  int count;    /* events of one core type */
  int inherits; /* 1: counts new threads and children, too, and is not pinned */
  int added;    /* events that are open, or whose opening failed last */
};

/* Opens one more event; the first of each core type is disabled and leads the others. Its number is
   above 2. Returns 0 or an errno. */
int cpuc_perf_group_add(struct cpuc_perf_group *group, struct perf_event_attr *wanted);

/* Why the kernel refused the event that was added last. */
enum cpuc_perf_group_refusal {
  CPUC_PERF_GROUP_FULL,      /* it counts the event alone: without the others, or not inherited */
  CPUC_PERF_GROUP_NO_EVENT,  /* it counts cycles in user mode, but does not have this event */
  CPUC_PERF_GROUP_NO_CYCLES, /* it does not have this event, nor cycles in user mode */
  CPUC_PERF_GROUP_REFUSED,   /* it does not permit the call, or lacks it */
  CPUC_PERF_GROUP_FAILED     /* another error, such as too many open files */
};

/* Finds why cpuc_perf_group_add() returned `error`, for the same event. Allocates nothing. */
enum cpuc_perf_group_refusal cpuc_perf_group_find_refusal(const struct cpuc_perf_group *group,
  int error, struct perf_event_attr *wanted);

/* Starts all events. Returns 0 or an errno. */
int cpuc_perf_group_start(const struct cpuc_perf_group *group);

/* Reads with one read(2) for each core type. Stores the counts, and returns 0 if the events have
   counted all the time since their start. Otherwise stores 0 and returns EBUSY if the group lost
   its hardware for a time, or EBADF if a descriptor does not belong to the group any more. */
int cpuc_perf_group_read(const struct cpuc_perf_group *group, long long *counts);

/* Closes the descriptors that still belong to the events. If they are copies in a forked child, the
   events of the parent continue. */
void cpuc_perf_group_close(struct cpuc_perf_group *group, int are_copies);

#pragma GCC visibility pop

#endif
