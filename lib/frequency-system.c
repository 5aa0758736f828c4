/* SPDX-License-Identifier: 0BSD OR MIT */
/* Calls with which operating systems other than Linux report the CPU frequency. configure finds the
   calls; Linux has none. */

#include "config.h"

#include "lib/frequency.h"

#include <stddef.h>

static struct cpuc_rate (*const calls[])(void) = {
#ifdef HAVE_SYSCTLBYNAME
  cpuc_frequency_from_sysctlbyname,
#endif
#ifdef HAVE_HW_CPUSPEED
  cpuc_frequency_from_sysctl,
#endif
#ifdef HAVE_LIBPERFSTAT
  cpuc_frequency_from_perfstat,
#endif
#ifdef HAVE_PROCESSOR_INFO
  cpuc_frequency_from_processor_info,
#endif
  NULL
};

struct cpuc_rate cpuc_frequency_from_system(void)
{
  struct cpuc_rate reported = cpuc_rate_exact(0);
  int i;

  for (i = 0; calls[i] && reported.hz == 0; i++)
    reported = calls[i]();
  return reported;
}
