/* SPDX-License-Identifier: 0BSD OR MIT */
/* arm64-vct: the virtual count of the system counter.
   Register: CNTVCT_EL0, read with MRS, without ISB, so the CPU may read it a few instructions
   early. Readable at EL0 if CNTKCTL_EL1.EL0VCTEN is set. Linux sets this bit, with two exceptions.
   On CPUs with an erratum, Linux clears the bit and emulates the read. After prctl(PR_SET_TSC),
   Linux clears the bit and the read raises SIGSEGV. If a kernel other than Linux clears the bit,
   MRS raises SIGILL.
   Width: at least 56 bits, zero-extended; 64 bits if the counter runs at 1 GHz.
   Rate: in CNTFRQ_EL0, which firmware sets. The rate is 1 GHz since Armv8.6, and before Armv8.6 in
   most cases 19.2 to 125 MHz.
   Source: Arm Architecture Reference Manual for A-profile (DDI 0487), part D, "The Generic Timer in
   AArch64 state", and the registers CNTVCT_EL0 and CNTFRQ_EL0. */

#include "config.h"
#if HAVE_BACKEND_arm64_vct

#include "backends/backend.h"

static long long read_cntvct(void)
{
  return (long long)cpucycles_inline_cntvct();
}

static struct cpuc_rate cntfrq(void)
{
  unsigned long long hz;

  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
  return cpuc_rate_exact(hz & 0xffffffff); /* the upper half is reserved */
}

const struct cpuc_backend cpuc_backend_arm64_vct = {
  .kind = CPUC_KIND_SCALED,
  .unit = "system counter units",
  .read = read_cntvct,
  .rate = cntfrq,
  .inline_method = CPUCYCLES_INLINE_CNTVCT,
};
#endif
