/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tries every counter, or those that the environment names, and selects the best. */

#ifndef CPUCYCLES_SELECT_H
#define CPUCYCLES_SELECT_H

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/extend32.h"
#include "lib/frequency.h"
#include "lib/reader.h"
#include "lib/scale.h"
#include "lib/table.h"

#pragma GCC visibility push(hidden)

struct cpucycles_selection {
  struct cpucycles_frequency frequency;
  struct cpucycles_counter_info *counters; /* one per entry of the table */
  int count;
  const char *implementation; /* the chosen one's name */
  /* which names of CPUCYCLES_IMPLEMENTATION could not be used, in words; or empty */
  char skipped[320];
  struct cpucycles_reader reader;
  const struct cpucycles_backend *backend; /* the chosen one; 0: none works */
  unsigned int inline_method; /* its own, where its read() is not extended */
  struct cpucycles_timer_info timer; /* of the chosen one, once asked */
  /* for threads that cannot have the chosen one, or no longer */
  struct cpucycles_reader next_best;
  struct cpucycles_extension extension; /* what a reader's extension leads to, if anywhere */
  struct cpucycles_calibration calibration;         /* while it is made */
};

/* Tries each entry of table, or those that host's environment names, and chooses among them;
   among all where none of those can be used. counters: room for `count` of them. */
void cpucycles_select(const struct cpucycles_host *host, const struct cpucycles_entry *table,
  int count, struct cpucycles_counter_info *counters, struct cpucycles_selection *selection);

#pragma GCC visibility pop

#endif
