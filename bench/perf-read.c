/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench/perf-read: compares the read of default-perfevent with a bare read(2), for software events,
   which need no PMU. The simulated kernel of check_perfevent opens them, and adds a few nanoseconds
   to a read. */

#include "config.h"

#include "backends/perf/read.h"
#include "bench/statistics.h"
#include "lib/process.h"
#include "sys/perf-event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct cpuc_perf_findings findings;
static const struct cpuc_perf_counter counter = { .findings = &findings };

static long long read_by_library(void)
{
  return cpuc_perf_read_slowly(&counter);
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
  struct perf_event_attr attributes;

  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.pinned = attributes.exclude_kernel = attributes.exclude_hv = 1;
  return cpuc_perf_event_open_in(&attributes, -1);
}

static double nanoseconds_per_read(long long (*read_counter)(void))
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

int main(void)
{
  static double bare[ROUNDS], ours[ROUNDS], ratio[ROUNDS];
  struct cpuc_diagnosis diagnosis = { 0 };
  int i, error;

  bare_event = open_bare();
  error = bare_event < 0 ? errno : cpuc_perf_open(&counter, &cpuc_process_services, &diagnosis);
  if (error) {
    printf("bench: skipped: a read of a perf event: %s\n", strerror(error));
    return 0;
  }
  for (i = 0; i < ROUNDS; i++) {
    bare[i] = nanoseconds_per_read(read_bare);
    ours[i] = nanoseconds_per_read(read_by_library);
    ratio[i] = ours[i] / bare[i];
  }
  printf("a read(2) of a software event: %.0f ns bare, %.0f ns with default-perfevent; ratio "
         "%.3f\n",
    bench_median(bare, ROUNDS), bench_median(ours, ROUNDS), bench_median(ratio, ROUNDS));
  cpuc_perf_close();
  return 0;
}
