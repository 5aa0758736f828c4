/* SPDX-License-Identifier: 0BSD OR MIT */
/* The time-stamp counter as the reference counter of x86. */

#include "config.h"

#include "backends/backend.h"

#include <stddef.h>

#ifdef CPUCYCLES_HAVE_TSC

#include "backends/tsc/counter.h"

/* Read with assembly, because not all compilers have the intrinsic. */
const struct cpuc_backend *cpuc_reference_counter(void)
{
  static const struct cpuc_backend tsc = {
    X86_TSC_MEMBERS, .read = read_tsc_with_assembly
  };

  return &tsc;
}

#else

const struct cpuc_backend *cpuc_reference_counter(void)
{
  return NULL;
}

#endif
