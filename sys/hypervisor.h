/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the hypervisor of this machine, from CPUID or files of the kernel. */

#ifndef CPUCYCLES_HYPERVISOR_H
#define CPUCYCLES_HYPERVISOR_H

#pragma GCC visibility push(hidden)

/* The name of a hypervisor that cannot be identified. */
#define HYPERVISOR_UNNAMED "unidentified"

/* Returns the name of the hypervisor, or NULL if none is found. root is "" for this machine, or a
   directory with the files of another. Executes CPUID only if root is "". */
const char *cpuc_hypervisor_find(const char *root);

/* Returns the name found in firmware, device-tree and kernel files below root, or NULL. Does not
   execute CPUID. */
const char *cpuc_hypervisor_from_files(const char *root);

/* Executes CPUID. Returns 1 and stores *name if CPUID reports a hypervisor, 0 if not, and -1 if the
   CPU or the compiler does not have CPUID. */
int cpuc_hypervisor_from_cpuid(const char **name);

/* Returns the name that belongs to a signature from CPUID leaf 40000000H. */
const char *cpuc_hypervisor_from_signature(const char *signature);

#pragma GCC visibility pop

#endif
