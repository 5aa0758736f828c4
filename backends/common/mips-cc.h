/* SPDX-License-Identifier: 0BSD OR MIT */
/* The code of mips64-cc and mips32-cc, which differ only in their names.
   Registers, read with RDHWR: CC (number 2), which is the register Count of coprocessor 0; CCRes
   (number 3), the cycles per unit of CC, 2 on most CPUs. read() returns the product of CC and
   CCRes. Both are readable in user mode if their bits in HWREna are set. Otherwise, and on CPUs
   before release 2, which do not have RDHWR, Linux emulates the instruction. RDHWR raises SIGILL if
   it is neither allowed nor emulated. Under emulators a readable counter may be stopped.
   Width: 32 bits. Rate: that of the pipeline clock.
   Source: MIPS Architecture for Programmers volume II, RDHWR; volume III, "Count Register" and
   "HWREna Register". */

#ifndef CPUCYCLES_MIPS_CC_H
#define CPUCYCLES_MIPS_CC_H

#include "backends/backend.h"

#include <errno.h>

#if __mips_isa_rev >= 2
#define CPUC_MIPS_CC_RDHWR(number) "rdhwr %0, $" #number
#elif defined __mips64
#define CPUC_MIPS_CC_RDHWR(number) \
  ".set push\n\t.set mips64r2\n\trdhwr %0, $" #number "\n\t.set pop"
#else
#define CPUC_MIPS_CC_RDHWR(number) \
  ".set push\n\t.set mips32r2\n\trdhwr %0, $" #number "\n\t.set pop"
#endif

/* CCRes. Written by open() only, before the counter is published. */
static unsigned int cycles_per_unit;

static int open_cc(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis)
{
  (void)services, (void)diagnosis;
  __asm__ volatile(CPUC_MIPS_CC_RDHWR(3) : "=r"(cycles_per_unit));
  return cycles_per_unit ? 0 : ENODEV;
}

/* CC has 32 bits. When it wraps around, the low 32 bits of the product continue without a jump. */
static long long read_cc(void)
{
  unsigned int units;

  __asm__ volatile(CPUC_MIPS_CC_RDHWR(2) : "=r"(units));
  return (long long)(units * cycles_per_unit);
}

#define CPUC_MIPS_CC_MEMBERS \
  .kind = CPUC_KIND_CORE, \
  .is_32_bit = 1, \
  .open = open_cc, \
  .read = read_cc

#endif
