/* SPDX-License-Identifier: 0BSD OR MIT */
/* The instruction CPUID of x86. */

#ifndef CPUCYCLES_CPUID_H
#define CPUCYCLES_CPUID_H

#pragma GCC visibility push(hidden)

/* The registers EAX, EBX, ECX and EDX after CPUID. */
struct cpuc_cpuid_leaf {
  unsigned int a, b, c, d;
};

/* The leaf of the address sizes, which also describes RDPRU. */
#define CPUC_CPUID_SIZES 0x80000008U

/* Returns the registers after CPUID for a leaf, and subleaf 0. For CPUC_CPUID_SIZES, uses the
   registers that glibc has saved, if glibc offers them; in all other cases executes CPUID. All
   registers are 0 if the CPU or the compiler does not have CPUID, or if the process forbids it. In
   all other cases, EAX of leaf 0, which is the number of the highest leaf, is above 0. Each
   execution can exit to the hypervisor, which takes microseconds. */
struct cpuc_cpuid_leaf cpuc_cpuid_read(unsigned int leaf);

/* Returns 1 for a CPU of Intel. */
static inline int cpuc_cpuid_is_intel(void)
{
  struct cpuc_cpuid_leaf vendor = cpuc_cpuid_read(0); /* GenuineIntel */

  return vendor.b == 0x756e6547 && vendor.d == 0x49656e69 && vendor.c == 0x6c65746e;
}

/* Returns 1 for a CPU of AMD. */
static inline int cpuc_cpuid_is_amd(void)
{
  struct cpuc_cpuid_leaf vendor = cpuc_cpuid_read(0); /* AuthenticAMD */

  return vendor.b == 0x68747541 && vendor.d == 0x69746e65 && vendor.c == 0x444d4163;
}

#pragma GCC visibility pop

#endif
