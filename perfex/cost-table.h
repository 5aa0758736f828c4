/* SPDX-License-Identifier: 0BSD OR MIT */
/* The process's table of costs. */

#ifndef PERFEX_COST_TABLE_H
#define PERFEX_COST_TABLE_H

#include "perfex/cost-measure.h"

/* Source of a cost; a higher one replaces a lower one. */
enum perfex_origin {
  PERFEX_UNKNOWN,
  PERFEX_MEASURED,
  PERFEX_ETC,
  PERFEX_LOADED_EARLIER, /* by load_costs(), but not by its last call */
  PERFEX_LOADED
};

struct perfex_cost_table {
  struct perfex_cost cost[PERFEX_EVENTS];
  unsigned char origin[PERFEX_EVENTS];
  char loaded[128];                /* name of the last file loaded, cut to size */
  struct perfex_measured measured; /* all 0 if nothing was measured */
};

/* Copies the table. The first call reads /etc/perfex.costs and measures the missing costs. */
void perfex_copy_cost_table(struct perfex_cost_table *copy);

#endif
