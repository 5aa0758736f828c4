/* SPDX-License-Identifier: 0BSD OR MIT */
/* What hardware and system say of the selected counter, and its counts per second. */

#ifndef CPUCYCLES_TIMER_H
#define CPUCYCLES_TIMER_H

#include "lib/select.h"

#pragma GCC visibility push(hidden)

const struct cpucycles_timer_info *cpucycles_find_timer_info(struct cpucycles_selection *selection);

/* Of the published counter. */
long long cpucycles_selected_rate(const struct cpucycles_selection *selection);

#pragma GCC visibility pop

#endif
