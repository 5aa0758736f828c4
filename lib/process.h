/* SPDX-License-Identifier: 0BSD OR MIT */
/* Results that the process computes once, in the first thread that needs them: the selection, and
   results that are computed on demand. One lock protects all of them. */

#ifndef CPUCYCLES_PROCESS_H
#define CPUCYCLES_PROCESS_H

#include "lib/select.h"

#pragma GCC visibility push(hidden)

/* Returns the selection. The first call makes it, in any thread, and other threads wait. From then
   on, only its timer properties and the reasons and remedies of its candidates change. Returns NULL
   in a signal handler or allocator that runs inside a selection of this thread. Preserves errno. */
struct cpuc_selection *cpuc_process_select_once(void);

/* Returns 1 once the selection has been made. */
int cpuc_process_has_selected(void);

/* Call after the selection. If *is_found is 0, calls find() and sets *is_found to 1. Until find()
   has returned, other threads wait, and signals except faults are deferred. Returns 1, or 0 if the
   caller is a signal handler or allocator that runs inside find() in this thread. Preserves
   errno. */
int cpuc_process_find_once(int *is_found, void (*find)(struct cpuc_selection *selection));

/* Functions that the process offers to its counters. */
extern const struct cpuc_services cpuc_process_services;

#pragma GCC visibility pop

#endif
