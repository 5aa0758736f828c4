/* SPDX-License-Identifier: 0BSD OR MIT */
/* The generation number of a thread's counters, which every public function but perfex_event()
   returns. */

#ifndef PERFEX_COUNT_H
#define PERFEX_COUNT_H

/* Returns the calling thread's number, from 1 to 2147483647. */
int pfx_count_generation(void);

#endif
