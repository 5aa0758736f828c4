/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a 32-bit counter to 64 bits, with an OS clock: one counter at a time. extend32.c derives
   the bounds. */

#ifndef CPUCYCLES_EXTEND32_H
#define CPUCYCLES_EXTEND32_H

#pragma GCC visibility push(hidden)

/* The OS clock in nanoseconds, which must not be settable. Both functions return 0 if it is
   refused. */
struct cpuc_extend32_clock {
  long long (*now)(void);
  long long (*coarse)(void); /* up to 10 ms behind now(), never ahead; cheaper if possible */
};

/* Begins the extension of a counter, before other threads use it, and ends that of the counter
   before. `rate` is the estimate of counts per second. */
void cpuc_extend32_begin(long long (*read)(void), struct cpuc_extend32_clock clock, long long rate);

/* Returns the current count, whose low 32 bits are those of read(). Thread-safe and
   async-signal-safe. */
long long cpuc_extend32(void);

#pragma GCC visibility pop

#endif
