/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the core frequency: times a chain of dependent adds against the OS clock. An add takes
   one cycle on the CPUs that sys/dependent-add.h lists; on others, the result is used only if no
   source reports the frequency. Windows are as short as the clock allows. */

#include "config.h"

#include "lib/frequency.h"
#include "lib/reader.h"
#include "lib/scale.h"
#include "sys/dependent-add.h"
#include "sys/os-clock.h"
#include "sys/step.h"

#include <stddef.h>

enum {
  CLOCK_READS = 512,     /* enough for a clock of microseconds to advance */
  MAX_STEP_NS = 2000,    /* of a clock: a coarser clock makes different windows look equal */
  PASSES_LIMIT = 4096,   /* of a rough measurement: more than 8 steps, even at 200 GHz */
  ROUGH_STEPS = 8,       /* of the clock in a rough measurement, so a step is 12 % */
  ROUGH_NS = 2000,
  ROUGH_WINDOWS = 3,
  STEPS = 115,           /* of the clock in an exact measurement, so a step is below 1 % */
  EXACT_NS = 10000,      /* shortest and longest window of an exact measurement */
  LONGEST_NS = 115000,
  BUDGET_NS = 1400000,   /* for all windows of an exact measurement */
  LEAST_WINDOWS = 4      /* one of which may be interrupted */
};

static const struct cpuc_reader os_clock = { .read = cpuc_os_clock_monotonic };

/* Returns the smallest advance of adjacent reads of the clock, its step or the cost of a read; 0 if
   the clock is stopped or too coarse. */
static long long find_step(void)
{
  struct cpuc_step step = { cpuc_os_clock_monotonic(), 0 };
  int i, advances = 0, has_repeated = 0;

  for (i = 0; i < CLOCK_READS && advances < 3; i++) {
    long long advance = cpuc_step_add(&step, cpuc_os_clock_monotonic());

    advances += advance > 0;
    has_repeated |= advance == 0;
  }
  return has_repeated && step.smallest > MAX_STEP_NS ? 0 : step.smallest;
}

/* Doubles the passes until they are long enough for a rough measurement. Returns the passes, and
   stores their time; 0 if the clock does not advance in many passes. */
static long measure_roughly(long long step, long long *time)
{
  long long least = ROUGH_STEPS * step < ROUGH_NS ? ROUGH_NS : ROUGH_STEPS * step;
  long passes;

  if (step == 0)
    return 0;
  for (passes = 1; passes <= PASSES_LIMIT; passes *= 2)
    if (!cpuc_reader_measure_chain(&os_clock, passes, ROUGH_WINDOWS, 0, time, NULL))
      return 0;
    else if (*time >= least)
      return passes;
  return 0;
}

static long long frequency_of(long passes, long long time)
{
  if (passes == 0 || time <= 0)
    return 0;
  return cpuc_rate_if_plausible((unsigned long long)cpuc_scale_counts_per_second(
    (unsigned long long)passes * CPUC_DEPENDENT_ADD_PASS, time));
}

long long cpuc_frequency_least_plausible(void)
{
  long long time = 0;
  long passes = cpuc_dependent_add_takes_one_cycle() ? measure_roughly(find_step(), &time) : 0;

  return frequency_of(passes, time) / 5 * 2;
}

long long cpuc_frequency_least_plausible_by(long long (*read)(void), long long rate)
{
  enum { PASSES = 1 };
  const struct cpuc_reader reader = { .read = read };
  long long advance = 0;

  if (!cpuc_dependent_add_takes_one_cycle() || find_step() == 0
    || !cpuc_reader_measure_chain(&reader, PASSES, ROUGH_WINDOWS, 0, &advance, NULL)
    || advance <= 0)
    return 0;
  return cpuc_rate_if_plausible(
    (unsigned long long)(rate * PASSES * CPUC_DEPENDENT_ADD_PASS / advance)) / 5 * 2;
}

/* The rough measurement chooses the length of all windows, once. */
long long cpuc_frequency_measure_core(void)
{
  long long step = find_step(), wanted = STEPS * step, rough = 0, time;
  long passes = measure_roughly(step, &rough);
  int windows;

  if (passes == 0)
    return 0;
  wanted = wanted < EXACT_NS ? EXACT_NS : wanted > LONGEST_NS ? LONGEST_NS : wanted;
  if (rough < wanted) {
    long longer = (long)((passes * wanted + rough - 1) / rough);

    rough = rough * longer / passes;
    passes = longer;
  }
  windows = (int)(BUDGET_NS / (3 * rough));
  if (!cpuc_reader_measure_chain(&os_clock, passes,
        windows < LEAST_WINDOWS ? LEAST_WINDOWS : windows, 100, &time, NULL))
    return 0;
  /* the rough measurement was interrupted, so the windows are too short for this clock */
  if (step > 100 && time < wanted / 2)
    return 0;
  return frequency_of(passes, time);
}
