/* SPDX-License-Identifier: 0BSD OR MIT */
/* arm32-cortex: this core's cycles on ARMv7 and later, by the PMU's cycle counter.
   Register: PMCCNTR, by MRC p15, 0, Rt, c9, c13, 0. Readable at PL0 where PMUSERENR.EN is set; a
   kernel module can set it, Linux itself does not. Else MRC raises SIGILL. A readable counter may
   be stopped.
   Width: 32 bits. Rate: the core's current frequency; a 64th of it where PMCR.D is set.
   Source: Arm Architecture Reference Manual ARMv7-A and ARMv7-R (DDI 0406C), chapter C12 "The
   Performance Monitors Extension", and the registers PMCCNTR and PMUSERENR. */

#include "config.h"

#include "backends/backend.h"
#include "backends/perf/remedy.h"

#include <signal.h>

static void explain(int error, int signal, struct cpuc_diagnosis *why)
{
  (void)error;
  if (signal == SIGILL)
    cpuc_remedy_for_arm_module("", why);
}

static long long read_pmccntr(void)
{
  unsigned int count;

  __asm__ volatile("mrc p15, 0, %0, c9, c13, 0" : "=r"(count));
  return (long long)count;
}

const struct cpuc_backend cpuc_backend_arm32_cortex = {
  .kind = CPUC_KIND_CORE,
  .scope = CPUC_SCOPE_CORE,
  .width = 32,
  .register_name = "PMCCNTR",
  .unit = "core cycles",
  .read = read_pmccntr,
  .explain = explain,
};
