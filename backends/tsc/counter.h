/* SPDX-License-Identifier: 0BSD OR MIT */
/* The time-stamp counter: the members that its backends share, and the read with assembly.
   Register: IA32_TIME_STAMP_COUNTER, read with RDTSC. Readable in user mode if CR4.TSD is clear
   (Linux sets it per thread on prctl(PR_SET_TSC, PR_TSC_SIGSEGV)). Otherwise RDTSC raises SIGSEGV.
   Rate: near the nominal frequency, and constant if CPUID 8000_0007H EDX bit 8 is set. rate.c asks
   the sources that report the rate.
   Source: Intel SDM volume 3, "Time-Stamp Counter"; AMD APM volume 3, RDTSC; prctl(2). */

#ifndef CPUCYCLES_TSC_COUNTER_H
#define CPUCYCLES_TSC_COUNTER_H

#include "backends/backend.h"
#include "backends/tsc/rate.h"

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

#endif
