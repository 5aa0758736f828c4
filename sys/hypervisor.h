/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the hypervisor of this machine, from CPUID and files of the kernel. */

#ifndef CPUCYCLES_HYPERVISOR_H
#define CPUCYCLES_HYPERVISOR_H

#pragma GCC visibility push(hidden)

/* 1 on the CPUs for which QEMU has the option -cpu host,pmu=on, which a remedy then names. Source:
   QEMU, target/i386/cpu.c and target/arm/cpu.c. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__arm__)
#define CPUC_HYPERVISOR_QEMU_HAS_PMU_OPTION 1
#else
#define CPUC_HYPERVISOR_QEMU_HAS_PMU_OPTION 0
#endif

/* 1 on the CPUs on which WSL 2 and Parallels Desktop can give a virtual machine a PMU. Source:
   microsoft/WSL, release notes of 0.50.2, and WslCoreVm.cpp; Parallels, prlctl(8). */
#if defined(__x86_64__) || defined(__i386__)
#define CPUC_HYPERVISOR_IS_X86 1
#else
#define CPUC_HYPERVISOR_IS_X86 0
#endif

/* The name of a hypervisor that cannot be identified. */
#define CPUC_HYPERVISOR_UNNAMED "unidentified"

/* The name for a machine of a cloud that may be a whole one. */
#define CPUC_HYPERVISOR_UNKNOWN "unknown"

/* Returns the name of the hypervisor, or NULL if none is found. In a known cloud and in WSL 2,
   their name follows in parentheses, because it determines what the user can change. Stores in
   *remedy what the user of a virtual machine without a PMU can do, or NULL if this is none, or if
   it is unknown whether it is one. Executes CPUID up to six times, so do not call this function in
   the first call. */
const char *cpuc_hypervisor_find(const char **remedy);

#pragma GCC visibility pop

#endif
