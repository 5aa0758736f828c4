/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs code with the faults of the calling thread caught: by signal handlers in trial.c where there
   is POSIX, by an exception handler in trial-windows.c. */

#ifndef CPUCYCLES_TRIAL_H
#define CPUCYCLES_TRIAL_H

#include "sys/os-thread.h"

#pragma GCC visibility push(hidden)

/* Between begin and end, the calling thread is not cancelled, and signals wait. */
void cpucycles_calm_begin(struct cpucycles_calm *calm);
void cpucycles_calm_end(const struct cpucycles_calm *calm);

/* Within a calm: puts handlers for faults in place of the program's, and puts those back; then
   sends signals again that somebody sent to this thread meanwhile. They are delivered when the
   calm ends. Once a process, in one thread. */
void cpucycles_trial_begin(const struct cpucycles_calm *calm);
void cpucycles_trial_end(void);

/* After the calm: calls the program's handlers for signals that somebody sent to this thread
   meanwhile and that the system did not let trial_end() send again. */
void cpucycles_trial_replay(void);

/* Between them: when the trial ends, handlers are left for these signals, up to a 0. They pass
   faults to rescue() first, in whatever thread, and all else to the program. */
void cpucycles_trial_keep(int (*rescue)(int signal, const void *info, void *context),
  const int *signals);

/* Between them: calls body(argument). Returns 0, or the signal that cut it short (where faults are
   none: what would be the signal). What body had acquired by then is the caller's to let go. Does
   not nest. */
int cpucycles_trial(void (*body)(void *), void *argument);

#pragma GCC visibility pop

#endif
