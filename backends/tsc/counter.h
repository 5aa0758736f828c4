/* SPDX-License-Identifier: 0BSD OR MIT */
/* The time-stamp counter: the functions and members that its backends share.
   Register: IA32_TIME_STAMP_COUNTER, read with RDTSC. Readable in user mode if CR4.TSD is clear
   (Linux sets it per thread on prctl(PR_SET_TSC, PR_TSC_SIGSEGV)). Otherwise RDTSC raises SIGSEGV.
   Rate: near the nominal frequency, and constant if CPUID 8000_0007H EDX bit 8 is set. rate.c asks
   the sources that report the rate.
   Source: Intel SDM volume 3, "Time-Stamp Counter"; AMD APM volume 3, RDTSC; prctl(2). */

#ifndef CPUCYCLES_TSC_COUNTER_H
#define CPUCYCLES_TSC_COUNTER_H

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

/* Works with compilers that do not have the intrinsic. */
static inline long long cpuc_tsc_read_with_assembly(void)
{
  return (long long)cpucycles_inline_tsc();
}

#define CPUC_TSC_MEMBERS \
  .kind = CPUC_KIND_REFERENCE, \
  .register_name = "TSC", \
  .explain = cpuc_tsc_explain, \
  .rate = cpuc_tsc_find_rate, \
  .is_invariant = cpuc_tsc_is_invariant, \
  .inline_method = CPUCYCLES_INLINE_TSC

#pragma GCC visibility pop

#endif
