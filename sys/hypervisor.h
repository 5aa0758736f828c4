/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the hypervisor of this machine, from CPUID or files of the kernel. */

#ifndef CPUCYCLES_HYPERVISOR_H
#define CPUCYCLES_HYPERVISOR_H

#pragma GCC visibility push(hidden)

/* The name of a hypervisor that cannot be identified. */
#define CPUC_HYPERVISOR_UNNAMED "unidentified"

/* Returns the name of the hypervisor, or NULL if none is found. */
const char *cpuc_hypervisor_find(void);

#pragma GCC visibility pop

#endif
