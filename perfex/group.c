/* SPDX-License-Identifier: 0BSD OR MIT */
/* Opens and reads a group of events. Source: perf_event_open(2). */

#include "config.h"

#include "perfex/set.h"
#include "sys/perf/event.h"

#include <unistd.h>

int pfx_group_open(struct perf_event_attr *wanted, int leader)
{
  return cpuc_perf_event_open_in_group(wanted, leader);
}

/* read() would be a cancellation point. */
ssize_t pfx_group_read(int leader, struct pfx_group_reading *reading)
{
  return (ssize_t)syscall(SYS_read, leader, reading, sizeof *reading);
}
