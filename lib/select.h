/* SPDX-License-Identifier: 0BSD OR MIT */
/* The selection: trial of each counter, and the choice of the best. */

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
  const char *implementation; /* name of the selected counter */
  /* sentence on the names in CPUCYCLES_IMPLEMENTATION that could not be used; or empty */
  char skipped[320];
  struct cpucycles_reader reader; /* of the selected counter */
  const struct cpucycles_backend *backend; /* of the selected counter; NULL: none works */
  unsigned int inline_method; /* of the selected counter; CPUCYCLES_INLINE_CALL if extended */
  struct cpucycles_timer_info timer; /* of the selected counter; timer.c fills it on demand */
  struct cpucycles_reader next_best; /* for threads that cannot use the selected counter */
  struct cpucycles_extension extension; /* of the reader, if it has one */
  struct cpucycles_calibration calibration; /* used while selecting */
};

/* Tries the `count` entries of the table, and opens the best. If CPUCYCLES_IMPLEMENTATION in the
   host's environment names counters, tries these first, and the others only if none of these can be
   used. `counters` has room for `count`. Call between cpucycles_trial_begin() and
   cpucycles_trial_end(). */
void cpucycles_select(const struct cpucycles_host *host, const struct cpucycles_entry *table,
  int count, struct cpucycles_counter_info *counters, struct cpucycles_selection *selection);

#pragma GCC visibility pop

#endif
