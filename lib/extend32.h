/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a counter of 32 valid bits to 64, with an OS clock. extend32.c derives the bounds. */

#ifndef CPUCYCLES_EXTEND32_H
#define CPUCYCLES_EXTEND32_H

#include "lib/scale.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The OS clock, in nanoseconds. It cannot be set. 0: refused. */
struct cpuc_extend32_clock {
  long long (*now)(void);
  long long (*coarse)(void); /* at most some ms behind now(), never ahead; cheaper if possible */
};

/* A time, and the whole count at that time. */
struct cpuc_extend32_anchor {
  long long time;
  unsigned long long count;
  int set; /* 0: not stored yet */
};

/* An extended counter. Constant after cpuc_extend32_begin(), so that threads can share it. */
struct cpuc_extension {
  long long (*read)(void);
  struct cpuc_extend32_clock clock;
  struct cpuc_scale rate;            /* estimated counts per nanosecond */
  struct cpuc_extend32_anchor start; /* first anchor of every thread */
};

/* Begins an extension, before other threads use it. persecond: estimated counts per second. */
void cpuc_extend32_begin(struct cpuc_extension *extension, long long (*read)(void),
  struct cpuc_extend32_clock clock, long long persecond);

/* The current count, with the low 32 bits of read(). Thread-safe and async-signal-safe. */
long long cpuc_extend32(const struct cpuc_extension *extension);

#pragma GCC visibility pop

#endif
