/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a 32-bit counter to 64 bits. select.c chooses the counter, the clock and the estimate of
   the rate.

   The low bits of a count are the counter's. The high bits are the number of wraps, which only a
   clock can tell. Each thread extends by itself, from its own anchor: a time, and the count at that
   time. The first anchor of every thread is the start of the extension.

   A read predicts the count, anchor + rate * elapsed. Of the counts that end in the counter's 32
   bits, it returns the one nearest to the prediction. Near the anchor (within 2^25 counts by a
   coarse clock, and 2^26 by the counter) the anchor is the prediction, and the read is done.
   Otherwise clock and counter are read together, and the result is the next anchor.

   Bounds. Let T be the time from the beginning of a thread's read to the end of its next one, and
   w the clock's error in counts. The counts of a thread that stays on its core are correct while
   the counts in T differ from rate * T by less than 2^31 - w.
   - Any rate from 0 (the core sleeps) to the fastest: T is below 2^31 counts of the fastest rate,
     or of the estimate if that is higher, less 2^26: 1.38 s at 1.5 GHz.
   - Constant rate, estimated with a relative error e: T is below 2^31 / e counts, less 2^26: 10.6 s
     at 1 GHz where it is 20 % off, 35 minutes where it was measured to 0.1 %.
   The 2^26 allow for an anchor that is older than the last read: by 2^24 counts of the fastest
   rate, which may be 20 % too low, and by the lag of the coarse clock. Beyond the bounds, the
   thread's counts are wrong by a multiple of 2^32 from then on. Without a clock (refused, set
   backward, or a wall clock, which can be set), T must be below 7/8 of 2^32 counts.

   Migrations. A core's counter may differ from another's. A thread that moves sees a jump, from
   -2^31 to 2^31. Where the difference and T are together below 2^31 counts, less 2^26 and the
   estimate's error, the jumps cancel: neither a step back nor an error exceeds the difference.
   Otherwise jumps can add up, for instance between three cores that are 2^32 / 3 apart. The anchor
   therefore holds their sum. If a negative sum exceeds 3 * 2^30 by more than a slower counter
   explains, or a positive one by more than a faster counter explains, the count is corrected by
   2^32. The error then grows only as if the counter ran slower or faster: by the time that it may
   have slept, and by the estimate's error. Jumps of up to 2^26 are never corrected: 64 cores or
   more, each that far ahead of the one before, look like one fast core.
   A difference that a counter between 0 and twice the fastest rate explains is not a jump, unless
   it undoes one; but a jump may hide in it. A gap of less than 2^25 counts that is as predicted, to
   1/8, is assumed to hide none, since a thread that reads all the time has many such gaps.
   Exception: a thread that sleeps that briefly, and each time wakes on a core ahead by just as
   much, gathers errors after some dozens of such moves.

   Signals. Handlers may read, and may never return (siglongjmp). A thread has two places for an
   anchor. Each place holds two copies, which are equal if it is valid. A store goes to the place
   that is not in use, so that a handler that interrupts the store finds the other place valid. The
   handler may store at the same place. Then either the two copies differ after the interrupted
   store, which is repeated, or both are the handler's. */

#include "config.h"

#include "lib/extend32.h"
#include "sys/clock-sample.h"
#include "sys/thread-local.h"

#include <string.h>

#define NEAR (1LL << 26)
#define NOISE (1LL << 20)
#define LARGEST_SUM (3LL << 30)
#define WRAP (1LL << 32)

enum { TRIES = 8 };

static CPUCYCLES_TLS struct {
  struct cpucycles_anchor copies[2][2]; /* two of each place */
  int current;                          /* place in use */
} anchors;

/* Orders accesses to the anchors, which a signal handler of the thread accesses too. */
static void signal_fence(void)
{
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Copies the anchor at a place. Returns 0 if it is not valid. */
static int load_place(int place, struct cpucycles_anchor *anchor)
{
  struct cpucycles_anchor second;

  signal_fence();
  *anchor = anchors.copies[place][0];
  signal_fence();
  second = anchors.copies[place][1];
  signal_fence();
  return memcmp(anchor, &second, sizeof second) == 0;
}

/* Copies the thread's anchor, or the start of the extension if it has none. Returns its place.
   Repeats if a handler has stored meanwhile. */
static int load(const struct cpucycles_extension *extension, struct cpucycles_anchor *anchor)
{
  int place = __atomic_load_n(&anchors.current, __ATOMIC_RELAXED), tries = TRIES;

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
    signal_fence();
    anchors.copies[place][0] = *anchor;
    signal_fence();
    anchors.copies[place][1] = *anchor;
    signal_fence();
    /* invalid if a handler has stored here meanwhile */
  } while (!load_place(place, &stored));
  __atomic_store_n(&anchors.current, place, __ATOMIC_RELAXED);
}

static long long since(long long time, long long now)
{
  return (long long)((unsigned long long)now - (unsigned long long)time);
}

