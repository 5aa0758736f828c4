/* SPDX-License-Identifier: 0BSD OR MIT */
/* Whether Rosetta of macOS translates this program. Source: Apple, "About the Rosetta translation
   environment", sysctl.proc_translated. */

#ifndef CPUCYCLES_TRANSLATED_H
#define CPUCYCLES_TRANSLATED_H

#ifdef HAVE_SYSCTLBYNAME
#include <stddef.h>
#include <sys/types.h>

#include <sys/sysctl.h>
#endif

/* Returns 1 if Rosetta translates this program, so that the system describes an imitated CPU. */
static inline int cpuc_translated_by_rosetta(void)
{
#ifdef HAVE_SYSCTLBYNAME
  int translated = 0;
  size_t size = sizeof translated;

  return sysctlbyname("sysctl.proc_translated", &translated, &size, NULL, 0) == 0
    && translated == 1;
#else
  return 0;
#endif
}

#endif
