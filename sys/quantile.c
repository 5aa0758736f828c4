/* SPDX-License-Identifier: 0BSD OR MIT */
/* Sorts numbers, and finds their quantiles. */

#include "config.h"

#include "sys/quantile.h"

#include <stdlib.h>

static int compare_numbers(const void *left, const void *right)
{
  double a = *(const double *)left, b = *(const double *)right;

  return (a > b) - (a < b);
}

static int compare_counts(const void *left, const void *right)
{
  long long a = *(const long long *)left, b = *(const long long *)right;

  return (a > b) - (a < b);
}

void cpuc_quantile_sort(double *numbers, int count)
{
  qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
}

void cpuc_quantile_sort_counts(long long *counts, int count)
{
  qsort(counts, (size_t)count, sizeof *counts, compare_counts);
}

double cpuc_quantile(const double *sorted, int count, double fraction)
{
  double position = (count - 1) * fraction, part = position - (int)position;
  int i = (int)position;

  return part > 0 ? sorted[i] + (sorted[i + 1] - sorted[i]) * part : sorted[i];
}

double cpuc_quantile_middle(double *numbers, int count)
{
  int i, first = count / 4, end = count - first;
  double sum = 0;

  cpuc_quantile_sort(numbers, count);
  for (i = first; i < end; i++)
    sum += numbers[i];
  return sum / (end - first);
}
