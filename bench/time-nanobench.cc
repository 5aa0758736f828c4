/* SPDX-License-Identifier: 0BSD OR MIT */
/* nanobench: the median of its epochs. BENCH_CPPFLAGS must have -I and the directory src/include of
   the sources of nanobench. */

#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>

#include "bench/time.h"

double bench_time(void (*function)(void *argument), void *argument)
{
  ankerl::nanobench::Bench bench;

  bench.output(nullptr).run("", [=] { function(argument); });
  return bench.results().front().median(ankerl::nanobench::Result::Measure::elapsed) * 1e9;
}
