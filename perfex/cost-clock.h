/* SPDX-License-Identifier: 0BSD OR MIT */
/* The clock with which costs are measured and calls are timed, and the core frequency. A test
   defines these functions itself, so that the linker leaves cost-clock.c out. */

#ifndef PERFEX_COST_CLOCK_H
#define PERFEX_COST_CLOCK_H

/* Nanoseconds since an arbitrary start. 0 if the system refuses. */
long long pfx_cost_clock_elapsed(void);

/* The core frequency in Hz. 0 if it cannot be measured. */
long long pfx_cost_clock_core_frequency(void);

#endif
