/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the system has a monotonic clock. */

#include <time.h>

#ifndef CLOCK_MONOTONIC
#error the system has no CLOCK_MONOTONIC
#endif

int main(void)
{
  struct timespec now;

  return clock_gettime(CLOCK_MONOTONIC, &now) != 0;
}
