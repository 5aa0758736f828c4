/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-windows: the performance counter of Windows.
   Always readable, because QueryPerformanceCounter() cannot fail since Windows XP. The system
   chooses the hardware, in most cases the time-stamp counter, divided.
   Width: 64 bits. Rate: from QueryPerformanceFrequency(), 10 MHz on most systems. The rate is
   constant while the system runs.
   Source: Microsoft, Windows documentation, "Acquiring high-resolution time stamps", and
   QueryPerformanceCounter, QueryPerformanceFrequency (profileapi.h). */

#include "config.h"
#if HAVE_BACKEND_default_windows

#include "backends/backend.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

static long long read_performance_counter(void)
{
  LARGE_INTEGER count;

  QueryPerformanceCounter(&count);
  return count.QuadPart;
}

static struct cpuc_rate performance_frequency(void)
{
  LARGE_INTEGER hz;

  if (!QueryPerformanceFrequency(&hz))
    return cpuc_rate_exact(0);
  return cpuc_rate_exact((unsigned long long)hz.QuadPart);
}

const struct cpuc_backend cpuc_backend_default_windows = {
  .kind = CPUC_KIND_CLOCK,
  .unit = "performance counter units",
  .read = read_performance_counter,
  .rate = performance_frequency,
};
#endif
