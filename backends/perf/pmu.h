/* SPDX-License-Identifier: 0BSD OR MIT */
/* Facts about the performance monitoring unit (PMU) of this machine. They decide which counters are
   opened, and which remedies fit. */

#ifndef CPUCYCLES_PERF_PMU_H
#define CPUCYCLES_PERF_PMU_H

#pragma GCC visibility push(hidden)

/* 1 if perf_event_open(2) reported in the selection that there is no PMU. Later trials of other
   counters that need a PMU then need no system calls to find this out. 0 if perf_event_open(2) did
   not report this, or was not called. */
extern int cpuc_pmu_was_found_absent;

/* Returns 1 if this name in /sys/bus/event_source/devices is that of a PMU of all or some cores.
   Other PMUs count in caches, memory controllers or interconnects, such as arm_dsu_0 and arm_cmn_0,
   or record samples, such as arm_spe_0 and cpum_sf.
   Source: Linux, perf_pmu_register() in arch/:
   cpu on x86, powerpc, riscv, loongarch, mips, sparc, alpha, sh, csky and xtensa; cpu_core,
   cpu_atom and cpu_lowpower on hybrid x86; cpum_cf on s390; arc_pct on arc;
   drivers/perf/arm_v6_pmu.c, arm_v7_pmu.c, arm_xscale_pmu.c and arm_pmuv3.c (armv5_xscale1,
   armv7_cortex_a7, armv8_pmuv3_0, armv9_cortex_x2...), apple_m1_cpu_pmu.c (apple_icestorm_pmu...);
   kernel/events/core.c (cpu_clock is a clock). */
int cpuc_pmu_is_of_cores(const char *name);

/* The files with the RDPMC setting of Linux on x86. Hybrid CPUs have no PMU named cpu, so their
   setting is read from cpu_core. It applies to all PMUs. */
#define CPUC_PMU_RDPMC_FILE "/sys/bus/event_source/devices/cpu/rdpmc"
#define CPUC_PMU_HYBRID_RDPMC_FILE "/sys/bus/event_source/devices/cpu_core/rdpmc"

/* Returns the RDPMC setting. 0: no process may use RDPMC; 1: processes that have an event mapped;
   2: all processes; -1: no PMU has the setting. If is_hybrid is not NULL, stores in it whether the
   setting was looked for in the file of a hybrid CPU. */
long long cpuc_pmu_read_rdpmc_level(int *is_hybrid);

/* Returns 1 if the NMI watchdog of Linux is on. On CPUs of Intel the watchdog uses the fixed cycle
   counter. */
int cpuc_pmu_nmi_watchdog_is_on(void);

#pragma GCC visibility pop

#endif
