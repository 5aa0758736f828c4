/* SPDX-License-Identifier: 0BSD OR MIT */
/* OS clocks, one function each. */

#ifndef CPUCYCLES_OS_CLOCK_H
#define CPUCYCLES_OS_CLOCK_H

#pragma GCC visibility push(hidden)

/* Returns nanoseconds since an arbitrary start, or 0 if the system refuses. Setting the time does
   not change this clock. */
long long cpuc_os_clock_monotonic(void);

/* Returns nanoseconds of the monotonic clock, read with less cost if the system offers that. The
   result can be up to a tick of the kernel (10 ms at 100 Hz) behind the clock, but is never
   ahead. */
long long cpuc_os_clock_coarse(void);

/* Returns nanoseconds of a monotonic clock whose rate is not adjusted. If the system has no such
   clock, returns cpuc_os_clock_monotonic(). */
long long cpuc_os_clock_raw(void);

/* The system's name of the clock that cpuc_os_clock_raw() reads. */
extern const char cpuc_os_clock_raw_name[];

/* Returns microseconds of the wall clock since 1970, or 0 if the system refuses. */
long long cpuc_os_clock_wall_microseconds(void);

/* Returns nanoseconds of the POSIX clock with this clockid_t, such as CLOCK_MONOTONIC, or 0 if the
   system refuses. Not on Windows. */
long long cpuc_os_clock_read(int clock);

/* Reads all clocks once, except the coarse clock, which faults only if the monotonic clock faults.
   Each read may cause a fault, so this function is a body for cpuc_guard_run(). */
void cpuc_os_clock_try(void *unused);

/* The first call makes all functions above read the clocks with system calls. The second call (on
   POSIX systems other than Linux, the first) makes them return 0. System calls are needed because
   the C library reads a counter in user space (vDSO), which raises SIGSEGV under prctl(PR_SET_TSC).
   The result 0 is needed because a filter can answer the system call with SIGSYS. */
void cpuc_os_clock_fall_back(void);

/* For callers without a guard, which cannot catch a fault: falls back if prctl(PR_SET_TSC) has
   forbidden this thread the counter that the C library reads. */
void cpuc_os_clock_fall_back_if_forbidden(void);

#pragma GCC visibility pop

#endif
