/* SPDX-License-Identifier: 0BSD OR MIT */
/* arm32-vct: the virtual count of the system counter.
   Register: CNTVCT, read with MRRC p15, 1, Rt, Rt2, c14. Readable at PL0 on ARMv7 CPUs with the
   Generic Timer and on later CPUs, if CNTKCTL.PL0VCTEN is set. Linux sets this bit unless an
   erratum forbids that. If the bit is clear, and on CPUs without the Generic Timer, MRRC raises
   SIGILL.
   Width: at least 56 bits, zero-extended.
   Rate: in CNTFRQ, read with MRC p15, 0, Rt, c14, c0, 0. Firmware sets CNTFRQ, except on some
   boards.
   Source: Arm Architecture Reference Manual ARMv7-A and ARMv7-R (DDI 0406C), chapter B8 "The
   Generic Timer", and the registers CNTVCT and CNTFRQ. */

#include "config.h"
#if HAVE_BACKEND_arm32_vct

#include "backends/backend.h"

static long long read_cntvct(void)
{
  return (long long)cpucycles_inline_cntvct();
}

static struct cpuc_rate cntfrq(void)
{
  unsigned int hz;

  __asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(hz));
  return cpuc_rate_exact(hz);
}

const struct cpuc_backend cpuc_backend_arm32_vct = {
  .kind = CPUC_KIND_SCALED,
  .unit = "system counter units",
  .read = read_cntvct,
  .rate = cntfrq,
  .inline_method = CPUCYCLES_INLINE_CNTVCT,
};
#endif
