/* SPDX-License-Identifier: 0BSD OR MIT */
/* OS clocks, one function each. */

#ifndef CPUCYCLES_OS_CLOCK_H
#define CPUCYCLES_OS_CLOCK_H

#pragma GCC visibility push(hidden)

/* Nanoseconds since an arbitrary start. Setting the time does not move it, except on systems that
   have no clock but the wall clock. 0 if the system refuses. */
long long cpuc_os_clock_monotonic(void);

/* The same clock in nanoseconds, in a cheaper, coarse form if the system has one: up to some ms
   behind, never ahead. */
long long cpuc_os_clock_coarse(void);

/* True if the monotonic clock is the wall clock, which can be set. */
int cpuc_os_clock_is_settable(void);

/* Nanoseconds by a monotonic clock of unadjusted rate, if the system has one; else the same as
   cpuc_os_clock_monotonic(). */
long long cpuc_os_clock_raw(void);

/* Microseconds since 1970 by the wall clock. 0 if the system refuses. */
long long cpuc_os_clock_wall(void);

/* Reads each clock once, which may raise a signal. For cpuc_guard_run(). */
void cpuc_os_clock_read_all(void *unused);

/* Makes the functions read the clocks by system calls from now on; the second call (on POSIX
   systems other than Linux, the first) makes them return 0. The C library reads a counter in user
   space (vDSO), which raises SIGSEGV under prctl(PR_SET_TSC). A filter can answer the system call
   with SIGSYS. */
void cpuc_os_clock_fall_back(void);

#pragma GCC visibility pop

#endif
