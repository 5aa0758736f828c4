/* SPDX-License-Identifier: 0BSD OR MIT */
/* loong64-rdtime: the stable counter of LoongArch.
   Register: the Stable Counter, read with RDTIME.D. Readable in user mode if CSR.MISC.DRDTL3 is
   clear. Otherwise RDTIME.D raises SIGILL.
   Width: 64 bits. Rate: constant, reported by CPUCFG. If bit LLFTP of word 2 is set, the CPU has
   the counter, word 4 is the frequency of the crystal, and word 5 contains the multiplier (bits
   15:0) and the divisor (bits 31:16) of this frequency. CPUCFG is always readable in user mode.
   Words that a CPU does not have are 0.
   Source: LoongArch Reference Manual volume 1, sections 2.2.10.4 "RDTIME{L/H}.W, RDTIME.D" and
   2.2.10.5 "CPUCFG". */

#include "config.h"
#if HAVE_BACKEND_loong64_rdtime

#include "backends/backend.h"

static long long read_stable_counter(void)
{
  return (long long)cpucycles_inline_stable_counter();
}

static unsigned int cpucfg(unsigned int word)
{
  unsigned int value;

  __asm__ volatile("cpucfg %0, %1" : "=r"(value) : "r"(word));
  return value;
}

static struct cpuc_rate stable_counter_rate(void)
{
  enum { LLFTP = 1 << 14 };
  unsigned long long crystal = cpucfg(4);
  unsigned int multiplier = cpucfg(5) & 0xffff, divisor = cpucfg(5) >> 16;

  if (!(cpucfg(2) & LLFTP) || divisor == 0)
    return cpuc_rate_exact(0);
  return cpuc_rate_exact(crystal * multiplier / divisor);
}

const struct cpuc_backend cpuc_backend_loong64_rdtime = {
  .kind = CPUC_KIND_SCALED,
  .unit = "stable counter units",
  .read = read_stable_counter,
  .rate = stable_counter_rate,
  .inline_method = CPUCYCLES_INLINE_STABLE_COUNTER,
};
#endif
