/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the tool's search for the grain of a counter against simulated counters of known grain. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <math.h>

/* A simulated counter, which cpucycles() reads, and what the time between two reads consists of. */
static struct machine {
  double grain;        /* all numbers without a comment are in counts */
  double cost, varies; /* a read takes cost to cost + varies */
  double apart;        /* longest time between two reads; the shortest is 0 */
  double normal;       /* standard deviation of a normal distribution */
  double late;         /* longest interruption, of 2 % of the reads */
  double cycle;        /* of the core */
  int turns;           /* 1: the loops between the reads take time, in cycles of the core */
  int mispredicts;     /* cycles of a mispredicted branch */
  int bus;             /* cycles of a bus for which a read waits */
  int coin;            /* 0 or this number of counts */
  int unique;          /* 1: adds 1 to a count that would be returned twice */
  double corrected;    /* share of the reads that are 1 too high */
} machine;

static double now; /* time of the counter */
static long long last;

/* 0 to 1, without 1. */
static double draw(void)
{
  return (double)(random64() >> 11) / 9007199254740992.0;
}

static double draw_normal(void)
{
  double sum = -6;
  int i;

  for (i = 0; i < 12; i++)
    sum += draw();
  return sum;
}

static long long read_simulated(void)
{
  double cycles = machine.turns * ((int)(16 * draw()) + 2 * (int)(16 * draw()));
  long long count;

  cycles += machine.mispredicts * (draw() < 0.3) + machine.bus * (int)(8 * draw());
  now += machine.cost + machine.varies * draw() + machine.apart * draw() + machine.cycle * cycles
    + machine.normal * draw_normal() + machine.coin * (draw() < 0.5)
    + machine.late * (draw() < 0.02) * draw();
  count = (long long)(floor(now / machine.grain) * machine.grain);
  count += draw() < machine.corrected;
  if (machine.unique && count <= last)
    count = last + 1;
  last = count;
  return count;
}

static struct grain find(long long (*read)(void))
{
  last = 0;
  now = 1e6 * draw();
  cpucycles = read;
  return measure_grain(1);
}

static void expect_grain(int kind, double least_share)
{
  struct grain found = find(read_simulated);

  ck_assert_msg(found.units == lround(machine.grain) && found.share >= least_share
      && found.share <= 1,
    "kind %d: found %lld in %.3f of the differences, not %g; a read takes %g, a cycle of the core "
    "%g", kind, found.units, found.share, machine.grain, machine.cost, machine.cycle);
}

TEST_LOOP(known_grains_are_found, 10)
{
  static const double costs[] = { 5, 25, 60 };
  static const double grains[10] = {
    22,          /* EPYC 7742 at 2.25 GHz */
    60,          /* Gold 6230 at 2.1 GHz */
    21, 42,      /* E5-2695 */
    1000.0 / 24, /* 24 MHz in nanoseconds: 41 and 42 in turn */
    26,          /* the tool once mistook it for 1 */
    4, 10, 100, 300
  };
  int i, kind;

  for (i = 0; i < 3; i++)
    for (kind = 0; kind < 9; kind++) { /* 8: corrected counts */
      machine = (struct machine){ .grain = grains[_i], .apart = 45, .cost = costs[i],
        .varies = kind & 1 ? 6 : 0, .unique = (kind & 2) != 0, .late = kind & 4 ? 6000 : 0,
        .corrected = kind & 8 ? 0.08 : 0 };
      expect_grain(kind, kind & 8 ? 0.8 : 0.9);
    }
}

/* The time between two reads is much shorter than the grain. */
TEST(grain_above_the_cost_of_a_read_is_found)
{
  machine = (struct machine){ .grain = 1000, .apart = 20, .cost = 1 };
  expect_grain(0, 0.9);
  machine = (struct machine){ .grain = 62.4, .apart = 5, .cost = 1 };
  expect_grain(0, 0.9);
}

/* The core cycle is from 0.305 to 1.839 counts. */
TEST(grain_of_1_is_not_mistaken_for_another)
{
  static const struct machine kinds[8] = { { .coin = 0 }, { .coin = 1 }, { .turns = 1 },
    { .normal = 1 }, { .turns = 1, .normal = 1 }, { .turns = 1, .mispredicts = 20 },
    { .late = 3000 }, { .turns = 1, .bus = 4 } };
  int i, step = suite_under("qemu") ? 7 : 1; /* an emulator is slow; 7 leaves no kind out */

  for (i = 0; i < 8 * 60; i += step) {
    machine = kinds[i % 8];
    machine.grain = 1;
    machine.cost = 20 + (int)(100 * draw());
    machine.normal *= 1 + 20 * draw();
    machine.cycle = 0.305 + 0.013 * (i / 8 * 2 % 120);
    expect_grain(i % 8, 1);
  }
}

static const int *multiples; /* of 26, which are added in any order */

static long long read_multiple(void)
{
  return last += 26 * multiples[(int)(8 * draw())];
}

/* Three of four differences of the first row are also multiples of twice the grain. The counters of
   the other rows are stopped, or decrease. */
TEST(multiples_and_counts_that_do_not_grow_are_no_grain)
{
  static const int rows[3][8] = { { 2, 4, 2, 4, 2, 3, 4, 1 }, { 0, 0, 0, 0, 0, 0, 0, 0 },
    { -1, -1, -1, -1, -1, -1, -1, -1 } };
  int i;

  for (i = 0; i < 3; i++) {
    multiples = rows[i];
    ck_assert_int_eq(find(read_multiple).units, i == 0 ? 26 : 1);
  }
}

SUITE("grain")
