/* SPDX-License-Identifier: 0BSD OR MIT */
/* The frequency that perfstat of AIX reports. _system_configuration contains only the rate of the
   time base. */

#include "config.h"

#include "lib/frequency.h"

#include <stddef.h>

#ifdef HAVE_LIBPERFSTAT
#include <libperfstat.h>

struct cpuc_rate cpuc_frequency_from_perfstat(void)
{
  struct cpuc_rate reported = { .source = "perfstat_cpu_total" };
  perfstat_cpu_total_t total;

  if (perfstat_cpu_total(NULL, &total, sizeof total, 1) == 1)
    reported.hz = cpuc_rate_if_plausible(total.processorHZ);
  return reported;
}
#endif
