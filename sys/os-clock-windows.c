/* SPDX-License-Identifier: 0BSD OR MIT */
/* OS clocks of Windows, which neither fail nor fault.
   Source: Microsoft, Windows documentation, "Acquiring high-resolution time stamps". */

#include "config.h"
#ifndef CPUCYCLES_POSIX

#include "sys/os-clock.h"

#include <stddef.h>
#include <sys/time.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* The C library of MinGW calls GetSystemTimePreciseAsFileTime() if the system has it. */
long long cpuc_os_clock_wall_microseconds(void)
{
  struct timeval now;

  if (gettimeofday(&now, NULL) != 0)
    return 0;
  return (long long)now.tv_sec * 1000000 + now.tv_usec;
}

/* The rate of the performance counter is constant while the system runs, and reading the rate takes
   no system call. The result is computed in two parts, because the product of count and 10^9 would
   exceed 64 bits after 15 minutes at 10 MHz. */
long long cpuc_os_clock_monotonic(void)
{
  LARGE_INTEGER count, hz;

  QueryPerformanceFrequency(&hz);
  QueryPerformanceCounter(&count);
  return count.QuadPart / hz.QuadPart * 1000000000
    + count.QuadPart % hz.QuadPart * 1000000000 / hz.QuadPart;
}

/* The performance counter serves as the monotonic, the raw and the coarse clock, because it cannot
   be set, and its rate is not adjusted. */

const char cpuc_os_clock_raw_name[] = "QueryPerformanceCounter";

long long cpuc_os_clock_raw(void)
{
  return cpuc_os_clock_monotonic();
}

long long cpuc_os_clock_coarse(void)
{
  return cpuc_os_clock_monotonic();
}

void cpuc_os_clock_try(void *unused)
{
  (void)unused;
  (void)cpuc_os_clock_monotonic();
  (void)cpuc_os_clock_wall_microseconds();
}

/* Not needed, because the clocks raise no exceptions. */
void cpuc_os_clock_fall_back(void)
{
}

void cpuc_os_clock_fall_back_if_forbidden(void)
{
}
#endif
