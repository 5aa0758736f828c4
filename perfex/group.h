/* SPDX-License-Identifier: 0BSD OR MIT */
/* A group of perfex_open(). */

#ifndef PERFEX_GROUP_H
#define PERFEX_GROUP_H

#include "perfex/names.h"
#include "sys/diagnosis.h"
#include "sys/perf/group.h"
#include "sys/perf/pmu.h"

struct perfex_group {
  struct cpuc_perf_group open;
  unsigned long thread; /* number of the thread that is counted, also after a fork */
  unsigned long forks;  /* pfx_early_forks of the process that has opened the group */
  unsigned long page_reader; /* `thread` if it reads pages, else a number of no thread */
  const volatile struct perf_event_mmap_page *pages[CPUC_PERF_GROUP_EVENTS]; /* or NULL */
  struct cpuc_perf_event events[CPUC_PERF_CORE_TYPES * CPUC_PERF_GROUP_EVENTS];
  struct pfx_names_event names[CPUC_PERF_GROUP_EVENTS];
  struct cpuc_perf_core_types cores; /* `listed`: those on which the thread can run */
  struct cpuc_machine machine;
  double instructions_per_cycle; /* of the last perfex_bench(); 0: not known */
};

#endif
