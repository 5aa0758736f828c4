/* SPDX-License-Identifier: 0BSD OR MIT */
/* The PMUs that the kernel describes in /sys.
   Source: Linux, tools/perf/pmu-events and tools/perf/util/pmus.c for the files of a core PMU
   ("cpus", "type"); arch/x86/events/core.c, rdpmc; Documentation/admin-guide/sysctl/kernel.rst,
   nmi_watchdog. */

#include "config.h"

#include "sys/perf/pmu.h"

#include "sys/file.h"
#include "sys/parse.h"

#include <stdio.h>
#include <string.h>

int cpuc_perf_pmu_read(const char *pmu, const char *file, char *text, size_t size)
{
  char path[256];
  int length = snprintf(path, sizeof path, CPUC_PERF_PMU_LIST "/%s/%s", pmu, file);

  return length > 0 && length < (int)sizeof path && cpuc_file_read_start(path, text, size) > 0;
}

long long cpuc_perf_pmu_read_type(const char *pmu)
{
  char text[64];
  long long type;

  if (!cpuc_perf_pmu_read(pmu, "type", text, sizeof text))
    return -1;
  type = cpuc_parse_number_line(text, 1);
  return type < INT32_MAX ? type : -1;
}

int cpuc_perf_pmu_read_event(const char *pmu, const char *file, uint64_t *number)
{
  static const char begin[] = "event=0x";
  unsigned long long parsed;
  char text[64];
  const char *rest;

  if (!cpuc_perf_pmu_read(pmu, file, text, sizeof text)
    || strncmp(text, begin, strlen(begin)) != 0)
    return 0;
  rest = cpuc_parse_hexadecimal(text + strlen(begin), &parsed);
  *number = parsed;
  return rest && *rest == '\n';
}

int cpuc_perf_pmu_is_of_cores(const char *name)
{
  return strcmp(name, "cpu") == 0 /* on most architectures; in older releases on all */
    || (strncmp(name, "cpu_", 4) == 0 && strcmp(name, "cpu_clock") != 0) /* hybrid x86 */
    || strcmp(name, "cpum_cf") == 0 || strcmp(name, "arc_pct") == 0
    || strncmp(name, "armv", 4) == 0 || strncmp(name, "apple_", 6) == 0;
}

/* Tests the name of the PMU first, because this test takes no system call. */
static void add_core_type(const char *pmu, void *argument)
{
  struct cpuc_perf_core_types *found = argument;
  struct cpuc_perf_core_type *added = &found->types[found->listed];
  char cpus[64];
  long long type;

  if (!cpuc_perf_pmu_is_of_cores(pmu) || !cpuc_perf_pmu_read(pmu, "cpus", cpus, sizeof cpus))
    return;
  found->count++;
  type = cpuc_perf_pmu_read_type(pmu);
  if (type < 0 || found->listed == CPUC_PERF_CORE_TYPES || strlen(pmu) >= sizeof added->pmu)
    return;
  added->type = (uint32_t)type;
  strcpy(added->pmu, pmu);
  found->listed++;
}

void cpuc_perf_pmu_find_core_types(void *core_types)
{
  struct cpuc_perf_core_types *found = core_types;

  found->count = found->listed = 0;
  cpuc_file_list(CPUC_PERF_PMU_LIST, add_core_type, found);
}

long long cpuc_perf_pmu_read_rdpmc(void)
{
  long long level = cpuc_file_read_number(CPUC_PERF_PMU_RDPMC, 1);

  return level >= 0 ? level : cpuc_file_read_number(CPUC_PERF_PMU_HYBRID_RDPMC, 1);
}

int cpuc_perf_pmu_watchdog_is_on(void)
{
  return cpuc_file_read_number("/proc/sys/kernel/nmi_watchdog", 1) > 0;
}
