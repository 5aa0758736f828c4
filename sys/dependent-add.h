/* SPDX-License-Identifier: 0BSD OR MIT */
/* A chain of adds of two registers, one of which is the result of the add before, and whether such
   an add takes one core cycle. The chain measures the core frequency. Sources: the latencies in
   GCC's machine descriptions, such as gcc/config/rs6000/power9.md ("power9-alu" 2) and mips/74k.md
   ("r74k_int_arith" 2); for x86 and Arm, the optimization manuals of the vendors. */

#ifndef CPUCYCLES_DEPENDENT_ADD_H
#define CPUCYCLES_DEPENDENT_ADD_H

#include "sys/cpuid.h"

/* Returns 1 if a dependent add takes one cycle; 0 if it takes more or less, or if the time is not
   known, for example because CPUID cannot be executed. Intel's family 15 (NetBurst) adds twice per
   cycle: Intel 64 and IA-32 Architectures Optimization Reference Manual, "NetBurst
   Microarchitecture". */
static inline int cpuc_dependent_add_takes_one_cycle(void)
{
#if defined(__x86_64__) || defined(__i386__)
  unsigned int version = cpuc_cpuid_read(1).a, family = (version >> 8 & 15) + (version >> 20 & 255);

  return version != 0 && !(family == 15 && cpuc_cpuid_vendor_is("GenuineIntel"));
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 6) || defined(__riscv) \
  || defined(__mips64) || defined(__loongarch__) || defined(__alpha__) || defined(__hppa__) \
  || defined(__ia64__) || defined(__sparc_v9__) || defined(__arch64__)
  return 1;
#else /* one or two cycles: PowerPC, 32-bit MIPS, m68k; not known: s390x, SuperH, Armv5, others */
  return 0;
#endif
}

enum { CPUC_DEPENDENT_ADD_PASS = 512 }; /* adds per pass */

/* The counts per add, in thousandths, of a counter of core cycles. A chain takes at least one cycle
   for each add, less 5 % for the reads, and more if another thread of the core takes issue slots.
   Where the CPU may be newer than the list above, it may execute two adds per cycle. A count that
   is uncertain, for example because each read traps, is believed in wider limits. */
enum {
  CPUC_DEPENDENT_ADD_LOWEST = 950,
  CPUC_DEPENDENT_ADD_USUALLY_HIGHEST = 1050, /* in long windows on an idle core */
  CPUC_DEPENDENT_ADD_HIGHEST = 2500,
  CPUC_DEPENDENT_ADD_LOWEST_OF_TWO = 470,
  CPUC_DEPENDENT_ADD_HIGHEST_OF_TWO = 650,
  CPUC_DEPENDENT_ADD_LOWEST_UNCERTAIN = 400
};

/* Returns 1 on x86 of Intel and AMD, none of whose cores executes two dependent adds in a cycle,
   except those that cpuc_dependent_add_takes_one_cycle() excludes. */
static inline int cpuc_dependent_add_is_never_two(void)
{
#if defined(__x86_64__) || defined(__i386__)
  return cpuc_cpuid_vendor_is("GenuineIntel") || cpuc_cpuid_vendor_is("AuthenticAMD");
#else
  return 0;
#endif
}

/* Returns 1 if a counter of core cycles can have this count per add. */
static inline int cpuc_dependent_add_fits(long long thousandths, int is_certain)
{
  if (thousandths > CPUC_DEPENDENT_ADD_HIGHEST)
    return 0;
  if (!is_certain)
    return thousandths >= CPUC_DEPENDENT_ADD_LOWEST_UNCERTAIN;
  return thousandths >= CPUC_DEPENDENT_ADD_LOWEST
    || (thousandths >= CPUC_DEPENDENT_ADD_LOWEST_OF_TWO
      && thousandths <= CPUC_DEPENDENT_ADD_HIGHEST_OF_TWO && !cpuc_dependent_add_is_never_two());
}

#pragma GCC visibility push(hidden)

/* Executes passes of the chain; the loop itself adds at most 2 cycles to each pass. Returns 0, or
   -1 in code without optimization. */
int cpuc_dependent_add_run(long passes);

#pragma GCC visibility pop

#endif
