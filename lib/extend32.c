/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a 32-bit counter to 64 bits. select.c chooses the counter, the clock and the estimate of
   the rate.

   The low bits of a count are those of the counter. The high bits are the number of wraps, which
   only a clock can show. Each thread extends from its own anchor: a time, and the count at that
   time. The first anchor of every thread is the start of the extension.

   A read predicts the count as anchor + rate * elapsed. Of the counts that end in the counter's 32
   bits, it returns the one nearest to the prediction. Near the anchor (within 10 ms and 2^26
   counts) the anchor itself is the prediction, and the read is done. Otherwise clock and counter
   are sampled together, and the result becomes the anchor.

   Bounds. Let T be the time from the beginning of a thread's read to the end of its next one, plus
   10 ms and the lag of the coarse clock, because the anchor may be that much older than the first
   read; and let w be the error of the samples in counts. The counts of a thread that stays on its
   core are correct while the counts in T differ from rate * T by less than 2^31 - w.
   - Any rate from 0 (the core sleeps) to the fastest: T is below 2^31 counts of the fastest rate,
     or of the estimate if that is higher: 1.43 s at 1.5 GHz.
   - Constant rate, estimated with a relative error e: T is below 2^31 / e counts: 10.7 s at 1 GHz
     where the estimate is 20 % off, 35 minutes where the rate was measured to 0.1 %.
   Where the clock does not advance (it is refused, or has stopped), there must be less than 7/8 of
   2^32 counts between two reads. Beyond the bounds, the thread's counts are wrong by a multiple of
   2^32 from then on.

   A thread that moves to a core whose counter differs gets an error of at most 2^31, the distance
   of the nearest count. The errors of several moves can add up.

   Signal handlers may read at any time, and may never return (siglongjmp). A store blocks signals,
   so that they find a whole anchor. A read that a handler's store interrupts copies the anchor
   again. A read that is interrupted later may replace the anchor of a handler by its own earlier
   sample, which is as good: it lies within this read, and T begins with it. */

#include "config.h"

#include "lib/extend32.h"
#include "sys/clock-sample.h"
#include "sys/os-thread.h"
#include "sys/thread-local.h"

#include <string.h>

#define NEAR_TIME 10000000LL
#define NEAR_COUNTS (1LL << 26)
#define WRAP (1LL << 32)

/* A sample of the counter between two reads of the clock that are this close, in nanoseconds, is
   tight enough: its error w is far below 2^26 counts. */
#define TIGHT 5000

enum { TRIES = 8 };

/* Shared with the signal handlers of the thread. */
static CPUC_THREAD_LOCAL struct {
  struct cpuc_extend32_anchor anchor;
  unsigned int sequence; /* number of stores */
} own;

/* Keeps the compiler from moving accesses to `own` across. Handlers of a thread run on its CPU, so
   that its order needs no other barrier. */
static void signal_fence(void)
{
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Copies the thread's anchor, or the start of the extension if it has none. */
static void load_anchor(const struct cpuc_extension *extension, struct cpuc_extend32_anchor *anchor)
{
  unsigned int sequence;

  do {
    sequence = __atomic_load_n(&own.sequence, __ATOMIC_RELAXED);
    signal_fence();
    *anchor = own.anchor;
    signal_fence();
  } while (__atomic_load_n(&own.sequence, __ATOMIC_RELAXED) != sequence);
  if (!anchor->set)
    *anchor = extension->start;
}

static void store_anchor(const struct cpuc_extend32_anchor *anchor)
{
  struct cpuc_os_thread_signals saved;

  cpuc_os_thread_block_signals(&saved);
  signal_fence();
  own.anchor = *anchor;
  __atomic_store_n(&own.sequence, own.sequence + 1, __ATOMIC_RELAXED);
  signal_fence();
  cpuc_os_thread_restore_signals(&saved);
}

/* Wraps around instead of overflowing, whatever a clock returns. */
static long long since(long long time, long long now)
{
  return (long long)((unsigned long long)now - (unsigned long long)time);
}

/* The count from expected - 2^31 to expected + 2^31 - 1 whose low 32 bits are `low`. */
static unsigned long long nearest(unsigned long long expected, uint32_t low)
{
  return expected + (unsigned long long)(long long)(int32_t)(low - (uint32_t)expected);
}

static struct clock_sample sample_counter(const struct cpuc_extension *extension)
{
  return tightest_clock_sample(extension->clock.now, extension->read, TRIES, TIGHT);
}

/* The counts to expect in that time. If the clock does not advance, the middle of those that the
   nearest count can show, from -1/16 to 15/16 of 2^32. */
static unsigned long long predicted_counts(const struct cpuc_extension *extension,
  long long elapsed)
{
  if (elapsed <= 0)
    return WRAP / 2 - WRAP / 16;
  return (unsigned long long)cpuc_scale_apply(extension->rate, elapsed);
}

/* Samples counter and clock. The count becomes the anchor. */
static long long resample(const struct cpuc_extension *extension,
  struct cpuc_extend32_anchor *anchor)
{
  struct clock_sample sample = sample_counter(extension);
  long long elapsed = since(anchor->time, sample.outer);

  anchor->count
    = nearest(anchor->count + predicted_counts(extension, elapsed), (uint32_t)sample.inner);
  if (elapsed > 0)
    anchor->time = sample.outer;
  anchor->set = 1;
  store_anchor(anchor);
  return (long long)anchor->count;
}

long long cpuc_extend32(const struct cpuc_extension *extension)
{
  struct cpuc_extend32_anchor anchor;
  unsigned long long count;

  load_anchor(extension, &anchor);
  count = nearest(anchor.count, (uint32_t)extension->read());
  if (since(anchor.time, extension->clock.coarse()) < NEAR_TIME
    && (long long)(count - anchor.count) < NEAR_COUNTS
    && (long long)(anchor.count - count) < NEAR_COUNTS)
    return (long long)count;
  return resample(extension, &anchor);
}

void cpuc_extend32_begin(struct cpuc_extension *extension, long long (*read)(void),
  struct cpuc_extend32_clock clock, long long persecond)
{
  struct clock_sample sample;

  memset(&own, 0, sizeof own);
  extension->read = read;
  extension->clock = clock;
  extension->rate = cpuc_scale_between(1000000000, persecond);
  sample = sample_counter(extension);
  extension->start.time = sample.outer;
  extension->start.count = (uint32_t)sample.inner;
  extension->start.set = 1;
}
