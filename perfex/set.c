/* SPDX-License-Identifier: 0BSD OR MIT */
/* Opens, starts, reads and closes groups of events. */

#include "config.h"

#include "perfex/set.h"

#include "perfex/names.h"
#include "sys/perf/event.h"

#include <string.h>

/* Opens an event in the group of the leader, or as the leader of a new group if `leader` is -1.
   Some PMUs require that guests are excluded. Returns a descriptor, or -1 with errno. */
static int open_descriptor(const struct pfx_set_wanted *wanted, int leader, int inherits)
{
  struct perf_event_attr attributes;
  int descriptor = -1;
  unsigned guest;

  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = wanted->type;
  attributes.config = wanted->config[0];
  attributes.config1 = wanted->config[1];
  attributes.config2 = wanted->config[2];
  attributes.read_format = PFX_GROUP_READ_FORMAT;
  attributes.inherit = inherits != 0;
  attributes.disabled = leader < 0;
  attributes.pinned = leader < 0 && !inherits;
  attributes.exclude_user = !(wanted->modes & PFX_NAMES_USER);
  attributes.exclude_kernel = !(wanted->modes & PFX_NAMES_KERNEL);
  attributes.exclude_hv = wanted->modes != (PFX_NAMES_USER | PFX_NAMES_KERNEL);
  for (guest = 0; guest < 2 && descriptor < 0; guest++) {
    attributes.exclude_guest = guest;
    descriptor = pfx_group_open(&attributes, leader);
    if (descriptor < 0 && errno != EOPNOTSUPP && errno != EINVAL)
      break;
  }
  return descriptor;
}

int pfx_set_open(struct pfx_set *group, const struct pfx_set_wanted *wanted, int opened)
{
  struct pfx_set_event *event = &group->events[opened];
  int place = opened % group->count, error;
  int leader = place == 0 ? -1 : group->events[opened - place].descriptor;

  event->descriptor = open_descriptor(wanted, leader, group->inherits);
  if (event->descriptor < 0)
    return errno;
  error = cpuc_perf_event_identify(event->descriptor, &event->id) ? 0 : errno;
  if (error == 0)
    error = cpuc_perf_event_move_up(&event->descriptor);
  if (error != 0)
    cpuc_perf_event_close(event->descriptor);
  return error;
}

int pfx_set_can_open(const struct pfx_set_wanted *wanted)
{
  int descriptor = open_descriptor(wanted, -1, 0);

  if (descriptor >= 0)
    cpuc_perf_event_close(descriptor);
  return descriptor >= 0;
}

int pfx_set_owns(const struct pfx_set_event *event)
{
  uint64_t id = 0;

  return cpuc_perf_event_identify(event->descriptor, &id) && id == event->id;
}

int pfx_set_start(const struct pfx_set *group)
{
  int i;

  for (i = 0; i < group->types; i++)
    if (ioctl(group->events[(ptrdiff_t)i * group->count].descriptor, PERF_EVENT_IOC_ENABLE, 0) != 0)
      return errno;
  return 0;
}

/* Adds the counts of one core type. The times of several core types are not tested, because only
   one of them counts at a time. */
static int read_type(const struct pfx_set *group, const struct pfx_set_event *events,
  long long *counts)
{
  struct pfx_group_reading reading;
  ssize_t expected = (ssize_t)(offsetof(struct pfx_group_reading, event)
    + (size_t)group->count * sizeof reading.event[0]);
  int i, is_ours = pfx_group_read(events[0].descriptor, &reading) == expected
    && reading.event_count == (uint64_t)group->count;

  for (i = 0; i < group->count && is_ours; i++) {
    is_ours = reading.event[i].id == events[i].id;
    counts[i] += (long long)reading.event[i].value;
  }
  if (is_ours)
    return group->types > 1 || reading.enabled == reading.running ? 0 : EBUSY;
  return pfx_set_owns(&events[0]) ? EBUSY : EBADF;
}

int pfx_set_read(const struct pfx_set *group, long long *counts)
{
  int i, error = 0;

  memset(counts, 0, (size_t)group->count * sizeof counts[0]);
  for (i = 0; i < group->types && error == 0; i++)
    error = read_type(group, &group->events[(ptrdiff_t)i * group->count], counts);
  if (error != 0)
    memset(counts, 0, (size_t)group->count * sizeof counts[0]);
  return error;
}

/* Copies of the descriptors, for example in a forked child, keep the events open. So disables the
   events, to release the hardware. */
void pfx_set_close(const struct pfx_set *group, int opened, int are_copies)
{
  int i;

  for (i = 0; i < opened; i++)
    if (pfx_set_owns(&group->events[i])) {
      if (i % group->count == 0 && !are_copies)
        ioctl(group->events[i].descriptor, PERF_EVENT_IOC_DISABLE, 0);
      cpuc_perf_event_close(group->events[i].descriptor);
    }
}
