/* SPDX-License-Identifier: 0BSD OR MIT */
/* What mips64-cc and mips32-cc share: the cycle counter and its resolution, by RDHWR. The
   instruction is of release 2; older CPUs trap it, and Linux does it for them. */

#ifndef CPUCYCLES_MIPS_CC_H
#define CPUCYCLES_MIPS_CC_H

#include "backends/backend.h"

#include <errno.h>

#if __mips_isa_rev >= 2
#define MIPS_RDHWR(number) "rdhwr %0, $" #number
#elif defined __mips64
#define MIPS_RDHWR(number) ".set push\n\t.set mips64r2\n\trdhwr %0, $" #number "\n\t.set pop"
#else
#define MIPS_RDHWR(number) ".set push\n\t.set mips32r2\n\trdhwr %0, $" #number "\n\t.set pop"
#endif

/* CCRes: cycles between two steps of CC. Written by open() only, before publication. */
static unsigned int cycles_a_tick;

static int open_cc(struct cpucycles_why *why)
{
  (void)why;
  __asm__ volatile(MIPS_RDHWR(3) : "=r"(cycles_a_tick));
  return cycles_a_tick ? 0 : ENODEV;
}

/* CC has 32 bits; the product's low 32 bits count on where it wraps. */
static long long read_cc(void)
{
  unsigned int ticks;

  __asm__ volatile(MIPS_RDHWR(2) : "=r"(ticks));
  return (long long)(ticks * cycles_a_tick);
}

#endif
