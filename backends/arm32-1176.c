/* SPDX-License-Identifier: 0BSD OR MIT */
/* arm32-1176: core cycles on ARM1176, the CPU of the first Raspberry Pi.
   Register: Cycle Counter Register (CCNT), read with MRC p15, 0, Rd, c15, c12, 1. Readable in user
   mode if a kernel module has set bit 0 of the Secure User and Non-secure Access Validation Control
   Register. Otherwise, and on CPUs other than ARM1176, MRC raises SIGILL. A readable counter may be
   stopped.
   Width: 32 bits. Rate: the current core frequency, or a 64th of it if bit D of the
   Performance Monitor Control Register is set.
   Source: ARM1176JZF-S Technical Reference Manual (DDI 0301), section 3.2, "c15, Cycle Counter
   Register", "c15, Performance Monitor Control Register" and "c15, Secure User and Non-secure
   Access Validation Control Register". */

#include "config.h"
#if HAVE_BACKEND_arm32_1176

#include "backends/backend.h"

static long long read_ccnt(void)
{
  unsigned int count;

  __asm__ volatile("mrc p15, 0, %0, c15, c12, 1" : "=r"(count));
  return (long long)count;
}

const struct cpuc_backend cpuc_backend_arm32_1176 = {
  .kind = CPUC_KIND_CORE,
  .is_32_bit = 1,
  .read = read_ccnt,
};
#endif
