/* SPDX-License-Identifier: 0BSD OR MIT */
/* The reported rate of the time-stamp counter, and the remedy for counters that read it. */

#ifndef CPUCYCLES_TSC_RATE_H
#define CPUCYCLES_TSC_RATE_H

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

/* Functions for struct cpuc_backend. */
struct cpuc_rate cpuc_tsc_find_rate(void);
int cpuc_tsc_is_invariant(const char **source);
void cpuc_tsc_explain(int error, int signal, struct cpuc_diagnosis *diagnosis);

#ifdef HAVE_PERF_EVENTS
/* Returns the rate in Hz from the mmap page of an event, or 0 if the page does not contain it. */
struct perf_event_mmap_page;
long long cpuc_tsc_rate_from_page(const volatile struct perf_event_mmap_page *page);
#endif

#pragma GCC visibility pop

#endif
