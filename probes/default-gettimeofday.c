/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the system has gettimeofday(), like all known systems. */

#include <stddef.h>
#include <sys/time.h>

int main(void)
{
  struct timeval now;

  return gettimeofday(&now, NULL) != 0;
}
