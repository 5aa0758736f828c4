/* SPDX-License-Identifier: 0BSD OR MIT */
/* Facts of this machine and process. The caller keeps them, and passes them to each function that
   opens or explains, so that a fact is found once, and in no order. */

#ifndef CPUCYCLES_SYS_MACHINE_H
#define CPUCYCLES_SYS_MACHINE_H

#include "sys/perf/cycles.h"

#include <errno.h>

/* All zero: nothing is known. */
struct cpuc_machine {
  struct cpuc_perf_cycles cycles;
};

/* Returns 1 if the kernel has answered that it has no PMU; 0 if it has one, or was not asked. */
static inline int cpuc_machine_lacks_pmu(const struct cpuc_machine *machine)
{
  return machine->cycles.is_known && machine->cycles.error == ENOENT;
}

#endif
