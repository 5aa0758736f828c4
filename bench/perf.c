/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench/perf: a read of default-perfevent over a bare read(2) of such an event. The event is a
   software one, which needs no PMU. */

#include "config.h"

#define CPUCYCLES_PERF_TYPE PERF_TYPE_SOFTWARE
#define CPUCYCLES_PERF_CONFIG PERF_COUNT_SW_TASK_CLOCK

#include "backends/default-perfevent.c"
#undef method
#include "backends/common/perf-cycles.c"
#include "backends/common/perf-open.c"

/* The library's part, which these reads do not come to. */

struct cpucycles_tried cpucycles_tried;

int cpucycles_is_guarded(void)
{
  return 0;
}

long long cpucycles_next_best(void)
{
  return 0;
}

void cpucycles_note_fallback(const char *code)
{
  (void)code;
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
  wanted.type = CPUCYCLES_PERF_TYPE;
  wanted.config = CPUCYCLES_PERF_CONFIG;
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
  if (bare_event < 0 || cpucycles_backend_default_perfevent.open(&why) != 0) {
    printf("bench: skipped: a read of a perf event: %s\n", strerror(errno));
    return 0;
  }
  for (i = 0; i < ROUNDS; i++) {
    bare[i] = nanoseconds_a_read(read_bare);
    ours[i] = nanoseconds_a_read(cpucycles_backend_default_perfevent.read);
    ratio[i] = ours[i] / bare[i];
  }
  printf("a read(2) of a software event: %.0f ns bare, %.0f ns by default-perfevent; ratio %.3f\n",
    median_of(bare), median_of(ours), median_of(ratio));
  cpucycles_backend_default_perfevent.close();
  return 0;
}
