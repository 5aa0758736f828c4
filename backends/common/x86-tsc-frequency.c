/* SPDX-License-Identifier: 0BSD OR MIT */
/* The time-stamp counter as a source of the CPU's frequency. */

#include "config.h"

#include "backends/common/x86-tsc.h"

/* All compilers have this way to read it, not all the intrinsic. */
const struct cpucycles_backend cpucycles_tsc = {
  X86_TSC_FACTS, .read = read_tsc_by_assembly
};
