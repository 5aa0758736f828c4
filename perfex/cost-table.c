/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of costs of the process. A cost comes from a file that was passed to load_costs(),
   otherwise from /etc/perfex.costs, otherwise from a measurement; the cost of memory is built in.
   The first use reads /etc/perfex.costs and measures the costs that are still missing. Readers get
   a copy, which is made under a lock. libperfex(3), COSTS, has the rules of the estimates. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/cost.h"
#include "perfex/count.h"
#include "perfex/early.h"
#include "perfex/why.h"
#include "sys/file.h"
#include "sys/os-clock.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The table is changed in place, under the lock. A child that is forked during a change has a part
   of the change. */
static struct pfx_cost_table shared_table;
static int is_initialized; /* 1 once /etc/perfex.costs is read and missing costs are measured */

/* Signals are blocked, because a handler that jumped out would leave the lock held. */
static void lock(struct cpuc_os_thread_saved *saved)
{
  cpuc_os_thread_block_signals_and_cancellation(saved);
  while (cpuc_lock_try(&pfx_early_cost_lock, cpuc_os_thread_id()) != CPUC_LOCK_ACQUIRED)
    cpuc_os_thread_sleep_briefly();
}

static void unlock(const struct cpuc_os_thread_saved *saved)
{
  cpuc_lock_release(&pfx_early_cost_lock);
  cpuc_os_thread_restore_signals_and_cancellation(saved);
}

/* Sets the cost of an event, unless its cost in the table has a higher origin. */
static void set_cost(struct pfx_cost_table *table, enum pfx_cost_origin origin, int event,
  struct pfx_cost cost)
{
  if (table->origin[event] > origin)
    return;
  table->cost[event] = cost;
  table->origin[event] = (unsigned char)origin;
}

static void set_costs(enum pfx_cost_origin origin, const struct pfx_costs *costs)
{
  int i;

  for (i = 0; i < PFX_EVENTS; i++)
    if (costs->has_cost[i])
      set_cost(&shared_table, origin, i, costs->cost[i]);
}

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

/* Instructions, branches, loads and stores overlap, so their minimum cost is 0, and the typical
   cost of a branch, load or store is a cycle. A load that misses a cache waits for the next cache,
   or at most for memory. A walk of the page table costs as much as the load of one entry. A time of
   0, which a stopped or coarse clock can cause, does not count as measured. events.def lists the
   numbers of the events. */
void pfx_cost_estimate(struct pfx_cost_table *table)
{
  const enum pfx_cost_origin origin = PFX_COST_MEASURED;
  const struct pfx_cost_measured *measured = &table->measured;
  const struct pfx_cost nearest = measured->level[0].load, second = measured->level[1].load;
  const long long cycle = measured->cycle.typical;
  struct pfx_cost miss;

  set_cost(table, PFX_COST_BUILT_IN, 10, memory);
  set_cost(table, PFX_COST_BUILT_IN, 26, memory);
  set_cost(table, origin, 0, measured->cycle);
  set_cost(table, origin, 16, measured->cycle);
  set_cost(table, origin, 15, ordered_cost(0, 0, cycle));
  set_cost(table, origin, 17, ordered_cost(0, 0, cycle));
  set_cost(table, origin, 6, ordered_cost(0, cycle, cycle));
  set_cost(table, origin, 19, ordered_cost(0, cycle, cycle));
  if (nearest.typical > 0)
    set_cost(table, origin, 18, ordered_cost(0, cycle, nearest.typical));
  if (measured->branch_miss.typical > 0)
    set_cost(table, origin, 24, measured->branch_miss);
  if (nearest.typical == 0 || second.typical == 0)
    return;
  miss = ordered_cost(second.minimum - nearest.typical, second.typical, memory.maximum);
  set_cost(table, origin, 9, miss);
  set_cost(table, origin, 25, miss);
  set_cost(table, origin, 23, ordered_cost(nearest.minimum, second.typical, memory.maximum));
}

static int is_complete(void)
{
  int i;

  for (i = 0; i < PFX_EVENTS; i++)
    if (pfx_events_row(i)->name && shared_table.origin[i] == PFX_COST_UNKNOWN)
      return 0;
  return 1;
}

static void initialize(void)
{
  char path[CPUC_FILE_PATH_SIZE];
  struct pfx_costs costs;
  int error = ENOENT;

  if (cpuc_file_path(path, PFX_COST_SYSTEM_PATH) == 0)
    error = pfx_cost_file_read(path, &costs);
  if (error == 0)
    set_costs(PFX_COST_SYSTEM_FILE, &costs);
  else if (error == EINVAL)
    pfx_why_print("%s is ignored", path);
  else if (error != ENOENT)
    pfx_why_print("%s is ignored: %s", path, strerror(error));
  if (is_complete())
    return;
  cpuc_os_clock_fall_back_if_forbidden();
  pfx_cost_measure(&shared_table.measured);
  pfx_cost_estimate(&shared_table);
}

void pfx_cost_table_get(struct pfx_cost_table *copy)
{
  int saved_errno = errno;
  struct cpuc_os_thread_saved saved;

  lock(&saved);
  if (!is_initialized) {
    initialize();
    is_initialized = 1;
  }
  *copy = shared_table;
  unlock(&saved);
  errno = saved_errno;
}

int load_costs(char *CostFileName)
{
  int saved_errno = errno, error = EFAULT;
  struct cpuc_os_thread_saved saved;
  struct pfx_costs costs;
  int i;

  if (CostFileName)
    error = pfx_cost_file_read(CostFileName, &costs);
  if (error != 0) {
    errno = error;
    return -1;
  }
  lock(&saved);
  for (i = 0; i < PFX_EVENTS; i++)
    if (shared_table.origin[i] == PFX_COST_LOADED)
      shared_table.origin[i] = PFX_COST_LOADED_EARLIER;
  set_costs(PFX_COST_LOADED, &costs);
  snprintf(shared_table.loaded, sizeof shared_table.loaded, "%s", CostFileName);
  unlock(&saved);
  errno = saved_errno;
  return pfx_count_generation();
}
