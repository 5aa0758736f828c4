/* SPDX-License-Identifier: 0BSD OR MIT */
/* The properties of the selected counter as a timer, and its rate. */

#ifndef CPUCYCLES_TIMER_H
#define CPUCYCLES_TIMER_H

#include "lib/select.h"

#pragma GCC visibility push(hidden)

/* Stores the properties of the selected counter, which its backend reports. May open files. */
void cpuc_timer_find_info(struct cpuc_selection *selection);

/* Stores the counts per second of the selected counter: the frequency estimate if the counter is
   scaled, otherwise the reported or measured rate; 0 if the rate is unknown. Call
   cpuc_timer_find_info() before. */
void cpuc_timer_find_rate(struct cpuc_selection *selection);

#pragma GCC visibility pop

#endif
