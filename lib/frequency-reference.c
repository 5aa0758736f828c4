/* SPDX-License-Identifier: 0BSD OR MIT */
/* Uses the rate of the TSC, which is near the nominal frequency, as the frequency estimate. */

#include "config.h"

#include "lib/calibrate.h"
#include "lib/frequency-query.h"

#include <stddef.h>

enum { TRIES = 2 }; /* because an interruption can falsify the measurement of a rate */

/* Returns the reported rate of the counter if it is accepted; if not, the measured rate of a
   counter that is invariant; otherwise 0. */
static long long query_reference(struct cpuc_query *query, const struct cpuc_backend *reference)
{
  const char *origin = NULL;
  struct cpuc_rate reported = cpuc_reported_rate(reference);
  long long hz = cpuc_calibrate_accepted_rate(reported, reference->read);

  if (hz > 0 && reported.source)
    query->name = reported.source;
  if (hz == 0 && reference->invariant && reference->invariant(&origin) == 1)
    hz = cpuc_calibrate_rate(reference->read, 64);
  return hz;
}

/* Tried after the files, because CPUID can cause VM exits. */
long long cpuc_frequency_from_reference(struct cpuc_query *query)
{
  const struct cpuc_backend *reference = cpuc_reference_counter();
  long long hz = 0;
  int i;

  for (i = 0; reference && i < TRIES && hz == 0; i++)
    hz = query_reference(query, reference);
  return cpuc_rate_plausible((unsigned long long)hz);
}
