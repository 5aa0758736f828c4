/* SPDX-License-Identifier: 0BSD OR MIT */
/* The declarations of the compiler's header of this name that amd64-pmcff uses, for
   check_remedies.c: there they are functions, so that the test can be the CPU. */

#ifndef PORTS_CPUID_H
#define PORTS_CPUID_H

#define signature_INTEL_ebx 0x756e6547

int __get_cpuid(unsigned int leaf, unsigned int *eax, unsigned int *ebx, unsigned int *ecx,
  unsigned int *edx);
unsigned int __get_cpuid_max(unsigned int leaf, unsigned int *signature);

#endif
