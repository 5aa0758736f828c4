/* SPDX-License-Identifier: 0BSD OR MIT */
/* A chain of adds of two registers, one of which is the result of the add before, and whether such
   an add takes one core cycle. The chain measures the core frequency. Sources: the latencies in
   GCC's machine descriptions, such as gcc/config/rs6000/power9.md ("power9-alu" 2) and mips/74k.md
   ("r74k_int_arith" 2); for x86 and Arm, the optimization manuals of the vendors. */

#ifndef CPUCYCLES_DEPENDENT_ADD_H
#define CPUCYCLES_DEPENDENT_ADD_H

#include "sys/cpuid.h"

/* Returns 1 on Intel's family 15 (NetBurst), which adds twice per cycle, and if CPUID cannot be
   executed.
   Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, "NetBurst
   Microarchitecture". */
static inline int cpuc_dependent_add_may_take_less(void)
{
  unsigned int version = cpuc_cpuid_read(1).a, family = (version >> 8 & 15) + (version >> 20 & 255);

  return version == 0 || (family == 15 && cpuc_cpuid_is_intel());
}

/* Returns 1 if a dependent add takes one cycle; 0 if it takes more or less, or if the time is not
   known. */
static inline int cpuc_dependent_add_takes_one_cycle(void)
{
#if defined(__x86_64__) || defined(__i386__)
  return !cpuc_dependent_add_may_take_less();
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 6) || defined(__riscv) \
  || defined(__mips64) || defined(__loongarch__) || defined(__alpha__) || defined(__hppa__) \
  || defined(__ia64__) || defined(__sparc_v9__) || defined(__arch64__)
  return 1;
#else /* one or two cycles: PowerPC, 32-bit MIPS, m68k; not known: s390x, SuperH, Armv5, others */
  return 0;
#endif
}

enum { CPUC_DEPENDENT_ADD_PASS = 512 }; /* adds per pass */

#pragma GCC visibility push(hidden)

/* Executes passes of the chain; the loop itself adds at most 2 cycles to each pass. Returns 0, or
   -1 in code without optimization. */
int cpuc_dependent_add_run(long passes);

#pragma GCC visibility pop

#endif
