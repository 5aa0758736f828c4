/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if the system has the clock of Mach. */

#ifndef __APPLE__
#error the target is not macOS
#endif

#include <mach/mach_time.h>

int main(void)
{
  mach_timebase_info_data_t nanoseconds;

  return mach_timebase_info(&nanoseconds) != 0 || mach_absolute_time() == 0;
}
