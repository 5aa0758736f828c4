/* SPDX-License-Identifier: 0BSD OR MIT */
/* System calls that a seccomp filter answers with SIGSYS. For cpucycles-info and libperfex. The
   selection of libcpucycles has its own guard, and its other code changes no handler. */

#ifndef CPUCYCLES_TRAPPED_CALL_H
#define CPUCYCLES_TRAPPED_CALL_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Installs a handler for SIGSYS, which lets trapped calls of this process and of its later children
   fail with ENOSYS. Does nothing on systems other than Linux, and on CPUs for which trapped-call.c
   does not know the register of the result. */
void cpuc_trapped_call_fail(void);

/* Between these two calls, trapped calls of this thread fail with ENOSYS, and SIGSYS of other
   threads reaches the handler of the program, which is in place again afterwards. Other threads
   that call begin wait. The third function is for a forked child, whose parent may have had such a
   thread. */
void cpuc_trapped_call_begin(void);
void cpuc_trapped_call_end(void);
void cpuc_trapped_call_forked(void);

/* Copies the names of the calls that were trapped so far, such as "perf_event_open, getdents64". If
   there are none, the text is empty. */
void cpuc_trapped_call_list(char *text, size_t size);

#pragma GCC visibility pop

#endif
