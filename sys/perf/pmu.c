/* SPDX-License-Identifier: 0BSD OR MIT */
/* The directories in which the kernel describes its PMUs. */

#include "config.h"

#include "sys/perf/pmu.h"

#include "sys/file.h"

#include <stdio.h>

#define PMUS "/sys/bus/event_source/devices"

void cpuc_perf_pmu_visit(void (*visit)(const char *name, void *argument), void *argument)
{
  cpuc_file_list(PMUS, visit, argument);
}

int cpuc_perf_pmu_read(const char *pmu, const char *file, char *text, size_t size)
{
  char path[256];
  int length = snprintf(path, sizeof path, PMUS "/%s/%s", pmu, file);

  return length > 0 && length < (int)sizeof path && cpuc_file_read_start(path, text, size) > 0;
}
