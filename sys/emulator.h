/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the emulator that runs this program, or the whole machine. */

#ifndef CPUCYCLES_EMULATOR_H
#define CPUCYCLES_EMULATOR_H

#ifdef HAVE_SYSCTLBYNAME
#include <stddef.h>
#include <sys/types.h>

#include <sys/sysctl.h>
#endif

#pragma GCC visibility push(hidden)

/* Returns the name of the emulator, or NULL if none is found. The counts are those of the emulator.
   Executes CPUID up to six times, and reads files, so do not call this function in the first call
   unless an estimate is suspect. */
const char *cpuc_emulator_find(void);

#pragma GCC visibility pop

/* Returns 1 if Rosetta translates this program, so that the system describes an imitated CPU.
   Source: Apple, "About the Rosetta translation environment", sysctl.proc_translated. */
static inline int cpuc_emulator_is_rosetta(void)
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
