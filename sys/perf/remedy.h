/* SPDX-License-Identifier: 0BSD OR MIT */
/* Why a counter that needs a performance monitoring unit (PMU) was refused, with a remedy. */

#ifndef CPUCYCLES_PERF_REMEDY_H
#define CPUCYCLES_PERF_REMEDY_H

#include "sys/diagnosis.h"

#pragma GCC visibility push(hidden)

/* Call if there is no PMU, or if it is unknown whether there is a PMU. If the cause is a
   hypervisor, explains how it can provide a PMU. */
void cpuc_remedy_for_no_pmu(struct cpuc_diagnosis *diagnosis);

/* Call if perf_event_open(2) failed with `error`, or if a filter raised the signal SIGSYS, most
   likely there. needs_pmu: 0 for an event that the kernel counts without a PMU of the cores.
   counts_kernel: 1 if the caller wants to count in the kernel. */
void cpuc_remedy_for_perf_event(int error, int signal, int needs_pmu, int counts_kernel,
  struct cpuc_diagnosis *diagnosis);

/* For arm64-perfpmc, and for riscv64-perfrdcycle and riscv32-perfrdcycle. If sysctl
   kernel.perf_user_access, the setting of Linux for user-space access to PMUs, is missing or does
   not allow access, explains why. */
void cpuc_remedy_for_arm64_user_access(struct cpuc_diagnosis *diagnosis);
void cpuc_remedy_for_riscv_user_access(struct cpuc_diagnosis *diagnosis);

/* explain() of arm64-pmc and arm32-cortex. Linux itself does not keep user-space access to the
   register enabled, but a kernel module can, if there is a PMU. */
void cpuc_remedy_for_arm_module(int error, int signal, struct cpuc_diagnosis *diagnosis);

/* explain() of riscv64-rdcycle and riscv32-rdcycle. Linux since 6.6 has the setting
   perf_user_access if it finds a PMU. The value 2 makes the register readable, as it is before 6.6.
   Without the setting there is no remedy. */
void cpuc_remedy_for_rdcycle(int error, int signal, struct cpuc_diagnosis *diagnosis);

/* If the RDPMC setting of Linux is lower than `needed`, explains how to raise it. */
void cpuc_remedy_for_rdpmc(int needed, struct cpuc_diagnosis *diagnosis);

/* Call if amd64-pmcff is readable, but the NMI watchdog sets it back or it is stopped. The remedy
   turns the watchdog off, and starts an event that keeps the counter running. */
void cpuc_remedy_for_fixed_counter(struct cpuc_diagnosis *diagnosis);

#pragma GCC visibility pop

#endif
