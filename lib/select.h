/* SPDX-License-Identifier: 0BSD OR MIT */
/* The selection: tries the counters and selects the best. */

#ifndef CPUCYCLES_SELECT_H
#define CPUCYCLES_SELECT_H

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/candidate.h"
#include "lib/frequency.h"
#include "lib/reader.h"
#include "lib/table.h"

#pragma GCC visibility push(hidden)

struct cpuc_selection {
  struct cpuc_frequency frequency;
  struct cpuc_candidate *candidates; /* one per entry of the table */
  int count;
  struct cpuc_candidate_context context;
  struct cpuc_candidate *selected; /* one of the candidates */
  /* a sentence on the names in CPUCYCLES_IMPLEMENTATION that could not be used, or empty */
  char unusable_text[320];
  /* Properties of the selected counter, which timer.c stores on demand. */
  struct cpuc_rate reported;
  struct cpucycles_timer_info timer;
  long long rate;              /* counts per second; 0: unknown */
  struct cpuc_reader fallback; /* for threads that cannot use the selected counter */
};

/* What the library offers to its counters. Until a selection is complete, the fallback counter is
   0, and no reason is recorded. */
extern const struct cpuc_services cpuc_select_services;

/* Tries the `count` entries of the table, one of which has CPUC_KIND_NONE, and opens the best
   counter. If CPUCYCLES_IMPLEMENTATION in the environment names counters, tries the named counters
   first, and all others only if no named counter can be used. Stores the candidates in
   `candidates`, which has room for `count`; both must live as long as the process reads. Call
   between cpuc_guard_enter() and cpuc_guard_leave(). */
void cpuc_select(const struct cpuc_table_entry *table, int count,
  struct cpuc_candidate *candidates, struct cpuc_selection *selection);

#pragma GCC visibility pop

#endif
