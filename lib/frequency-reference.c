/* SPDX-License-Identifier: 0BSD OR MIT */
/* Uses the rate of the TSC, which is near the nominal frequency, as the frequency estimate, or to
   recognize an estimate that is too low. */

#include "config.h"

#include "lib/calibrate.h"
#include "lib/frequency.h"
#include "sys/guard.h"
#include "sys/os-clock.h"

#include <stddef.h>
#include <string.h>

enum { TRIES = 2 }; /* of a measurement */

/* Executes CPUID. */
static int is_invariant(void)
{
  const struct cpuc_backend *reference = cpuc_reference_counter();
  const char *source;

  return reference && reference->is_invariant && reference->is_invariant(&source) == 1;
}

/* Returns the rate that cpuc_calibrate_accepted_rate() accepts. If it accepts none, returns the
   measured rate if the counter is invariant, else 0. Measures again after a mismatch, because the
   first measurement, and not the reported rate, may be wrong. frequency.c tries this source after
   the files, because CPUID can cause VM exits. */
long long cpuc_frequency_from_reference(struct cpuc_frequency_query *query)
{
  const struct cpuc_backend *reference = cpuc_reference_counter();
  struct cpuc_rate reported;
  long long hz = 0;
  int i;

  if (!reference)
    return 0;
  reported = cpuc_reported_rate(reference);
  for (i = 0; i < TRIES && reported.hz > 0 && hz == 0; i++)
    hz = cpuc_calibrate_accepted_rate(reported, cpuc_calibrate_rate(reference->read, 64));
  if (hz > 0 && reported.source)
    query->name = reported.source;
  if (hz == 0 && is_invariant())
    hz = cpuc_calibrate_rate(reference->read, 64);
  return cpuc_rate_if_plausible((unsigned long long)hz);
}

static void sample_reference(void *sample)
{
  const struct cpuc_backend *reference = cpuc_reference_counter();

  if (reference)
    *(struct cpuc_clock_sample *)sample
      = cpuc_clock_sample_take(cpuc_os_clock_monotonic, reference->read);
}

struct cpuc_clock_sample cpuc_frequency_sample_reference(void)
{
  struct cpuc_clock_sample sample = { 0, 0, 0 };

  if (cpuc_guard_run(sample_reference, &sample) != 0)
    memset(&sample, 0, sizeof sample);
  return sample;
}

/* Returns the lowest rate of the reference counter that fits the two samples, or 0 if they show no
   rate. An interruption makes the result lower. */
static long long rate_between(const struct cpuc_clock_sample *begin,
  const struct cpuc_clock_sample *end)
{
  long long longest = end->outer + end->width - begin->outer;
  long long counted = cpuc_step_between(begin->inner, end->inner);

  if (begin->outer == 0 || end->outer <= begin->outer || end->width < 0 || counted <= 0)
    return 0;
  /* counts per microsecond are exact enough, and need one division */
  return cpuc_rate_if_plausible((unsigned long long)(counted / (longest / 1000 + 1)) * 1000000);
}

long long cpuc_frequency_find_least(long long persecond, int is_needed,
  const struct cpuc_clock_sample *begin)
{
  struct cpuc_clock_sample end = cpuc_frequency_sample_reference();
  long long rate = rate_between(begin, &end);
  int is_low = persecond < rate / 5 * 2;

  if (!is_low && !is_needed)
    return 0;
  if (rate > 0 && is_invariant())
    return is_low ? cpuc_frequency_least_plausible_by(cpuc_reference_counter()->read, rate) : 0;
  return is_needed ? cpuc_frequency_least_plausible() : 0;
}
