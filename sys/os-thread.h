/* SPDX-License-Identifier: 0BSD OR MIT */
/* Threads of the operating system: identity, a short sleep, cancellation, a thread's signal mask,
   and a handler in forked children. os-thread.c is for POSIX, os-thread-windows.c for Windows. */

#ifndef CPUCYCLES_OS_THREAD_H
#define CPUCYCLES_OS_THREAD_H

#include <stdint.h>

#ifdef CPUCYCLES_POSIX

#include <signal.h>

/* A thread's signal mask and cancelability before cpuc_os_thread_block_signals(), to be restored.
   */
struct cpuc_os_thread_signals {
  sigset_t mask;
  int cancel_state;
};

enum { CPUC_FAULTS = 5 };

/* The signals that reading a counter can raise if it is not allowed. */
extern const int cpuc_os_thread_faults[CPUC_FAULTS] __attribute__((visibility("hidden")));

#else

struct cpuc_os_thread_signals {
  int unused; /* there are neither signals nor cancellation */
};

#endif

#pragma GCC visibility push(hidden)

/* A number that identifies the calling thread among all that run. */
uintptr_t cpuc_os_thread_id(void);

/* Sleeps for a shorter time than a selection takes, or as briefly as the system can. A thread of
   lower priority can run in that time, which a yield would not allow. */
void cpuc_os_thread_sleep_briefly(void);

/* Block all signals and cancellation of the calling thread, and restore its mask and cancelability.
   */
void cpuc_os_thread_block_signals(struct cpuc_os_thread_signals *saved);
void cpuc_os_thread_restore_signals(const struct cpuc_os_thread_signals *saved);

/* Between these two calls: unblock the signals of faults, and block them again. A blocked fault
   ends the process. The third unblocks only those that the program had not blocked itself. */
void cpuc_os_thread_unblock_faults(void);
void cpuc_os_thread_block_faults(void);
void cpuc_os_thread_unblock_faults_of_program(const struct cpuc_os_thread_signals *saved);

/* From now on, calls child() in each child of fork(2), in the thread that forked. */
void cpuc_os_thread_on_fork(void (*child)(void));

#pragma GCC visibility pop

#endif
