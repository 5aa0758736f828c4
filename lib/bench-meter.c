/* SPDX-License-Identifier: 0BSD OR MIT */
/* Times sections, and finds how many counts a core cycle takes: counts of a chain of dependent adds
   per add. */

#include "config.h"

#include "include/cpucycles/inline.h"
#include "lib/bench.h"
#include "sys/dependent-add.h"
#include "sys/kind.h"
#include "sys/os-clock.h"
#include "sys/quantile.h"
#include "sys/step.h"

#include <string.h>

enum {
  SHORT_PASSES = 8192 / CPUC_DEPENDENT_ADD_PASS,
  LONG_PASSES = 32768 / CPUC_DEPENDENT_ADD_PASS,
  MOST_PASSES = 1 << 16, /* 3 ms at 10 GHz: each counter for which there is a chain advances */
  CHAIN_STEPS = 200,     /* of a coarse counter, in a chain */
  LONGEST_CHAIN_US = 1000,
  BASES = 141,
  EMPTY_SECTIONS = 1000,
  STEPS = 16,
  STEP_READS = 1000000
};

/* Returns the smallest of several steps of the counter; 0 if it does not advance. */
static long long find_step(int wanted)
{
  struct cpuc_step step = { cpucycles_inline(), 0 };
  int reads, found = 0;

  for (reads = 0; reads < STEP_READS && found < wanted; reads++)
    found += cpuc_step_add(&step, cpucycles_inline()) > 0;
  return step.smallest;
}

static double elapsed(struct cpuc_bench_meter *meter, long long begin, long long end)
{
  long long counts = cpuc_step_between(begin, end);

  if (counts < 0)
    meter->failure = "The counter stepped back: choose another one (CPUCYCLES_IMPLEMENTATION).";
  else if (counts == 0 && find_step(1) == 0)
    meter->failure = "The counter is stopped: choose another one (CPUCYCLES_IMPLEMENTATION).";
  return meter->failure ? 0 : (double)counts;
}

double cpuc_bench_meter_section(struct cpuc_bench_meter *meter, void (*function)(void *argument),
  void *argument, long long calls)
{
  long long begin = cpucycles_inline_section_begin();

  for (; calls > 0; calls--)
    function(argument);
  return elapsed(meter, begin, cpucycles_inline_section_end());
}

/* For a coarse counter, finds the mean of empty sections. */
static void find_overhead(struct cpuc_bench_meter *meter)
{
  double sum = 0;
  int i;

  meter->overhead = (double)cpucycles_inline_section_overhead();
  meter->is_coarse = meter->overhead <= 0;
  if (!meter->is_coarse)
    return;
  for (i = 0; i < EMPTY_SECTIONS; i++) {
    long long begin = cpucycles_inline_section_begin();
    long long section = cpuc_step_between(begin, cpucycles_inline_section_end());

    sum += section > 0 ? (double)section : 0;
  }
  meter->overhead = sum / EMPTY_SECTIONS;
}

int cpuc_bench_meter_begin(struct cpuc_bench_meter *meter)
{
  memset(meter, 0, sizeof *meter);
  meter->unit = cpuc_kind_facts[CPUC_KIND_NONE].count_unit;
  if (cpuc_bench_counter_describe(meter) != 0) {
    meter->failure = "No counter is selected yet: this is a signal handler in the selection.";
    return -1;
  }
  find_overhead(meter);
  meter->step = (double)find_step(STEPS);
  if (meter->step <= 0)
    (void)elapsed(meter, 0, 0);
  else
    cpuc_bench_meter_set_chain(meter, 0);
  return meter->failure ? -1 : 0;
}

void cpuc_bench_meter_adds(void *passes)
{
  (void)cpuc_dependent_add_run(*(const long *)passes);
}

static double chain_section(struct cpuc_bench_meter *meter, long passes)
{
  long long begin = cpucycles_inline_section_begin();

  (void)cpuc_dependent_add_run(passes);
  return elapsed(meter, begin, cpucycles_inline_section_end());
}

/* The two chains of a pair run at nearly the same frequency, beside the same load of the core's
   other thread. */
static double find_base(struct cpuc_bench_meter *meter)
{
  double bases[BASES];
  int i;

  for (i = 0; i < BASES && !meter->failure; i++) {
    bases[i] = 2 * chain_section(meter, meter->passes / 2);
    bases[i] -= chain_section(meter, meter->passes);
  }
  return meter->failure ? 0 : cpuc_quantile_middle(bases, BASES);
}

void cpuc_bench_meter_set_chain(struct cpuc_bench_meter *meter, int is_long)
{
  double shortest = meter->is_coarse ? CHAIN_STEPS * meter->step : 0;

  meter->passes = 0;
  if (meter->counts_core_cycles || cpuc_dependent_add_run(0) != 0
    || shortest > LONGEST_CHAIN_US * 1e-6 * meter->rate)
    return;
  meter->passes = is_long ? LONG_PASSES : SHORT_PASSES;
  while (meter->passes < MOST_PASSES && chain_section(meter, meter->passes) < shortest
    && !meter->failure)
    meter->passes *= 2;
  meter->base = meter->is_coarse ? meter->overhead : find_base(meter);
}

double cpuc_bench_meter_chain(struct cpuc_bench_meter *meter)
{
  if (meter->passes == 0)
    return 1;
  return (chain_section(meter, meter->passes) - meter->base)
    / (double)(meter->passes * CPUC_DEPENDENT_ADD_PASS);
}

int cpuc_bench_meter_agree(double one, double other)
{
  double smaller = one < other ? one : other, larger = one < other ? other : one;

  return smaller > 0 && larger <= 1.02 * smaller;
}

struct cpuc_bench_time cpuc_bench_time_begin(void)
{
  struct cpuc_bench_time time = { cpucycles_inline(), cpuc_os_clock_monotonic(), 0, 0 };

  time.last = time.clock;
  time.clock_failed = time.clock == 0;
  return time;
}

double cpuc_bench_time_passed(struct cpuc_bench_time *time, const struct cpuc_bench_meter *meter)
{
  double counted = (double)cpuc_step_between(time->count, cpucycles_inline()) / meter->rate, timed;
  long long now = cpuc_os_clock_monotonic();

  time->clock_failed |= now == 0 || now < time->last;
  time->last = now;
  timed = time->clock_failed ? 0 : (double)(now - time->clock) / 1e9;
  return counted > timed ? counted : timed;
}
