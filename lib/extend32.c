/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a 32-bit counter to 64 bits. select.c decides which counter, which clock and which
   estimate of the rate.

   The low bits of a count are the counter's. The high bits are the number of wraps, which only a
   clock can tell. Each thread extends for itself, from an anchor of its own: a time, and the count
   at that time. Its first anchor is the start of the extension.

   A read predicts the count, anchor + rate * elapsed, and takes the count nearest to the
   prediction that ends in the counter's 32 bits. Near the anchor (2^25 counts by a coarse clock,
   and 2^26 by the counter) the anchor is the prediction, and the read is done. Else clock and
   counter are read together, and the result is the next anchor.

   Bounds. Let T be the time from the beginning of a thread's read to the end of its next one, and
   w the counts in the time by which the clock is wrong. A thread that stays on its core reads right
   while the counts in T differ from rate * T by less than 2^31 - w.
   - Any rate from 0 (the core sleeps) to the fastest: T is below 2^31 counts of the fastest rate,
     or of the estimate if that is higher, less 2^26: 1.38 s at 1.5 GHz.
   - Constant rate, estimated with a relative error e: T is below 2^31 / e counts, less 2^26: 10.6 s
     at 1 GHz where it is 20 % off, 35 minutes where it was measured to 0.1 %.
   The 2^26 are for an anchor older than the last read: by 2^24 counts of the fastest rate, which
   may be 20 % too low, and by what the coarse clock lags. Beyond the bounds, the thread's counts
   are wrong by a multiple of 2^32 from there on. Without a clock (refused, set backward, or a wall
   clock, which can be set), T must be below 7/8 of 2^32 counts.

   Migrations. A core's counter may differ from another's. A thread that moves sees a jump, from
   -2^31 to 2^31. Where the difference and T are together below 2^31 counts, less 2^26 and the
   estimate's error, the jumps cancel: neither a step back nor an error exceeds the difference. Else
   jumps can add up, as of three cores 2^32 / 3 apart. The anchor therefore has their sum; if that
   exceeds 3 * 2^30 by more than a slower counter explains (a faster one, if it is positive), 2^32
   are taken back, and the error grows only as if the counter ran slower or faster: by what it may
   have slept, and by the estimate's error. Jumps of up to 2^26 are never taken back: 64 cores or
   more, each that far ahead of the one before, look like one fast core.
   What a counter explains that ran between 0 and twice the fastest rate is no jump, unless it
   undoes one; but a jump may hide in it. A gap of less than 2^25 counts that is as predicted, to
   1/8, is taken to hide none: a thread that reads all the time has many. So one that sleeps that
   short, and each time wakes on a core ahead by just as much, is an exception after some dozens of
   such moves.

   Signals. Handlers may read, and may never return (siglongjmp). A thread has two places for an
   anchor, and each has two copies, which are the same if it is valid. A store goes to the place
   that is not in use; a handler that interrupts it finds the other place valid. If the handler
   stores, too, the interrupted store leaves copies that differ, and is repeated, or are the
   handler's. */

#include "config.h"

#include "lib/extend32.h"
#include "lib/clock-sample.h"
#include "sys/thread-local.h"

#include <string.h>

#define NEAR (1LL << 26)
#define NOISE (1LL << 20)
#define FARTHEST (3LL << 30)
#define WRAP (1LL << 32)

enum { TRIES = 8 }; /* to read clock and counter together */

static CPUCYCLES_TLS struct {
  struct cpucycles_anchor copies[2][2]; /* of two places */
  int current;                /* place in use */
} own;

