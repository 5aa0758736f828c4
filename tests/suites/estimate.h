/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces sys/environment.c, sys/architecture.c, lib/frequency-system.c, lib/frequency-measure.c,
   backends/tsc/reference.c and, with machine.h, sys/root.c. The frequency estimate for a simulated
   machine, of which a test sets the architecture and the sources of the estimate that are not
   files. */

#ifndef CPUCYCLES_ESTIMATE_H
#define CPUCYCLES_ESTIMATE_H

#include "backends/backend.h"
#include "lib/frequency.h"
#include "sys/architecture.h"
#include "sys/environment.h"

#include "tests/suites/counters.h"
#include "tests/suites/machine.h"

#include <string.h>

enum { EVERY_ARCHITECTURE = 0x1ff };

/* A test may set these members. */
static struct {
  const char *variable;     /* the environment variable cpucyclespersecond, or NULL */
  unsigned int architectures; /* of enum cpuc_architecture */
  struct cpuc_rate system;
  const struct cpuc_backend *reference;
  long long measured, least_plausible;
} simulated = { .architectures = EVERY_ARCHITECTURE };

const char *cpuc_environment(const char *name)
{
  return strcmp(name, "cpucyclespersecond") == 0 ? simulated.variable : NULL;
}

enum cpuc_architecture cpuc_architecture(void)
{
  return (enum cpuc_architecture)simulated.architectures;
}

struct cpuc_rate cpuc_frequency_from_system(void)
{
  return simulated.system;
}

const struct cpuc_backend *cpuc_reference_counter(void)
{
  return simulated.reference;
}

long long cpuc_frequency_measure_core(void)
{
  return simulated.measured;
}

long long cpuc_frequency_least_plausible(void)
{
  return simulated.least_plausible;
}

static inline struct cpuc_frequency estimate(void)
{
  struct cpuc_frequency found;

  enter_guard();
  found = cpuc_frequency_estimate(0);
  leave_guard();
  return found;
}

#endif
