/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a counter of 32 valid bits to 64, by an OS clock. extend32.c derives the bounds. */

#ifndef CPUCYCLES_EXTEND32_H
#define CPUCYCLES_EXTEND32_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The OS clock, in nanoseconds. */
struct cpucycles_clock {
  long long (*now)(void);
  long long (*coarse)(void); /* at most some ms behind now(), never ahead; cheaper if possible */
  int settable;              /* a wall clock: can step either way */
};

/* A time, and the whole count at that time. Has no padding, since copies are compared bytewise. */
struct cpucycles_anchor {
  long long time;
  unsigned long long count;
  long long jumped;         /* sum of the jumps in the count */
  long long lag_allowance;  /* part of a negative sum that a counter standing still explains */
  long long lead_allowance; /* part of a positive sum that the fastest rate explains */
  long long set;            /* 0: not stored yet */
};

/* An extended counter. Constant after cpucycles_extend32_begin(), so that threads can share it. */
struct cpucycles_extension {
  long long (*read)(void);
  struct cpucycles_clock clock;
  double rate, twice_fastest;    /* counts per nanosecond: estimate, and twice the fastest rate */
  long long near_time;           /* nanoseconds, in which a counter counts at most 2^25 */
  struct cpucycles_anchor start; /* first anchor of every thread */
};

/* Begins an extension, before other threads use it. persecond: estimated counts per second.
   fastest: highest counts per second if that is known to be more, else the same or 0. Both may be
   20 % too low or too high. */
void cpucycles_extend32_begin(struct cpucycles_extension *extension, long long (*read)(void),
  struct cpucycles_clock clock, long long persecond, long long fastest);

/* The current count, with the low 32 bits of read(). Thread-safe and async-signal-safe. */
long long cpucycles_extend32(const struct cpucycles_extension *extension);

#pragma GCC visibility pop

#endif
