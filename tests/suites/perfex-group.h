/* SPDX-License-Identifier: 0BSD OR MIT */
/* The kernel of libperfex in tests, in place of perfex/group.c: three hardware events are software
   events, which every Linux counts without a PMU. Event 15 counts page faults, event 24 counts
   minor page faults (the same number in the tests), and event 0 counts the thread's CPU time. */

#ifndef CPUCYCLES_PERFEX_GROUP_TEST_H
#define CPUCYCLES_PERFEX_GROUP_TEST_H

#include "perfex/group.h"

#pragma GCC visibility push(hidden)

/* Answers that a test replaces. */
struct perfex_group {
  /* Events that perf_event_open(2) refuses. */
  int refused;                /* config of the software event that is always refused, or 0 */
  int refused_together;       /* config refused as the second of a group, or 0 */
  int refused_without_kernel; /* 1: every event that excludes the kernel */
  int refusal_errno;
  /* Called if not NULL: on_open() before an event is opened, and alter_reading() after the group is
     read, with the result. */
  void (*on_open)(void);
  void (*alter_reading)(struct pfx_group_reading *reading, ssize_t *length);
};
extern struct perfex_group perfex_group;

enum { PERFEX_GROUP_CALLS = 4 };

/* The thread's first calls of pfx_group_open(), and their number. */
extern _Thread_local struct perfex_group_call {
  struct perf_event_attr wanted;
  int leader;
} perfex_group_calls[PERFEX_GROUP_CALLS];
extern _Thread_local int perfex_group_call_count;

/* Descriptors of the last leader that the thread has opened, and of its member. */
extern _Thread_local int perfex_group_descriptor[2];

#pragma GCC visibility pop

#endif
