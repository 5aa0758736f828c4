/* SPDX-License-Identifier: 0BSD OR MIT */
/* The core types of a hybrid CPU. A perf event counts on cores of one type only. */

#ifndef CPUCYCLES_PERF_CORE_TYPES_H
#define CPUCYCLES_PERF_CORE_TYPES_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { CPUC_PERF_CORE_TYPES = 4 /* at most */ };

/* The members of struct perf_event_attr that choose an event. */
struct cpuc_perf_core_event {
  uint32_t type;
  uint64_t config;
};

/* The events for the core types. */
struct cpuc_perf_core_types {
  struct cpuc_perf_core_event events[CPUC_PERF_CORE_TYPES];
  int count; /* 1, with the generic event, if the CPU is not hybrid or its types are unknown */
};

/* Finds the core types. `generic` is the event for a CPU with one core type. try_event() returns 0
   if the kernel has the event, otherwise an errno. Returns 0, or ENODEV if one of several types has
   no event, or if there are too many types. */
int cpuc_perf_find_core_types(struct cpuc_perf_core_types *found,
  struct cpuc_perf_core_event generic, int (*try_event)(struct cpuc_perf_core_event event));

#pragma GCC visibility pop

#endif