/* Keeps the order of accesses to what a signal handler of the thread may access too. */
static void fence(void)
{
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Copies the anchor at a place. Returns 0 if it is not valid. */
static int load_place(int place, struct cpucycles_anchor *anchor)
{
  struct cpucycles_anchor second;

  fence();
  *anchor = own.copies[place][0];
  fence();
  second = own.copies[place][1];
  fence();
  return memcmp(anchor, &second, sizeof second) == 0;
}

/* Copies the thread's anchor, or the start of the extension if it has none. Returns its place.
   Repeats if a handler has stored meanwhile. */
static int load(const struct cpucycles_extension *extension, struct cpucycles_anchor *anchor)
{
  int place = __atomic_load_n(&own.current, __ATOMIC_RELAXED), tries = TRIES;

  while (tries > 0 && !load_place(place, anchor)) {
    place = !place;
    tries--;
  }
  if (tries == 0 || !anchor->set)
    *anchor = extension->start;
  return place;
}

static void store(const struct cpucycles_extension *extension,
  const struct cpucycles_anchor *anchor)
{
  struct cpucycles_anchor stored;
  int place;

  do {
    place = !load(extension, &stored);
    fence();
    own.copies[place][0] = *anchor;
    fence();
    own.copies[place][1] = *anchor;
    fence();
  } while (!load_place(place, &stored)); /* a handler has stored, and this one has damaged it */
  __atomic_store_n(&own.current, place, __ATOMIC_RELAXED);
}

static long long since(long long time, long long now)
{
  return (long long)((unsigned long long)now - (unsigned long long)time);
}

/* The count that ends in these 32 bits and is at least expected - 2^31, and below expected + 2^31.
   */
static unsigned long long nearest(unsigned long long expected, uint32_t low)
{
  return expected + (unsigned long long)(long long)(int32_t)(low - (uint32_t)expected);
}

/* The counter between two reads of the clock. A sample that takes less than 2^14 counts is tight
   enough. */
static struct cpucycles_sample sample_counter(const struct cpucycles_extension *extension)
{
  return cpucycles_tightest_sample(extension->clock.now, extension->read, TRIES,
    extension->nearby >> 11);
}

/* Nanoseconds to counts; a clock gone wild is limited. */
static long long counts(double rate, long long elapsed)
{
  double counted = rate * (double)elapsed;

  return counted < 0x1p60 ? (long long)counted : 1LL << 60;
}

static long long size(long long number)
{
  return number < 0 ? -number : number;
}

/* Adds a jump to the sum, and corrects the count if the sum is then too large. */
static void add_jump(struct cpucycles_anchor *anchor, long long excess)
{
  long long sum = anchor->jumped + excess, wrap = sum < 0 ? WRAP : -WRAP;

  anchor->jumped = sum;
  if (size(excess) <= NEAR || size(sum) <= FARTHEST + (sum < 0 ? anchor->slower : anchor->faster))
    return;
  anchor->count += (unsigned long long)wrap;
  anchor->jumped += wrap;
  if (size(anchor->jumped) > FARTHEST) /* the rest was no jump */
    anchor->jumped = sum < 0 ? -FARTHEST : FARTHEST;
  anchor->slower = anchor->faster = 0;
}

/* Looks for a jump in what a count exceeds its prediction by. most: twice the fastest rate's
   counts. That rate may be 20 % too low. */
static void note_jump(struct cpucycles_anchor *anchor, long long excess, long long predicted,
  long long most)
{
  long long left = anchor->jumped + excess, ahead = most / 8 * 5 - predicted;
  int explained = excess < 0 ? excess > -predicted - NOISE : excess < most - predicted + NOISE;

  if (explained && predicted < NEAR / 2 && size(excess) <= predicted / 8)
    return; /* hides no large jump */
  anchor->slower += predicted < WRAP ? predicted : WRAP;
  if (ahead > 0)
    anchor->faster += ahead < WRAP ? ahead : WRAP;
  if (!explained)
    add_jump(anchor, excess);
  else if ((excess < 0) != (anchor->jumped < 0)) /* may undo a jump, or more */
    anchor->jumped = (left < 0) == (anchor->jumped < 0) ? left : 0;
  if (size(anchor->jumped) < NEAR) /* what is left is the estimate's error */
    anchor->jumped = anchor->slower = anchor->faster = 0;
}

static void proceed(const struct cpucycles_extension *extension, struct cpucycles_anchor *anchor,
  long long elapsed, uint32_t low)
{
  long long predicted = counts(extension->rate, elapsed);
  unsigned long long expected = anchor->count + (unsigned long long)predicted;

  anchor->count = nearest(expected, low);
  if (elapsed > 0) /* else the clock has not moved, and cannot tell */
    note_jump(anchor, (long long)(anchor->count - expected), predicted,
      counts(extension->fastest, elapsed));
}

/* The count now, which becomes the anchor. */
static long long renew(const struct cpucycles_extension *extension, struct cpucycles_anchor *anchor)
{
  struct cpucycles_sample sample = sample_counter(extension);
  long long elapsed = since(anchor->time, sample.outer);

  if (extension->clock.settable || elapsed < 0)
    anchor->count = nearest(anchor->count + WRAP / 2 - WRAP / 16, (uint32_t)sample.inner);
  else
    proceed(extension, anchor, elapsed, (uint32_t)sample.inner);
  if (elapsed > 0)
    anchor->time = sample.outer;
  anchor->set = 1;
  store(extension, anchor);
  return (long long)anchor->count;
}

long long cpucycles_extend32(const struct cpucycles_extension *extension)
{
  struct cpucycles_anchor anchor;
  unsigned long long count;

  load(extension, &anchor);
  count = nearest(anchor.count, (uint32_t)extension->read());
  if (since(anchor.time, extension->clock.coarse()) < extension->nearby
    && (long long)(count - anchor.count) < NEAR && (long long)(anchor.count - count) < NEAR)
    return (long long)count;
  return renew(extension, &anchor);
}

void cpucycles_extend32_begin(struct cpucycles_extension *extension, long long (*read)(void),
  struct cpucycles_clock clock, long long persecond, long long fastest)
{
  struct cpucycles_sample sample;

  memset(extension, 0, sizeof *extension);
  memset(&own, 0, sizeof own);
  extension->read = read;
  extension->clock = clock;
  extension->rate = (double)persecond / 1e9;
  extension->fastest = 2e-9 * (double)(fastest > persecond ? fastest : persecond);
  extension->nearby = (long long)((double)NEAR / 2 / extension->fastest);
  sample = sample_counter(extension);
  extension->start.time = sample.outer;
  extension->start.count = (uint32_t)sample.inner;
  if (sample.outer == 0)
    extension->clock.settable = 1; /* refused */
}
