/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the counter of the calling process. */

#ifndef CPUCYCLES_MEASURE_H
#define CPUCYCLES_MEASURE_H

#include "cpucycles-info/report.h"

/* Measures the counter results->name, and fills the other members. If this process has selected
   another counter, fills only results->failure. */
void measure_counter(struct counter_results *results, double seconds);

/* Stores the differences of adjacent reads, 100 at most. */
void read_differences(long long *differences, int count);

#endif
