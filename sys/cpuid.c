/* SPDX-License-Identifier: 0BSD OR MIT */
/* Executes CPUID. Source: Intel SDM volume 2A, CPUID. */

#include "config.h"

#include "sys/cpuid.h"

#ifdef HAVE_CPUID_H
#include <cpuid.h>
#endif

struct cpuc_cpuid_leaf cpuc_cpuid_read(unsigned int leaf)
{
  struct cpuc_cpuid_leaf read = { 0, 0, 0, 0 };

#ifdef HAVE_CPUID_H
#ifdef __i386__
  if (__get_cpuid_max(0, 0) == 0) /* the oldest CPUs do not have CPUID */
    return read;
#endif
  __cpuid_count(leaf, 0, read.a, read.b, read.c, read.d);
#endif
  (void)leaf;
  return read;
}
