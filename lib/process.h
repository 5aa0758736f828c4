/* SPDX-License-Identifier: 0BSD OR MIT */
/* The selection of the process: made once, by the first thread that needs it. */

#ifndef CPUCYCLES_PROCESS_H
#define CPUCYCLES_PROCESS_H

#include "lib/select.h"

#pragma GCC visibility push(hidden)

/* Returns the selection. The first call makes it, in any thread, and other threads wait; the
   selection is constant from then on. Returns NULL in a signal handler or allocator that runs
   inside this thread's own selection. Preserves errno. */
struct cpucycles_selection *cpucycles_selected(void);

/* True once the selection has been made. */
int cpucycles_is_selected(void);

#pragma GCC visibility pop

#endif
