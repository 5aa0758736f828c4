/* SPDX-License-Identifier: 0BSD OR MIT */
/* The sources of the time-stamp counter's rate: together for the backends, and one by one for
   tests. */

#ifndef CPUCYCLES_TSC_RATE_H
#define CPUCYCLES_TSC_RATE_H

#if defined(HAVE_LINUX_PERF_EVENT_H) && defined(__linux__)
#define TSC_HAS_PERF 1
#endif

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

/* Members of struct cpuc_backend. */
struct cpuc_rate cpuc_tsc_rate(void);
void cpuc_tsc_close(void);
int cpuc_tsc_invariant(const char **source);

/* All rates are in Hz, or 0: not stated. */

/* Parses tsc_freq_khz: one decimal number of kHz and a newline. Without the newline, the file was
   cut short. */
long long cpuc_tsc_rate_from_text(const char *text);

/* The kernel's own factors from counts to nanoseconds: count * mult / 2^shift. Rounded. */
long long cpuc_tsc_rate_from_factors(unsigned int mult, unsigned int shift);

#ifdef TSC_HAS_PERF
struct perf_event_mmap_page;
long long cpuc_tsc_rate_from_page(const volatile struct perf_event_mmap_page *page);
#endif

/* Opens an event, reads its page, and closes the event. */
long long cpuc_tsc_rate_from_perf(void);

/* A CPUID leaf: EAX, EBX, ECX, EDX. Tests read leaves of their own. */
struct cpuid_leaf {
  unsigned int a, b, c, d;
};

typedef struct cpuid_leaf cpuid_reader(unsigned int leaf);

/* The crystal's frequency, in ECX of leaf 15H, times EBX / EAX. CPUs on which ECX is 0 do not state
   the rate there. */
long long cpuc_tsc_rate_from_cpuid15(cpuid_reader *cpuid);

/* The base frequency in whole MHz, of leaf 16H: the TSC's rate, rounded, where leaf 15H reports a
   ratio without a crystal. */
long long cpuc_tsc_rate_from_cpuid16(cpuid_reader *cpuid);

/* The nominal frequency in the model name of Intel's CPUs; the TSC's rate is near it. AMD's model
   names state none, and an emulator's can be anything. */
long long cpuc_tsc_rate_from_brand_string(cpuid_reader *cpuid);

/* Leaf 40000010H, in kHz, of hypervisors that follow VMware's. */
long long cpuc_tsc_rate_from_hypervisor(cpuid_reader *cpuid);

#ifdef HAVE_SYSCTLBYNAME
long long cpuc_tsc_rate_from_sysctl(void);
#endif

/* CPUID 8000_0007H EDX[8], "invariant TSC": one rate in all P-, C- and T-states. Returns 1 or 0;
   -1: not stated. Source: Intel SDM volume 3, "Invariant TSC"; AMD APM volume 3, CPUID
   Fn8000_0007. */
int cpuc_tsc_is_invariant_from_cpuid(cpuid_reader *cpuid);

/* The sources in the order in which they are asked, the most exact first, up to one without a
   name. */
extern const struct cpuc_tsc_source {
  const char *name;
  long long (*run)(void);
  int is_rounded;
} cpuc_tsc_sources[];

/* The answer of the first of these sources that reports the rate. */
struct cpuc_rate cpuc_tsc_rate_from_sources(const struct cpuc_tsc_source *sources);

#pragma GCC visibility pop

#endif
