/* SPDX-License-Identifier: 0BSD OR MIT */
/* alpha-rpcc: core cycles on Alpha.
   Register: the Process Cycle Counter, read with RPCC. Always readable in user mode. The low half
   of the register is the cycle counter. The high half is an offset that the operating system keeps
   for each process, and that read() discards.
   Width: 32 bits. Rate: that of the core, reported by the kernel (backends/common/cpuinfo.h).
   Source: Alpha Architecture Reference Manual, fourth edition, section 4.11.8, RPCC. */

#include "config.h"
#if HAVE_BACKEND_alpha_rpcc

#include "backends/backend.h"
#include "backends/common/cpuinfo.h"

static long long read_pcc(void)
{
  unsigned long long count;

  __asm__ volatile("rpcc %0" : "=r"(count));
  return (long long)(count & 0xffffffff);
}

const struct cpuc_backend cpuc_backend_alpha_rpcc = {
  .kind = CPUC_KIND_CORE,
  .is_32_bit = 1,
  .read = read_pcc,
  .rate = cpuc_cpuinfo_rate,
};
#endif
