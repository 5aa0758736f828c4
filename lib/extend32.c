/* SPDX-License-Identifier: 0BSD OR MIT */
/* 32 bits of a counter to 64. Which counter, which clock and what estimate of its rate is the
   selection's matter.

   The low bits of the answer are always the counter's. What must be found is how often it has
   wrapped, and its own bits cannot tell: after a gap between two calls, every number of wraps looks
   the same. So a time source must be asked in every call; what can be saved is its precision. A
   call starts from an anchor (a moment of which the whole count is known), reads the counter, then
   reads the clock:

   - Near the anchor (within the time of 2^29 counts: all but one call in a tenth of a second or
     more of a busy thread) the clock's only use is to say so, and a coarse one serves. The counter
     was read between the anchor and the clock, wherever the thread was held up, so that
       -2^30 <= count - anchor < 3 * 2^30
     has one solution, and it is the right one for a counter up to 6 times as fast as estimated
     (less where the coarse clock lags: 5 times, if by a fifth of that time). The part below zero is
     for cores whose counters are not quite alike.

   - Else the count is predicted, anchor + rate * elapsed, and the solution nearest to the
     prediction taken. Here clock and counter must be read at one moment: clock, counter, clock, and
     again if that took the time of more than 2^15 counts.

   The bound. With D counted in the gap, a rate R, an estimate of it (1 + e) * R, and w counts in
   the time by which clock readings are wrong (granularity, and the width of clock-counter-clock),
   the prediction is wrong by at most |e| * D + w, and the answer right while that is below 2^31:
       D < (2^31 - w) / |e|.
   - Estimated 20 % off: D < 5 * 2^31, two and a half wraps: 10.7 s at 1 GHz.
   - Measured at the start to 0.1 %: 500 wraps: 35 minutes at 1 GHz.
   - From the second anchor on, the estimate is the mean rate since the first. After U counts of
     use, |e| <= 2 * w / U, so that D < 2^30 / w * U, nearly. A fine clock has w <= 2^15: gaps of
     2^15 times the time of use so far, nine hours after a second. The coarsest of clocks, of
     10 ms, has w = 10^7 at 1 GHz: a hundred times, two hours after a minute.
   Where the rate changes, |e| is the difference between the gap's rate and the mean. Where the
   counter or the clock stands still in a suspend while the other goes on, what one of them missed
   is part of the error; near an anchor, up to 2^30 counts of it are always right, and the mean
   leaves it out unless two stretches between anchors in a row have such a suspend. Past the bound,
   the answer is off by a multiple of 2^32 from there on.

   A wall clock that was set looks like a gap. If a step of a day must not count, a gap of up to a
   day cannot be told from it: less than 7/8 of a wrap must then lie between two calls (of any
   threads), and only more than two days are believed.

   State. Each thread has an anchor of its own, so that the count of a thread that stays on a core
   is right also where each core counts for itself. Threads meet in the published anchor: from
   it a thread starts, and to it it returns after the time of 2^31 counts without a call, if
   another thread has called since. It is in one of some slots, of which one 32-bit word says which
   is current, so that no atomic access is wider than 32 bits. To publish is to write a free slot
   and swing that word: nobody waits for anybody, and a thread that dies there costs a slot.
   A signal handler that interrupts a read finds the published anchor whole, and its thread's own
   whole or marked. */

#include "config.h"

#include "lib/extend32.h"
#include "lib/tls.h"

#include <stddef.h>
#include <string.h>

#define QUARTER (1ULL << 30)

enum {
  SIGHTS = 8,          /* tries to read clock and counter at one moment */
  COARSE = 20000000,   /* ns: two readings of the coarsest clocks may be wrong by that */
  STRETCH = 250000000, /* ns: in less, they cannot tell a rate */
  MOMENT = 14          /* a moment is one part in 2^14 of what is near */
};

/* Of the stretch that ends in an anchor: */
enum { USUAL, UNUSUAL, ANEW };

#define DAYS (86400LL * 1000000000)

/* What a thread owns. `sequence` is odd while the rest is written: a signal handler may look. */
static CPUCYCLES_TLS struct {
  unsigned sequence;
  const struct cpucycles_extension *of;
  struct cpucycles_anchor anchor;
} own;

static int load_own(const struct cpucycles_extension *extension, struct cpucycles_anchor *anchor)
{
  unsigned sequence = __atomic_load_n(&own.sequence, __ATOMIC_RELAXED);
  int mine;

  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  mine = own.of == extension;
  *anchor = own.anchor;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return mine && sequence % 2 == 0 && __atomic_load_n(&own.sequence, __ATOMIC_RELAXED) == sequence;
}

/* The one count that ends in these 32 bits and is at least expected - 2^31, and below expected +
   2^31. */
static unsigned long long nearest(unsigned long long expected, uint32_t low)
{
  return expected + (unsigned long long)(long long)(int32_t)(low - (uint32_t)expected);
}

