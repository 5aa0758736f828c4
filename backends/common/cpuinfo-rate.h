/* SPDX-License-Identifier: 0BSD OR MIT */
/* Rates that no register contains, from lines of Linux's /proc/cpuinfo. A line is accepted only in
   the form in which the architecture's own kernel writes it: an emulator may show another
   architecture's file. */

#ifndef CPUCYCLES_CPUINFO_RATE_H
#define CPUCYCLES_CPUINFO_RATE_H

#include "sys/kernel-file.h"

#pragma GCC visibility push(hidden)

/* Returns the first rate that a line of /proc/cpuinfo contains, in Hz; 0: none. rate_of: one of the
   functions below, each for one kind of line. */
long long cpuc_cpuinfo_rate(long long (*rate_of)(const char *line));

/* Search in a file that is read in pieces. The caller sets rate_of, and the rest to zero. */
struct cpuc_cpuinfo_rate_search {
  long long (*rate_of)(const char *line);
  struct cpuc_kernel_line line;
  long long hz; /* the rate found; 0: none so far */
};

/* Searches the next piece of the file. */
void cpuc_cpuinfo_rate_search_add(struct cpuc_cpuinfo_rate_search *search, const char *piece,
  int length);

/* Kinds of lines. Each function returns the rate in Hz; 0 for another or a malformed line. */

/* "timebase\t: 512000000", in Hz: arch/powerpc/kernel/setup-common.c, show_cpuinfo. */
long long cpuc_cpuinfo_rate_powerpc_timebase(const char *line);

/* "cycle frequency [Hz]\t: 462962962 est.": arch/alpha/kernel/setup.c, show_cpuinfo. A rate
   that is not an estimate ends with a space. */
long long cpuc_cpuinfo_rate_alpha_cycle_frequency(const char *line);

/* "cpu MHz\t\t: 552.000000": arch/parisc/kernel/processor.c, show_cpuinfo; from the firmware's
   count of CR16 in 10 ms. The line of x86 has three digits behind the point. */
long long cpuc_cpuinfo_rate_parisc_cr16(const char *line);

/* "itc MHz    : 399.000000": arch/ia64/kernel/setup.c, show_cpuinfo. */
long long cpuc_cpuinfo_rate_ia64_itc(const char *line);

/* "Cpu6ClkTck\t: 000000000ec82e00", of the first CPU present, in Hz, hexadecimal:
   arch/sparc/kernel/smp_64.c, smp_bogo; cpu.c where there is one CPU. */
long long cpuc_cpuinfo_rate_sparc_clock_tick(const char *line);

#pragma GCC visibility pop

#endif
