/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links where there is gettimeofday: everywhere, it is meant. */

#include <stddef.h>
#include <sys/time.h>

int main(void)
{
  struct timeval now;

  return gettimeofday(&now, NULL) != 0;
}
