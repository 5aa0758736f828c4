/* SPDX-License-Identifier: 0BSD OR MIT */
/* Facts about the PMU of this machine, from files of the kernel and from the selection.
   Source: Linux, arch/x86/events/core.c, rdpmc; Documentation/admin-guide/sysctl/kernel.rst,
   nmi_watchdog. */

#include "config.h"

#include "backends/perf/pmu.h"

#include "sys/file.h"

int cpuc_pmu_was_found_absent;

long long cpuc_pmu_read_rdpmc_level(int *is_hybrid)
{
  long long level = cpuc_file_read_number(CPUC_PMU_RDPMC_FILE, 1);

  if (is_hybrid)
    *is_hybrid = level < 0;
  return level >= 0 ? level : cpuc_file_read_number(CPUC_PMU_HYBRID_RDPMC_FILE, 1);
}

int cpuc_pmu_nmi_watchdog_is_on(void)
{
  return cpuc_file_read_number("/proc/sys/kernel/nmi_watchdog", 1) > 0;
}
