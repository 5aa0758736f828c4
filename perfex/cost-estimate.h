/* SPDX-License-Identifier: 0BSD OR MIT */
/* Costs of events, estimated from measured times. */

#ifndef PERFEX_COST_ESTIMATE_H
#define PERFEX_COST_ESTIMATE_H

#include "perfex/cost-measure.h"

void perfex_estimate_costs(const struct perfex_measured *measured, struct perfex_costs *costs);

#endif
