/* SPDX-License-Identifier: 0BSD OR MIT */
/* Properties of the selected counter as a timer, and its rate. */

#ifndef CPUCYCLES_TIMER_H
#define CPUCYCLES_TIMER_H

#include "lib/select.h"

#pragma GCC visibility push(hidden)

/* Asks the backend of the selected counter for its properties. May open files. */
void cpucycles_find_timer_info(struct cpucycles_selection *selection);

/* Counts per second of the selected counter, which must be published: stated or measured. 0: not
   known. Call cpucycles_find_timer_info() before. */
long long cpucycles_selected_rate(const struct cpucycles_selection *selection);

#pragma GCC visibility pop

#endif
