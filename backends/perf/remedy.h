/* SPDX-License-Identifier: 0BSD OR MIT */
/* Explains why a counter that needs a performance monitoring unit (PMU) was refused, and finds a
   remedy. root: "", or a test's folder in place of "/". */

#ifndef CPUCYCLES_PERF_REMEDY_H
#define CPUCYCLES_PERF_REMEDY_H

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

/* QEMU's option -cpu host has the property "pmu" on x86 and Arm only: target/i386/cpu.c and
   target/arm/cpu.c. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__arm__)
#define QEMU_HAS_PMU_OPTION 1
#else
#define QEMU_HAS_PMU_OPTION 0
#endif

/* 1 if perf_event_open(2) reported in the selection that there is no PMU. amd64-pmcff then opens no
   files to find out. */
extern int cpuc_remedy_found_no_pmu;

/* Is this, in /sys/bus/event_source/devices, the PMU of the cores or of some of them? Others count
   what happens in caches, memory controllers or interconnects, such as arm_dsu_0 and arm_cmn_0, or
   record samples, such as arm_spe_0 and cpum_sf. Source: Linux, perf_pmu_register() in arch/:
   cpu on x86, powerpc, riscv, loongarch, mips, sparc, alpha, sh, csky and xtensa; cpu_core,
   cpu_atom and cpu_lowpower on hybrid x86; cpum_cf on s390; arc_pct on arc;
   drivers/perf/arm_v6_pmu.c, arm_v7_pmu.c, arm_xscale_pmu.c and arm_pmuv3.c (armv5_xscale1,
   armv7_cortex_a7, armv8_pmuv3_0, armv9_cortex_x2...), apple_m1_cpu_pmu.c (apple_icestorm_pmu...);
   kernel/events/core.c: cpu_clock is a clock. */
int cpuc_remedy_is_core_pmu(const char *name);

/* A PMU is missing, or unknown. If a hypervisor is the cause, explains that, and how to get one. */
void cpuc_remedy_for_no_pmu(const char *root, struct cpuc_diagnosis *why);

/* A seccomp filter raised SIGSYS at perf_event_open(2), or made it fail. */
void cpuc_remedy_for_perf_filter(const char *root, struct cpuc_diagnosis *why);

/* perf_event_open(2) of this thread's core cycles failed with `error`. with_kernel: the kernel's
   cycles were not excluded, because the PMU had refused that. */
void cpuc_remedy_for_perf_event(const char *root, int error, int with_kernel,
  struct cpuc_diagnosis *why);

/* sysctl kernel.perf_user_access, by which Linux on arm64 and RISC-V lets programs read a PMU's
   registers: the values that a counter needs, the first release with the setting, the remedy for
   other values, and the explanation and the remedy for older releases. */
struct cpuc_remedy_user_access {
  int lowest, highest, major, minor;
  const char *remedy, *too_old, *newer;
};

/* arm64-perfpmc. */
#define CPUC_ARM64_USER_ACCESS \
  { 1, 1, 5, 17, "sysctl kernel.perf_user_access=1", \
    "this kernel is older than 5.17, the first that lets programs read the PMU", \
    "Linux 5.17 or later" }

/* riscv64-perfrdcycle, riscv32-perfrdcycle. */
#define CPUC_RISCV_USER_ACCESS \
  { 1, 2, 6, 6, "sysctl kernel.perf_user_access=1", \
    "this kernel is older than 6.6, the first that lets programs read the PMU", \
    "Linux 6.6 or later" }

/* Returns 0 if the setting allows access; else 1, and explains why not. */
int cpuc_remedy_for_user_access(const char *root,
  const struct cpuc_remedy_user_access *needed, struct cpuc_diagnosis *why);

/* arm64-pmc, arm32-cortex: Linux itself does not enable lasting user access to the register. A
   kernel module does, if there is a PMU. */
void cpuc_remedy_for_arm_module(const char *root, struct cpuc_diagnosis *why);

/* riscv64-rdcycle, riscv32-rdcycle: RDCYCLE raised SIGILL. Linux since 6.6 has the setting
   perf_user_access where it finds a PMU; 2 makes the register readable, as before 6.6. Without the
   setting, Linux has no remedy. */
void cpuc_remedy_for_rdcycle(const char *root, struct cpuc_diagnosis *why);

/* Returns Linux's setting of RDPMC. 0: no process may use it; 1: processes that have an event
   mapped; 2: all. -1: no PMU has the setting. */
int cpuc_remedy_rdpmc_level(const char *root);

/* Explains how to get the level `needed`, if the setting is lower. Returns the setting. */
int cpuc_remedy_for_rdpmc(const char *root, int needed, struct cpuc_diagnosis *why);

/* Is Linux's NMI watchdog on? On Intel's CPUs it owns the fixed cycle counter. */
int cpuc_remedy_nmi_watchdog_is_on(const char *root);

/* amd64-pmcff is readable, but the NMI watchdog sets it back or nothing runs it. The remedy is an
   event that runs it. */
void cpuc_remedy_for_fixed_counter(const char *root, struct cpuc_diagnosis *why);

#pragma GCC visibility pop

#endif
