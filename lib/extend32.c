/* SPDX-License-Identifier: 0BSD OR MIT */
/* Extends a 32-bit counter to 64 bits. candidate.c chooses the clock and estimates the rate.

   The low 32 bits of a count come from the counter. The high bits are the number of wraparounds,
   which only a clock can tell. Each thread extends from its own anchor: a time and the count at
   that time. The first anchor of every thread is the start of the extension.

   A read predicts the count as anchor + rate * elapsed. Of all counts whose low 32 bits are those
   of the counter, it returns the one nearest to the prediction. Near the anchor (within 10 ms and
   2^26 counts) the prediction is the count of the anchor, and the anchor stays. Otherwise the read
   samples clock and counter together, and the result becomes the anchor.

   Bounds. Let T be the time from the beginning of one read of a thread to the end of its next read,
   plus 10 ms and the lag of the coarse clock, because the anchor may be that much older than the
   first read. Let w be the error of the samples in counts. The counts of a thread that stays on its
   core are correct while the counts in T differ from rate * T by less than 2^31 - w.
   - If the rate varies from 0 (the core sleeps) to a maximum, T must be below the time of 2^31
     counts at the maximum, or at the estimate if that is higher: 1.43 s at 1.5 GHz.
   - If the rate is constant and its estimate has the relative error e, T must be below the time of
     2^31 / e counts: 10.7 s at 1 GHz if the estimate is 20 % off, 35 minutes if the rate was
     measured within 0.1 %.
   If the clock does not advance (it is refused, or has stopped), there must be less than 7/8 of
   2^32 counts between two reads. Once a bound is exceeded, all later counts of the thread can be
   wrong by a multiple of 2^32.

   If a thread moves to a core whose counter differs, its counts get an error of less than 2^31 plus
   the error of the prediction, thus of less than 2^32, because a read returns the nearest count.
   The errors of several moves can add up.

   Signal handlers may read at any time, and may never return (siglongjmp). Signals are blocked
   while an anchor is stored, so that handlers find a whole anchor. If a handler stores an anchor
   while a read copies it, the read copies again. A read that is interrupted after it has copied its
   anchor and taken its sample may replace the anchor of the handler with this older sample. The
   replacement is correct, because T of the next read is counted from the beginning of the
   interrupted read, and the older sample was taken after that beginning. */

#include "config.h"

#include "lib/extend32.h"
#include "lib/scale.h"
#include "sys/clock-sample.h"
#include "sys/os-thread.h"
#include "sys/step.h"
#include "sys/thread-local.h"

#include <stdint.h>
#include <string.h>

#define NEAR_TIME 10000000LL
#define NEAR_COUNTS (1LL << 26)
#define WRAP (1LL << 32)

/* Nanoseconds. If two reads of the clock are at most this far apart, no further sample is taken,
   because the error w of the sample between them is far below 2^26 counts. */
#define TIGHT 5000

enum { TRIES = 8 };

/* A time, and the 64-bit count at that time. */
struct anchor {
  long long time;
  unsigned long long count;
  int set; /* 0 until an anchor is stored */
};

/* The extended counter. Constant after cpuc_extend32_begin(), so that threads can share it. */
static struct {
  long long (*read)(void);
  struct cpuc_extend32_clock clock;
  struct cpuc_scale rate; /* from nanoseconds to estimated counts */
  struct anchor start;    /* first anchor of every thread */
} extended;

/* The thread shares these variables with its signal handlers. */
static CPUC_THREAD_LOCAL struct {
  struct anchor anchor;
  unsigned int sequence; /* number of stores */
} own;

/* Keeps the compiler from moving accesses to `own` across this call. A barrier for the CPU is not
   needed, because a thread sees its own accesses in order. */
static void signal_fence(void)
{
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Copies the thread's anchor, or the start of the extension if the thread has none. */
static void load_anchor(struct anchor *anchor)
{
  unsigned int sequence;

  do {
    sequence = __atomic_load_n(&own.sequence, __ATOMIC_RELAXED);
    signal_fence();
    *anchor = own.anchor;
    signal_fence();
  } while (__atomic_load_n(&own.sequence, __ATOMIC_RELAXED) != sequence);
  if (!anchor->set)
    *anchor = extended.start;
}

static void store_anchor(const struct anchor *anchor)
{
  struct cpuc_os_thread_saved saved;

  cpuc_os_thread_block_signals_and_cancellation(&saved);
  signal_fence();
  own.anchor = *anchor;
  __atomic_store_n(&own.sequence, own.sequence + 1, __ATOMIC_RELAXED);
  signal_fence();
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
}

/* Returns the count from expected - 2^31 to expected + 2^31 - 1 whose low 32 bits are `low`. */
static unsigned long long nearest(unsigned long long expected, uint32_t low)
{
  return expected + (unsigned long long)(long long)(int32_t)(low - (uint32_t)expected);
}

static struct cpuc_clock_sample sample_counter(void)
{
  return cpuc_clock_sample_tightest(extended.clock.now, extended.read, TRIES, TIGHT);
}

/* Predicts the counts in the elapsed time. If the clock does not advance, returns 7/16 of 2^32, so
   that nearest() covers counts from -1/16 to 15/16 of 2^32. */
static unsigned long long predicted_counts(long long elapsed)
{
  if (elapsed <= 0)
    return WRAP / 2 - WRAP / 16;
  return (unsigned long long)cpuc_scale_apply(extended.rate, elapsed);
}

/* Samples counter and clock, and makes the sample the anchor. Returns the count of the new
   anchor. */
static long long resample(struct anchor *anchor)
{
  struct cpuc_clock_sample sample = sample_counter();
  long long elapsed = cpuc_step_between(anchor->time, sample.outer);

  anchor->count = nearest(anchor->count + predicted_counts(elapsed), (uint32_t)sample.inner);
  anchor->time = sample.outer;
  anchor->set = 1;
  store_anchor(anchor);
  return (long long)anchor->count;
}

long long cpuc_extend32(void)
{
  struct anchor anchor;
  unsigned long long count;

  load_anchor(&anchor);
  count = nearest(anchor.count, (uint32_t)extended.read());
  if (cpuc_step_between(anchor.time, extended.clock.coarse()) < NEAR_TIME
    && (long long)(count - anchor.count) < NEAR_COUNTS
    && (long long)(anchor.count - count) < NEAR_COUNTS)
    return (long long)count;
  return resample(&anchor);
}

void cpuc_extend32_begin(long long (*read)(void), struct cpuc_extend32_clock clock, long long rate)
{
  struct cpuc_clock_sample sample;

  memset(&own, 0, sizeof own);
  extended.read = read;
  extended.clock = clock;
  extended.rate = cpuc_scale_from_to(1000000000, rate);
  sample = sample_counter();
  extended.start.time = sample.outer;
  extended.start.count = (uint32_t)sample.inner;
  extended.start.set = 1;
}
