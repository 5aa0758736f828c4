/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a counter of which only the low 32 bits count to 64 bits, with the help of an OS clock.
   extend32.c derives the bounds. */

#ifndef CPUCYCLES_EXTEND32_H
#define CPUCYCLES_EXTEND32_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The OS clock, in nanoseconds. */
struct cpucycles_clock {
  long long (*now)(void);
  long long (*coarse)(void); /* never ahead of now(), some ms behind, cheaper if that can be */
  int settable;             /* a wall clock: can step either way */
};

/* A time, and the whole count at that time. Without padding, as copies are compared. */
struct cpucycles_anchor {
  long long time;
  unsigned long long count;
  long long jumped;  /* sum of the jumps in the count */
  long long slower;  /* what a counter that stood still explains of a negative sum */
  long long faster;  /* what one at the fastest rate explains of a positive sum */
  long long set;     /* 0: not stored yet */
};

/* A counter being extended. Constant from its begin on, so that any number of threads can share
   it; threads know it by its address. */
struct cpucycles_extension {
  long long (*read)(void);
  struct cpucycles_clock clock;
  double rate, fastest;          /* counts a nanosecond: as estimated, and at most */
  long long nearby;                /* nanoseconds of at most 2^25 counts */
  struct cpucycles_anchor start; /* first anchor of every thread */
};

/* Starts anew, before any other thread knows of it. persecond: an estimate of how much read()
   counts a second. fastest: how much it may count at most, where that is known to be more, else the
   same or 0. Both may be 20 % too low or too high. */
void cpucycles_extend32_begin(struct cpucycles_extension *extension, long long (*read)(void),
  struct cpucycles_clock clock, long long persecond, long long fastest);

/* The count now, whose low 32 bits are those of read(). Thread-safe and async-signal-safe. */
long long cpucycles_extend32(const struct cpucycles_extension *extension);

#pragma GCC visibility pop

#endif