/* The count from expected - 2^31 to expected + 2^31 - 1 whose low 32 bits are `low`. */
static unsigned long long nearest(unsigned long long expected, uint32_t low)
{
  return expected + (unsigned long long)(long long)(int32_t)(low - (uint32_t)expected);
}

/* The counter between two reads of the clock. A sample that takes less than 2^14 counts is tight
   enough. */
static struct clock_sample sample_counter(const struct cpucycles_extension *extension)
{
  return tightest_clock_sample(extension->clock.now, extension->read, TRIES,
    extension->near_time >> 11);
}

/* Converts nanoseconds to counts. The limit is for a clock that leaps. */
static long long counts_in(double rate, long long elapsed)
{
  double counted = rate * (double)elapsed;

  return counted < 0x1p60 ? (long long)counted : 1LL << 60;
}

static long long magnitude(long long number)
{
  return number < 0 ? -number : number;
}

/* Adds a jump to the sum, and corrects the count if the sum is then too large. */
static void add_jump(struct cpucycles_anchor *anchor, long long excess)
{
  long long sum = anchor->jumped + excess, wrap = sum < 0 ? WRAP : -WRAP;

  anchor->jumped = sum;
  if (magnitude(excess) <= NEAR
    || magnitude(sum) <= LARGEST_SUM + (sum < 0 ? anchor->lag_allowance : anchor->lead_allowance))
    return;
  anchor->count += (unsigned long long)wrap;
  anchor->jumped += wrap;
  if (magnitude(anchor->jumped) > LARGEST_SUM) /* the rest was no jump */
    anchor->jumped = sum < 0 ? -LARGEST_SUM : LARGEST_SUM;
  anchor->lag_allowance = anchor->lead_allowance = 0;
}

/* Looks for a jump in the excess of a count over its prediction. most: counts at twice the fastest
   rate, which may be 20 % too low, so that a counter counts at most 5/8 of `most`. */
static void note_jump(struct cpucycles_anchor *anchor, long long excess, long long predicted,
  long long most)
{
  long long sum = anchor->jumped + excess, ahead = most / 8 * 5 - predicted;
  int explained = excess < 0 ? excess > -predicted - NOISE : excess < most - predicted + NOISE;

  if (explained && predicted < NEAR / 2 && magnitude(excess) <= predicted / 8)
    return; /* hides no large jump */
  anchor->lag_allowance += predicted < WRAP ? predicted : WRAP;
  if (ahead > 0)
    anchor->lead_allowance += ahead < WRAP ? ahead : WRAP;
  if (!explained)
    add_jump(anchor, excess);
  else if ((excess < 0) != (anchor->jumped < 0)) /* may undo a jump, or more */
    anchor->jumped = (sum < 0) == (anchor->jumped < 0) ? sum : 0;
  if (magnitude(anchor->jumped) < NEAR) /* the rest is the estimate's error */
    anchor->jumped = anchor->lag_allowance = anchor->lead_allowance = 0;
}

/* Advances the anchor to the count that was sampled `elapsed` nanoseconds after it. */
static void advance_anchor(const struct cpucycles_extension *extension,
  struct cpucycles_anchor *anchor, long long elapsed, uint32_t low)
{
  long long predicted = counts_in(extension->rate, elapsed);
  unsigned long long expected = anchor->count + (unsigned long long)predicted;

  anchor->count = nearest(expected, low);
  if (elapsed > 0) /* the clock has moved, and can tell */
    note_jump(anchor, (long long)(anchor->count - expected), predicted,
      counts_in(extension->twice_fastest, elapsed));
}

/* Samples counter and clock. The count becomes the anchor. */
static long long renew(const struct cpucycles_extension *extension, struct cpucycles_anchor *anchor)
{
  struct clock_sample sample = sample_counter(extension);
  long long elapsed = since(anchor->time, sample.outer);

  if (extension->clock.settable || elapsed < 0)
    anchor->count = nearest(anchor->count + WRAP / 2 - WRAP / 16, (uint32_t)sample.inner);
  else
    advance_anchor(extension, anchor, elapsed, (uint32_t)sample.inner);
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
  if (since(anchor.time, extension->clock.coarse()) < extension->near_time
    && (long long)(count - anchor.count) < NEAR && (long long)(anchor.count - count) < NEAR)
    return (long long)count;
  return renew(extension, &anchor);
}

void cpucycles_extend32_begin(struct cpucycles_extension *extension, long long (*read)(void),
  struct cpucycles_clock clock, long long persecond, long long fastest)
{
  struct clock_sample sample;

  memset(extension, 0, sizeof *extension);
  memset(&anchors, 0, sizeof anchors);
  extension->read = read;
  extension->clock = clock;
  extension->rate = (double)persecond / 1e9;
  extension->twice_fastest = 2e-9 * (double)(fastest > persecond ? fastest : persecond);
  extension->near_time = (long long)((double)NEAR / 2 / extension->twice_fastest);
  sample = sample_counter(extension);
  extension->start.time = sample.outer;
  extension->start.count = (uint32_t)sample.inner;
  if (sample.outer == 0)
    extension->clock.settable = 1; /* refused: do not rely on it */
}
