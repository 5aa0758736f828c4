/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the rates of counters against a clock, and verifies reported rates. */

#ifndef CPUCYCLES_CALIBRATE_H
#define CPUCYCLES_CALIBRATE_H

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

/* A counter, and the clock that it is measured against. */
struct cpuc_calibrate_setup {
  long long (*read)(void);
  int bits;               /* number of bits that read() returns: 64 or 32 */
  long long (*now)(void); /* nanoseconds */
};

/* Find out how a counter is scaled, in three tries at most. Return CPUC_REASON_NONE, or why the
   measurement gives no rate. */

/* A measurement of 0.2 ms must agree within 1 % with the reported rate, in units per second. */
enum cpuc_reason cpuc_calibrate_verify(const struct cpuc_calibrate_setup *calibration,
  long long reported);

/* Three measurements of 0.4 ms must agree on the cycles per unit, as cpuc_scale_find_sixteenths()
   rounds them. Stores the result of that function. `persecond` is the estimate of the CPU's
   frequency. */
enum cpuc_reason cpuc_calibrate_find_sixteenths(const struct cpuc_calibrate_setup *calibration,
  long long persecond, long long *sixteenths);

/* Measures the rate of read(), which returns 64 or 32 bits, against the OS clock in about 1 ms.
   Returns counts per second, or 0 if the rate cannot be measured. The rate is right within 1 %,
   unless the count advances by less than about 100 during the measurement. */
long long cpuc_calibrate_rate(long long (*read)(void), int bits);

/* Returns a rate in Hz. If `measured` is 0, which means that the rate could not be measured, the
   result is the reported rate. If `measured` differs from the reported rate by more than 1 %, the
   result is 0. If the two rates agree, the result is `measured` if the reported rate is rounded,
   else the reported rate. */
long long cpuc_calibrate_accepted_rate(struct cpuc_rate reported, long long measured);

#pragma GCC visibility pop

#endif
