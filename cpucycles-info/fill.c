/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fills the report. The order of the parts matters, because the library selects a counter only once
   per process. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include <string.h>

void fill_surroundings(struct report *report)
{
  fill_system(&report->system);
  fill_cpu(&report->cpu, report->system.architecture);
  if (report->cpu.foreign && !*report->system.emulator)
    strcpy(report->system.emulator, "user-mode (foreign /proc/cpuinfo)");
  fill_settings(&report->settings);
}

void fill_report(struct report *report, const struct counter_list *list, const char *only,
  double seconds)
{
  report->clock = clock_name;
  /* Starts children that select a counter each, so this process must not have selected one. */
  examine_each(report, list, only, seconds);
  measure_iqm(report);
  measure_loops(report);
  fill_library(&report->library);
  fill_core(report, list->core_persecond); /* after all other measurements */
  fill_surroundings(report);
  judge_report(report);
}
