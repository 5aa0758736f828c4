/* SPDX-License-Identifier: 0BSD OR MIT */
/* One counter in the selection: its trial and the results. */

#ifndef CPUCYCLES_CANDIDATE_H
#define CPUCYCLES_CANDIDATE_H

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/reader.h"
#include "lib/scale.h"
#include "lib/table.h"

#pragma GCC visibility push(hidden)

/* State that all candidates of a selection share. It lives as long as the selection. */
struct cpuc_candidate_context {
  const struct cpuc_services *services; /* for the counters */
  struct cpuc_machine machine;          /* what they have found */
  long long persecond; /* the estimate of the CPU's frequency, in Hz */
  long long (*now)(void); /* the clock that scaled counters are measured against, in nanoseconds */
};

struct cpuc_candidate {
  const struct cpuc_backend *backend;
  struct cpucycles_counter_info info; /* the public results: state, score, scaling, reason */
  struct cpuc_candidate_context *context;
  struct cpuc_reader reader;
  long long units, cycles; /* a count of `units` is converted to `cycles`; 0: not known yet */
  int cannot_win;          /* the candidate loses with any score, so a few reads suffice */
  int is_unproven;      /* a counter of core cycles that counts something else */
  char explanation[96]; /* of an unproven counter */
};

/* Initializes the candidate and the public description of its counter. */
void cpuc_candidate_begin(struct cpuc_candidate *candidate, const struct cpuc_table_entry *entry,
  struct cpuc_candidate_context *context);

/* Returns what follows from the kind of the counter, and from its proof. */
static inline const struct cpuc_kind_facts *cpuc_candidate_kind(
  const struct cpuc_candidate *candidate)
{
  return &cpuc_kind_facts[candidate->is_unproven ? CPUC_KIND_UNPROVEN : candidate->backend->kind];
}

/* Runs the trial: opens, scales, extends, scores and proves the counter, then closes it. Afterwards
   the counter is usable and info->score is its score, or it is dropped and info->reason is set.
   With cannot_win, 51 reads suffice if the count increases in them, because the counter loses with
   any score. Call between cpuc_guard_enter() and cpuc_guard_leave(). */
void cpuc_candidate_try(struct cpuc_candidate *candidate, int cannot_win);

/* Scales a usable clock again, because the estimate of the frequency has changed, and adapts its
   score. Call between cpuc_guard_enter() and cpuc_guard_leave(). */
void cpuc_candidate_rescale(struct cpuc_candidate *candidate);

/* Opens the counter again after its trial, with the scale that the trial has found, if any, and
   reads the counter. If each core has its own count, the count must still advance. Returns 1 if
   candidate->reader can now be used; otherwise drops the counter and returns 0. Call between
   cpuc_guard_enter() and cpuc_guard_leave(). */
int cpuc_candidate_reopen(struct cpuc_candidate *candidate);

/* Closes a counter that was opened again. */
void cpuc_candidate_close(struct cpuc_candidate *candidate);

/* Asks the backend why the counter was dropped. */
void cpuc_candidate_explain(struct cpuc_candidate *candidate);

#pragma GCC visibility pop

#endif
