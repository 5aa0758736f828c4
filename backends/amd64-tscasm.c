/* SPDX-License-Identifier: 0BSD OR MIT */
/* amd64-tscasm: the time-stamp counter of x86-64, for compilers without the intrinsic.
   Register: IA32_TIME_STAMP_COUNTER, 64 bits, by RDTSC. Readable in user mode unless CR4.TSD is set, which
   Linux does per thread on prctl(PR_SET_TSC, PR_TSC_SIGSEGV): then RDTSC raises SIGSEGV.
   Rate: constant where CPUID 8000_0007H EDX bit 8 says so, near the core's nominal frequency;
   x86-tsc-rate.h has who states it.
   Source: Intel SDM volume 3, "Time-Stamp Counter"; AMD APM volume 3, RDTSC; prctl(2). */

#include "config.h"

#include "backends/backend.h"
#include "backends/x86-tsc-rate.h"

static long long read_tsc(void)
{
  unsigned int low, high;

  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (long long)(((unsigned long long)high << 32) | low);
}

const struct cpucycles_backend cpucycles_backend_amd64_tscasm = {
  .kind = CPUCYCLES_KIND_REFERENCE,
  .scope = CPUCYCLES_SCOPE_SYSTEM,
  .width = 64,
  .source = "TSC",
  .unit = "reference cycles",
  .read = read_tsc,
  .close = tsc_rate_close,
  .rate = tsc_rate,
};
