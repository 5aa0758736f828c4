/* SPDX-License-Identifier: 0BSD OR MIT */
/* Threads and processes of the operating system: identity, a short sleep, cancellation, and a
   thread's signal mask. os-thread.c is for POSIX, os-thread-windows.c for Windows. */

#ifndef CPUCYCLES_OS_THREAD_H
#define CPUCYCLES_OS_THREAD_H

#include <stdint.h>

#ifdef CPUCYCLES_POSIX

#include <signal.h>

/* A thread's signal mask and cancelability before cpucycles_block_signals(), to be restored. */
struct cpucycles_signal_state {
  sigset_t mask;
  int cancel_state;
};

#else

struct cpucycles_signal_state {
  int unused; /* there are neither signals nor cancellation */
};

#endif

#pragma GCC visibility push(hidden)

/* A number that identifies the calling thread among all that run. */
uintptr_t cpucycles_thread_self(void);

/* A positive number of the calling process: the same in all its threads, another in a child. */
int cpucycles_process_self(void);

/* The calling thread is not cancelled between these two calls. The first returns the state to
   restore. */
int cpucycles_disable_cancellation(void);
void cpucycles_restore_cancellation(int state);

/* Sleeps for a shorter time than a selection takes, or as briefly as the system can. A thread of
   lower priority can run meanwhile, which a yield would not allow. */
void cpucycles_sleep_briefly(void);

#pragma GCC visibility pop

#endif
