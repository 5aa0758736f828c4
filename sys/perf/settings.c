/* SPDX-License-Identifier: 0BSD OR MIT */
/* Facts about the PMU of this machine, from files of the kernel and from the selection.
   Source: Linux, arch/x86/events/core.c, rdpmc; Documentation/admin-guide/sysctl/kernel.rst,
   nmi_watchdog. */

#include "config.h"

#include "sys/perf/settings.h"

#include "sys/file.h"

int cpuc_perf_settings_no_pmu;

long long cpuc_perf_settings_rdpmc_level(int *is_hybrid)
{
  long long level = cpuc_file_read_number(CPUC_PERF_SETTINGS_RDPMC, 1);

  if (is_hybrid)
    *is_hybrid = level < 0;
  return level >= 0 ? level : cpuc_file_read_number(CPUC_PERF_SETTINGS_HYBRID_RDPMC, 1);
}

int cpuc_perf_settings_nmi_watchdog_is_on(void)
{
  return cpuc_file_read_number("/proc/sys/kernel/nmi_watchdog", 1) > 0;
}
