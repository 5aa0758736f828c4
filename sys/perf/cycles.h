/* SPDX-License-Identifier: 0BSD OR MIT */
/* The events that count the core cycles of the calling thread, and whether the kernel has them. */

#ifndef CPUCYCLES_PERF_CYCLES_H
#define CPUCYCLES_PERF_CYCLES_H

#include "sys/perf/pmu.h"

#include <stdint.h>

struct cpuc_perf_event;

#pragma GCC visibility push(hidden)

/* What the kernel has answered. All zero: it was not asked. */
struct cpuc_perf_cycles {
  int is_known;   /* 1: `error` does not change; the kernel need not be asked again */
  int error;      /* of the last question: 0 or an errno; ENOENT: there is no PMU */
  int is_partial; /* 1 if there are too many core types, or one of them has no event */
  /* 1 if the last request for the event of all core types, granted or refused, or a granted event
     of one core type, did not exclude kernel mode, because the PMU cannot exclude it. */
  int with_kernel;
  /* The members of struct perf_event_attr that choose the event of each core type. */
  int count;
  struct cpuc_perf_cycles_event {
    uint32_t type;
    uint64_t config;
  } events[CPUC_PERF_CORE_TYPES];
};

/* Finds the events, unless they are known. Returns 0 or an errno. Uses the storage of `event`,
   which the caller closes after a fault in this function. */
int cpuc_perf_cycles_find(struct cpuc_perf_cycles *cycles, struct cpuc_perf_event *event);

#pragma GCC visibility pop

#endif
