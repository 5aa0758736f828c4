/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs code with the faults of the calling thread caught: by signal handlers (trial.c, POSIX) or an
   exception handler (trial-windows.c). */

#ifndef CPUCYCLES_TRIAL_H
#define CPUCYCLES_TRIAL_H

#include "sys/os-thread.h"

#pragma GCC visibility push(hidden)

/* Blocks all signals and cancellation of the calling thread, and restores its mask and
   cancelability. */
void cpucycles_block_signals(struct cpucycles_signal_state *saved);
void cpucycles_restore_signals(const struct cpucycles_signal_state *saved);

/* Call between block_signals and restore_signals, once a process, in one thread. begin replaces the
   program's handlers for faults. end puts these handlers back, and again sends the signals that
   were sent to this thread meanwhile; restore_signals delivers these signals. */
void cpucycles_trial_begin(const struct cpucycles_signal_state *saved);
void cpucycles_trial_end(void);

/* After restore_signals: calls the program's handlers for signals that trial_end() was not allowed
   to send again. */
void cpucycles_trial_replay(void);

/* Call between begin and end. Leaves handlers for these signals, a list that ends in 0, installed
   after the end. They pass faults of any thread to rescue() first, and everything else to the
   program. */
void cpucycles_trial_keep_handlers(int (*rescue)(int signal, const void *info, void *context),
  const int *signals);

/* Call between begin and end. Calls body(argument). Returns 0, or the signal that ended body early
   (on Windows: the signal that stands for the exception). The caller then releases everything that
   body had acquired. Does not nest. */
int cpucycles_trial(void (*body)(void *), void *argument);

#pragma GCC visibility pop

#endif
