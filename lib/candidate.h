/* SPDX-License-Identifier: 0BSD OR MIT */
/* One counter in the selection: its trial, and what the trial has shown. */

#ifndef CPUCYCLES_CANDIDATE_H
#define CPUCYCLES_CANDIDATE_H

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/calibrate.h"
#include "lib/extend32.h"
#include "lib/reader.h"
#include "lib/scale.h"
#include "lib/table.h"

#pragma GCC visibility push(hidden)

/* What the trials of one selection share. */
struct cpuc_trial {
  const struct cpuc_services *services; /* for the counters */
  long long persecond; /* cycles per second */
  struct cpuc_calibration calibration;
  struct cpuc_extension extension; /* for a counter of 32 bits; one is open at a time */
};

struct cpuc_candidate {
  const struct cpuc_backend *backend;
  struct cpucycles_counter_info *info; /* what programs see: state, precision, scaling, reason */
  struct cpuc_trial *trial;
  struct cpuc_diagnosis why; /* details of the last open() */
  struct cpuc_reader reader;
  long long rate;  /* units per second, according to the scale */
  int cannot_win;    /* its score decides nothing */
  int is_dropped;  /* by the running trial */
  int has_faulted; /* it was dropped for a signal */
};

/* Describes the counter of this entry, before any trial. */
void cpuc_candidate_begin(struct cpuc_candidate *candidate, const struct cpuc_table_entry *entry,
  struct cpucycles_counter_info *info, struct cpuc_trial *trial);

/* Part of the score that depends on the kind alone. */
int cpuc_candidate_penalty(const struct cpuc_candidate *candidate);

/* The trial: opens, scales, extends, and scores the counter, then closes it. Afterwards it is
   usable, and info->precision is its score; or dropped, with the reason. is_quick: a few reads are
   enough, because its score decides nothing. Call between cpuc_guard_enter() and
   cpuc_guard_leave(). */
void cpuc_candidate_try(struct cpuc_candidate *candidate, int cannot_win);

/* Opens the counter again after its trial, with the scale that the trial found, and verifies that
   it still counts; candidate->reader then reads it. If that fails, drops it and returns 0. Call
   where cpuc_candidate_try() may be called. */
int cpuc_candidate_reopen(struct cpuc_candidate *candidate);

/* Asks the backend for the reason of a dropped counter. Call where cpuc_candidate_try() may be
   called. */
void cpuc_candidate_explain(struct cpuc_candidate *candidate);

#pragma GCC visibility pop

#endif
