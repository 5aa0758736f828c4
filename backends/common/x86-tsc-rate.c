/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the backends of the time-stamp counter state of it. */

#include "config.h"

#include "backends/common/x86-tsc-rate.h"
#include "backends/common/x86-tsc.h"

long long cpucycles_tsc_rate(void)
{
  return tsc_rate(cpucycles_tried.cpuid > 0, cpucycles_tried.perf_event_open > 0);
}

void cpucycles_tsc_prepare(void)
{
  if (cpucycles_tried.cpuid == 0) {
    cpucycles_tried.cpuid = -1;
    (void)read_cpuid(0);
    cpucycles_tried.cpuid = 1;
  }
  if (cpucycles_tried.perf_event_open == 0) {
    cpucycles_tried.perf_event_open = -1;
    (void)tsc_rate_of_perf();
    cpucycles_tried.perf_event_open = 1;
  }
}

const char *cpucycles_tsc_rate_source(void)
{
  return tsc_rate_source();
}

int cpucycles_tsc_rate_is_rounded(void)
{
  return tsc_rate_is_rounded();
}

void cpucycles_tsc_close(void)
{
  tsc_rate_close();
}

int cpucycles_tsc_invariant(const char **who)
{
  return cpucycles_tried.cpuid > 0 ? tsc_invariant(who) : -1;
}

void cpucycles_tsc_explain(int error, int signal, struct cpucycles_why *why)
{
  tsc_explain(error, signal, why);
}
