/* SPDX-License-Identifier: 0BSD OR MIT */
/* Opens, starts, reads and closes groups of events. */

#include "config.h"
#ifdef HAVE_PERF_EVENTS

#include "sys/perf/group.h"

#include "sys/perf/kernel.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

int cpuc_perf_group_add(struct cpuc_perf_group *group, struct perf_event_attr *wanted)
{
  struct cpuc_perf_event *event = &group->events[group->added];
  int place = group->added % group->count, error;
  int is_leader = place == 0, leader = is_leader ? -1 : (event - place)->descriptor;

  event->descriptor = -1;
  group->added++;
  wanted->read_format = CPUC_PERF_GROUP_FORMAT;
  wanted->inherit = group->inherits != 0;
  wanted->disabled = is_leader;
  wanted->pinned = is_leader && !group->inherits;
  error = cpuc_perf_event_open(event, wanted, leader, 0);
  return error ? error : cpuc_perf_event_move_up(event);
}

enum cpuc_perf_group_refusal cpuc_perf_group_find_refusal(const struct cpuc_perf_group *group,
  int error, struct perf_event_attr *wanted)
{
  struct perf_event_attr cycles
    = cpuc_perf_event_attributes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, CPUC_PERF_USER);
  struct cpuc_perf_event *event = &group->events[group->added - 1];
  int is_alone = (group->added - 1) % group->count == 0 && !group->inherits;

  if (error == EACCES || error == EPERM || error == ENOSYS)
    return CPUC_PERF_GROUP_REFUSED;
  if (error != ENOENT && error != EINVAL && error != EOPNOTSUPP && error != ENODEV)
    return CPUC_PERF_GROUP_FAILED;
  if (!is_alone && cpuc_perf_event_try(event, wanted, 0) == 0)
    return CPUC_PERF_GROUP_FULL;
  return wanted->type == PERF_TYPE_SOFTWARE || cpuc_perf_event_try(event, &cycles, 0) == 0
    ? CPUC_PERF_GROUP_NO_EVENT
    : CPUC_PERF_GROUP_NO_CYCLES;
}

int cpuc_perf_group_start(const struct cpuc_perf_group *group)
{
  int i;

  for (i = 0; i < group->added; i += group->count)
    if (cpuc_perf_kernel_control(group->events[i].descriptor, PERF_EVENT_IOC_ENABLE, NULL) != 0)
      return errno;
  return 0;
}

/* Adds the counts of one core type. The times of several core types are not tested, because only
   one of them counts at a time. */
static int read_type(const struct cpuc_perf_group *group, const struct cpuc_perf_event *events,
  long long *counts)
{
  struct cpuc_perf_group_reading reading;
  ssize_t expected = (ssize_t)(offsetof(struct cpuc_perf_group_reading, event)
    + (size_t)group->count * sizeof reading.event[0]);
  int i, is_ours = cpuc_perf_kernel_read(events[0].descriptor, &reading, sizeof reading) == expected
    && reading.event_count == (uint64_t)group->count;

  for (i = 0; i < group->count && is_ours; i++) {
    is_ours = reading.event[i].id == events[i].id;
    counts[i] += (long long)reading.event[i].value;
  }
  if (is_ours)
    return group->added > group->count || reading.enabled == reading.running ? 0 : EBUSY;
  return cpuc_perf_event_owns_descriptor(&events[0]) ? EBUSY : EBADF;
}

int cpuc_perf_group_read(const struct cpuc_perf_group *group, long long *counts)
{
  int i, error = 0;

  memset(counts, 0, (size_t)group->count * sizeof counts[0]);
  for (i = 0; i < group->added && error == 0; i += group->count)
    error = read_type(group, &group->events[i], counts);
  if (error != 0)
    memset(counts, 0, (size_t)group->count * sizeof counts[0]);
  return error;
}

void cpuc_perf_group_close(struct cpuc_perf_group *group, int are_copies)
{
  int i;

  for (i = 0; i < group->added; i++)
    cpuc_perf_event_close_descriptor(&group->events[i], i % group->count == 0 && !are_copies);
  group->added = 0;
}
#endif
