/* SPDX-License-Identifier: 0BSD OR MIT */
/* s390x-stckf: the time-of-day clock, read with STORE CLOCK FAST. Unlike STORE CLOCK, this
   instruction may store the same value twice, so it does not wait for the next value.
   Register: the TOD clock. Always readable in user mode. On machines before z9 the instruction
   raises SIGILL.
   Width: 64 bits, counted from 1900, but read() counts from 2000 (include/cpucycles/inline.h).
   Rate: 4.096 GHz, because bit 51, counted from the left, is a microsecond.
   Source: z/Architecture Principles of Operation (SA22-7832), chapter 4, section "Time-of-Day
   Clock", and chapter 7, STORE CLOCK FAST. */

#include "config.h"
#if HAVE_BACKEND_s390x_stckf

#include "backends/backend.h"

static long long read_tod(void)
{
  return (long long)cpucycles_inline_tod();
}

const struct cpuc_backend cpuc_backend_s390x_stckf = {
  .kind = CPUC_KIND_SCALED,
  .unit = "TOD clock units",
  .read = read_tod,
  .constant_rate = 4096000000,
  .inline_method = CPUCYCLES_INLINE_TOD,
};
#endif
