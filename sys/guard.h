/* SPDX-License-Identifier: 0BSD OR MIT */
/* The fault guard: runs code, and turns a fault of that code into a returned signal number. guard.c
   uses signal handlers (POSIX), and guard-windows.c an exception handler. */

#ifndef CPUCYCLES_GUARD_H
#define CPUCYCLES_GUARD_H

#pragma GCC visibility push(hidden)

/* Call these two between cpuc_os_thread_block_interruptions() and
   cpuc_os_thread_restore_interruptions(), in one thread at a time. enter replaces the program's
   handlers for faults, and unblocks these signals. leave restores the program's handlers, blocks
   the signals, and sends those again that were sent to this thread since enter. leave returns 0 if
   cpuc_guard_keep_handler() was called but its handler cannot stay. */
void cpuc_guard_enter(void);
int cpuc_guard_leave(void);

/* Call between enter and leave, at most once. The handler for this signal then stays installed
   after leave. It passes faults of any thread first to fix_up(), with the third argument of the
   handler, and passes on to the program what fix_up() does not repair. It does not stay if the
   program ignores the signal, or has installed another handler since enter. */
void cpuc_guard_keep_handler(int (*fix_up)(void *context), int signal);

/* Calls body(argument). Call between enter and leave, and not in the body of another call. Returns
   0, or the signal of the fault that ended the body early. What the body had acquired is then not
   released. On Windows, the signal is SIGILL, SIGFPE or, for any access to memory, SIGSEGV; it is
   SIGSEGV, and the body is not called, if enter could not install its handler. */
int cpuc_guard_run(void (*body)(void *), void *argument);

/* Call in a forked child if another thread of the parent may have been between enter and leave. The
   child may then call enter. */
void cpuc_guard_forked(void);

#pragma GCC visibility pop

#endif
