/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the frequency in the first 32 KiB of /proc/cpuinfo. On x86, stops as soon as "cpu MHz" is
   known to be constant. Safe for any contents. */

#include "config.h"

#include "backends/common/cpuinfo.h"
#include "lib/frequency-query.h"
#include "sys/architecture.h"

#include <string.h>

/* With the flag aperfmperf, "cpu MHz" of Linux on x86 is the current frequency, computed from the
   CPU's counters APERF and MPERF. Without the flag, it is the frequency that a cpufreq driver has
   set, or else a constant one: arch/x86/kernel/cpu/aperfmperf.c, arch_freq_get_on_cpu(). Both are
   taken for constant, because where such a driver runs, sysfs has answered before /proc/cpuinfo is
   read. The flag is among the first thousand characters, even if the line is cut:
   arch/x86/include/asm/cpufeatures.h, word 3. */
static void parse_flags(struct cpuc_frequency_cpuinfo *cpuinfo, const char *line)
{
  if (strncmp(line, "flags", 5) != 0)
    return;
  cpuinfo->has_flags = 1;
  if (strstr(line, " aperfmperf"))
    cpuinfo->has_aperfmperf = 1;
}

void cpuc_frequency_cpuinfo_add(struct cpuc_frequency_cpuinfo *cpuinfo,
  const struct cpuc_file_line *line)
{
  unsigned int roles = 0;
  long long hz;

  parse_flags(cpuinfo, line->text);
  if (line->is_cut)
    return;
  hz = cpuc_cpuinfo_parse(line->text, &roles);
  if (roles & CPUC_CPUINFO_CORE && hz > cpuinfo->constant_hz)
    cpuinfo->constant_hz = hz;
  if (roles & CPUC_CPUINFO_CURRENT && hz > cpuinfo->maybe_current_hz)
    cpuinfo->maybe_current_hz = hz;
}

int cpuc_frequency_cpuinfo_is_decided(const struct cpuc_frequency_cpuinfo *cpuinfo)
{
  return cpuinfo->has_flags && !cpuinfo->has_aperfmperf && cpuinfo->maybe_current_hz > 0;
}

long long cpuc_frequency_cpuinfo_constant(const struct cpuc_frequency_cpuinfo *cpuinfo)
{
  if (cpuc_frequency_cpuinfo_is_decided(cpuinfo)
    && cpuinfo->maybe_current_hz > cpuinfo->constant_hz)
    return cpuinfo->maybe_current_hz;
  return cpuinfo->constant_hz;
}

static int add(const struct cpuc_file_line *line, void *argument)
{
  cpuc_frequency_cpuinfo_add(argument, line);
  return cpuc_frequency_cpuinfo_is_decided(argument);
}

long long cpuc_frequency_from_cpuinfo(struct cpuc_frequency_query *query)
{
  enum { LIMIT = 32 * 1024 }; /* bytes: tens of CPUs, enough for all core types */
  struct cpuc_frequency_cpuinfo cpuinfo = { 0 };

  if (cpuc_architecture() == CPUC_ARCHITECTURE_OTHER)
    return 0;
  cpuc_file_read_lines(query->source->name, LIMIT, add, &cpuinfo);
  query->cpuinfo_current = cpuinfo.maybe_current_hz;
  return cpuc_frequency_cpuinfo_constant(&cpuinfo);
}

/* Returns the highest current frequency, because some cores may be idle. */
long long cpuc_frequency_from_current_mhz(struct cpuc_frequency_query *query)
{
  return query->cpuinfo_current;
}
