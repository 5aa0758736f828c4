/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-mach: mach_absolute_time() of macOS, which stops while the system sleeps.
   Always readable, because the function cannot fail. On Apple Silicon the function counts units of
   the system counter, on Intel and under Rosetta nanoseconds.
   Width: 64 bits. Rate: mach_timebase_info() returns the nanoseconds per unit as a fraction, 125/3
   for 24 MHz.
   Source: Apple, Technical Q&A QA1398 "Mach Absolute Time Units"; XNU, osfmk/mach/mach_time.h. */

#include "config.h"
#if HAVE_BACKEND_default_mach

#include "backends/backend.h"

#include <mach/mach_time.h>

static long long read_mach(void)
{
  return (long long)mach_absolute_time();
}

static struct cpuc_rate mach_rate(void)
{
  mach_timebase_info_data_t nanoseconds;

  if (mach_timebase_info(&nanoseconds) != 0 || nanoseconds.numer == 0)
    return cpuc_rate_exact(0);
  return cpuc_rate_exact(1000000000ULL * nanoseconds.denom / nanoseconds.numer);
}

const struct cpuc_backend cpuc_backend_default_mach = {
  .kind = CPUC_KIND_SCALED, /* not CLOCK, because the rate depends on the CPU and is verified */
  .unit = "mach time units",
  .read = read_mach,
  .rate = mach_rate,
};
#endif
