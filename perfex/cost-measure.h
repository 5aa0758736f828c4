/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the times of a cycle, of loads and of a mispredicted branch. */

#ifndef PERFEX_COST_MEASURE_H
#define PERFEX_COST_MEASURE_H

#include "perfex/cost.h"

enum { PFX_COST_LEVELS = 5 }; /* caches and memory */

struct pfx_cost_measured {
  struct pfx_cost cycle, branch_miss;
  struct {
    long bytes; /* size of the memory over which the loads were spread; L1: a line, of which one
                   word is loaded */
    struct pfx_cost load;
  } level[PFX_COST_LEVELS];
  int levels;     /* number of measured levels; the first is the L1 cache */
  int has_memory; /* 1 if the last level is memory */
  /* 1 if the kernel's list of caches ends early, because a cache behind the first one has an
     unexpected level, no size or a size that is too small; memory is then not measured */
  int cache_list_is_cut;
  long long nanoseconds; /* elapsed time of the measurement */
};

/* Measures, in at most 20 ms of CPU time, and stores the results in *measured. Levels for which
   time or memory runs out are missing. A cost that cannot be measured is 0. */
void pfx_cost_measure(struct pfx_cost_measured *measured);

/* Bytes mapped at most, for the duration of the measurement. */
#define PFX_COST_MEMORY_LIMIT (64L << 20)

/* Maps memory for the loads, without pages yet. The size is at most a quarter of the memory that
   the system has free, and at most a quarter of what the limits of the process's cgroups leave.
   Stores the size. Returns NULL on failure. */
char *pfx_cost_map_memory(long *size);

#endif
