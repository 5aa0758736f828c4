/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the backends that state a rate share: which statements are none. Whether a plausible one is
   true, the library finds out. */

#ifndef CPUCYCLES_COMMON_RATE_H
#define CPUCYCLES_COMMON_RATE_H

/* Registers that no firmware has programmed read 0, or anything. The limits are those of a CPU's
   frequency: 1 kHz to 1 THz. */
static inline long long plausible_rate(unsigned long long hz)
{
  return hz >= 1000 && hz <= 1000000000000ULL ? (long long)hz : 0;
}

#endif
