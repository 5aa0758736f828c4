/* SPDX-License-Identifier: 0BSD OR MIT */
/* Results that the process computes once, in the first thread that needs them: the selection, and
   results that are computed on demand. One lock protects all of them. */

#ifndef CPUCYCLES_PROCESS_H
#define CPUCYCLES_PROCESS_H

#include "lib/select.h"

#pragma GCC visibility push(hidden)

/* A result that the process finds once. */
struct cpuc_process_result {
  void (*find)(struct cpuc_selection *selection);
  int is_guarded; /* 1 if find() runs under the fault guard */
  int is_found;
};

/* Calls find() unless the result has been found. Until find() has returned, other threads wait, and
   signals except faults are deferred. Returns 1, or 0 if the caller is a signal handler or
   allocator that runs inside find() of any result in this thread. Preserves errno. Except for the
   selection, call after the selection. */
int cpuc_process_once(struct cpuc_process_result *result);

/* Returns the selection, which is found once. From then on, only its timer properties and the
   reasons and remedies of its candidates change. Returns NULL where cpuc_process_once() returns
   0. */
struct cpuc_selection *cpuc_process_select_once(void);

/* Returns 1 once the selection has been made. */
int cpuc_process_has_selected(void);

#pragma GCC visibility pop

#endif
