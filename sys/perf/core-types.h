/* SPDX-License-Identifier: 0BSD OR MIT */
/* The core types of a hybrid CPU. A perf event counts on cores of one type only. */

#ifndef CPUCYCLES_PERF_CORE_TYPES_H
#define CPUCYCLES_PERF_CORE_TYPES_H

#include <stddef.h>
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

/* Returns 1 if this name in /sys/bus/event_source/devices is that of a PMU of all or some cores.
   Other PMUs count in caches, memory controllers or interconnects, such as arm_dsu_0 and arm_cmn_0,
   or record samples, such as arm_spe_0 and cpum_sf.
   Source: Linux, perf_pmu_register() in arch/:
   cpu on x86, powerpc, riscv, loongarch, mips, sparc, alpha, sh, csky and xtensa; cpu_core,
   cpu_atom and cpu_lowpower on hybrid x86; cpum_cf on s390; arc_pct on arc;
   drivers/perf/arm_v6_pmu.c, arm_v7_pmu.c, arm_xscale_pmu.c and arm_pmuv3.c (armv5_xscale1,
   armv7_cortex_a7, armv8_pmuv3_0, armv9_cortex_x2...), apple_m1_cpu_pmu.c (apple_icestorm_pmu...);
   kernel/events/core.c (cpu_clock is a clock). */
int cpuc_perf_core_types_is_pmu(const char *name);

/* Returns the type of the PMU for perf_event_open(2), or -1. */
long long cpuc_perf_core_types_read_type(const char *pmu);

/* Returns 1 if this is a PMU of cores that has a file "cpus", even if the file lists all CPUs, and
   reads this file. */
int cpuc_perf_core_types_read_cpus(const char *pmu, char *cpus, size_t size);

/* Returns the number of core types, or 0 if they are unknown. */
int cpuc_perf_core_types_count(void);

/* Finds the events of `count` core types. `generic` is the event for a CPU with one core type.
   try_event() returns 0 if the kernel has the event, otherwise an errno. Returns 0, or ENODEV if
   one of several types has no event, or if there are too many types. */
int cpuc_perf_core_types_find(struct cpuc_perf_core_types *found, int count,
  struct cpuc_perf_core_event generic, int (*try_event)(struct cpuc_perf_core_event event));

#pragma GCC visibility pop

#endif
