/* SPDX-License-Identifier: 0BSD OR MIT */
/* The process's table of costs. A cost comes from a file given to load_costs(), else from
   /etc/perfex.costs, else from a measurement. The first use reads /etc/perfex.costs and measures.
   Readers get a copy, made under a lock that a forked child can take over. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/cost-estimate.h"
#include "perfex/cost-file.h"
#include "perfex/cost-table.h"
#include "perfex/count.h"
#include "perfex/message.h"
#include "sys/fork-lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Tests define others. */
#ifndef PERFEX_ETC_FILE
#define PERFEX_ETC_FILE "/etc/perfex.costs"
#endif
#ifndef PERFEX_ROOT
#define PERFEX_ROOT ""
#endif

/* The current table, and a spare one for the next: a forked child never has half a table. */
static struct perfex_cost_table tables[2];
static int current;
static int is_initialised; /* /etc/perfex.costs was read, and missing costs were measured */

static struct fork_lock table_lock;

static void lock(int *cancel_state)
{
  const struct timespec pause = { 0, 20000 };

  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel_state);
  while (fork_lock_try(&table_lock, (int)getpid(), (uintptr_t)pthread_self())
    != FORK_LOCK_ACQUIRED)
    nanosleep(&pause, NULL);
}

static void unlock(int cancel_state)
{
  fork_lock_release(&table_lock);
  pthread_setcancelstate(cancel_state, NULL);
}

/* Sets the costs that `costs` states, except for events whose cost has a higher origin. */
static void merge(struct perfex_cost_table *table, const struct perfex_costs *costs,
  enum perfex_origin origin)
{
  int i;

  for (i = 0; i < PERFEX_EVENTS; i++)
    if (costs->stated[i] && table->origin[i] <= origin) {
      table->cost[i] = costs->cost[i];
      table->origin[i] = (unsigned char)origin;
    }
}

static int is_complete(const struct perfex_cost_table *table)
{
  int i;

  for (i = 0; i < PERFEX_EVENTS; i++)
    if (perfex_row(i)->name && table->origin[i] == PERFEX_UNKNOWN)
      return 0;
  return 1;
}

static void initialise(struct perfex_cost_table *table)
{
  struct perfex_costs costs;
  int error = perfex_read_cost_file(PERFEX_ETC_FILE, &costs);

  if (error == 0)
    merge(table, &costs, PERFEX_ETC);
  else if (error == EINVAL)
    perfex_message("%s is ignored", PERFEX_ETC_FILE);
  else if (error != ENOENT)
    perfex_message("%s is ignored: %s", PERFEX_ETC_FILE, strerror(error));
  if (is_complete(table))
    return;
  perfex_measure(PERFEX_ROOT, &table->measured);
  perfex_estimate_costs(&table->measured, &costs);
  merge(table, &costs, PERFEX_MEASURED);
}

void perfex_copy_cost_table(struct perfex_cost_table *copy)
{
  int saved_errno = errno, cancel_state;

  lock(&cancel_state);
  if (!is_initialised) {
    tables[!current] = tables[current];
    initialise(&tables[!current]);
    current = !current;
    is_initialised = 1;
  }
  *copy = tables[current];
  unlock(cancel_state);
  errno = saved_errno;
}

int load_costs(char *CostFileName)
{
  int saved_errno = errno, error = EFAULT, cancel_state;
  struct perfex_costs costs;
  struct perfex_cost_table *next;
  int i;

  if (CostFileName)
    error = perfex_read_cost_file(CostFileName, &costs);
  if (error != 0) {
    errno = error;
    return -1;
  }
  lock(&cancel_state);
  next = &tables[!current];
  *next = tables[current];
  for (i = 0; i < PERFEX_EVENTS; i++)
    if (next->origin[i] == PERFEX_LOADED)
      next->origin[i] = PERFEX_LOADED_EARLIER;
  merge(next, &costs, PERFEX_LOADED);
  snprintf(next->loaded, sizeof next->loaded, "%s", CostFileName);
  current = !current;
  unlock(cancel_state);
  errno = saved_errno;
  return perfex_generation();
}
