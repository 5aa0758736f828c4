/* SPDX-License-Identifier: 0BSD OR MIT */
/* amd64-tsc: the time-stamp counter of x86-64, read with the intrinsic of the compiler. Access,
   failures and rate: backends/tsc/counter.h. Width: 64 bits. Source: Intel SDM volume 2, RDTSC. */

#include "config.h"
#if HAVE_BACKEND_amd64_tsc

#include "backends/tsc/counter.h"

#include <x86intrin.h>

static long long read_tsc(void)
{
  return (long long)__rdtsc();
}

const struct cpuc_backend cpuc_backend_amd64_tsc = {
  CPUC_TSC_MEMBERS, .read = read_tsc
};
#endif
