/* SPDX-License-Identifier: 0BSD OR MIT */
/* The reported rate of the time-stamp counter, without a rate from the real kernel, which would
   precede the rate that a simulated CPU reports. */

#ifndef CPUCYCLES_TSC_RATE_TEST_H
#define CPUCYCLES_TSC_RATE_TEST_H

#include "backends/tsc/rate.h"

#ifdef HAVE_PERF_EVENTS

#include <sys/resource.h>

/* Finds the rate while the process can open no event and no file. */
static inline struct cpuc_rate tsc_rate_without_kernel(void)
{
  struct rlimit limit = { 0, 0 }, none;
  struct cpuc_rate rate;

  getrlimit(RLIMIT_NOFILE, &limit);
  none = limit;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &none);
  rate = cpuc_tsc_find_rate();
  setrlimit(RLIMIT_NOFILE, &limit);
  return rate;
}

#else

static inline struct cpuc_rate tsc_rate_without_kernel(void)
{
  return cpuc_tsc_find_rate();
}

#endif

#endif
