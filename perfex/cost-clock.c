/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the OS clock, and gets the core frequency from libcpucycles. */

#include "config.h"

#include "include/cpucycles.h"
#include "perfex/cost-clock.h"

#include <time.h>

long long pfx_cost_clock_elapsed(void)
{
  struct timespec time;

  return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? time.tv_sec * 1000000000LL + time.tv_nsec : 0;
}

long long pfx_cost_clock_core_frequency(void)
{
  return cpucycles_core_persecond();
}
