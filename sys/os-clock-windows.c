/* SPDX-License-Identifier: 0BSD OR MIT */
/* OS clocks of Windows. None refuses or faults.
   Source: Microsoft, Windows documentation, "Acquiring high-resolution time stamps". */

#include "config.h"

#include "sys/os-clock.h"

#include <stddef.h>
#include <sys/time.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* MinGW's C library reads GetSystemTimePreciseAsFileTime() where the system has it. */
long long cpucycles_osclock_wall(void)
{
  struct timeval now;

  if (gettimeofday(&now, NULL) != 0)
    return 0;
  return (long long)now.tv_sec * 1000000 + now.tv_usec;
}

/* The rate is constant while the system runs, and reading it takes no system call. Computed in two
   parts, since the product would exceed 64 bits after 15 minutes. */
long long cpucycles_osclock_monotonic(void)
{
  LARGE_INTEGER count, hz;

  QueryPerformanceFrequency(&hz);
  QueryPerformanceCounter(&count);
  return count.QuadPart / hz.QuadPart * 1000000000
    + count.QuadPart % hz.QuadPart * 1000000000 / hz.QuadPart;
}

/* Windows has one such clock, which cannot be set. */

long long cpucycles_osclock_raw(void)
{
  return cpucycles_osclock_monotonic();
}

long long cpucycles_osclock_coarse(void)
{
  return cpucycles_osclock_monotonic();
}

int cpucycles_osclock_is_settable(void)
{
  return 0;
}

void cpucycles_osclock_try(void *unused)
{
  (void)unused;
  (void)cpucycles_osclock_monotonic();
  (void)cpucycles_osclock_wall();
}

/* The clocks raise no exception. */
void cpucycles_osclock_fall_back(void)
{
}
