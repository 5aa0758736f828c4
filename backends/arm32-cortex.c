/* SPDX-License-Identifier: 0BSD OR MIT */
/* arm32-cortex: core cycles on ARMv7 and later, from the cycle counter of the PMU.
   Register: PMCCNTR, read with MRC p15, 0, Rt, c9, c13, 0. Readable at PL0 if PMUSERENR.EN or,
   since PMUv3, PMUSERENR.CR is set. A kernel module can set these bits, but 32-bit Linux itself
   does not. If neither bit is set, MRC raises SIGILL. A readable counter may be stopped.
   Width: 32 bits. Rate: the current core frequency, or a 64th of it if PMCR.D is set.
   Source: Arm Architecture Reference Manual ARMv7-A and ARMv7-R (DDI 0406C), chapter C12 "The
   Performance Monitors Extension", and the registers PMCCNTR and PMUSERENR. */

#include "config.h"
#if HAVE_BACKEND_arm32_cortex

#include "backends/backend.h"
#include "sys/perf/remedy.h"

static long long read_pmccntr(void)
{
  unsigned int count;

  __asm__ volatile("mrc p15, 0, %0, c9, c13, 0" : "=r"(count));
  return (long long)count;
}

const struct cpuc_backend cpuc_backend_arm32_cortex = {
  .kind = CPUC_KIND_CORE,
  .is_32_bit = 1,
  .read = read_pmccntr,
  .explain = cpuc_remedy_for_arm_module,
  .remedy_for_64th = "PMCR.D is set: clear it in the kernel module that permits access",
};
#endif