static long long since(long long time, long long now)
{
  return (long long)((unsigned long long)now - (unsigned long long)time);
}

static long long renew(struct cpucycles_extension *extension);

long long cpucycles_extend32(struct cpucycles_extension *extension)
{
  struct cpucycles_anchor mine;
  unsigned long long count;

  if (load_own(extension, &mine)) {
    count = nearest(mine.count + QUARTER, (uint32_t)extension->read());
    /* The second condition keeps the anchor fresh if the clock should stand still. */
    if (since(mine.time, extension->witness.about()) < extension->near
      && (long long)(count - mine.count) < (long long)QUARTER)
      return (long long)count;
  }
  return renew(extension);
}

/* All calls but one in a tenth of a second have ended there, unless the clock can be set. */
/* Not in a handler that interrupted this very function; and if one never returned here
   (siglongjmp), the thread goes on with the published anchor. */
static void store_own(const struct cpucycles_extension *extension,
  const struct cpucycles_anchor *anchor)
{
  unsigned sequence = __atomic_load_n(&own.sequence, __ATOMIC_RELAXED);

  if (sequence % 2)
    return;
  __atomic_store_n(&own.sequence, sequence + 1, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  own.of = extension;
  own.anchor = *anchor;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&own.sequence, sequence + 2, __ATOMIC_RELAXED);
}

/* The published anchor. The current slot is never written, so that what was read from it is whole
   if it was current before and after. Acquire and release on every word keep their order without a
   fence. */
static uint32_t load_published(const struct cpucycles_extension *extension,
  struct cpucycles_anchor *anchor)
{
  uint32_t words[CPUCYCLES_ANCHOR_WORDS], current;
  int i;

  do {
    current = __atomic_load_n(&extension->current, __ATOMIC_ACQUIRE);
    for (i = 0; i < CPUCYCLES_ANCHOR_WORDS; i++)
      words[i] = __atomic_load_n(
        &extension->slots[current % CPUCYCLES_ANCHOR_SLOTS].words[i], __ATOMIC_ACQUIRE);
  } while (__atomic_load_n(&extension->current, __ATOMIC_RELAXED) != current);
  memcpy(anchor, words, sizeof *anchor); /* cppcheck-suppress uninitvar ; the loop fills it */
  return current;
}

static void write_slot(struct cpucycles_extension *extension, int slot,
  const struct cpucycles_anchor *anchor)
{
  uint32_t words[CPUCYCLES_ANCHOR_WORDS];
  int i;

  memcpy(words, anchor, sizeof *anchor);
  for (i = 0; i < CPUCYCLES_ANCHOR_WORDS; i++)
    __atomic_store_n(&extension->slots[slot].words[i], words[i], __ATOMIC_RELEASE);
}

static int take_slot(struct cpucycles_extension *extension)
{
  int slot;

  for (slot = 0; slot < CPUCYCLES_ANCHOR_SLOTS; slot++)
    if (!__atomic_exchange_n(&extension->slots[slot].taken, 1, __ATOMIC_ACQ_REL))
      return slot;
  return -1;
}

static void free_slot(struct cpucycles_extension *extension, uint32_t slot)
{
  __atomic_store_n(&extension->slots[slot].taken, 0, __ATOMIC_RELEASE);
}

/* Makes the anchor the published one, in place of `current`; if another thread was quicker, its is
   as good. */
