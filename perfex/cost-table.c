/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of costs of the process. A cost comes from a file that was passed to load_costs(),
   otherwise from /etc/perfex.costs, otherwise from a measurement; the cost of memory is built in.
   The first use reads /etc/perfex.costs and measures the costs that are still missing. Readers get
   a copy, which is made under a lock. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/cost.h"
#include "perfex/count.h"
#include "perfex/message.h"
#include "sys/early.h"
#include "sys/file.h"
#include "sys/lock.h"
#include "sys/os-clock.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The table is changed in place, under the lock. A child that is forked during a change has a part
   of the change. */
static struct pfx_cost_table shared_table;
static int is_initialized; /* 1 once /etc/perfex.costs is read and missing costs are measured */

static struct cpuc_lock table_lock;

/* Releases the lock of a thread that the child does not have. */
static void after_fork_in_child(void)
{
  cpuc_lock_release_in_child(&table_lock, cpuc_os_thread_id());
}

static CPUC_EARLY_LOAD void load(void)
{
  cpuc_os_thread_on_fork(after_fork_in_child);
}

/* Signals are blocked, because a handler that jumped out would leave the lock held. */
static void lock(struct cpuc_os_thread_saved *saved)
{
  cpuc_os_thread_block_signals_and_cancellation(saved);
  while (cpuc_lock_try(&table_lock, cpuc_os_thread_id()) != CPUC_LOCK_ACQUIRED)
    cpuc_os_thread_sleep_briefly();
}

static void unlock(const struct cpuc_os_thread_saved *saved)
{
  cpuc_lock_release(&table_lock);
  cpuc_os_thread_restore_signals_and_cancellation(saved);
}

/* Copies `costs` into the table, except for events whose cost has a higher origin. */
static void merge(const struct pfx_costs *costs, enum pfx_cost_origin origin)
{
  int i;

  for (i = 0; i < PFX_EVENTS; i++)
    if (costs->has_cost[i] && shared_table.origin[i] <= origin) {
      shared_table.cost[i] = costs->cost[i];
      shared_table.origin[i] = (unsigned char)origin;
    }
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

  if (cpuc_file_path(path, "/etc/perfex.costs") == 0)
    error = pfx_cost_file_read(path, &costs);
  if (error == 0)
    merge(&costs, PFX_COST_SYSTEM_FILE);
  else if (error == EINVAL)
    pfx_message("%s is ignored", path);
  else if (error != ENOENT)
    pfx_message("%s is ignored: %s", path, strerror(error));
  if (is_complete())
    return;
  cpuc_os_clock_fall_back_if_forbidden();
  pfx_cost_measure(&shared_table.measured);
  pfx_cost_estimate(&shared_table.measured, &costs);
  merge(&costs, PFX_COST_MEASURED);
  pfx_cost_estimate_memory(&costs);
  merge(&costs, PFX_COST_BUILT_IN);
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
  merge(&costs, PFX_COST_LOADED);
  snprintf(shared_table.loaded, sizeof shared_table.loaded, "%s", CostFileName);
  unlock(&saved);
  errno = saved_errno;
  return pfx_count_generation();
}
