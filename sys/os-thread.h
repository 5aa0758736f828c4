/* SPDX-License-Identifier: 0BSD OR MIT */
/* Threads of the operating system: ID, a short sleep, cancellation, signal mask, and a handler in
   forked children. os-thread.c is for POSIX, os-thread-windows.c for Windows. */

#ifndef CPUCYCLES_OS_THREAD_H
#define CPUCYCLES_OS_THREAD_H

#include <stdint.h>

#ifdef CPUCYCLES_POSIX

#include <signal.h>

/* Signal mask and cancelability of a thread, to be restored. */
struct cpuc_os_thread_saved {
  sigset_t mask;
  int cancel_state;
};

enum { CPUC_OS_THREAD_FAULT_SIGNALS = 5 };

/* The signals of faults. Most of them can result from reading a counter without permission. */
extern const int cpuc_os_thread_fault_signals[CPUC_OS_THREAD_FAULT_SIGNALS]
  __attribute__((visibility("hidden")));

#else

struct cpuc_os_thread_saved {
  int unused; /* Windows has no signals and no cancellation */
};

#endif

#pragma GCC visibility push(hidden)

/* Returns a nonzero number that differs from that of every other running thread. */
uintptr_t cpuc_os_thread_id(void);

/* Sleeps for a shorter time than a selection takes, or as briefly as the system can. Unlike a
   yield, a sleep lets threads of lower priority run. Call with cancellation disabled, because a
   sleep is a cancellation point. */
void cpuc_os_thread_sleep_briefly(void);

/* Block all signals and cancellation of the calling thread, and restore both. */
void cpuc_os_thread_block_signals_and_cancellation(struct cpuc_os_thread_saved *saved);
void cpuc_os_thread_restore_signals_and_cancellation(const struct cpuc_os_thread_saved *saved);

/* Unblocks those signals of faults that were unblocked according to *saved. Call between
   the two functions above. */
void cpuc_os_thread_unblock_fault_signals_as_saved(const struct cpuc_os_thread_saved *saved);

/* Makes each later child of fork(2) call child(), in its only thread. */
void cpuc_os_thread_on_fork(void (*child)(void));

#pragma GCC visibility pop

#endif
