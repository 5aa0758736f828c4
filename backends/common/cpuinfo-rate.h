/* SPDX-License-Identifier: 0BSD OR MIT */
/* Rates that no register contains, from /proc/cpuinfo of Linux. A line is accepted only in the form
   that the kernel of this architecture writes, because under an emulator the file can be that of
   another architecture. */

#ifndef CPUCYCLES_CPUINFO_RATE_H
#define CPUCYCLES_CPUINFO_RATE_H

#include "sys/file.h"

#pragma GCC visibility push(hidden)

/* Returns the rate of the first line of /proc/cpuinfo for which rate_of() returns a rate, in Hz; 0
   if there is no such line. rate_of is one of the functions below. */
long long cpuc_cpuinfo_rate_find(long long (*rate_of)(const char *line));

/* A search in a file that is read in pieces. The caller sets rate_of, and the other members to
   0. */
struct cpuc_cpuinfo_rate_search {
  long long (*rate_of)(const char *line);
  struct cpuc_file_line line;
  long long hz; /* the rate, or 0 until it is found */
};

/* Searches the next piece. */
void cpuc_cpuinfo_rate_search_add(struct cpuc_cpuinfo_rate_search *search, const char *piece,
  int length);

/* Each of these functions parses one form of line. Returns the rate in Hz, or 0 for any other
   line. */

/* "timebase\t: 512000000", in Hz: arch/powerpc/kernel/setup-common.c, show_cpuinfo. */
long long cpuc_cpuinfo_rate_powerpc_timebase(const char *line);

/* "cycle frequency [Hz]\t: 462962962 est.": arch/alpha/kernel/setup.c, show_cpuinfo. A rate
   that is not an estimate ends with a space. */
long long cpuc_cpuinfo_rate_alpha_cycle_frequency(const char *line);

/* "cpu MHz\t\t: 552.000000": arch/parisc/kernel/processor.c, show_cpuinfo. The rate comes from the
   firmware, which counts CR16 for 10 ms. The line with this key on x86 has three decimals. */
long long cpuc_cpuinfo_rate_parisc_cr16(const char *line);

/* "itc MHz    : 399.000000": arch/ia64/kernel/setup.c, show_cpuinfo. */
long long cpuc_cpuinfo_rate_ia64_itc(const char *line);

/* "Cpu6ClkTck\t: 000000000ec82e00", of the first CPU present, in Hz, hexadecimal:
   arch/sparc/kernel/smp_64.c, smp_bogo; cpu.c in kernels without SMP. */
long long cpuc_cpuinfo_rate_sparc_clock_tick(const char *line);

#pragma GCC visibility pop

#endif
