/* SPDX-License-Identifier: 0BSD OR MIT */
/* The declarations of the compiler's header of this name that amd64-pmcff and sys/hypervisor.c use,
   for check_remedies.c, which defines the functions and thus is the CPU. */

#ifndef PORTS_CPUID_H
#define PORTS_CPUID_H

#define signature_INTEL_ebx 0x756e6547

int __get_cpuid(unsigned int leaf, unsigned int *eax, unsigned int *ebx, unsigned int *ecx,
  unsigned int *edx);
unsigned int __get_cpuid_max(unsigned int leaf, unsigned int *signature);
#define __cpuid(leaf, a, b, c, d) __get_cpuid(leaf, &(a), &(b), &(c), &(d))

#endif
