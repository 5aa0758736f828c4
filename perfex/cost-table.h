/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of costs of the process. */

#ifndef PERFEX_COST_TABLE_H
#define PERFEX_COST_TABLE_H

#include "perfex/cost.h"

/* The origin of a cost. A cost of higher origin replaces one of lower origin. */
enum pfx_cost_origin {
  PFX_COST_UNKNOWN,
  PFX_COST_BUILT_IN,
  PFX_COST_MEASURED,
  PFX_COST_SYSTEM_FILE, /* from /etc/perfex.costs */
  PFX_COST_LOADED_EARLIER, /* loaded by load_costs(), but not by its last call */
  PFX_COST_LOADED
};

struct pfx_cost_table {
  struct pfx_cost cost[PFX_EVENTS];
  unsigned char origin[PFX_EVENTS];
  char loaded[128];             /* name of the last loaded file, cut to size */
  struct pfx_cost_measured measured; /* all 0 if no cost was measured */
};

/* Copies the table. The first call reads /etc/perfex.costs and measures the missing costs. */
void pfx_cost_table_get(struct pfx_cost_table *copy);

#endif
