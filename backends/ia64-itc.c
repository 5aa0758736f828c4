/* SPDX-License-Identifier: 0BSD OR MIT */
/* ia64-itc: the interval time counter of Itanium, core cycles on most CPUs.
   Register: the Interval Time Counter, AR 44, read with MOV from ar.itc. Readable in user mode if
   psr.si is clear. Otherwise MOV raises SIGILL.
   Width: 64 bits. Rate: in a fixed ratio to the rate of the core, and equal to the rate of the core
   on most CPUs; reported by the kernel (backends/common/cpuinfo.h).
   Source: Intel Itanium Architecture Software Developer's Manual, volume 1, chapter 3, "Interval
   Time Counter (ITC - AR 44)"; volume 2, chapter 3, "Processor Status Register (PSR)". */

#include "config.h"
#if HAVE_BACKEND_ia64_itc

#include "backends/backend.h"
#include "backends/common/cpuinfo.h"

static long long read_itc(void)
{
  unsigned long long count;

  __asm__ volatile("mov %0=ar.itc" : "=r"(count));
  return (long long)count;
}

const struct cpuc_backend cpuc_backend_ia64_itc = {
  .kind = CPUC_KIND_CORE,
  .read = read_itc,
  .rate = cpuc_cpuinfo_rate,
};
#endif
