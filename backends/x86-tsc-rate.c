/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the backends of the time-stamp counter state of it. */

#include "config.h"

#include "backends/x86-tsc-rate.h"
#include "backends/x86-tsc.h"

long long cpucycles_tsc_rate(void)
{
  int guarded = cpucycles_is_guarded();

  return tsc_rate(guarded || cpucycles_tried.cpuid, guarded || cpucycles_tried.perf_event_open);
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
  int invariant = tsc_invariant(who);

  cpucycles_tried.cpuid = 1;
  return invariant;
}

void cpucycles_tsc_explain(int error, int signal, struct cpucycles_why *why)
{
  tsc_explain(error, signal, why);
}
