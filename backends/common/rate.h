/* SPDX-License-Identifier: 0BSD OR MIT */
/* The limits of a stated frequency or rate, and the cells in which device trees state one. The
   library tests whether a plausible reported rate is right. */

#ifndef CPUCYCLES_COMMON_RATE_H
#define CPUCYCLES_COMMON_RATE_H

#define CPUC_FREQUENCY_LOWEST 1000LL           /* 1 kHz */
#define CPUC_FREQUENCY_HIGHEST 1000000000000LL /* 1 THz */

/* Returns hz if it is within the limits, else 0. A register that no firmware has programmed reads 0
   or any other value. */
static inline long long plausible_rate(unsigned long long hz)
{
  return hz >= CPUC_FREQUENCY_LOWEST && hz <= CPUC_FREQUENCY_HIGHEST ? (long long)hz : 0;
}

/* Returns the rate in Hz that one or two cells of a device tree state, 32 bits each and big-endian;
   0 for another length, or outside the limits. */
static inline long long rate_from_dt_cells(const char *cells, int length)
{
  unsigned long long value = 0;
  int i;

  if (length != 4 && length != 8)
    return 0;
  for (i = 0; i < length; i++)
    value = value << 8 | (unsigned char)cells[i];
  return plausible_rate(value);
}

#endif
