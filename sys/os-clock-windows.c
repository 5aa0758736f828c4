/* SPDX-License-Identifier: 0BSD OR MIT */
/* The OS clocks of Windows behind one call each. Neither ever refuses or faults.
   Source: Microsoft, Windows documentation, "Acquiring high-resolution time stamps". */

#include "config.h"

#include "sys/os-clock.h"

#include <stddef.h>
#include <sys/time.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Of MinGW's C library: GetSystemTimePreciseAsFileTime() where the system has it. */
long long cpucycles_osclock_wall(void)
{
  struct timeval now;

  if (gettimeofday(&now, NULL) != 0)
    return 0;
  return (long long)now.tv_sec * 1000000 + now.tv_usec;
}

/* The rate is constant while the system runs, and asking for it costs no system call. In two
   parts, since the product would be beyond 64 bits after 15 minutes. */
long long cpucycles_osclock_monotonic(void)
{
  LARGE_INTEGER count, hz;

  QueryPerformanceFrequency(&hz);
  QueryPerformanceCounter(&count);
  return count.QuadPart / hz.QuadPart * 1000000000
    + count.QuadPart % hz.QuadPart * 1000000000 / hz.QuadPart;
}

/* That is one clock here, which nobody can set. */

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

/* These never raise anything. */
void cpucycles_osclock_fall_back(void)
{
}
