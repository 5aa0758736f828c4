/* SPDX-License-Identifier: 0BSD OR MIT */
/* Traps for floating-point exceptions. Define _GNU_SOURCE before including this header. */

#ifndef CPUCYCLES_FLOAT_TRAPS_H
#define CPUCYCLES_FLOAT_TRAPS_H

#include <fenv.h>

/* Enables all traps. Returns 0 if this CPU and system have them. */
static inline int enable_traps(void)
{
#if defined(__GLIBC__) && !defined(__riscv) /* RISC-V has no traps, and glibc warns of the call */
  return feenableexcept(FE_ALL_EXCEPT) < 0;
#else
  return 1;
#endif
}

/* Divides with an inexact result. */
static inline double divide_by_three(void)
{
  volatile double dividend = 1, divisor = 3, quotient = dividend / divisor;

  return quotient;
}

/* An attempt for skip_unless(), whose result is -SIGFPE if an inexact operation traps. */
static inline int inexact_operation_traps(void)
{
  if (enable_traps() != 0)
    return 1;
  divide_by_three();
  return 0;
}

#endif
