/* SPDX-License-Identifier: 0BSD OR MIT */
/* What stands in the way of a performance monitoring unit (PMU) here, and what would help:
   perf-remedy.c finds it out for the counters that need one. root: "", or a test's folder in
   place of "/". */

#ifndef CPUCYCLES_PERF_REMEDY_H
#define CPUCYCLES_PERF_REMEDY_H

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

/* Of -cpu host. QEMU, target/i386/cpu.c and target/arm/cpu.c, property "pmu": other CPUs have
   none. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__arm__)
#define QEMU_HAS_PMU_OPTION 1
#else
#define QEMU_HAS_PMU_OPTION 0
#endif

/* A PMU is missing. Says so, and how to get one, where a hypervisor is the cause. */
void cpucycles_no_pmu_why(const char *root, struct cpucycles_why *why);

/* A seccomp filter raised SIGSYS at perf_event_open(2), or made it fail. */
void cpucycles_perf_filter_why(const char *root, struct cpucycles_why *why);

/* perf_event_open(2) of this thread's own core cycles failed with `error`. with_kernel: the
   kernel's were not left out, since the PMU had refused that. Fills in what is known. */
void cpucycles_perf_event_why(const char *root, int error, int with_kernel,
  struct cpucycles_why *why);

/* The setting by which Linux on arm64 and RISC-V lets programs read a PMU's registers. A counter
   needs one of some values, and the release since which there is the setting. */
struct cpucycles_user_access {
  int lowest, highest, major, minor;
  const char *remedy, *too_old, *newer;
};

/* arm64-perfpmc. */
#define CPUCYCLES_ARM64_USER_ACCESS \
  { 1, 1, 5, 17, "sysctl kernel.perf_user_access=1", \
    "this kernel is older than 5.17, the first that lets programs read the PMU", \
    "Linux 5.17 or later" }

/* riscv64-perfrdcycle, riscv32-perfrdcycle. */
#define CPUCYCLES_RISCV_USER_ACCESS \
  { 1, 2, 6, 6, "sysctl kernel.perf_user_access=1", \
    "this kernel is older than 6.6, the first that lets programs read the PMU", \
    "Linux 6.6 or later" }

/* Returns 0 if the setting lets programs, else fills in why not. */
int cpucycles_user_access_why(const char *root,
  const struct cpucycles_user_access *needed, struct cpucycles_why *why);

/* arm64-pmc, arm32-cortex: Linux by itself does not open the register for good, and no module
   can where there is no PMU. */
void cpucycles_arm_module_why(const char *root, struct cpucycles_why *why);

/* riscv64-rdcycle, riscv32-rdcycle: RDCYCLE raised SIGILL. Linux since 6.6 has the setting
   perf_user_access where it finds a PMU; 2 makes the register readable, as before 6.6. Without the
   setting, Linux has no remedy. */
void cpucycles_rdcycle_why(const char *root, struct cpucycles_why *why);

/* What Linux's setting of RDPMC says: 0: nobody may; 1: who has mapped an event; 2: all; -1:
   there is no PMU that has it. */
int cpucycles_rdpmc_level(const char *root);

/* Fills in how to get the level `needed`, if the setting is less. Returns the setting. */
int cpucycles_rdpmc_why(const char *root, int needed, struct cpucycles_why *why);

/* amd64-pmcff, which can be read, and stands still. Where the watchdog is on, it is not by that. */
void cpucycles_fixed_counter_why(const char *root, struct cpucycles_why *why);

#pragma GCC visibility pop

#endif
