/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the times of a cycle, of loads and of a mispredicted branch. */

#ifndef PERFEX_COST_MEASURE_H
#define PERFEX_COST_MEASURE_H

#include "perfex/cost.h"

enum { PFX_COST_LEVELS = 4 }; /* caches */

struct pfx_cost_measured {
  struct pfx_cost cycle, branch_miss;
  struct {
    long bytes; /* size of the memory over which the loads were spread; L1: a line, of which one
                   word is loaded */
    struct pfx_cost load;
  } level[PFX_COST_LEVELS];
  int levels; /* number of measured levels; the first is the L1 cache */
  long long nanoseconds; /* elapsed time of the measurement */
};

/* Measures, in at most 20 ms of CPU time, and stores the results in *measured. Levels for which
   time or memory runs out are missing. A cost that cannot be measured is 0. */
void pfx_cost_measure(struct pfx_cost_measured *measured);

#endif
