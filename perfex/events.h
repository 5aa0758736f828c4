/* SPDX-License-Identifier: 0BSD OR MIT */
/* The events by number, and the environment variables that override them. */

#ifndef PERFEX_EVENTS_H
#define PERFEX_EVENTS_H

#include <stdint.h>

enum { PFX_EVENTS = 32 };

struct pfx_event_row {
  const char *text; /* description, as print_counters() prints it */
  const char *name; /* as perfex_event() takes it; NULL if the kernel has no such event */
  const char *also; /* another name, or "" */
  uint32_t type;    /* of struct perf_event_attr */
  uint64_t config;
};

/* Returns the event's row; NULL if the number is out of range. */
const struct pfx_event_row *pfx_events_row(int event);

/* Replaces events[] by the events that T5_EVENT0 and T5_EVENT1 name. Returns 0. A variable that
   names no event is ignored; or, if `strict` is not 0, reported by a message and a result of -1
   with EINVAL. */
int pfx_events_override(int events[2], int strict);

#endif
