/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the emulator that runs this program, or the whole machine. */

#ifndef CPUCYCLES_EMULATOR_H
#define CPUCYCLES_EMULATOR_H

#pragma GCC visibility push(hidden)

/* Returns the name of the emulator, or NULL if none is found. The counts are those of the emulator.
   Executes CPUID up to six times, and reads files, so do not call this function in the first call
   unless an estimate is suspect. */
const char *cpuc_emulator_find(void);

#pragma GCC visibility pop

#endif
