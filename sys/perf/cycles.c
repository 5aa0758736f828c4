/* SPDX-License-Identifier: 0BSD OR MIT */
/* The events that count the core cycles of the calling thread. Source: perf_event_open(2),
   PERF_TYPE_HARDWARE. */

#include "config.h"
#ifdef HAVE_PERF_EVENTS

#include "sys/perf/cycles.h"

#include "sys/guard.h"
#include "sys/perf/event.h"

#include <errno.h>

static int try_event(struct cpuc_perf_event *event, struct cpuc_perf_cycles_event row,
  int *with_kernel)
{
  struct perf_event_attr wanted
    = cpuc_perf_event_attributes(row.type, row.config, CPUC_PERF_USER);
  int error;

  wanted.pinned = 1;
  error = cpuc_perf_event_try(event, &wanted, 1);
  *with_kernel = !wanted.exclude_kernel;
  return error;
}

/* Chooses the event of a core type: the generic event; or, if the kernel rejects this event (Arm,
   before 6.6), the event whose number is in the directory of the PMU. */
static int add_core_type(struct cpuc_perf_cycles *cycles, const struct cpuc_perf_core_type *core,
  struct cpuc_perf_event *event)
{
  struct cpuc_perf_cycles_event *row = &cycles->events[cycles->count];
  int with_kernel, error;

  row->type = PERF_TYPE_HARDWARE;
  row->config = cpuc_perf_pmu_generic_config(core, PERF_COUNT_HW_CPU_CYCLES);
  error = try_event(event, *row, &with_kernel);
  if (error != 0 && (cpuc_perf_pmu_read_event(core->pmu, "events/cpu_cycles", &row->config)
    || cpuc_perf_pmu_read_event(core->pmu, "events/cycles", &row->config))) {
    row->type = core->type;
    error = try_event(event, *row, &with_kernel);
  }
  if (error == 0) {
    cycles->with_kernel |= with_kernel;
    cycles->count++;
  }
  return error;
}

/* If a filter raises SIGSYS at a directory or file of the PMUs, they are as unknown as without
   these files. */
static void find_events(struct cpuc_perf_cycles *cycles, struct cpuc_perf_event *event)
{
  struct cpuc_perf_core_types found;
  int i;

  cycles->count = 1;
  if (cpuc_guard_run(cpuc_perf_pmu_find_core_types, &found) != 0 || found.count <= 1)
    return;
  cycles->count = 0;
  for (i = 0; i < found.listed && add_core_type(cycles, &found.types[i], event) == 0; i++)
    ;
  if (cycles->count != found.count) {
    cycles->is_partial = 1;
    cycles->error = ENODEV;
  }
}

/* Searches for the core types after the generic event was tried, because without a PMU the search
   would find nothing. */
int cpuc_perf_cycles_find(struct cpuc_perf_cycles *cycles, struct cpuc_perf_event *event)
{
  static const struct cpuc_perf_cycles_event generic
    = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES };

  if (cycles->is_known)
    return cycles->error;
  cycles->events[0] = generic;
  cycles->error = try_event(event, generic, &cycles->with_kernel);
  if (cycles->error == 0)
    find_events(cycles, event);
  cycles->is_known = cycles->error == 0 || cycles->error == ENOENT || cycles->is_partial;
  return cycles->error;
}
#endif
