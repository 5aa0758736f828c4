/* SPDX-License-Identifier: 0BSD OR MIT */
/* Executes CPUID. Sources: Intel SDM volume 2A, CPUID; the GNU C Library manual, X86-specific
   Facilities. */

#include "config.h"

#include "sys/cpuid.h"

#include <errno.h>
#ifdef HAVE_CPUID_H
#include <cpuid.h>
#endif
#ifdef HAVE___X86_GET_CPUID_FEATURE_LEAF
#include <sys/platform/x86.h>
#endif
#if defined(HAVE_CPUID_H) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#ifdef HAVE_CPUID_H

/* Returns 1 if arch_prctl(ARCH_CPUID_FAULT) lets CPUID raise SIGSEGV in this thread. Kernels that
   cannot, and those before 4.12, return an error. Source: arch_prctl(2); the number is that of
   <asm/prctl.h>, which older kernels lack. */
static int is_forbidden(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
  enum { GET_CPUID = 0x1011 };
  int saved_errno = errno;
  long is_enabled = syscall(SYS_arch_prctl, GET_CPUID, 0);

  errno = saved_errno;
  return is_enabled == 0;
#else
  return 0;
#endif
}

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
  if (is_forbidden())
    return read;
  __cpuid_count(leaf, 0, read.a, read.b, read.c, read.d);
#endif
  (void)leaf;
  return read;
}
