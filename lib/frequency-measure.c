/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the core frequency: times a chain of dependent adds against the OS clock. An add takes
   one cycle on the CPUs that sys/dependent-add.h lists. If no source reports the frequency,
   frequency.c takes the result as the estimate, even on a CPU that is not listed there. The windows
   of calibrate.c are unsuitable here, because the adds stop during an interruption, while a counter
   continues. So windows here are as short as the clock allows, and only the shortest are used. */

#include "config.h"

#include "lib/frequency.h"
#include "lib/scale.h"
#include "sys/dependent-add.h"
#include "sys/os-clock.h"

enum {
  PASSES_LIMIT = 4096,   /* per window: enough at 20 GHz, unless the clock is too coarse */
  STUCK_PASSES = 512,    /* even at 200 GHz, a clock of microseconds advances in this many */
  STEPS = 100,           /* required length of a window in steps of the clock, so a step is 1 % */
  MIN_WINDOW_NS = 10000, /* in shorter windows, the cost of reading the clock would matter */
  REQUIRED_CAP = 100000, /* ns: longest required length, 100 steps of 1 us */
  BUDGET_NS = 1800000,   /* for all windows */
  MAX_STEP_NS = 2000,    /* of a clock: a coarser clock makes different windows look equal */
  AGREEING = 3,          /* shortest windows that must agree within 1 % */
  CLOCK_READS = 3        /* to find the shortest time of a clock read */
};

/* The windows measured so far, and the length of the next one. All times are in nanoseconds. */
struct series {
  long passes;                  /* per window */
  int count;                    /* number of windows that were long enough */
  long long shortest[AGREEING]; /* the shortest of these windows, ascending */
  long long clock_step_bound;   /* shortest nonzero time of any window, which is at least the
                                   step of the clock; 0: none yet */
  int has_empty_window;         /* 1: the clock did not advance in a window */
  long long next, longest;      /* expected length of the next window; longest one so far */
};

/* Returns the length of a window that is long enough: as short as the step of the clock allows,
   because short windows are interrupted less often. */
static long long required_time(const struct series *series)
{
  long long time = STEPS * series->clock_step_bound;

  return time < MIN_WINDOW_NS ? MIN_WINDOW_NS : time < REQUIRED_CAP ? time : REQUIRED_CAP;
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

/* Adds a window. If it is too short, discards any earlier windows that seemed long enough, because
   they were interrupted, and begins a new series of windows that are twice as long. Returns 0, or
   -1 if the clock is too coarse, is stopped, or stepped back. */
static int add_window(struct series *series, long long time)
{
  if (time < 0 || (time == 0 && series->passes >= STUCK_PASSES))
    return -1;
  if (time > series->longest)
    series->longest = time;
  if (time > 0 && (series->clock_step_bound == 0 || time < series->clock_step_bound))
    series->clock_step_bound = time;
  series->has_empty_window |= time == 0;
  if (time == 0 || time < required_time(series)) {
    series->passes *= 2;
    series->count = 0;
    series->next = 2 * time;
    return series->passes <= PASSES_LIMIT ? 0 : -1;
  }
  /* The first window that is long enough may have been interrupted. So `next` keeps its value,
     twice the time of the last window that was too short, or 0 if no window was too short. If the
     current window took less than that, its time becomes `next`. From the second window that is
     long enough on, `next` is the time of the shortest, because it is unlikely that all of them
     were interrupted. */
  if (series->count == 1)
    series->next = series->shortest[0];
  if (time < series->next)
    series->next = time;
  insert(series, time);
  return 0;
}

/* Returns the time of the shortest window, or 0 if the second and third shortest windows do not
   agree with it. If they agree, the shortest window was not interrupted, because interruptions make
   windows longer, and the clock did not step back during it, because this would make the window
   shorter than all others. */
static long long result_of(const struct series *series)
{
  long long shortest = series->shortest[0];

  if (series->count < AGREEING
    || !cpuc_scale_agree_within_1_percent(shortest, series->shortest[AGREEING - 1]))
    return 0;
  return shortest;
}

/* Returns 1 if there is time for another window. Until there is a result, the time by which the
   longest window exceeds the expected time does not count, so that one interruption does not use up
   the time of all windows. The measurement can thus exceed 2 ms by two interruptions: by one
   that came before there was a result, and by one in the last window. */
static int has_time(const struct series *series, long long spent)
{
  long long budget = BUDGET_NS;

  if (series->longest > series->next && result_of(series) == 0)
    budget += series->longest - series->next;
  return spent >= 0 && spent + series->next <= budget;
}

long long cpuc_frequency_measure_core(void)
{
  struct series series = { .passes = 1 };
  long long begin = cpuc_os_clock_monotonic(), now = begin, last, shortest, cost = BUDGET_NS;
  int i;

  for (i = 0; i < CLOCK_READS; i++) {
    last = now;
    now = cpuc_os_clock_monotonic();
    if (now - last < cost)
      cost = now - last;
  }

  /* A window begins where the one before ended, so no interruption is lost between them. */
  do {
    last = now;
    if (cpuc_dependent_add_run(series.passes) != 0)
      return 0;
    now = cpuc_os_clock_monotonic();
    if (add_window(&series, now - last) != 0)
      return 0;
  } while (has_time(&series, now - begin));
  shortest = result_of(&series);
  if (shortest == 0 || cost < 0 || cost > shortest / 10)
    return 0;
  if (series.has_empty_window && series.clock_step_bound > MAX_STEP_NS)
    return 0;
  return cpuc_rate_if_plausible((unsigned long long)cpuc_scale_counts_per_second(
    (unsigned long long)series.passes * CPUC_DEPENDENT_ADD_PASS, shortest - cost));
}
