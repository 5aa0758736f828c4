/* SPDX-License-Identifier: 0BSD OR MIT */
/* arm64-pmc: core cycles, from the cycle counter of the PMU.
   Register: PMCCNTR_EL0, read with MRS. Readable at EL0 if PMUSERENR_EL0.EN or .CR is set. A kernel
   module can set these bits, but Linux itself sets them only for a perf event with user-space
   access. If neither bit is set, MRS raises SIGILL. A readable counter may be stopped, for example
   after Linux has closed a perf event with user-space access.
   Width: 64 bits. Rate: the current core frequency.
   Source: Arm Architecture Reference Manual for A-profile (DDI 0487), part D, "The Performance
   Monitors Extension", and the registers PMCCNTR_EL0 and PMUSERENR_EL0. */

#include "config.h"
#if HAVE_BACKEND_arm64_pmc

#include "backends/backend.h"
#include "sys/perf/remedy.h"

static long long read_pmccntr(void)
{
  return (long long)cpucycles_inline_pmccntr();
}

const struct cpuc_backend cpuc_backend_arm64_pmc = {
  .kind = CPUC_KIND_CORE,
  .read = read_pmccntr,
  .explain = cpuc_remedy_for_arm_module,
  .remedy_for_64th = "PMCR_EL0.D is set: clear it in the kernel module that permits access",
  .inline_method = CPUCYCLES_INLINE_PMCCNTR,
};
#endif
