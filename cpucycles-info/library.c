/* SPDX-License-Identifier: 0BSD OR MIT */
/* Copies the results of public functions into the report. The first call selects a counter. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include <stddef.h>

void fill_library(struct library_info *library)
{
  const struct cpucycles_counter_info *counter;
  int i;

  library->version = cpucycles_version();
  library->persecond = cpucycles_persecond();
  library->implementation = cpucycles_implementation();
  library->implementation_ignored = cpucycles_implementation_ignored();
  library->frequency_source = cpucycles_frequency_source();
  library->frequency_ignored = cpucycles_frequency_ignored();
  for (i = 0; i < MAX_COUNTERS && (counter = cpucycles_counter(i)) != NULL; i++)
    library->counters[i] = counter;
  library->counter_count = i;
  library->selected = cpucycles_selected();
}

void fill_core(struct report *report, long long before)
{
  struct core_info *core = &report->core;

  core->persecond_before = before;
  core->counted_persecond = cpucycles_rate();
  core->persecond_after = cpucycles_core_persecond();
  core->counts_core_cycles
    = report->library.selected && counts_core_cycles(report->library.selected);
}
