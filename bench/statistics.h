/* SPDX-License-Identifier: 0BSD OR MIT */
/* Order statistics, for all benchmarks: one interrupt would move a mean. */

#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

struct bench_spread {
  double lower, median, upper; /* lower, upper: quartiles */
};

/* Both sort the values. */
struct bench_spread bench_spread(double *values, int count);
double bench_median(double *values, int count);

#endif
