/* SPDX-License-Identifier: 0BSD OR MIT */
/* Keeps a thread on its CPU, because the counts of a counter of scope "core" differ between CPUs.
   Define _GNU_SOURCE before including this header. */

#ifndef CPUCYCLES_ONE_CPU_H
#define CPUCYCLES_ONE_CPU_H

#ifdef __linux__
#include <sched.h>
#endif

/* Returns 0 if the thread stays on its CPU from now on. Does nothing on systems other than Linux,
   and returns 0 there. */
static inline int stay_on_this_cpu(void)
{
#ifdef __linux__
  int cpu = sched_getcpu();
  cpu_set_t one;

  CPU_ZERO(&one);
  if (cpu >= 0 && cpu < CPU_SETSIZE)
    CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof one, &one);
#else
  return 0;
#endif
}

#endif
