/* SPDX-License-Identifier: 0BSD OR MIT */
/* System calls that a seccomp filter answers with SIGSYS. For programs such as cpucycles-info: the
   library does not change the program's handlers after the selection. */

#ifndef CPUCYCLES_TRAPPED_CALL_H
#define CPUCYCLES_TRAPPED_CALL_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Installs a handler for SIGSYS, which lets trapped calls of this process and of its later children
   fail with ENOSYS. Does nothing on systems other than Linux, and on CPUs for which trapped-call.c
   does not know the register of the result. */
void cpuc_trapped_call_fail(void);

/* Copies the names of the calls that were trapped so far, such as "perf_event_open, getdents64". If
   there are none, the text is empty. */
void cpuc_trapped_call_list(char *text, size_t size);

#pragma GCC visibility pop

#endif
