/* SPDX-License-Identifier: 0BSD OR MIT */
/* likwid's timer: a start and a stop. */

#include "bench/contender.h"

#include <stdint.h>

#include <likwid.h>

static TimerData timer;

static const char *prepare(void)
{
  timer_init();
  return timer_getCycleClock() > 0 ? 0 : "timer_init() finds no rate";
}

static inline long long start(void)
{
  timer_start(&timer);
  return (long long)timer.start.int64;
}

static inline long long stop(void)
{
  timer_stop(&timer);
  return (long long)timer.stop.int64;
}

BENCH_SECTIONS(timer, start(), stop())

const struct bench_contender bench_contenders[] = {
  { "likwid timer_start() + _stop()", "cycles", BENCH_FENCED, prepare, run_timer, sample_timer },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
