/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a counter of which only the low 32 bits count to 64 bits, with an OS clock as the witness
   of how much was counted meanwhile. Within which bounds this is right, extend32.c derives. */

#ifndef CPUCYCLES_EXTEND32_H
#define CPUCYCLES_EXTEND32_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The witness, in nanoseconds. */
struct cpucycles_witness {
  long long (*now)(void);
  long long (*about)(void); /* never ahead of now(), some ms behind, cheaper if that can be */
  int settable;             /* a wall clock: can step either way */
};

/* A moment of which the whole count is known, and an earlier one to take the mean rate from. */
struct cpucycles_anchor {
  long long time;
  unsigned long long count;
  long long since;
  unsigned long long counted; /* at `since` */
  long long strange;          /* was the rate another since the last one? */
};

enum {
  CPUCYCLES_ANCHOR_WORDS = sizeof(struct cpucycles_anchor) / sizeof(uint32_t),
  CPUCYCLES_ANCHOR_SLOTS = 8 /* one is current, the others are for those who publish at once */
};

/* A counter being extended, for all threads. It stays where it is: threads know it by its address.
   */
struct cpucycles_extension {
  long long (*read)(void);
  struct cpucycles_witness witness;
  double rate;      /* counts a nanosecond, as estimated at the start */
  long long near;   /* nanoseconds in which at most a small part of 2^32 is counted */
  uint32_t current; /* how many anchors were published, and in its low bits, the slot of the last */
  struct {
    uint32_t taken; /* current, or being written */
    uint32_t words[CPUCYCLES_ANCHOR_WORDS];
  } slots[CPUCYCLES_ANCHOR_SLOTS];
};

/* Starts anew, before any other thread knows of it. persecond: how much read() counts a second,
   within 20 %; fastest: how much it may count at most, where that is known to be more, else the
   same. */
void cpucycles_extend32_begin(struct cpucycles_extension *extension, long long (*read)(void),
  struct cpucycles_witness witness, long long persecond, long long fastest);

/* The count now, from the low 32 bits of read() on. Any thread, and in signal handlers too. */
long long cpucycles_extend32(struct cpucycles_extension *extension);

#pragma GCC visibility pop

#endif
