/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the tool's search for the grain of a counter against simulated counters of known grain. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "include/cpucycles.h"

#include "tests/suites/suite.h"

#include <math.h>

static long long differences[GRAIN_SAMPLES];

/* A simulated counter, which cpucycles() reads. */
static struct {
  double grain;
  double cost, varies; /* a read takes cost to cost + varies, in counts */
  double apart;        /* longest time between two reads; the shortest is 0 */
  double corrected;    /* share of the reads that are 1 too high */
  double interrupted;  /* share of the reads that are late by thousands of counts */
  int unique;          /* 1: adds 1 to a count that would be returned twice */
  double time;
  long long last;
  unsigned int random;
} machine;

/* 0 to 1, without 1. */
static double draw(void)
{
  machine.random = machine.random * 1664525 + 1013904223;
  return (machine.random >> 8) / 16777216.0;
}

static long long read_simulated(void)
{
  long long count;

  machine.time += machine.cost + machine.varies * draw() + machine.apart * draw();
  if (draw() < machine.interrupted)
    machine.time += 1000 + 5000 * draw();
  count = (long long)(floor(machine.time / machine.grain) * machine.grain);
  if (draw() < machine.corrected)
    count++;
  if (machine.unique && count <= machine.last)
    count = machine.last + 1;
  machine.last = count;
  return count;
}

static void begin_with(double grain, double cost)
{
  static unsigned int seed;

  memset(&machine, 0, sizeof machine);
  machine.grain = grain;
  machine.cost = cost;
  machine.apart = 45;
  machine.random = ++seed;
  machine.time = 1e6 * draw();
  cpucycles = read_simulated;
}

static struct grain find(void)
{
  read_at_varied_intervals(differences);
  return find_grain(differences, GRAIN_SAMPLES);
}

static void expect_grain(double least_share)
{
  struct grain found = find();

  ck_assert_msg(found.units == lround(machine.grain) && found.share >= least_share
      && found.share <= 1,
    "found %lld in %.3f of the differences, not %g; a read takes %g to %g, %g are late, %g "
    "corrected, %s", found.units, found.share, machine.grain, machine.cost,
    machine.cost + machine.varies, machine.interrupted, machine.corrected,
    machine.unique ? "unique" : "not unique");
}

/* Published grains: EPYC 7742, 22 at 2.25 GHz; Gold 6230, 60 at 2.1 GHz; E5-2695, 21 and 42; a
   clock of 24 MHz in nanoseconds, 41 and 42 in turn. The tool once mistook 26 for 1. */
static const double grains[] = { 22, 21, 60, 42, 1000.0 / 24, 26, 4, 10, 100 };
static const double costs[] = { 5, 25, 60 };

enum { GRAINS = sizeof grains / sizeof grains[0], COSTS = sizeof costs / sizeof costs[0] };

TEST(known_grains_are_found)
{
  int i;

  for (i = 0; i < GRAINS * COSTS * 8; i++) {
    begin_with(grains[i / 8 % GRAINS], costs[i / 8 / GRAINS]);
    machine.varies = i & 1 ? 6 : 0;
    machine.unique = (i & 2) != 0;
    machine.interrupted = i & 4 ? 0.02 : 0;
    expect_grain(0.9);
  }
}

TEST(grain_is_found_among_corrected_counts)
{
  int i;

  for (i = 0; i < GRAINS * COSTS; i++) {
    begin_with(grains[i % GRAINS], costs[i / GRAINS]);
    machine.corrected = 0.08;
    expect_grain(0.8);
  }
}

/* Three of four differences are also multiples of twice the grain. */
static long long read_even_often(void)
{
  static const int multiples[] = { 2, 4, 2, 4, 2, 3, 4, 1 };

  return machine.last += 26 * multiples[(int)(8 * draw())];
}

TEST(twice_the_grain_is_not_the_grain)
{
  begin_with(26, 26);
  cpucycles = read_even_often;
  ck_assert_int_eq(find().units, 26);
}

TEST(grain_above_the_cost_of_a_read_is_found)
{
  static const double coarse[] = { 1000, 62.5, 300 };
  int i;

  for (i = 0; i < 3; i++) {
    begin_with(coarse[i], 1);
    machine.apart = i == 1 ? 5 : 20;
    expect_grain(0.9);
  }
}

/* A counter of grain 1. A cycle of the core is `cycle` counts; a read and the loops between reads
   take some cycles. */
static double cycle;
static int kind;

static double draw_normal(void)
{
  double sum = 0;
  int i;

  for (i = 0; i < 12; i++)
    sum += draw();
  return sum - 6;
}

static long long read_fine(void)
{
  double turns = (int)(16 * draw()) + 2 * (int)(16 * draw());

  machine.time += machine.cost;
  switch (kind) {
  case 0: /* each read takes the same time */
    break;
  case 1: /* each read takes one of two times */
    machine.time += draw() < 0.5;
    break;
  case 2:
    machine.time += cycle * turns;
    break;
  case 3:
    machine.time += machine.varies * draw_normal();
    break;
  case 4:
    machine.time += cycle * turns + machine.varies * draw_normal();
    break;
  case 5: /* a branch is mispredicted */
    machine.time += cycle * (turns + (draw() < 0.3 ? 20 : 0));
    break;
  case 6: /* interruptions alone */
    machine.time += draw() < 0.02 ? 3000 * draw() : 0;
    break;
  default: /* reads wait for a bus of a quarter of the frequency */
    machine.time += cycle * (turns + 4 * (int)(8 * draw()));
    break;
  }
  return (long long)machine.time;
}

/* The core cycle is from 0.305 to 1.839 counts. */
TEST(grain_of_1_is_not_mistaken_for_another)
{
  struct grain found;
  int i, step = suite_under("qemu") ? 7 : 1; /* an emulator is slow; 7 leaves no kind out */

  for (i = 0; i < 8 * 60; i += step) {
    begin_with(1, 20);
    machine.cost += (int)(100 * draw());
    machine.varies = 1 + 20 * draw();
    cycle = 0.305 + 0.013 * (i / 8 * 2 % 120);
    kind = i % 8;
    cpucycles = read_fine;
    found = find();
    ck_assert_msg(found.units == 1,
      "found %lld in %.3f of the differences; kind %d, a cycle of %g counts", found.units,
      found.share, kind, cycle);
  }
}

static long long read_constant(void)
{
  return 5;
}

static long long read_down(void)
{
  return -26 * ++machine.last;
}

TEST(no_grain_above_1_is_found_if_the_counter_stops_or_decreases)
{
  begin_with(26, 26);
  cpucycles = read_constant;
  ck_assert(find().units == 1);
  cpucycles = read_down;
  ck_assert(find().units == 1);
}

SUITE("grain")
