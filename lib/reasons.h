/* SPDX-License-Identifier: 0BSD OR MIT */
/* What was tried, and why it was dropped. */

#ifndef CPUCYCLES_REASONS_H
#define CPUCYCLES_REASONS_H

#include "backends/backend.h"
#include "lib/table.h"

#pragma GCC visibility push(hidden)

/* Fills in what is known of a counter before it is tried. */
void cpucycles_counter_describe(struct cpucycles_counter_info *, const struct cpucycles_entry *);

/* Marks it dropped. The code decides the sentence; for errno values, the errno decides the code,
   unless the backend gave one. For both, the backend's remedy stands. */
void cpucycles_counter_drop(struct cpucycles_counter_info *, const char *reason);
void cpucycles_counter_drop_errno(struct cpucycles_counter_info *, int error,
  const struct cpucycles_why *);
void cpucycles_counter_drop_signal(struct cpucycles_counter_info *, int signal,
  const struct cpucycles_why *);

/* Fills in what the counter's backend can say of why it was dropped; and once a process, of all.
   Unguarded, with no lock and no mask: the program's handlers may answer what a filter traps, and
   may leave by a jump. Several threads may be here at once; all find the same. */
void cpucycles_counter_explain(struct cpucycles_counter_info *, const struct cpucycles_backend *);
void cpucycles_counters_explain(struct cpucycles_counter_info *infos,
  const struct cpucycles_entry *table, int count);

/* Says of the selected counter what has become of it in some thread. Async-signal-safe. */
void cpucycles_counter_note(struct cpucycles_counter_info *, const char *code);

#pragma GCC visibility pop

#endif
