/* SPDX-License-Identifier: 0BSD OR MIT */
/* The core's frequency: a chain of adds, each of which waits for the one before it and takes one
   cycle, timed against the OS clock. backends/common/dependent-add.h knows on which CPUs they do; as an
   estimate where nobody states the frequency, the result serves on all. */

#include "config.h"

#include "lib/frequency.h"
#include "sys/os-clock.h"

enum {
  ADDS = 512,           /* a pass: the loop around it takes 2 more cycles at most */
  PASSES_LIMIT = 4096,  /* of a window: 20 GHz need so many; more, and the clock does not tell */
  STILL = 512,          /* passes: a clock of microseconds moves meanwhile even at 200 GHz */
  STEPS = 100,          /* of the clock, at least, in a window: for 1 % */
  SHORTEST = 10000,     /* nanoseconds of a window, at least: reading the clock takes some, too */
  ENOUGH = 100000,      /* of any: STEPS of a clock of microseconds */
  WHOLE = 1800000,      /* for all windows */
  AGREEING = 3          /* the shortest windows that must, within 1 % */
};

/* In registers, that is. Unoptimized code would add in memory, and measure that. */
#if defined(__GNUC__) && defined(__OPTIMIZE__)

/* The compiler does not know what the asm does to x, and so cannot join adds; both are registers,
   as some CPUs execute the addition of a constant in no time at all. */
__attribute__((always_inline)) static inline unsigned long add(unsigned long x, unsigned long y)
{
  x += y;
  __asm__ volatile("" : "+r"(x));
  return x;
}

__attribute__((always_inline)) static inline unsigned long add_4(unsigned long x, unsigned long y)
{
  return add(add(add(add(x, y), y), y), y);
}

__attribute__((always_inline)) static inline unsigned long add_16(unsigned long x, unsigned long y)
{
  return add_4(add_4(add_4(add_4(x, y), y), y), y);
}

__attribute__((always_inline)) static inline unsigned long add_64(unsigned long x, unsigned long y)
{
  return add_16(add_16(add_16(add_16(x, y), y), y), y);
}

__attribute__((always_inline)) static inline unsigned long add_128(unsigned long x,
  unsigned long y)
{
  return add_64(add_64(x, y), y);
}

static void run_adds(long passes)
{
  unsigned long x = 0, y = 1;

  __asm__ volatile("" : "+r"(x), "+r"(y));
  for (; passes > 0; passes--)
    x = add_128(add_128(add_128(add_128(x, y), y), y), y);
  __asm__ volatile("" : : "r"(x));
}

long long cpucycles_measured_frequency(void)
{
  const struct cpucycles_stopwatch stopwatch = { cpucycles_osclock_monotonic, run_adds };

  return cpucycles_measure(&stopwatch);
}

#else

long long cpucycles_measured_frequency(void)
{
  return 0;
}

#endif

/* The windows so far, and the length of the next one. */
struct series {
  long passes;                   /* a window */
  int count;                     /* of windows that were long enough to tell */
  long long shortest[AGREEING];  /* of them, in order */
  long long least;               /* time that the clock has shown; 0: none yet */
  long long next, longest;
};

/* The shorter the windows, the more of them no interruption falls into. No time that the clock has
   shown is shorter than its step. */
static long long long_enough(const struct series *series)
{
  long long time = STEPS * series->least;

  return time < SHORTEST ? SHORTEST : time < ENOUGH ? time : ENOUGH;
}

static void insert(struct series *series, long long time)
{
  int i = series->count < AGREEING ? series->count : AGREEING;

  series->count++;
  for (; i > 0 && time < series->shortest[i - 1]; i--)
    if (i < AGREEING)
      series->shortest[i] = series->shortest[i - 1];
  if (i < AGREEING)
    series->shortest[i] = time;
}

/* One that is too short begins a new series of windows twice as long: those before it, if any, had
   been interrupted. Returns 0, or -1: the clock does not tell. */
static int add_window(struct series *series, long long time)
{
  if (time < 0 || (time == 0 && series->passes >= STILL))
    return -1;
  if (time > series->longest)
    series->longest = time;
  if (time > 0 && (series->least == 0 || time < series->least))
    series->least = time;
  if (time == 0 || time < long_enough(series)) {
    series->passes *= 2;
    series->count = 0;
    series->next = 2 * time;
    return series->passes <= PASSES_LIMIT ? 0 : -1;
  }
  /* the first may have been interrupted, but not both the first two */
  if (series->count == 1)
    series->next = series->shortest[0];
  if (time < series->next)
    series->next = time;
  insert(series, time);
  return 0;
}

/* Interruptions make windows longer, so that the shortest is the best: it was not interrupted, if
   others agree with it. None does with one during which the clock was set back. Returns its time;
   0: they do not agree. */
static long long result_of(const struct series *series)
{
  long long shortest = series->shortest[0];

  if (series->count < AGREEING || series->shortest[AGREEING - 1] - shortest > shortest / 100)
    return 0;
  return shortest;
}

/* Is there time for another? As long as there is no result, by how much the longest was longer than
   usual is forgiven: an interruption takes its own time in any case, and ought not to take that of
   all others too. So 2 ms are exceeded by one window's interruption, or by two if the first came
   that early. */
static int has_time(const struct series *series, long long spent)
{
  long long whole = WHOLE;

  if (series->longest > series->next && result_of(series) == 0)
    whole += series->longest - series->next;
  return spent >= 0 && spent + series->next <= whole;
}

long long cpucycles_measure(const struct cpucycles_stopwatch *stopwatch)
{
  struct series series = { 1, 0, { 0 }, 0, 0, 0 };
  long long begin = stopwatch->now(), now = begin, last, shortest, hz, cost = WHOLE;
  int i;

  for (i = 0; i < AGREEING; i++) { /* what a read of the clock takes, at least */
    last = now;
    now = stopwatch->now();
    if (now - last < cost)
      cost = now - last;
  }

  /* a window begins where the one before ended: no interruption is between them */
  do {
    last = now;
    stopwatch->run(series.passes);
    now = stopwatch->now();
    if (add_window(&series, now - last) != 0)
      return 0;
  } while (has_time(&series, now - begin));
  shortest = result_of(&series);
  if (shortest == 0 || cost < 0 || cost > shortest / 10)
    return 0;
  hz = series.passes * ADDS * 1000000000LL / (shortest - cost);
  return plausible_rate((unsigned long long)hz);
}
