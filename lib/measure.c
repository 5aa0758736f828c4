/* SPDX-License-Identifier: 0BSD OR MIT */
/* The CPU's frequency where nobody states it: a chain of adds, each of which waits for the one
   before it and takes one cycle, timed against the OS clock. (The few CPUs whose adds take two
   cycles or half of one have systems that state their frequency.) */

#include "config.h"

#include "lib/frequency.h"
#include "lib/osclock.h"

enum {
  ADDS = 256,            /* a pass: so many that the loop around it does not count */
  PASSES_LIMIT = 8192,   /* of a window: 40 GHz need so many; more, and the clock stands still */
  WINDOW = 100000,       /* nanoseconds, at least: 1 % where the clock moves by microseconds */
  WHOLE = 1800000,       /* nanoseconds for all */
  WINDOWS = WHOLE / WINDOW,
  WINDOWS_LEAST = 4      /* also where an interruption took all the time */
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

static void run_adds(long passes)
{
  unsigned long x = 0, y = 1;

  __asm__ volatile("" : "+r"(x), "+r"(y));
  for (; passes > 0; passes--)
    x = add_64(add_64(add_64(add_64(x, y), y), y), y);
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

/* Nanoseconds of one window. Not above 0: the clock stood still or was set back. */
static long long time_window(const struct cpucycles_stopwatch *stopwatch, long passes)
{
  long long begin = stopwatch->now();

  stopwatch->run(passes);
  return stopwatch->now() - begin;
}

/* How many passes make a window; 0: the clock does not tell. */
static long passes_a_window(const struct cpucycles_stopwatch *stopwatch)
{
  long passes = 1;

  for (; passes <= PASSES_LIMIT; passes *= 2) {
    long long time = time_window(stopwatch, passes);

    if (time < 0)
      return 0;
    if (time >= WINDOW)
      return passes;
  }
  return 0;
}

/* An interruption makes a window longer, so that the shortest is the best; but one during which the
   clock was set back is shorter still, and so another must bear it out. 0: none does. */
static long long shortest_of(const long long *times, int count)
{
  long long shortest = 0;
  int i, j;

  for (i = 0; i < count; i++)
    for (j = 0; j < count; j++)
      if (j != i && times[j] >= times[i] && times[j] - times[i] <= times[i] / 100
        && (shortest == 0 || times[i] < shortest))
        shortest = times[i];
  return shortest;
}

long long cpucycles_measure(const struct cpucycles_stopwatch *stopwatch)
{
  long long begin = stopwatch->now(), times[WINDOWS], shortest, spent;
  long passes = passes_a_window(stopwatch);
  int count = 0;

  if (passes == 0)
    return 0;
  do {
    times[count] = time_window(stopwatch, passes);
    if (times[count] <= 0)
      return 0;
    spent = stopwatch->now() - begin;
    count++;
  } while (count < WINDOWS_LEAST
    || (count < WINDOWS && spent > 0 && spent + times[count - 1] < WHOLE));
  shortest = shortest_of(times, count);
  if (shortest == 0)
    return 0;
  shortest = passes * ADDS * 1000000000LL / shortest;
  return shortest >= CPUCYCLES_FREQUENCY_LOWEST && shortest <= CPUCYCLES_FREQUENCY_HIGHEST
    ? shortest : 0;
}
