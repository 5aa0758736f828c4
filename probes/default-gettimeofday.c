/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links where the system has gettimeofday, which should be everywhere. */

#include <stddef.h>
#include <sys/time.h>

int main(void)
{
  struct timeval now;

  return gettimeofday(&now, NULL) != 0;
}
