/* SPDX-License-Identifier: 0BSD OR MIT */
/* The cost of one event, and the costs of some or all events. */

#ifndef PERFEX_COST_H
#define PERFEX_COST_H

#include "perfex/events.h"

/* The cost of one event in picoseconds. minimum <= typical <= maximum. */
struct pfx_cost {
  long long minimum, typical, maximum;
};

#define PFX_COST_PICOSECONDS_PER_SECOND 1000000000000LL

/* The highest cost: one second. */
#define PFX_COST_LIMIT PFX_COST_PICOSECONDS_PER_SECOND

/* The costs from one source. */
struct pfx_costs {
  struct pfx_cost cost[PFX_EVENTS];
  unsigned char has_cost[PFX_EVENTS]; /* 1 if the source has a cost for this event */
};

#endif
