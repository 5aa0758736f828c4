/* SPDX-License-Identifier: 0BSD OR MIT */
/* x86-tscasm: the time-stamp counter of i386, read with assembly, for compilers without the
   intrinsic. Access, failures and rate: backends/tsc/counter.h. Width: 64 bits. Source: Intel SDM
   volume 2, RDTSC. */

#include "config.h"
#if HAVE_BACKEND_x86_tscasm

#include "backends/tsc/counter.h"

const struct cpuc_backend cpuc_backend_x86_tscasm = {
  CPUC_TSC_MEMBERS, .read = cpuc_tsc_read_with_assembly
};
#endif
