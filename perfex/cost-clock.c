/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads OS clocks, and gets the core frequency from libcpucycles. */

#include "config.h"

#include "include/cpucycles.h"
#include "perfex/cost-clock.h"

#include <time.h>

static long long read_clock(clockid_t clock)
{
  struct timespec time;

  return clock_gettime(clock, &time) == 0 ? time.tv_sec * 1000000000LL + time.tv_nsec : 0;
}

long long pfx_cost_clock_elapsed(void)
{
  return read_clock(CLOCK_MONOTONIC);
}

long long pfx_cost_clock_thread(void)
{
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

long long pfx_cost_clock_core_frequency(void)
{
  return cpucycles_core_persecond();
}
