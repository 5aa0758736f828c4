/* SPDX-License-Identifier: 0BSD OR MIT */
/* Order statistics, for all benchmarks. A mean is not used, because one interrupt would move it. */

#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

struct bench_spread {
  double lower, median, upper; /* lower, upper: quartiles */
};

/* Both functions sort the values. */
struct bench_spread bench_sort_for_spread(double *values, int count);
double bench_sort_for_median(double *values, int count);

#endif
