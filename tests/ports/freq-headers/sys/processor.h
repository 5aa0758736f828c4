/* SPDX-License-Identifier: 0BSD OR MIT */
/* The declarations of Solaris' header of this name that lib/frequency-solaris.c uses, for
   check_reported_rates.c. */

typedef int processorid_t;

typedef struct {
  int pi_state;
  char pi_processor_type[16];
  char pi_fputypes[32];
  int pi_clock; /* MHz */
} processor_info_t;

int processor_info(processorid_t id, processor_info_t *info);
