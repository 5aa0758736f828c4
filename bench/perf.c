/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench/perf: compares a read by default-perfevent's way with a bare read(2) of such an event. The
   event is a software one, which needs no PMU. */

#include "config.h"

#include "backends/common/perf-cycles.h"
#include "sys/perf-event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct cpucycles_perf_refusal refused;
static const struct cpucycles_perf_method method = {
  .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .refusal = &refused
};

static long long read_by_library(void)
{
  return cpucycles_perf_slow(&method);
}

enum { ROUNDS = 201, READS = 500 };

static int bare_event;

static long long read_bare(void)
{
  long long count = 0;

  return read(bare_event, &count, sizeof count) > 0 ? count : 0;
}

static int open_bare(void)
{
  struct perf_event_attr wanted;

  memset(&wanted, 0, sizeof wanted);
  wanted.size = sizeof wanted;
  wanted.type = method.type;
  wanted.config = method.config;
  wanted.pinned = wanted.exclude_kernel = wanted.exclude_hv = 1;
  return perf_event_open_in(&wanted, -1);
}

static double nanoseconds_a_read(long long (*read_counter)(void))
{
  struct timespec begin, end;
  int i;

  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (i = 0; i < READS; i++)
    (void)read_counter();
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec))
    / READS;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double median_of(double *values)
{
  qsort(values, ROUNDS, sizeof values[0], compare);
  return values[ROUNDS / 2];
}

int main(void)
{
  static double bare[ROUNDS], ours[ROUNDS], ratio[ROUNDS];
  struct cpucycles_why why = { 0 };
  int i;

  bare_event = open_bare();
  if (bare_event < 0 || cpucycles_perf_open(&method, &why) != 0) {
    printf("bench: skipped: a read of a perf event: %s\n", strerror(errno));
    return 0;
  }
  for (i = 0; i < ROUNDS; i++) {
    bare[i] = nanoseconds_a_read(read_bare);
    ours[i] = nanoseconds_a_read(read_by_library);
    ratio[i] = ours[i] / bare[i];
  }
  printf("a read(2) of a software event: %.0f ns bare, %.0f ns by default-perfevent; ratio %.3f\n",
    median_of(bare), median_of(ours), median_of(ratio));
  cpucycles_perf_close();
  return 0;
}
