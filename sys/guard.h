/* SPDX-License-Identifier: 0BSD OR MIT */
/* The fault guard: runs code, and turns a fault of that code into a returned signal number. Faults
   are caught with signal handlers (guard.c, POSIX) or an exception handler (guard-windows.c). */

#ifndef CPUCYCLES_GUARD_H
#define CPUCYCLES_GUARD_H

#pragma GCC visibility push(hidden)

/* Call between cpuc_os_thread_block_signals() and cpuc_os_thread_restore_signals(), in one thread
   at a time. enter replaces the program's handlers for faults, and unblocks these signals. leave
   puts the program's handlers back, blocks the signals again, and makes those pending that were
   sent to this thread since enter. leave returns 0 if the handler that keep asked for could not
   stay. */
void cpuc_guard_enter(void);
int cpuc_guard_leave(void);

/* Call between enter and leave, at most once. Leaves the handler for this signal installed after
   leave. It passes faults of any thread to fix_up() first, with the handler's third argument, and
   everything else to the program. It does not stay if the program ignores the signal, or has
   installed another handler since enter. */
void cpuc_guard_keep(int (*fix_up)(void *context), int signal);

/* Call between enter and leave. Calls body(argument). Returns 0, or the signal that ended body
   early (on Windows: the signal that stands for the exception). The caller then releases everything
   that body had acquired. Does not nest. */
int cpuc_guard_run(void (*body)(void *), void *argument);

/* Call in a forked child if another thread of the parent was between enter and leave. The child can
   then enter. */
void cpuc_guard_forked(void);

#pragma GCC visibility pop

#endif
