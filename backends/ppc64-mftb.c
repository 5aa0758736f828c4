/* SPDX-License-Identifier: 0BSD OR MIT */
/* ppc64-mftb: the time base of 64-bit PowerPC.
   Register: TB, read with MFSPR 268, the 64-bit form of MFTB. Always readable in user mode.
   Width: 64 bits. Rate: constant, 512 MHz since POWER6, reported by the kernel
   (backends/common/cpuinfo.h).
   Source: Power ISA version 3.1, book II, chapter "Time Base"; Linux,
   arch/powerpc/kernel/time.c. */

#include "config.h"
#if HAVE_BACKEND_ppc64_mftb

#include "backends/backend.h"
#include "backends/common/cpuinfo.h"

static long long read_time_base(void)
{
  return (long long)cpucycles_inline_time_base();
}

const struct cpuc_backend cpuc_backend_ppc64_mftb = {
  .kind = CPUC_KIND_SCALED,
  .unit = "time base units",
  .read = read_time_base,
  .rate = cpuc_cpuinfo_rate,
  .inline_method = CPUCYCLES_INLINE_TIME_BASE,
};
#endif
