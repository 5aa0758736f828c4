/* SPDX-License-Identifier: 0BSD OR MIT */
/* The selection: made once a process, by the first thread that needs it. */

#ifndef CPUCYCLES_PROCESS_H
#define CPUCYCLES_PROCESS_H

#include "lib/select.h"

#pragma GCC visibility push(hidden)

/* The selection: made by the first call, by whatever thread, and constant from then on. 0 if
   called from a signal handler or allocator that interrupted this thread's own selection. Leaves
   errno alone. */
struct cpucycles_selection *cpucycles_selected(void);

/* Has it been made? */
int cpucycles_is_selected(void);

#pragma GCC visibility pop

#endif
