/* SPDX-License-Identifier: 0BSD OR MIT */
/* The time-stamp counter as the reference counter of x86. */

#include "config.h"

#include "backends/backend.h"

#include <stddef.h>

#if defined(__x86_64__) || defined(__i386__)

#include "backends/tsc/counter.h"

/* The counter is read with assembly, because not all compilers have the intrinsic. */
const struct cpuc_backend *cpuc_reference_counter(void)
{
  static const struct cpuc_backend tsc = { CPUC_TSC_MEMBERS, .read = cpuc_tsc_read_with_assembly };

  return &tsc;
}

#else

const struct cpuc_backend *cpuc_reference_counter(void)
{
  return NULL;
}

#endif
