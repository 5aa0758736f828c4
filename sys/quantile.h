/* SPDX-License-Identifier: 0BSD OR MIT */
/* Order statistics. */

#ifndef CPUCYCLES_QUANTILE_H
#define CPUCYCLES_QUANTILE_H

#pragma GCC visibility push(hidden)

/* Sort numbers, the smallest first. */
void cpuc_quantile_sort(double *numbers, int count);
void cpuc_quantile_sort_counts(long long *counts, int count);

/* Returns a quantile of sorted numbers, at least one: 0 the smallest, 0.5 the median, 1 the
   largest. Interpolates between two adjacent numbers. */
double cpuc_quantile(const double *sorted, int count, double fraction);

/* Sorts numbers, and returns the mean of their middle half, which varies less than the mean of all,
   and is finer than the median. */
double cpuc_quantile_middle(double *numbers, int count);

#pragma GCC visibility pop

#endif
