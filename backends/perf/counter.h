/* SPDX-License-Identifier: 0BSD OR MIT */
/* Static functions and common members of each counter that reads perf events. They call the shared
   code with the counter's `method`, which the counter's file defines after it includes this one. */

#ifndef CPUCYCLES_PERF_COUNTER_H
#define CPUCYCLES_PERF_COUNTER_H

#include "backends/perf/read.h"

static const struct cpucycles_perf_method method;

static struct cpucycles_perf_refusal refused;

static int open_counter(const struct cpuc_services *services, struct cpucycles_why *why)
{
  return cpucycles_perf_open(&method, services, why);
}

static void explain_refusal(int error, int signal, struct cpucycles_why *why)
{
  cpucycles_perf_explain(&method, error, signal, why);
}

#define CPUCYCLES_PERF_MEMBERS \
  .scope = CPUCYCLES_SCOPE_THREAD, \
  .width = 64, \
  .source = "perf cycles", \
  .unit = "core cycles in user mode", \
  .open = open_counter, \
  .close = cpucycles_perf_close, \
  .forked = cpuc_perf_forked, \
  .explain = explain_refusal

#endif
