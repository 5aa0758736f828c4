/* SPDX-License-Identifier: 0BSD OR MIT */
/* google/benchmark's CycleClock. Its header is not installed, so BENCH_CPPFLAGS must have -I and
   the directory src of the sources of google/benchmark. */

#include "bench/contender.h"

#include <cycleclock.h>

BENCH_READS(cycle_clock, benchmark::cycleclock::Now())

const struct bench_contender bench_contenders[] = {
  { "benchmark::cycleclock::Now()", "units", BENCH_READ, 0, run_cycle_clock, sample_cycle_clock },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
