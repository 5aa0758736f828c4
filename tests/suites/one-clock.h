/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces sys/os-clock.c (os-clock-windows.c): each clock of the system is
   cpuc_os_clock_monotonic(), which the suite defines. */

#ifndef CPUCYCLES_ONE_CLOCK_H
#define CPUCYCLES_ONE_CLOCK_H

#include "sys/os-clock.h"

long long cpuc_os_clock_coarse(void)
{
  return cpuc_os_clock_monotonic();
}

long long cpuc_os_clock_raw(void)
{
  return cpuc_os_clock_monotonic();
}

long long cpuc_os_clock_read(int clock)
{
  (void)clock;
  return cpuc_os_clock_monotonic();
}

long long cpuc_os_clock_wall_microseconds(void)
{
  return cpuc_os_clock_monotonic() / 1000;
}

void cpuc_os_clock_try(void *unused)
{
  (void)unused;
}

void cpuc_os_clock_fall_back(void)
{
}

void cpuc_os_clock_fall_back_if_forbidden(void)
{
}

#endif
