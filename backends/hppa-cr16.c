/* SPDX-License-Identifier: 0BSD OR MIT */
/* hppa-cr16: core cycles on PA-RISC.
   Register: the Interval Timer, CR 16, read with MFCTL. Readable in user mode if the S-bit of the
   PSW is clear. Otherwise MFCTL raises SIGILL. The timers of several CPUs are not synchronized.
   Width: 32 bits in a 32-bit program, on any CPU; 64 bits in a 64-bit program. Rate: that of the
   core, reported by the kernel (backends/common/cpuinfo.h).
   Source: PA-RISC 2.0 Architecture, chapter 2, "Control Registers" and "Processor Status Word";
   chapter 7, MOVE FROM CONTROL REGISTER. */

#include "config.h"
#if HAVE_BACKEND_hppa_cr16

#include "backends/backend.h"
#include "backends/common/cpuinfo.h"

static long long read_cr16(void)
{
  unsigned long count;

  __asm__ volatile("mfctl %%cr16, %0" : "=r"(count));
  return (long long)count;
}

const struct cpuc_backend cpuc_backend_hppa_cr16 = {
  .kind = CPUC_KIND_CORE,
  .is_32_bit = sizeof(unsigned long) == 4,
  .read = read_cr16,
  .rate = cpuc_cpuinfo_rate,
};
#endif
