/* SPDX-License-Identifier: 0BSD OR MIT */
/* Of the BSDs' headers of this name, what lib/frequency-system.c and backends/common/x86-tsc-rate.h use. */

#include <stddef.h>

#define CTL_HW 6
#define HW_CPUSPEED 12

int sysctl(const int *name, unsigned int names, void *old, size_t *old_length, void *now,
  size_t now_length);
int sysctlbyname(const char *name, void *old, size_t *old_length, void *now, size_t now_length);