static void publish(struct cpucycles_extension *extension, uint32_t current,
  const struct cpucycles_anchor *anchor)
{
  uint32_t old = current % CPUCYCLES_ANCHOR_SLOTS, next;
  int slot = take_slot(extension);

  if (slot < 0)
    return;
  write_slot(extension, slot, anchor);
  next = current - old + CPUCYCLES_ANCHOR_SLOTS + (uint32_t)slot;
  if (__atomic_compare_exchange_n(
        &extension->current, &current, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    free_slot(extension, old);
  else
    free_slot(extension, (uint32_t)slot);
}

static int has_mean(const struct cpucycles_anchor *anchor)
{
  return since(anchor->since, anchor->time) >= STRETCH;
}

static double rate_until(const struct cpucycles_extension *extension,
  const struct cpucycles_anchor *anchor)
{
  if (extension->witness.settable || !has_mean(anchor))
    return extension->rate;
  return (double)(long long)(anchor->count - anchor->counted)
    / (double)since(anchor->since, anchor->time);
}

/* Where the window of nearest() is to be centred, that long after the anchor. */
static unsigned long long expect(const struct cpucycles_extension *extension,
  const struct cpucycles_anchor *anchor, long long elapsed)
{
  double ahead;

  if (extension->witness.settable && elapsed < 2 * DAYS)
    return anchor->count + 2 * QUARTER - QUARTER / 4;
  ahead = elapsed > 0 ? rate_until(extension, anchor) * (double)elapsed : 0;
  if (ahead > 0x1p61)
    ahead = 0x1p61; /* a clock gone wild */
  return anchor->count + (ahead > (double)QUARTER ? (unsigned long long)ahead : QUARTER);
}

struct sight {
  long long time, width;
  uint32_t low;
};

static struct sight look(const struct cpucycles_extension *extension)
{
  struct sight sight;

  sight.time = extension->witness.now();
  sight.low = (uint32_t)extension->read();
  sight.width = since(sight.time, extension->witness.now());
  return sight;
}

/* Clock and counter at one moment, or as near to that as a busy machine allows. */
static struct sight take_sight(const struct cpucycles_extension *extension)
{
  int tries = extension->witness.settable ? 1 : SIGHTS, i;
  struct sight best = look(extension), next;

  for (i = 1; i < tries && best.width > extension->near >> MOMENT; i++) {
    next = look(extension);
    if (next.width < best.width)
      best = next;
  }
  return best;
}

/* Is that what the mean rate, or as long as there is none, the estimate makes probable? */
static int is_usual(const struct cpucycles_extension *extension,
  const struct cpucycles_anchor *before, long long span, unsigned long long counted)
{
  double rate = rate_until(extension, before);
  double excess = (double)(long long)counted - rate * (double)span;
  double slack = rate * ((double)span / (has_mean(before) ? 16 : 3) + COARSE);

  return excess < slack && -excess < slack;
}

/* What the stretch between the two says of the rate. An unusual one is left out of the mean: a
   suspend in which only one of clock and counter went on. After two in a row the mean starts
   anew. */
static void learn(const struct cpucycles_extension *extension,
  const struct cpucycles_anchor *before, struct cpucycles_anchor *now)
{
  long long span = since(before->time, now->time);
  unsigned long long counted = now->count - before->count;

  if (before->strange == ANEW && !has_mean(before))
    return;
  now->strange = USUAL;
  if (is_usual(extension, before, span, counted))
    return;
  if (before->strange == USUAL) {
    now->since += span;
    now->counted += counted;
    now->strange = UNUSUAL;
  } else {
    now->since = before->time;
    now->counted = before->count;
    now->strange = ANEW;
  }
}

static struct cpucycles_anchor proceed(const struct cpucycles_extension *extension,
  const struct cpucycles_anchor *before, const struct sight *sight)
{
  struct cpucycles_anchor now = *before;

  now.time = sight->time;
  now.count = nearest(expect(extension, before, since(before->time, sight->time)), sight->low);
  if (!extension->witness.settable)
    learn(extension, before, &now);
  return now;
}

/* Has the published anchor grown old? Against a clock that can be set or stands still, by the
   count. */
static int is_old(const struct cpucycles_extension *extension,
  const struct cpucycles_anchor *published, const struct cpucycles_anchor *now)
{
  long long elapsed = since(published->time, now->time);

  return elapsed > extension->near / 2 || elapsed < 0
    || now->count - published->count > QUARTER / 4;
}

/* A thread's own anchor goes before the published one while it cannot fail, which is for 2^31
   counts. */
static int prefer_own(const struct cpucycles_extension *extension,
  const struct cpucycles_anchor *mine, const struct cpucycles_anchor *published,
  const struct sight *sight)
{
  double ahead = rate_until(extension, mine) * (double)since(mine->time, sight->time);

  return ahead < 2 * (double)QUARTER || since(published->time, mine->time) >= 0;
}

/* The count now, with new anchors. */
static long long renew(struct cpucycles_extension *extension)
{
  struct cpucycles_anchor published, mine, now;
  struct sight sight;
  uint32_t current;
  int have_own;

  do {
    have_own = load_own(extension, &mine);
    current = load_published(extension, &published);
    sight = take_sight(extension);
    /* Against a wall clock, the anchor must be the last one of before the sight. */
  } while (extension->witness.settable
    && __atomic_load_n(&extension->current, __ATOMIC_ACQUIRE) != current);
  if (have_own && prefer_own(extension, &mine, &published, &sight))
    now = proceed(extension, &mine, &sight);
  else
    now = proceed(extension, &published, &sight);
  if (is_old(extension, &published, &now))
    publish(extension, current, &now);
  if (!extension->witness.settable)
    store_own(extension, &now);
  return (long long)now.count;
}

void cpucycles_extend32_begin(struct cpucycles_extension *extension, long long (*read)(void),
  struct cpucycles_witness witness, long long persecond, long long fastest)
{
  struct cpucycles_anchor first;
  struct sight sight;

  memset(extension, 0, sizeof *extension);
  extension->read = read;
  extension->witness = witness;
  extension->rate = (double)persecond / 1e9;
  if (fastest < persecond)
    fastest = persecond;
  extension->near = (long long)(1e9 / (double)fastest * (double)QUARTER / 2);
  sight = take_sight(extension);
  memset(&first, 0, sizeof first);
  first.time = first.since = sight.time;
  first.count = first.counted = sight.low;
  extension->slots[0].taken = 1;
  write_slot(extension, 0, &first);
  own.of = NULL;
}
