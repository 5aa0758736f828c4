/* SPDX-License-Identifier: 0BSD OR MIT */
/* The instruction CPUID of x86. */

#ifndef CPUCYCLES_CPUID_H
#define CPUCYCLES_CPUID_H

#include <string.h>

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

/* Copies the 12 characters in EBX and two other registers. */
static inline void cpuc_cpuid_copy_name(char name[13], unsigned int b, unsigned int second,
  unsigned int third)
{
  memcpy(name, &b, 4);
  memcpy(name + 4, &second, 4);
  memcpy(name + 8, &third, 4);
  name[12] = 0;
}

/* Returns 1 if this is the vendor of the CPU, such as "GenuineIntel" or "AuthenticAMD". */
static inline int cpuc_cpuid_vendor_is(const char *wanted)
{
  struct cpuc_cpuid_leaf leaf = cpuc_cpuid_read(0);
  char vendor[13];

  cpuc_cpuid_copy_name(vendor, leaf.b, leaf.d, leaf.c);
  return strcmp(vendor, wanted) == 0;
}

/* Copies the brand string of the CPU, or an empty string. Source: Intel SDM volume 2A, CPUID, "The
   Processor Brand String Method". */
static inline void cpuc_cpuid_copy_brand(char brand[49])
{
  struct cpuc_cpuid_leaf part;
  unsigned int i;

  memset(brand, 0, 49);
  if (cpuc_cpuid_read(0x80000000).a < 0x80000004)
    return;
  for (i = 0; i < 3; i++) {
    part = cpuc_cpuid_read(0x80000002 + i);
    memcpy(brand + (size_t)16 * i, &part, 16);
  }
}

#pragma GCC visibility pop

#endif
