/* SPDX-License-Identifier: 0BSD OR MIT */
/* Order statistics, for all benchmarks. */

#include "config.h"

#include "bench/statistics.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

struct bench_spread bench_sort_for_spread(double *values, int count)
{
  struct bench_spread spread;

  qsort(values, (size_t)count, sizeof values[0], compare);
  spread.lower = values[(count - 1) / 4];
  spread.median = values[(count - 1) / 2];
  spread.upper = values[(count - 1) * 3 / 4];
  return spread;
}

double bench_sort_for_median(double *values, int count)
{
  return bench_sort_for_spread(values, count).median;
}
