/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a 32-bit counter to 64 bits, with an OS clock. extend32.c derives the bounds. */

#ifndef CPUCYCLES_EXTEND32_H
#define CPUCYCLES_EXTEND32_H

#include "lib/scale.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The OS clock in nanoseconds, which must not be settable. Both functions return 0 if it is
   refused. */
struct cpuc_extend32_clock {
  long long (*now)(void);
  long long (*coarse)(void); /* up to 10 ms behind now(), never ahead; cheaper if possible */
};

/* A time, and the 64-bit count at that time. */
struct cpuc_extend32_anchor {
  long long time;
  unsigned long long count;
  int set; /* 0 until an anchor is stored */
};

/* An extended counter. Constant after cpuc_extend32_begin(), so that threads can share it. */
struct cpuc_extend32_state {
  long long (*read)(void);
  struct cpuc_extend32_clock clock;
  struct cpuc_scale rate;            /* from nanoseconds to estimated counts */
  struct cpuc_extend32_anchor start; /* first anchor of every thread */
};

/* Begins an extension, before other threads use it. `rate` is the estimate of counts per second. */
void cpuc_extend32_begin(struct cpuc_extend32_state *extension, long long (*read)(void),
  struct cpuc_extend32_clock clock, long long rate);

/* Returns the current count, whose low 32 bits are those of read(). Thread-safe and
   async-signal-safe. */
long long cpuc_extend32(const struct cpuc_extend32_state *extension);

#pragma GCC visibility pop

#endif
