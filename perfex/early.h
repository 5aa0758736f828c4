/* SPDX-License-Identifier: 0BSD OR MIT */
/* What libperfex prepares when it is loaded: a handler in forked children, and what runs at the end
   of a thread. */

#ifndef PERFEX_EARLY_H
#define PERFEX_EARLY_H

#include "sys/lock.h"
#include "sys/thread-local.h"

#pragma GCC visibility push(hidden)

/* The number of forks before this process. */
extern unsigned long pfx_early_forks;

/* The number of this thread, not reused before 2^32 threads; 0: it has opened no group in this
   process. */
extern CPUC_THREAD_LOCAL unsigned long pfx_early_thread;

/* The lock of cost-table.c. A forked child releases that of a thread which it does not have. */
extern struct cpuc_lock pfx_early_cost_lock;

/* Memory of this thread from malloc(3), which is freed when the thread exits. Storing returns 0, or
   an errno if no key or memory is left. */
void *pfx_early_memory(void);
int pfx_early_store_memory(void *memory);

/* Calls at_exit() when this thread exits. All calls have the same argument. Returns 0 or an errno.
   Allocates nothing. */
int pfx_early_run_at_exit(void (*at_exit)(void));

#pragma GCC visibility pop

#endif
