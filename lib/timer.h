/* SPDX-License-Identifier: 0BSD OR MIT */
/* Properties of the selected counter as a timer, and its rate. */

#ifndef CPUCYCLES_TIMER_H
#define CPUCYCLES_TIMER_H

#include "lib/select.h"

#pragma GCC visibility push(hidden)

/* Asks the backend of the selected counter for its properties. May open files. */
void cpuc_timer_find_info(struct cpuc_selection *selection);

/* Counts per second of the selected counter, which must be published: stated or measured. 0: not
   known. Call cpuc_timer_find_info() before. */
long long cpuc_timer_selected_rate(const struct cpuc_selection *selection);

#pragma GCC visibility pop

#endif
