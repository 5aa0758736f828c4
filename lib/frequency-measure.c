/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the core's frequency: times a chain of adds, each of which waits for the one before and
   takes one cycle, by the OS clock. sys/dependent-add.h lists the CPUs on which an add takes one
   cycle. If no source reports the frequency, the result serves as an estimate on every CPU. */

#include "config.h"

#include "lib/frequency.h"
#include "lib/scale.h"
#include "sys/os-clock.h"

enum {
  ADDS = 512,             /* per pass; the loop around it takes 2 more cycles at most */
  PASSES_LIMIT = 4096,    /* per window: enough for 20 GHz; if not, the clock is too coarse */
  STUCK_PASSES = 512,     /* a clock of microseconds advances in so many even at 200 GHz */
  STEPS = 100,            /* of the clock, at least, in a window: for 1 % */
  MIN_WINDOW_NS = 10000,  /* below it, the cost of reading the clock would dominate */
  WINDOW_CAP_NS = 100000, /* no longer window is needed: STEPS of a clock of microseconds */
  BUDGET_NS = 1800000,    /* of all windows */
  MAX_STEP_NS = 2000,     /* of a clock: by a coarser one, windows of other lengths look equal */
  AGREEING = 3            /* shortest windows, which must agree within 1 % */
};

/* Unoptimized code would add in memory, and measure that. */
#if defined(__GNUC__) && defined(__OPTIMIZE__)

/* The asm may change x, so the compiler cannot join adds. Both operands are registers, as some
   CPUs execute the addition of a constant in no time. */
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

long long cpuc_frequency_measure_core(void)
{
  const struct cpuc_timed_loop loop = { cpuc_os_clock_monotonic, run_adds };

  return cpuc_frequency_measure_loop(&loop);
}

#else

long long cpuc_frequency_measure_core(void)
{
  return 0;
}

#endif

/* The windows so far, and the length of the next one. */
struct series {
  long passes;                   /* a window */
  int count;                     /* of windows that were long enough */
  long long shortest[AGREEING];  /* of these windows, in order */
  long long least;               /* shortest time that the clock has shown; 0: none yet */
  int is_coarse;                 /* the clock did not advance in a window */
  long long next, longest;       /* expected length of the next window; longest so far */
};

/* The length of a window in nanoseconds: as short as the clock's step allows, since fewer short
   windows are interrupted. The clock's step is at most the least time that it has shown. */
static long long enough_time(const struct series *series)
{
  long long time = STEPS * series->least;

  return time < MIN_WINDOW_NS ? MIN_WINDOW_NS : time < WINDOW_CAP_NS ? time : WINDOW_CAP_NS;
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

/* Adds a window. One that is too short begins a new series of windows twice as long; any earlier
   ones were interrupted. Returns 0, or -1: the clock is too coarse, or went back. */
static int add_window(struct series *series, long long time)
{
  if (time < 0 || (time == 0 && series->passes >= STUCK_PASSES))
    return -1;
  if (time > series->longest)
    series->longest = time;
  if (time > 0 && (series->least == 0 || time < series->least))
    series->least = time;
  series->is_coarse |= time == 0;
  if (time == 0 || time < enough_time(series)) {
    series->passes *= 2;
    series->count = 0;
    series->next = 2 * time;
    return series->passes <= PASSES_LIMIT ? 0 : -1;
  }
  /* the first window may have been interrupted, but hardly the first two */
  if (series->count == 1)
    series->next = series->shortest[0];
  if (time < series->next)
    series->next = time;
  insert(series, time);
  return 0;
}

/* Interruptions make windows longer. The shortest was not interrupted, if others agree with it;
   none agrees with a window during which the clock was set back. Returns the time of the shortest;
   0: no agreement. */
static long long result_of(const struct series *series)
{
  long long shortest = series->shortest[0];

  if (series->count < AGREEING || !cpuc_scale_rates_agree(shortest, series->shortest[AGREEING - 1]))
    return 0;
  return shortest;
}

/* Returns 1 if there is time for another window. As long as there is no result, the excess of the
   longest window does not count: one interruption must not use up the time of all windows. The
   whole can thus exceed 2 ms by one window's interruption, or by those of two windows if the first
   one came early. */
static int has_time(const struct series *series, long long spent)
{
  long long budget = BUDGET_NS;

  if (series->longest > series->next && result_of(series) == 0)
    budget += series->longest - series->next;
  return spent >= 0 && spent + series->next <= budget;
}

long long cpuc_frequency_measure_loop(const struct cpuc_timed_loop *loop)
{
  struct series series = { .passes = 1 };
  long long begin = loop->now(), now = begin, last, shortest, cost = BUDGET_NS;
  int i;

  for (i = 0; i < AGREEING; i++) { /* the shortest time of a read of the clock */
    last = now;
    now = loop->now();
    if (now - last < cost)
      cost = now - last;
  }

  /* a window begins where the one before ended, so no interruption is lost between them */
  do {
    last = now;
    loop->run(series.passes);
    now = loop->now();
    if (add_window(&series, now - last) != 0)
      return 0;
  } while (has_time(&series, now - begin));
  shortest = result_of(&series);
  if (shortest == 0 || cost < 0 || cost > shortest / 10)
    return 0;
  if (series.is_coarse && series.least > MAX_STEP_NS)
    return 0;
  return plausible_rate((unsigned long long)cpuc_scale_counts_per_second(
    (unsigned long long)series.passes * ADDS, shortest - cost));
}
