/* SPDX-License-Identifier: 0BSD OR MIT */
/* The architecture of the program, from the macros of the compiler. */

#include "config.h"

#include "sys/architecture.h"

enum cpuc_architecture cpuc_architecture(void)
{
#if defined __x86_64__ || defined __i386__
  return CPUC_ARCHITECTURE_X86;
#elif defined __powerpc__
  return CPUC_ARCHITECTURE_POWER;
#elif defined __s390__
  return CPUC_ARCHITECTURE_S390;
#elif defined __sparc__
  return CPUC_ARCHITECTURE_SPARC;
#elif defined __loongarch__
  return CPUC_ARCHITECTURE_LOONGARCH;
#elif defined __mips__
  return CPUC_ARCHITECTURE_MIPS;
#elif defined __alpha__
  return CPUC_ARCHITECTURE_ALPHA;
#elif defined __hppa__
  return CPUC_ARCHITECTURE_PARISC;
#elif defined __ia64__
  return CPUC_ARCHITECTURE_IA64;
#else
  return CPUC_ARCHITECTURE_OTHER;
#endif
}
