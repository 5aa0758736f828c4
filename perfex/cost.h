/* SPDX-License-Identifier: 0BSD OR MIT */
/* The cost of an event, and costs of some or all events. */

#ifndef PERFEX_COST_H
#define PERFEX_COST_H

#include "perfex/events.h"

/* The cost of one event, in picoseconds: minimum <= typical <= maximum. */
struct pfx_cost {
  long long minimum, typical, maximum;
};

/* The highest cost: a second. */
#define PFX_COST_LIMIT 1000000000000LL

/* The costs that one source contains. */
struct pfx_costs {
  struct pfx_cost cost[PFX_EVENTS];
  unsigned char has_cost[PFX_EVENTS]; /* 1: cost[] has an entry for this event */
};

#endif
