/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of generic events, and the environment variables that override events. */

#ifndef PERFEX_EVENTS_H
#define PERFEX_EVENTS_H

#include <stdint.h>

enum { PFX_EVENTS = 32 /* with a number */ };

struct pfx_events_entry {
  const char *text; /* description, as print_counters() prints it; NULL if there is no number */
  const char *name; /* NULL if the kernel has no such event */
  const char *other_name; /* "": none; NULL if `name` is NULL */
  uint32_t type;    /* of struct perf_event_attr */
  uint64_t config;
};

/* Returns the row of the event, or NULL if its number is out of range. */
const struct pfx_events_entry *pfx_events_row(int event);

/* Returns the first row with this name, or NULL. */
const struct pfx_events_entry *pfx_events_find(const char *name);

/* Replaces events[] with the events that T5_EVENT0 and T5_EVENT1 name. Returns 0. Ignores an empty
   variable. If a variable names no event, ignores the variable if `strict` is 0; if `strict` is not
   0, prints a message and returns -1 with EINVAL. */
int pfx_events_override(int events[2], int strict);

#endif
