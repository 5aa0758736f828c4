/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the process finds once, in the first thread that needs it: the selection, and the results
   that are found on demand. One lock protects all of them. */

#ifndef CPUCYCLES_PROCESS_H
#define CPUCYCLES_PROCESS_H

#include "lib/select.h"

#pragma GCC visibility push(hidden)

/* Returns the selection. The first call makes it, in any thread, and other threads wait; the
   selection is constant from then on. Returns NULL in a signal handler or allocator that runs
   inside this thread's own selection. Preserves errno. */
struct cpuc_selection *cpuc_process_selection(void);

/* True once the selection has been made. */
int cpuc_process_has_selected(void);

/* Call after the selection. If *is_found is 0, calls find(), and sets *is_found to 1. Other threads
   wait, and signals wait, except those of faults. Returns 1; or 0 if nothing is found yet, because
   the caller is a signal handler or allocator that runs inside this thread's own find(). Preserves
   errno. */
int cpuc_process_find_once(int *is_found, void (*find)(struct cpuc_selection *selection));

/* What the process does for its counters. */
extern const struct cpuc_services cpuc_process_services;

#pragma GCC visibility pop

#endif
