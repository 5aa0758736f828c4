/* SPDX-License-Identifier: 0BSD OR MIT */
/* A chain of dependent adds: each add waits for the result of the add before it. */

#include "config.h"

#include "sys/dependent-add.h"

/* Unoptimized code keeps its variables in memory, so it would measure accesses to memory. */
#ifdef __OPTIMIZE__

/* The asm may change x, so the compiler cannot combine adds. Both operands are registers, because
   some CPUs add a constant in no time. */
__attribute__((always_inline)) static inline unsigned long add(unsigned long x, unsigned long y)
{
  x += y;
  __asm__ volatile("" : "+r"(x));
  return x;
}

__attribute__((always_inline)) static inline unsigned long add_8(unsigned long x, unsigned long y)
{
  return add(add(add(add(add(add(add(add(x, y), y), y), y), y), y), y), y);
}

__attribute__((always_inline)) static inline unsigned long add_64(unsigned long x, unsigned long y)
{
  return add_8(add_8(add_8(add_8(add_8(add_8(add_8(add_8(x, y), y), y), y), y), y), y), y);
}

int cpuc_dependent_add_run(long passes)
{
  unsigned long x = 0, y = 1;

  __asm__ volatile("" : "+r"(x), "+r"(y));
  for (; passes > 0; passes--)
    x = add_64(add_64(add_64(add_64(add_64(add_64(add_64(add_64(x, y), y), y), y), y), y), y), y);
  __asm__ volatile("" : : "r"(x));
  return 0;
}

#else

int cpuc_dependent_add_run(long passes)
{
  (void)passes;
  return -1;
}

#endif
