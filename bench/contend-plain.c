/* SPDX-License-Identifier: 0BSD OR MIT */
/* Contenders without a library: the inline instruction and the system's clocks. */

#include "config.h"

#include "bench/contender.h"
#include "bench/instruction.h"

#include <sys/time.h>
#include <time.h>

#ifdef BENCH_INLINE
BENCH_READS(inline, inline_read())
BENCH_SECTIONS(fenced, inline_read_fenced(), inline_read_fenced())
BENCH_SECTIONS(half_fenced, inline_read_half_fenced(), inline_read_half_fenced())
#endif

static inline long long monotonic(void)
{
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline long long wall(void)
{
  struct timeval now;

  gettimeofday(&now, 0);
  return now.tv_sec * 1000000LL + now.tv_usec;
}

BENCH_READS(monotonic, monotonic())
BENCH_READS(wall, wall())

const struct bench_contender bench_contenders[] = {
#ifdef BENCH_INLINE
  { BENCH_INLINE, "units", BENCH_READ, 0, run_inline, sample_inline },
  { BENCH_INLINE_FENCED, "units", BENCH_FENCED, 0, run_fenced, sample_fenced },
  { BENCH_INLINE_HALF_FENCED, "units", BENCH_FENCED, 0, run_half_fenced, sample_half_fenced },
#endif
  { "clock_gettime(CLOCK_MONOTONIC)", "ns", BENCH_READ, 0, run_monotonic, sample_monotonic },
  { "gettimeofday()", "us", BENCH_READ, 0, run_wall, sample_wall },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
