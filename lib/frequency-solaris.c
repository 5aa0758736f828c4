/* SPDX-License-Identifier: 0BSD OR MIT */
/* The frequency that processor_info(2) of Solaris reports. */

#include "config.h"

#include "lib/frequency.h"

#ifdef HAVE_PROCESSOR_INFO
#include <sys/types.h>

#include <sys/processor.h>

/* The first processor need not be number 0. */
struct cpuc_rate cpuc_frequency_from_processor_info(void)
{
  struct cpuc_rate reported = { .source = "processor_info" };
  processor_info_t info;
  int i;

  for (i = 0; i < 64 && reported.hz == 0; i++)
    if (processor_info(i, &info) == 0)
      reported.hz = cpuc_rate_if_plausible((unsigned long long)info.pi_clock * 1000000);
  return reported;
}
#endif
