/* SPDX-License-Identifier: 0BSD OR MIT */
/* Of Solaris' header of this name, what lib/frequency-system.c uses. */

typedef int processorid_t;

typedef struct {
  int pi_state;
  char pi_processor_type[16];
  char pi_fputypes[32];
  int pi_clock; /* MHz */
} processor_info_t;

int processor_info(processorid_t id, processor_info_t *info);
