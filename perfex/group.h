/* SPDX-License-Identifier: 0BSD OR MIT */
/* What a group knows beside its counts. */

#ifndef PERFEX_GROUP_H
#define PERFEX_GROUP_H

#include "perfex/names.h"

struct perfex_group;

/* Returns event `i` of the group, of perfex_group_size() events. */
const struct pfx_names_event *pfx_group_event(const struct perfex_group *group, int i);

/* The instructions per cycle of the last perfex_bench(); 0: not known. */
double pfx_group_instructions_per_cycle(const struct perfex_group *group);
void pfx_group_set_instructions_per_cycle(struct perfex_group *group, double ratio);

#endif
