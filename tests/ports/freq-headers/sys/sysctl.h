/* SPDX-License-Identifier: 0BSD OR MIT */
/* The declarations of the BSDs' headers of this name that lib/frequency-sysctl.c and
   backends/tsc/rate.c use, for check_reported_rates.c. */

#include <stddef.h>

#define CTL_HW 6
#define HW_CPUSPEED 12

int sysctl(const int *name, unsigned int names, void *old, size_t *old_length, void *now,
  size_t now_length);
int sysctlbyname(const char *name, void *old, size_t *old_length, void *now, size_t now_length);
