/* SPDX-License-Identifier: 0BSD OR MIT */
/* google/benchmark: CPU time per iteration. */

#include "bench/time.h"

#include <benchmark/benchmark.h>

namespace {

class reporter : public benchmark::BenchmarkReporter {
public:
  double nanoseconds = 0;

  bool ReportContext(const Context &) override { return true; }

  void ReportRuns(const std::vector<Run> &runs) override
  {
    nanoseconds = runs.front().GetAdjustedCPUTime(); /* in the unit of the run, nanoseconds */
  }
};

} // namespace

double bench_time(void (*function)(void *argument), void *argument)
{
  reporter result;

  benchmark::RegisterBenchmark("function", [=](benchmark::State &state) {
    for (auto iteration : state) {
      static_cast<void>(iteration);
      function(argument);
    }
  });
  benchmark::RunSpecifiedBenchmarks(&result);
  return result.nanoseconds;
}
