/* SPDX-License-Identifier: 0BSD OR MIT */
/* The time-stamp counter as a source of the CPU's frequency. */

#include "config.h"

#include "backends/common/x86-tsc.h"

/* By assembly, because not all compilers have the intrinsic. */
const struct cpucycles_backend cpucycles_tsc = {
  X86_TSC_MEMBERS, .read = read_tsc_by_assembly
};
