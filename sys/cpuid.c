/* SPDX-License-Identifier: 0BSD OR MIT */
/* Executes CPUID. Sources: Intel SDM volume 2A, CPUID; the GNU C Library manual, X86-specific
   Facilities. */

#include "config.h"

#include "sys/cpuid.h"

#ifdef HAVE_CPUID_H
#include <cpuid.h>
#endif
#ifdef HAVE___X86_GET_CPUID_FEATURE_LEAF
#include <sys/platform/x86.h>
#endif

struct cpuc_cpuid_leaf cpuc_cpuid_read(unsigned int leaf)
{
  struct cpuc_cpuid_leaf read = { 0, 0, 0, 0 };

#ifdef HAVE___X86_GET_CPUID_FEATURE_LEAF
  /* glibc has executed CPUID for this leaf when the program started. */
  if (leaf == CPUC_CPUID_SIZES) {
    const unsigned int *saved = __x86_get_cpuid_feature_leaf(CPUID_INDEX_80000008)->cpuid_array;

    return (struct cpuc_cpuid_leaf) { saved[0], saved[1], saved[2], saved[3] };
  }
#endif
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
