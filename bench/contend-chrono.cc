/* SPDX-License-Identifier: 0BSD OR MIT */
/* The steady clock of C++. */

#include "bench/contender.h"

#include <chrono>

BENCH_READS(steady, std::chrono::steady_clock::now().time_since_epoch().count())

const struct bench_contender bench_contenders[] = {
  { "std::chrono::steady_clock", "ns", BENCH_READ, 0, run_steady, sample_steady },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
