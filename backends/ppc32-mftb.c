/* SPDX-License-Identifier: 0BSD OR MIT */
/* ppc32-mftb: the time base of 32-bit PowerPC.
   Registers: TBL and TBU, read with MFTB and MFTBU. Always readable in user mode, except on the
   PowerPC 601, which has other registers and raises SIGILL.
   Width: 64 bits, read in halves: the high half is read before and after the low half, until the
   two reads of the high half agree.
   Rate: constant, a quarter of the bus frequency on most CPUs, reported by the kernel
   (backends/common/cpuinfo.h).
   Source: PowerPC Virtual Environment Architecture (book II), version 2.01, chapter "Time Base";
   Linux, arch/powerpc/kernel/time.c. */

#include "config.h"
#if HAVE_BACKEND_ppc32_mftb

#include "backends/backend.h"
#include "backends/common/cpuinfo.h"

static long long read_time_base(void)
{
  return (long long)cpucycles_inline_time_base();
}

const struct cpuc_backend cpuc_backend_ppc32_mftb = {
  .kind = CPUC_KIND_SCALED,
  .unit = "time base units",
  .read = read_time_base,
  .rate = cpuc_cpuinfo_rate,
  .inline_method = CPUCYCLES_INLINE_TIME_BASE,
};
#endif
