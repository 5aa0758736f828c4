/* SPDX-License-Identifier: 0BSD OR MIT */
/* The sources of the rate of the time-stamp counter, together for the backends and separately for
   tests. */

#ifndef CPUCYCLES_TSC_RATE_H
#define CPUCYCLES_TSC_RATE_H

#if defined(HAVE_PERF_EVENTS) && defined(__linux__)
#define CPUC_TSC_HAS_PERF 1
#endif

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

/* Functions for struct cpuc_backend. */
struct cpuc_rate cpuc_tsc_rate(void);
void cpuc_tsc_close(void);
int cpuc_tsc_invariant(const char **source);

/* All functions below return the rate in Hz, or 0 if it is not reported. */

/* Computes the rate from the factors with which the kernel converts counts to nanoseconds: count *
   mult / 2^shift. Rounds to the nearest integer. */
long long cpuc_tsc_rate_from_factors(unsigned int mult, unsigned int shift);

#ifdef CPUC_TSC_HAS_PERF
struct perf_event_mmap_page;
long long cpuc_tsc_rate_from_page(const volatile struct perf_event_mmap_page *page);
#endif

/* Opens an event, reads its mmap page, and closes the event. */
long long cpuc_tsc_rate_from_perf(void);

/* The crystal frequency in ECX of leaf 15H, times EBX / EAX. CPUs on which ECX is 0 do not report
   the rate there. */
long long cpuc_tsc_rate_from_cpuid15(void);

/* The base frequency in leaf 16H, in whole MHz. It is the rounded rate of the TSC if leaf 15H
   contains a ratio without a crystal frequency. */
long long cpuc_tsc_rate_from_cpuid16(void);

/* The nominal frequency in the brand string of CPUs of Intel, which is near the rate of the TSC.
   Brand strings of AMD contain none, and those of emulators can contain anything. */
long long cpuc_tsc_rate_from_brand_string(void);

/* The rate in kHz in leaf 40000010H, which VMware introduced and other hypervisors also have. */
long long cpuc_tsc_rate_from_hypervisor(void);

#ifdef HAVE_SYSCTLBYNAME
long long cpuc_tsc_rate_from_sysctl(void);
#endif

/* The sources in the order in which they are asked, the most exact first. One without a name ends
   the list. */
extern const struct cpuc_tsc_source {
  const char *name;
  long long (*run)(void);
  int is_rounded;
} cpuc_tsc_sources[];

/* Returns the rate from the first of these sources that reports one. */
struct cpuc_rate cpuc_tsc_rate_from_sources(const struct cpuc_tsc_source *sources);

#pragma GCC visibility pop

#endif
