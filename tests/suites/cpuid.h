/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces sys/cpuid.c. A simulated CPU, and the rate of its time-stamp counter without that of the
   real kernel, which would precede it. */

#ifndef CPUCYCLES_CPUID_TEST_H
#define CPUCYCLES_CPUID_TEST_H

#if defined(__x86_64__) || defined(__i386__)

#include "backends/tsc/counter.h"
#include "sys/cpuid.h"

#ifdef HAVE_PERF_EVENTS
#include <sys/resource.h>
#endif

/* The leaves of the simulated CPU. All others contain 0. */
static struct simulated_leaf {
  unsigned int number;
  struct cpuc_cpuid_leaf leaf;
} cpu[16];

struct cpuc_cpuid_leaf cpuc_cpuid_read(unsigned int number)
{
  int i = 0;

  while (i < 15 && cpu[i].number != number)
    i++;
  return cpu[i].leaf; /* the last one contains 0 */
}

/* Finds the rate while the process can open no event and no file. */
static inline struct cpuc_rate tsc_rate_without_kernel(void)
{
  struct cpuc_rate rate;
#ifdef HAVE_PERF_EVENTS
  struct rlimit limit = { 0, 0 }, none;

  getrlimit(RLIMIT_NOFILE, &limit);
  none = limit;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &none);
#endif
  rate = cpuc_tsc_find_rate();
#ifdef HAVE_PERF_EVENTS
  setrlimit(RLIMIT_NOFILE, &limit);
#endif
  return rate;
}

#endif

#endif
