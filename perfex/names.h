/* SPDX-License-Identifier: 0BSD OR MIT */
/* The names of events. */

#ifndef PERFEX_NAMES_H
#define PERFEX_NAMES_H

#include <stdint.h>

enum { PFX_NAMES_SIZE = 64 };

/* Who counts an event. */
enum pfx_names_counter {
  PFX_NAMES_GENERIC,  /* the PMU of each core */
  PFX_NAMES_RAW,      /* the PMU of the cores, by a number that other core types do not share */
  PFX_NAMES_CORE_PMU, /* one PMU of cores */
  PFX_NAMES_SOFTWARE, /* the kernel */
  PFX_NAMES_OTHER_PMU
};

struct pfx_names_event {
  uint32_t type; /* of struct perf_event_attr, like the next three */
  uint64_t config[3];
  enum pfx_names_counter counter;
  int modes; /* of sys/perf/event.h */
  char name[PFX_NAMES_SIZE]; /* as the program wrote it, cut to size */
};

/* Parses a list of names. Returns the number of events, 1 to `most`; or -1 with EINVAL and a
   sentence for perfex_why(). */
int pfx_names_parse(const char *list, struct pfx_names_event *events, int most);

#endif
