/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the rates of counters against a clock, and verifies reported rates. */

#ifndef CPUCYCLES_CALIBRATE_H
#define CPUCYCLES_CALIBRATE_H

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

/* Why a measurement has no result. */
enum cpuc_calibrate_failure {
  CPUC_SUCCESS,
  CPUC_CLOCK_SET_BACK,
  CPUC_CLOCK_STOPPED,
  CPUC_COUNTER_STOPPED,
  CPUC_COUNTER_SET_BACK,
  CPUC_RATE_MISMATCH, /* it differs from the reported rate, or no counter has such a rate */
  CPUC_NO_MULTIPLE,
  CPUC_NO_TIME
};

/* A counter, the clock to measure it with, and the time left for that. */
struct cpuc_calibration {
  long long (*read)(void);
  int width;              /* of read(): 64 or 32 */
  long long (*now)(void); /* nanoseconds */
  long long left;         /* nanoseconds left for all measurements of the selection */
};

/* Enough for three tries of a counter without a reported rate, and for four counters with one. */
#define CPUC_CALIBRATION_TIME 4500000LL

/* Finds out how a counter is scaled. If hardware or kernel report its rate (units per second), a
   measurement must agree within 1 %, unless no time is left; *sixteenths is 0 in both cases. If
   `reported` is 0, three measurements must show the same number of cycles per unit, a multiple of
   1, 1/2, 1/4, 1/8 or 1/16, which is stored in *sixteenths. */
enum cpuc_calibrate_failure cpuc_calibrate(struct cpuc_calibration *calibration, long long reported,
  long long persecond, long long *sixteenths);

/* The mean of three measured rates that agree within 1 %, in units per second; else 0. */
long long cpuc_calibrate_mean(struct cpuc_calibration *calibration);

/* Counts per second of read(), measured against the OS clock in 1 ms. 0: not measurable within
   1 %. */
long long cpuc_calibrate_rate(long long (*read)(void));

/* The same, measured against now(), a clock of nanoseconds. */
long long cpuc_calibrate_rate_against(long long (*read)(void), long long (*now)(void));

/* The reported rate of read() in Hz, if a measurement agrees within 1 % or is not possible; else 0.
   If the reported rate is rounded, returns the measured one instead. */
long long cpuc_calibrate_verified_rate(struct cpuc_rate reported, long long (*read)(void));

#pragma GCC visibility pop

#endif
