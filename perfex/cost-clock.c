/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the OS clock, and gets the core frequency from libcpucycles. */

#include "config.h"

#include "include/cpucycles.h"
#include "perfex/cost-clock.h"
#include "sys/os-clock.h"

long long pfx_cost_clock_elapsed(void)
{
  return cpuc_os_clock_monotonic();
}

long long pfx_cost_clock_core_frequency(void)
{
  return cpucycles_core_persecond();
}
