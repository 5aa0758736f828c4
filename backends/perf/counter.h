/* SPDX-License-Identifier: 0BSD OR MIT */
/* Static functions and common members for the backends that read perf events. The functions call
   the shared code with `counter`, which the file of the backend defines after it includes this
   header. */

#ifndef CPUCYCLES_PERF_COUNTER_H
#define CPUCYCLES_PERF_COUNTER_H

#include "backends/perf/open.h"

static const struct cpuc_perf_counter counter;

static int open_counter(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis)
{
  return cpuc_perf_open(&counter, services, diagnosis);
}

static void explain_refusal(int error, int signal, struct cpuc_diagnosis *diagnosis)
{
  cpuc_perf_explain(&counter, error, signal, diagnosis);
}

#define CPUC_PERF_MEMBERS \
  .is_of_thread = 1, \
  .register_name = "perf cycles", \
  .unit = "core cycles in user mode", \
  .open = open_counter, \
  .close = cpuc_perf_close, \
  .forked = cpuc_perf_forked, \
  .explain = explain_refusal

#endif
