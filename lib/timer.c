/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the properties of the selected counter as a timer, and its rate, on demand. */

#include "config.h"

#include "lib/timer.h"
#include "lib/calibrate.h"
#include "lib/extend32.h"
#include "lib/frequency.h"
#include "sys/dependent-add.h"

#include <stddef.h>

enum { TRIES = 4 }; /* because a measurement can be interrupted */

void cpuc_timer_find_info(struct cpuc_selection *selection)
{
  const struct cpuc_candidate *candidate = selection->selected;
  const struct cpuc_kind_facts *kind = cpuc_candidate_kind(candidate);
  struct cpucycles_timer_info *found = &selection->timer;

  selection->reported = cpuc_reported_rate(candidate->backend);
  found->invariant = kind->invariant;
  found->invariant_source = kind->invariant_source;
  if (candidate->backend->is_invariant)
    found->invariant = candidate->backend->is_invariant(&found->invariant_source);
  if (found->invariant < 0)
    found->invariant_source = NULL;
  found->reported_rate = selection->reported.hz;
  found->reported_rate_source = selection->reported.hz > 0 ? selection->reported.source : NULL;
}

/* Measures the rate of the selected counter, which is not scaled, again if the measurement is
   interrupted. The count of a thread stops while another thread runs and, in most cases, while the
   kernel runs, so a measurement of this count gives a lower bound. The result for such a counter is
   therefore the core frequency or, if that cannot be measured, the highest of several measurements.
   Returns Hz, or 0. */
static long long measure_selected(const struct cpuc_candidate *candidate)
{
  long long (*read)(void)
    = candidate->reader.is_extended ? cpuc_extend32 : candidate->reader.read;
  int is_of_thread = candidate->backend->is_of_thread, i;
  long long highest = 0, rate = 0;

  if (is_of_thread && !candidate->is_unproven && cpuc_dependent_add_takes_one_cycle())
    for (i = 0; i < TRIES && rate == 0; i++)
      rate = cpuc_frequency_measure_core();
  if (rate > 0)
    return rate;
  for (i = 0; i < TRIES && (highest == 0 || is_of_thread); i++) {
    rate = cpuc_calibrate_rate(read, 64);
    if (rate > highest)
      highest = rate;
  }
  return highest;
}

/* A time-based counter has the rate that it is scaled to. */
void cpuc_timer_find_rate(struct cpuc_selection *selection)
{
  long long measured, accepted;

  if (selection->selected->reader.scale.multiplier) {
    selection->rate = selection->frequency.persecond;
    return;
  }
  measured = measure_selected(selection->selected);
  accepted = cpuc_calibrate_accepted_rate(selection->reported, measured);
  selection->rate = accepted > 0 ? accepted : measured;
}
