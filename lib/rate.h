/* SPDX-License-Identifier: 0BSD OR MIT */
/* Rates of counters, measured by a clock or stated and confirmed. */

#ifndef CPUCYCLES_RATE_H
#define CPUCYCLES_RATE_H

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

/* Counts per second of read(), measured by the OS clock in 1 ms. 0: not measurable within 1 %. */
long long cpucycles_measured_rate(long long (*read)(void));

/* The same, measured by now(), a clock of nanoseconds. */
long long cpucycles_rate_by(long long (*read)(void), long long (*now)(void));

/* The rate that an open counter states, if a measurement agrees within 1 % or is not possible; else
   0. If the stated rate is rounded, returns the measured one instead. May raise a signal. */
long long cpucycles_stated_rate(const struct cpucycles_backend *backend);

/* True if the stated rate is rounded, so that a measured rate is more exact. */
static inline int cpucycles_rate_is_rounded(const struct cpucycles_backend *backend)
{
  return backend->rate_is_rounded && backend->rate_is_rounded();
}

#pragma GCC visibility pop

#endif
