/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the frequency in the first 32 KiB of /proc/cpuinfo. On x86, stops as soon as "cpu MHz" is
   known to be constant. Safe for any contents. */

#include "config.h"

#include "backends/common/cpuinfo.h"
#include "lib/frequency.h"
#include "sys/architecture.h"

#include <string.h>

/* "cpu MHz" of Linux on x86 is the current frequency where the kernel can find it: from the CPU's
   counters APERF and MPERF, which some guests have, too, or from a cpufreq driver. In other guests
   it is the rate of the TSC, and "bogomips" is twice this rate: arch/x86/kernel/cpu/aperfmperf.c,
   arch_freq_get_on_cpu(); proc.c, show_cpuinfo(). The flag "hypervisor" is among the first thousand
   characters, even if the line is cut: arch/x86/include/asm/cpufeatures.h, word 4. */
static void parse_flags(struct cpuc_frequency_cpuinfo *cpuinfo, const char *line)
{
  if (*line == 'f' && strncmp(line, "flags", 5) == 0)
    cpuinfo->is_guest = strstr(line, " hypervisor") != NULL;
}

/* On PowerNV, "clock" is the current frequency, and on PowerMac, drivers of cpufreq change it:
   arch/powerpc/platforms/powernv/setup.c, pnv_get_proc_freq(); drivers/cpufreq/pmac32-cpufreq.c. */
static void parse_platform(struct cpuc_frequency_cpuinfo *cpuinfo, const char *line)
{
  if (!(cpuc_architecture() & CPUC_ARCHITECTURE_POWER) || strncmp(line, "platform", 8) != 0)
    return;
  cpuinfo->is_powernv = strstr(line, ": PowerNV") != NULL;
  cpuinfo->is_powermac = strstr(line, ": PowerMac") != NULL;
}

/* Compares the frequencies of the first CPU. */
static void compare_with_tsc(struct cpuc_frequency_cpuinfo *cpuinfo, long long twice_tsc)
{
  long long off = 2 * cpuinfo->maybe_current_hz - twice_tsc;

  if (cpuinfo->has_tsc)
    return;
  cpuinfo->has_tsc = 1;
  cpuinfo->is_mhz_constant
    = cpuinfo->is_guest && (off < 0 ? -off : off) <= twice_tsc / 1000 && twice_tsc > 0;
}

void cpuc_frequency_cpuinfo_add(struct cpuc_frequency_cpuinfo *cpuinfo,
  const struct cpuc_file_line *line)
{
  unsigned int roles = 0;
  long long hz;

  parse_flags(cpuinfo, line->text);
  parse_platform(cpuinfo, line->text);
  if (line->is_cut)
    return;
  hz = cpuc_cpuinfo_parse(line->text, &roles);
  if (roles & CPUC_CPUINFO_CORE && hz > cpuinfo->constant_hz)
    cpuinfo->constant_hz = hz;
  if (roles & CPUC_CPUINFO_CURRENT && hz > cpuinfo->maybe_current_hz)
    cpuinfo->maybe_current_hz = hz;
  if (roles & CPUC_CPUINFO_TWICE_TSC)
    compare_with_tsc(cpuinfo, hz);
}

static int add(const struct cpuc_file_line *line, void *argument)
{
  struct cpuc_frequency_cpuinfo *cpuinfo = argument;

  cpuc_frequency_cpuinfo_add(cpuinfo, line);
  return cpuinfo->is_mhz_constant;
}

const struct cpuc_frequency_cpuinfo *cpuc_frequency_read_cpuinfo(struct cpuc_frequency_query *query)
{
  enum { LIMIT = 32 * 1024 }; /* bytes: tens of CPUs, enough for all core types */

  if (!query->has_cpuinfo && cpuc_architecture() != CPUC_ARCHITECTURE_OTHER)
    cpuc_file_read_lines(CPUC_CPUINFO, LIMIT, add, &query->cpuinfo);
  query->has_cpuinfo = 1;
  return &query->cpuinfo;
}

/* The model name of a guest can be that of another CPU, so "cpu MHz", if constant, precedes it. */
long long cpuc_frequency_from_cpuinfo(struct cpuc_frequency_query *query)
{
  const struct cpuc_frequency_cpuinfo *cpuinfo = cpuc_frequency_read_cpuinfo(query);

  if (cpuinfo->is_powernv || (cpuinfo->is_powermac && query->has_policies))
    return 0;
  return cpuinfo->is_mhz_constant ? cpuinfo->maybe_current_hz : cpuinfo->constant_hz;
}

/* Returns the highest current frequency, because some cores may be idle. */
long long cpuc_frequency_from_current_mhz(struct cpuc_frequency_query *query)
{
  const struct cpuc_frequency_cpuinfo *cpuinfo = cpuc_frequency_read_cpuinfo(query);

  return cpuinfo->maybe_current_hz > 0 ? cpuinfo->maybe_current_hz : cpuinfo->constant_hz;
}
