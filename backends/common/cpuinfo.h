/* SPDX-License-Identifier: 0BSD OR MIT */
/* Lines of Linux's /proc/cpuinfo that contain a frequency. A line is accepted only on the
   architecture whose kernel writes it, because under an emulator the file can be that of another
   architecture. */

#ifndef CPUCYCLES_CPUINFO_H
#define CPUCYCLES_CPUINFO_H

#include "backends/backend.h"

#define CPUC_CPUINFO "/proc/cpuinfo"

#pragma GCC visibility push(hidden)

/* What the frequency in a line is: one or more of these bits. */
enum {
  CPUC_CPUINFO_CORE = 1,    /* the constant frequency of the cores */
  CPUC_CPUINFO_CURRENT = 2, /* the frequency of a core, which can be the current one */
  CPUC_CPUINFO_RATE = 4,    /* the rate of the counter that programs read */
  CPUC_CPUINFO_TWICE_TSC = 8 /* twice the rate for which the kernel takes the TSC */
};

/* Returns the frequency in a line in Hz, and stores what it is; 0 if the line contains none. */
long long cpuc_cpuinfo_parse(const char *line, unsigned int *roles);

/* Returns the rate of the counter that programs read, which no register contains. hz is 0 if
   /proc/cpuinfo does not contain the rate. */
struct cpuc_rate cpuc_cpuinfo_rate(void);

#pragma GCC visibility pop

#endif
