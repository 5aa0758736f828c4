/* SPDX-License-Identifier: 0BSD OR MIT */
/* Estimates the costs of events from the measured times of a cycle, of loads and of a mispredicted
   branch. libperfex(3), COSTS, has the rules as a table. */

#include "config.h"

#include "perfex/cost.h"

#include <string.h>

/* The cost of a load from memory: of an i7-4770 (www.7-cpu.com, Haswell), the usual number (Norvig,
   Teach Yourself Programming in Ten Years), and of an EPYC 7742 (AnandTech, AMD Rome Second
   Generation EPYC Review, 512 MB). */
static const struct pfx_cost memory = { 67000, 100000, 134000 };

/* Returns a cost whose three values are in order and not negative. */
static struct pfx_cost ordered_cost(long long minimum, long long typical, long long maximum)
{
  minimum = minimum < 0 ? 0 : minimum < typical ? minimum : typical;
  maximum = maximum > typical ? maximum : typical;
  return (struct pfx_cost) { minimum, typical, maximum };
}

static void set_cost(struct pfx_costs *costs, int event, struct pfx_cost cost)
{
  costs->cost[event] = cost;
  costs->has_cost[event] = 1;
}

/* Returns 1 if a load from this level was measured. A time of 0, which a stopped or coarse clock
   can cause, does not count as measured. */
static int is_measured(const struct pfx_cost_measured *measured, int level)
{
  return level < measured->levels && measured->level[level].load.typical > 0;
}

/* Instructions, branches, loads and stores overlap, so their minimum cost is 0, and the typical
   cost of a branch, load or store is a cycle. A load that misses a cache waits for the next cache,
   or at most for memory. A walk of the page table costs as much as the load of one entry.
   events.def lists the numbers of the events. */
void pfx_cost_estimate(const struct pfx_cost_measured *measured, struct pfx_costs *costs)
{
  const long long cycle = measured->cycle.typical;
  struct pfx_cost nearest, second;

  memset(costs, 0, sizeof *costs);
  if (cycle > 0) {
    set_cost(costs, 0, measured->cycle);
    set_cost(costs, 16, measured->cycle);
    set_cost(costs, 15, ordered_cost(0, 0, cycle));
    set_cost(costs, 17, ordered_cost(0, 0, cycle));
    set_cost(costs, 6, ordered_cost(0, cycle, cycle));
    set_cost(costs, 19, ordered_cost(0, cycle, cycle));
    if (is_measured(measured, 0))
      set_cost(costs, 18, ordered_cost(0, cycle, measured->level[0].load.typical));
  }
  if (measured->branch_miss.typical > 0)
    set_cost(costs, 24, measured->branch_miss);
  if (!is_measured(measured, 0) || !is_measured(measured, 1))
    return;
  nearest = measured->level[0].load;
  second = measured->level[1].load;
  set_cost(costs, 9,
    ordered_cost(second.minimum - nearest.typical, second.typical, memory.maximum));
  set_cost(costs, 25, costs->cost[9]);
  set_cost(costs, 23, ordered_cost(nearest.minimum, second.typical, memory.maximum));
}

void pfx_cost_estimate_memory(struct pfx_costs *costs)
{
  memset(costs, 0, sizeof *costs);
  set_cost(costs, 10, memory);
  set_cost(costs, 26, memory);
}
