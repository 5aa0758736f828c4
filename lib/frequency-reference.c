/* SPDX-License-Identifier: 0BSD OR MIT */
/* Uses the rate of the TSC, which is near the nominal frequency, as the frequency estimate. */

#include "config.h"

#include "lib/calibrate.h"
#include "lib/frequency-query.h"

#include <stddef.h>

enum { TRIES = 2 }; /* because an interruption can falsify the measurement of a rate */

void cpuc_query_close_reference(struct cpuc_query *query)
{
  const struct cpuc_backend *reference = query->reference;

  query->reference = NULL;
  if (reference && reference->close)
    reference->close();
}

/* Returns the reported rate of the counter if it is accepted; if not, the measured rate of a
   counter that is invariant; otherwise 0. If rate() causes a fault, frequency.c closes the
   counter. */
static long long query_reference(struct cpuc_query *query, const struct cpuc_backend *reference)
{
  const char *origin = NULL;
  struct cpuc_rate reported;
  long long hz;

  query->reference = reference;
  reported = cpuc_reported_rate(reference);
  hz = cpuc_calibrate_accepted_rate(reported, reference->read);
  if (hz > 0 && reported.source)
    query->name = reported.source;
  if (hz == 0 && reference->invariant && reference->invariant(&origin) == 1)
    hz = cpuc_calibrate_rate(reference->read);
  cpuc_query_close_reference(query);
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
