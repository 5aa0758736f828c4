/* SPDX-License-Identifier: 0BSD OR MIT */
/* Counts per second, as a counter states them or as the OS clock shows them. */

#ifndef CPUCYCLES_RATE_H
#define CPUCYCLES_RATE_H

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

/* Of what read() counts, by the OS clock, in 1 ms. 0: cannot be said within 1 %. */
long long cpucycles_measured_rate(long long (*read)(void));

/* The same, by a clock that counts nanoseconds. */
long long cpucycles_rate_by(long long (*read)(void), long long (*now)(void));

/* What the counter, which is open, states of itself, if a measurement agrees within 1 %, or
   cannot tell; else 0. The measured rate if the stated one is rounded. May raise a signal. */
long long cpucycles_stated_rate(const struct cpucycles_backend *backend);

/* True if the stated rate is a rounded one, so that a measured rate is nearer. */
static inline int cpucycles_rate_is_rounded(const struct cpucycles_backend *backend)
{
  return backend->rate_is_rounded && backend->rate_is_rounded();
}

#pragma GCC visibility pop

#endif
