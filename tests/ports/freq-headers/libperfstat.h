/* SPDX-License-Identifier: 0BSD OR MIT */
/* The declarations of AIX's header of this name that lib/frequency-aix.c uses, for
   check_reported_rates.c. */

#include <stddef.h>

typedef struct {
  char name[64];
} perfstat_id_t;

typedef struct {
  int ncpus;
  unsigned long long processorHZ;
} perfstat_cpu_total_t;

int perfstat_cpu_total(perfstat_id_t *name, perfstat_cpu_total_t *total, size_t size, int wanted);
