/* SPDX-License-Identifier: 0BSD OR MIT */
/* The PMUs that the kernel describes in /sys, those of the core types of a hybrid CPU, and settings
   of PMUs. A perf event counts on cores of one type only.
   Source: Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices*. */

#ifndef CPUCYCLES_PERF_PMU_H
#define CPUCYCLES_PERF_PMU_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { CPUC_PERF_CORE_TYPES = 4 /* at most */ };

/* The PMUs of the core types. */
struct cpuc_perf_core_types {
  int count;  /* at most 1 if the CPU is not hybrid or its types are unknown */
  int listed; /* less than `count` if there are too many, or a type cannot be read */
  struct cpuc_perf_core_type {
    uint32_t type; /* of struct perf_event_attr */
    char pmu[32];
  } types[CPUC_PERF_CORE_TYPES];
};

/* The directory that has a directory for each PMU. */
#define CPUC_PERF_PMU_LIST "/sys/bus/event_source/devices"

/* The files with the RDPMC setting of Linux on x86. Hybrid CPUs have no PMU named cpu, so their
   setting is read from cpu_core. It applies to all PMUs. */
#define CPUC_PERF_PMU_RDPMC CPUC_PERF_PMU_LIST "/cpu/rdpmc"
#define CPUC_PERF_PMU_HYBRID_RDPMC CPUC_PERF_PMU_LIST "/cpu_core/rdpmc"

/* Turns the NMI watchdog off. */
#define CPUC_PERF_PMU_WATCHDOG_OFF "sysctl kernel.nmi_watchdog=0"

/* Reads a file in the directory of the PMU as a string. Returns 0 if the file is missing or empty.
   Is a cancellation point. */
int cpuc_perf_pmu_read(const char *pmu, const char *file, char *text, size_t size);

/* Returns the type of the PMU for perf_event_open(2), or -1. */
long long cpuc_perf_pmu_read_type(const char *pmu);

/* Reads a file of the PMU that consists of "event=0x", a number and a newline. Returns 1, or 0 if
   there is no such file. */
int cpuc_perf_pmu_read_event(const char *pmu, const char *file, uint64_t *number);

/* Returns 1 if this name in /sys/bus/event_source/devices is that of a PMU of all or some cores.
   Other PMUs count in caches, memory controllers or interconnects, such as arm_dsu_0 and arm_cmn_0,
   or record samples, such as arm_spe_0 and cpum_sf.
   Source: Linux, perf_pmu_register() in arch/:
   cpu on x86, powerpc, riscv, loongarch, mips, sparc, alpha, sh, csky and xtensa; cpu_core,
   cpu_atom and cpu_lowpower on hybrid x86; cpum_cf on s390; arc_pct on arc;
   drivers/perf/arm_v6_pmu.c, arm_v7_pmu.c, arm_xscale_pmu.c and arm_pmuv3.c (armv5_xscale1,
   armv7_cortex_a7, armv8_pmuv3_0, armv9_cortex_x2...), apple_m1_cpu_pmu.c (apple_icestorm_pmu...);
   kernel/events/core.c (cpu_clock is a clock). */
int cpuc_perf_pmu_is_of_cores(const char *name);

/* Finds the core types: the PMUs of cores that have a file "cpus", even if it lists all CPUs.
   Stores a struct cpuc_perf_core_types. Is a body for cpuc_guard_run(). */
void cpuc_perf_pmu_find_core_types(void *core_types);

/* Returns the config of a generic event on the cores of this type: perf_event_open(2),
   PERF_TYPE_HARDWARE. */
static inline uint64_t cpuc_perf_pmu_generic_config(const struct cpuc_perf_core_type *core,
  uint64_t config)
{
  return (uint64_t)core->type << 32 | config;
}

/* Returns the RDPMC setting. 0: no process may use RDPMC; 1: processes that have an event mapped;
   2: all processes; -1: no PMU has the setting. */
long long cpuc_perf_pmu_read_rdpmc(void);

/* Returns 1 if the NMI watchdog of Linux is on. On CPUs of Intel the watchdog uses the fixed cycle
   counter. */
int cpuc_perf_pmu_watchdog_is_on(void);

#pragma GCC visibility pop

#endif
