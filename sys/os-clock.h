/* SPDX-License-Identifier: 0BSD OR MIT */
/* OS clocks behind one call each. */

#ifndef CPUCYCLES_OSCLOCK_H
#define CPUCYCLES_OSCLOCK_H

#pragma GCC visibility push(hidden)

/* Nanoseconds since some start; set clocks do not move it. Where a system has no such clock: the
   wall clock's. 0 if the system refuses. */
long long cpucycles_osclock_monotonic(void);

/* The same clock, some ms behind where that is cheaper to read; never ahead. */
long long cpucycles_osclock_coarse(void);

/* Is it the wall clock's, and can be set? */
int cpucycles_osclock_is_settable(void);

/* The same, and nothing adjusts its rate, where the system has such a clock. */
long long cpucycles_osclock_raw(void);

/* Microseconds since 1970 by the wall clock. 0 if the system refuses. */
long long cpucycles_osclock_wall(void);

/* Reads each clock once, for the library's trial to see whether that raises a signal. */
void cpucycles_osclock_try(void *unused);

/* Reads the clocks by plain system calls from now on; called again: not at all, they return 0. The
   C library's way reads a counter in user space (vDSO), which raises SIGSEGV under
   prctl(PR_SET_TSC); a filter can answer the system call with SIGSYS. */
void cpucycles_osclock_fall_back(void);

#pragma GCC visibility pop

#endif
