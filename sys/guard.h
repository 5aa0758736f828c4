/* SPDX-License-Identifier: 0BSD OR MIT */
/* The fault guard: runs code, and turns a fault of that code into a returned signal number. guard.c
   uses signal handlers (POSIX), and guard-windows.c an exception handler. */

#ifndef CPUCYCLES_GUARD_H
#define CPUCYCLES_GUARD_H

#ifdef CPUCYCLES_POSIX
#include <signal.h>
#endif

#pragma GCC visibility push(hidden)

/* Call these two functions while all signals and cancellation are blocked (os-thread.h), in one
   thread at a time. enter replaces the program's handlers for faults, and unblocks the signals of
   faults. leave restores the program's handlers, blocks the signals of faults, and sends again
   those that were sent to this thread since enter. */
void cpuc_guard_enter(void);
void cpuc_guard_leave(void);

/* Calls body(argument). Returns 0, or the signal of the fault that ended the body early. After a
   fault, what the body had acquired is not released. A body can call this function for a part of
   itself that may be refused. Then a fault ends only the part on POSIX, but the whole body on
   Windows, where no system call raises a signal. In a thread that is not between enter and leave,
   only calls the body, and catches nothing. On Windows, the signal is SIGILL, SIGFPE or, for any
   access to memory, SIGSEGV. If enter could not install its handler on Windows, returns SIGSEGV
   without calling the body. */
int cpuc_guard_run(void (*body)(void *), void *argument);

/* Call in a forked child if another thread of the parent may have been between enter and leave.
   Gives the child the program's handlers. The child may then call enter. */
void cpuc_guard_forked(void);

#ifdef CPUCYCLES_POSIX
/* For handlers that replace a disposition of the program: applies it, as the system would. */
void cpuc_guard_pass_on(const struct sigaction *program, siginfo_t *info, void *context);
#endif

#pragma GCC visibility pop

#endif
