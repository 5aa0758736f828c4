/* SPDX-License-Identifier: 0BSD OR MIT */
/* Rates and frequencies that the hardware or the kernel reports, the limits of plausible ones, and
   rates in cells of device trees. A plausible rate can still be wrong. */

#ifndef CPUCYCLES_COMMON_RATE_H
#define CPUCYCLES_COMMON_RATE_H

#define CPUC_RATE_LOWEST 1000LL           /* 1 kHz */
#define CPUC_RATE_HIGHEST 1000000000000LL /* 1 THz */

/* Returns hz if it is within the limits, otherwise 0. A register that firmware has not set can
   contain any value. */
static inline long long cpuc_rate_if_plausible(unsigned long long hz)
{
  return hz >= CPUC_RATE_LOWEST && hz <= CPUC_RATE_HIGHEST ? (long long)hz : 0;
}

struct cpuc_rate {
  long long hz;       /* units per second; 0: unknown */
  const char *source; /* name of the source if there can be several sources, else NULL */
  /* 1 if the rate is rounded, such as the nominal frequency in the model name of a CPU. A
     measurement that agrees with a rounded rate is more exact than this rate. */
  int is_rounded;
};

/* Returns a rate that is not rounded and comes from the only source. hz is 0 if the rate is unknown
   or not plausible. */
static inline struct cpuc_rate cpuc_rate_exact(unsigned long long hz)
{
  return (struct cpuc_rate) { cpuc_rate_if_plausible(hz), 0, 0 };
}

/* Returns the rate in Hz in one or two cells of a device tree, 32 bits each and big-endian; 0 for
   any other length, or for a rate outside the limits. */
static inline long long cpuc_rate_from_dt_cells(const char *cells, int length)
{
  unsigned long long value = 0;
  int i;

  if (length != 4 && length != 8)
    return 0;
  for (i = 0; i < length; i++)
    value = value << 8 | (unsigned char)cells[i];
  return cpuc_rate_if_plausible(value);
}

#endif
