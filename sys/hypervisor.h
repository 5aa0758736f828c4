/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the hypervisor of this machine, from CPUID and files of the kernel. */

#ifndef CPUCYCLES_HYPERVISOR_H
#define CPUCYCLES_HYPERVISOR_H

#pragma GCC visibility push(hidden)

/* The name of a hypervisor that cannot be identified. */
#define CPUC_HYPERVISOR_UNNAMED "unidentified"

/* Returns the name of the hypervisor, or NULL if none is found. In a known cloud and in WSL 2,
   their name follows in parentheses, because it determines what the user can change. Executes CPUID
   up to six times, so do not call this function in the first call. */
const char *cpuc_hypervisor_find(void);

#pragma GCC visibility pop

#endif
