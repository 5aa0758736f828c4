/* SPDX-License-Identifier: 0BSD OR MIT */
/* The reason codes of cpucycles-internals(7), their sentences, and remedies. */

#ifndef CPUCYCLES_REASONS_H
#define CPUCYCLES_REASONS_H

#include "backends/backend.h"
#include "include/cpucycles.h"

#pragma GCC visibility push(hidden)

/* Marks a counter as dropped, because of a reason code, an errno of open(), or the signal of a
   fault. The code follows from the errno or the signal, and the sentence from the code, unless the
   diagnosis of the backend contains a code or a sentence. */
void cpuc_reasons_drop(struct cpucycles_counter_info *, const char *reason);
void cpuc_reasons_drop_errno(struct cpucycles_counter_info *, int error,
  const struct cpuc_diagnosis *);
void cpuc_reasons_drop_signal(struct cpucycles_counter_info *, int signal);

/* Marks a usable counter of core cycles that counts something else. */
void cpuc_reasons_note_unproven(struct cpucycles_counter_info *);

/* Asks the backend of a dropped counter for an explanation and a remedy. */
void cpuc_reasons_explain(struct cpucycles_counter_info *, const struct cpuc_backend *);

/* Stores a code of cpucycles-internals(7) as the reason of the selected counter, because at least
   one thread does not read this counter directly. Keeps the old reason if it is worse.
   Async-signal-safe. */
void cpuc_reasons_note_selected(struct cpucycles_counter_info *, const char *code);

#pragma GCC visibility pop

#endif
