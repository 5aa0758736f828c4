/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the system has a monotonic clock. On Windows, this is the performance counter. */

#include <time.h>

#if !defined CLOCK_MONOTONIC && !defined _WIN32
#error the system has no CLOCK_MONOTONIC
#endif

int main(void)
{
#ifdef _WIN32
  return 0;
#else
  struct timespec now;

  return clock_gettime(CLOCK_MONOTONIC, &now) != 0;
#endif
}
