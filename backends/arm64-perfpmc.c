/* SPDX-License-Identifier: 0BSD OR MIT */
/* arm64-perfpmc: user-mode core cycles of the calling thread, from the PMU register of a perf
   event. Register: PMCCNTR_EL0 if the index in the mmap page of the event is 32, or PMEVCNTR<n>_EL0
   if the index is n + 1. Both are read with MRS. Readable (Linux, since 5.17) in a thread that has
   its own event with bit 1 of config1, which requests user-space access, while sysctl
   kernel.perf_user_access is 1. Otherwise MRS raises SIGILL. cap_user_rdpmc of the page is 1 even
   if the register is not readable. Only a nonzero index means that the register is readable. Width:
   64 bits with bit 0 of config1, otherwise pmc_width of the page, sign-extended. Rate: the current
   core frequency.
   Source: Arm Architecture Reference Manual for A-profile (DDI 0487), part D, "The Performance
   Monitors Extension"; Linux, Documentation/arch/arm64/perf.rst, "Perf Userspace PMU Hardware
   Counter Access". */

#include "config.h"
#if HAVE_BACKEND_arm64_perfpmc

#include "backends/perf/counter.h"
#include "sys/perf/remedy.h"
#include "sys/perf/register.h"

static const struct cpuc_perf_counter counter = {
  .instruction = cpuc_perf_register,
  .fixed_index = CPUC_PERF_FIXED_INDEX,
  .width = 64,
  .config1 = CPUC_PERF_LONG | CPUC_PERF_USER_ACCESS,
  .diagnose_access = cpuc_remedy_for_arm64_user_access,
};

static long long read_cycles(void)
{
  return cpuc_perf_read(&counter, cpuc_perf_cycle_register, CPUC_PERF_FIXED_INDEX, 0);
}

const struct cpuc_backend cpuc_backend_arm64_perfpmc = {
  .kind = CPUC_KIND_CORE,
  CPUC_PERF_MEMBERS,
  .read = read_cycles,
};
#endif
