/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the counter in use for the lines "iqm" and "observed persecond", which the
   public-domain cpucycles-info also prints. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include <cpucycles/bench.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Returns the mean of the middle half, which varies less than the mean of all values and is finer
   than the median. */
static long long interquartile_mean(const long long *values)
{
  long long sorted[IQM_DIFFERENCES], sum = 0;
  int i;

  memcpy(sorted, values, sizeof sorted);
  qsort(sorted, IQM_DIFFERENCES, sizeof *sorted, cpucycles_bench_compare);
  for (i = IQM_DIFFERENCES / 4; i < IQM_DIFFERENCES * 3 / 4; i++)
    sum += sorted[i];
  return sum / (IQM_DIFFERENCES / 2);
}

/* Stores differences of adjacent reads, which show the read cost and how much it varies. */
void measure_iqm(struct report *report)
{
  long long reads[IQM_DIFFERENCES + 1];
  int i;

  for (i = 0; i <= IQM_DIFFERENCES; i++)
    reads[i] = cpucycles();
  for (i = 0; i < IQM_DIFFERENCES; i++)
    report->iqm_differences[i] = difference_of(reads[i + 1], reads[i]);
  report->mean = interquartile_mean(report->iqm_differences);
}

/* A chain of dependent multiplications, which takes tens of cycles. No compiler removes it, and no
   CPU executes it in parallel. */
static unsigned long long multiply(unsigned long long x)
{
  volatile unsigned long long sink;
  int i;

  for (i = 0; i < 16; i++)
    x = x * 6364136223846793005ULL + 1;
  sink = x;
  return sink;
}

/* Measures bounds of the rate. The clock is read before and after each read of the counter, and may
   be off by one microsecond. */
static void time_loops(struct loop_rate *rate, long long loops)
{
  unsigned long long x = 1;
  long long before = clock_nanoseconds(), first = cpucycles(), begin = clock_nanoseconds();
  long long i, end, cycles, time, longest;

  for (i = 0; i < loops; i++)
    x = multiply(x);
  end = clock_nanoseconds();
  cycles = difference_of(cpucycles(), first);
  longest = (clock_nanoseconds() - before) / 1000 + 1;
  time = (end - begin) / 1000;
  rate->low = (double)cycles * 1e6 / (double)(longest > 1 ? longest : 1);
  rate->high = (double)cycles * 1e6 / (double)(time > 1 ? time - 1 : 1);
  rate->loops = loops;
  rate->microseconds = time > 0 ? time : 0; /* the clock may have stepped back */
}

void measure_loops(struct report *report)
{
  int i;

  for (i = 0; i < LOOP_RATES; i++)
    time_loops(&report->loop_rates[i], 1024LL << i);
}
