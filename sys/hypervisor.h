/* SPDX-License-Identifier: 0BSD OR MIT */
/* The hypervisor of this machine, as CPUID or the kernel's files name it. */

#ifndef CPUCYCLES_HYPERVISOR_H
#define CPUCYCLES_HYPERVISOR_H

#pragma GCC visibility push(hidden)

/* The name of a hypervisor that reports no known name. */
#define HYPERVISOR_UNNAMED "of no known name"

/* The hypervisor's name; NULL if none is found. root is "" for this machine, or a test's folder.
   Executes CPUID if root is "". */
const char *cpuc_hypervisor_find(const char *root);

/* The same by firmware, device tree and kernel alone: files below root. */
const char *cpuc_hypervisor_from_files(const char *root);

/* Executes CPUID. Returns 1 and *name; 0 if CPUID reports no hypervisor; -1 if the CPU or the
   compiler has no CPUID. */
int cpuc_hypervisor_from_cpuid(const char **name);

/* The name that belongs to the signature of CPUID leaf 40000000H. */
const char *cpuc_hypervisor_from_signature(const char *signature);

#pragma GCC visibility pop

#endif
