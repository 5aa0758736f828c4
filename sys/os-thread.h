/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the library asks of the operating system: who is calling, a pause, and what a calm keeps.
   By thread.c where there is POSIX, by thread-windows.c on Windows. */

#ifndef CPUCYCLES_THREAD_H
#define CPUCYCLES_THREAD_H

#include <stdint.h>

#ifdef CPUCYCLES_POSIX

#include <signal.h>

struct cpucycles_calm {
  sigset_t mask; /* the thread's own, put back at the end */
  int cancel_state;
};

#else

struct cpucycles_calm {
  int nothing; /* neither signals nor cancellation */
};

#endif

#pragma GCC visibility push(hidden)

/* The calling thread: another number than that of any other thread that runs. */
uintptr_t cpucycles_thread_self(void);

/* The calling process: the same for all its threads, another for a child, and positive. */
int cpucycles_process_self(void);

/* The calling thread is not cancelled between these. hold returns what release needs. */
int cpucycles_hold_cancellation(void);
void cpucycles_release_cancellation(int state);

/* Sleeps, for less than what is waited for takes, or as short as the system can. A thread of lower
   priority gets on meanwhile, which yielding would not let it. */
void cpucycles_wait_a_little(void);

#pragma GCC visibility pop

#endif
