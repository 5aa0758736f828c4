/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the tool's search for the grain of a counter against simulated counters of known grain. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <math.h>

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
} machine;

/* 0 to 1, without 1. */
static double draw(void)
{
  return (double)(random64() >> 11) / 9007199254740992.0;
}

static long long read_simulated(void)
{
  long long count;

  machine.time += machine.cost + machine.varies * draw() + machine.apart * draw();
  if (draw() < machine.interrupted)
    machine.time += 1000 + 5000 * draw();
  count = (long long)(floor(machine.time / machine.grain) * machine.grain);
  count += draw() < machine.corrected;
  if (machine.unique && count <= machine.last)
    count = machine.last + 1;
  machine.last = count;
  return count;
}

static struct grain find(long long (*read)(void))
{
  static long long differences[GRAIN_SAMPLES];

  machine.last = 0;
  machine.time = 1e6 * draw();
  cpucycles = read;
  read_at_varied_intervals(differences);
  return find_grain(differences, GRAIN_SAMPLES);
}

static void expect_grain(double least_share)
{
  struct grain found = find(read_simulated);

  ck_assert_msg(found.units == lround(machine.grain) && found.share >= least_share
      && found.share <= 1,
    "found %lld in %.3f of the differences, not %g; a read takes %g to %g, %g are late, %g "
    "corrected, %s", found.units, found.share, machine.grain, machine.cost,
    machine.cost + machine.varies, machine.interrupted, machine.corrected,
    machine.unique ? "unique" : "not unique");
}

TEST(known_grains_are_found)
{
  static const struct {
    double grain, apart, costs[3]; /* 0: not tried */
  } rows[] = {
    { 22, 45, { 5, 25, 60 } },            /* EPYC 7742 at 2.25 GHz */
    { 60, 45, { 5, 25, 60 } },            /* Gold 6230 at 2.1 GHz */
    { 21, 45, { 5, 25, 60 } },            /* E5-2695, also 42 */
    { 42, 45, { 5, 25, 60 } },
    { 1000.0 / 24, 45, { 5, 25, 60 } },   /* 24 MHz in nanoseconds: 41 and 42 in turn */
    { 26, 45, { 5, 25, 60 } },            /* the tool once mistook it for 1 */
    { 4, 45, { 5, 25, 60 } },
    { 10, 45, { 5, 25, 60 } },
    { 100, 45, { 5, 25, 60 } },
    { 1000, 20, { 1, 0, 0 } },            /* far above the cost of a read */
    { 62.5, 5, { 1, 0, 0 } },
    { 300, 20, { 1, 0, 0 } },
  };
  size_t i;
  int k, kind;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (k = 0; k < 3 && rows[i].costs[k] > 0; k++)
      for (kind = 0; kind < (rows[i].apart < 45 ? 1 : 9); kind++) { /* 8: corrected counts */
        memset(&machine, 0, sizeof machine);
        machine.grain = rows[i].grain;
        machine.apart = rows[i].apart;
        machine.cost = rows[i].costs[k];
        machine.varies = kind & 1 ? 6 : 0;
        machine.unique = (kind & 2) != 0;
        machine.interrupted = kind & 4 ? 0.02 : 0;
        machine.corrected = kind & 8 ? 0.08 : 0;
        expect_grain(kind & 8 ? 0.8 : 0.9);
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
  ck_assert_int_eq(find(read_even_often).units, 26);
}

/* What the time between two reads of a counter of grain 1 consists of, besides `cost`. */
struct causes {
  int coin;        /* 0 or 1 count */
  int turns;       /* the loops between the reads, in cycles of the core */
  int normal;      /* a normal distribution */
  int mispredicts; /* cycles of a mispredicted branch */
  int interrupts;  /* longest interruption */
  int bus;         /* cycles of a bus for which a read waits */
};

static struct causes causes;
static double cycle; /* of the core, in counts */

static double draw_normal(void)
{
  double sum = -6;
  int i;

  for (i = 0; i < 12; i++)
    sum += draw();
  return sum;
}

static long long read_fine(void)
{
  double cycles = causes.turns * ((int)(16 * draw()) + 2 * (int)(16 * draw()));

  cycles += causes.mispredicts * (draw() < 0.3) + causes.bus * (int)(8 * draw());
  machine.time += machine.cost + causes.coin * (draw() < 0.5) + cycle * cycles
    + causes.normal * machine.varies * draw_normal()
    + causes.interrupts * (draw() < 0.02) * draw();
  return (long long)machine.time;
}

/* The core cycle is from 0.305 to 1.839 counts. */
TEST(grain_of_1_is_not_mistaken_for_another)
{
  static const struct causes kinds[8] = { { 0, 0, 0, 0, 0, 0 }, { 1, 0, 0, 0, 0, 0 },
    { 0, 1, 0, 0, 0, 0 }, { 0, 0, 1, 0, 0, 0 }, { 0, 1, 1, 0, 0, 0 }, { 0, 1, 0, 20, 0, 0 },
    { 0, 0, 0, 0, 3000, 0 }, { 0, 1, 0, 0, 0, 4 } };
  struct grain found;
  int i, step = suite_under("qemu") ? 7 : 1; /* an emulator is slow; 7 leaves no kind out */

  for (i = 0; i < 8 * 60; i += step) {
    machine.cost = 20 + (int)(100 * draw());
    machine.varies = 1 + 20 * draw();
    cycle = 0.305 + 0.013 * (i / 8 * 2 % 120);
    causes = kinds[i % 8];
    found = find(read_fine);
    ck_assert_msg(found.units == 1,
      "found %lld in %.3f of the differences; kind %d, a cycle of %g counts", found.units,
      found.share, i % 8, cycle);
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
  ck_assert(find(read_constant).units == 1);
  ck_assert(find(read_down).units == 1);
}

SUITE("grain")
