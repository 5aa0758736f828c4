/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of events, their names, and the environment variables that override them. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/events.h"
#include "perfex/why.h"
#include "sys/environment.h"
#include "sys/parse.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* Cache, operation and result, one byte each: perf_event_open(2), "config". */
#define PFX_CACHE(cache, operation, result) \
  (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 \
    | PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct pfx_events_entry rows[] = {
#define PFX_EVENT(number, text, name, also, type, config, difference, arm, intel, amd) \
  [number] = { text, name, also, type, config },
#define PFX_NONE(number, text) [number] = { text, NULL, NULL, 0, 0 },
#define PFX_GENERIC(name, also, type, config) { NULL, name, also, type, config },
#include "perfex/events.def"
#undef PFX_EVENT
#undef PFX_NONE
#undef PFX_GENERIC
};

const struct pfx_events_entry *pfx_events_row(int event)
{
  return event >= 0 && event < PFX_EVENTS ? &rows[event] : NULL;
}

const struct pfx_events_entry *pfx_events_find(const char *name)
{
  size_t i;

  for (i = 0; *name && i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].name && (strcmp(name, rows[i].name) == 0 || strcmp(name, rows[i].other_name) == 0))
      return &rows[i];
  return NULL;
}

int perfex_event(const char *name)
{
  const struct pfx_events_entry *row = name ? pfx_events_find(name) : NULL;

  if (row && row < rows + PFX_EVENTS)
    return (int)(row - rows);
  errno = EINVAL;
  return -1;
}

/* Parses a number or a name. Returns -1 with EINVAL if the text is neither. */
static int parse_event(const char *text)
{
  int number;
  const char *rest = cpuc_parse_integer(text, &number);

  return rest && !*rest && pfx_events_row(number) ? number : perfex_event(text);
}

int pfx_events_override(int events[2], int strict)
{
  static const char *const variables[2] = { "T5_EVENT0", "T5_EVENT1" };
  int saved_errno = errno, i;

  for (i = 0; i < 2; i++) {
    const char *text = cpuc_environment(variables[i]);
    int event = text && *text ? parse_event(text) : -1;

    if (event >= 0)
      events[i] = event;
    else if (text && *text && strict) {
      pfx_why_print("%s: %.64s is neither the number nor the name of an event; "
                    "see perfex-events(7)", variables[i], text);
      errno = EINVAL;
      return -1;
    }
  }
  errno = saved_errno;
  return 0;
}
