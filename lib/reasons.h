/* SPDX-License-Identifier: 0BSD OR MIT */
/* The reasons of counters for the interface: codes, sentences and remedies. */

#ifndef CPUCYCLES_REASONS_H
#define CPUCYCLES_REASONS_H

#include "backends/backend.h"
#include "include/cpucycles.h"

#pragma GCC visibility push(hidden)

/* Marks a counter as dropped, because of a reason, or because of an errno of open(). The reason
   follows from the errno, and the sentence from the reason, unless the diagnosis of the backend
   contains a reason or a sentence. */
void cpuc_reasons_drop(struct cpucycles_counter_info *, enum cpuc_reason);
void cpuc_reasons_drop_errno(struct cpucycles_counter_info *, int error,
  const struct cpuc_diagnosis *);

/* Stores the code and the sentence of a reason. */
void cpuc_reasons_set(struct cpucycles_counter_info *, enum cpuc_reason);

/* Asks the backend of a dropped counter for an explanation and a remedy. */
void cpuc_reasons_explain(struct cpucycles_counter_info *, const struct cpuc_backend *,
  struct cpuc_machine *);

/* Stores CPUC_REASON_BY_READ or CPUC_REASON_BY_FALLBACK as the reason of the selected counter,
   because at least one thread does not read this counter directly. Keeps the old reason if it is
   worse. Async-signal-safe. */
void cpuc_reasons_note_selected(struct cpucycles_counter_info *, enum cpuc_reason);

#pragma GCC visibility pop

#endif
