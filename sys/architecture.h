/* SPDX-License-Identifier: 0BSD OR MIT */
/* The architecture of the program. */

#ifndef CPUCYCLES_ARCHITECTURE_H
#define CPUCYCLES_ARCHITECTURE_H

#pragma GCC visibility push(hidden)

/* The architectures whose frequency in /proc/cpuinfo the library reads, one bit each. All other
   architectures are OTHER. */
enum cpuc_architecture {
  CPUC_ARCHITECTURE_OTHER = 0,
  CPUC_ARCHITECTURE_ALPHA = 1,
  CPUC_ARCHITECTURE_IA64 = 2,
  CPUC_ARCHITECTURE_LOONGARCH = 4,
  CPUC_ARCHITECTURE_MIPS = 256,
  CPUC_ARCHITECTURE_PARISC = 8,
  CPUC_ARCHITECTURE_POWER = 16,
  CPUC_ARCHITECTURE_S390 = 32,
  CPUC_ARCHITECTURE_SPARC = 64,
  CPUC_ARCHITECTURE_X86 = 128
};

/* Returns the architecture that the library was compiled for. Under an emulator, files of the
   kernel can describe another architecture. */
enum cpuc_architecture cpuc_architecture(void);

#pragma GCC visibility pop

#endif
