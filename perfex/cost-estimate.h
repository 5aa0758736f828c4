/* SPDX-License-Identifier: 0BSD OR MIT */
/* Costs of events, estimated from measured times. */

#ifndef PERFEX_COST_ESTIMATE_H
#define PERFEX_COST_ESTIMATE_H

#include "perfex/cost-measure.h"

void pfx_cost_estimate(const struct pfx_cost_measured *measured, struct pfx_costs *costs);

/* The costs of loads from memory, which is not measured. */
void pfx_cost_estimate_memory(struct pfx_costs *costs);

#endif
