/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of costs, which the process has one of: what load_costs() was given, else what is in
   /etc/perfex.costs, else what was measured. It is made when it is needed first. Who reads it gets
   a copy, taken while nobody writes. */

#include "config.h"

#include "perfex/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Tests have others. */
#ifndef PERFEX_ETC_FILE
#define PERFEX_ETC_FILE "/etc/perfex.costs"
#endif
#ifndef PERFEX_ROOT
#define PERFEX_ROOT ""
#endif

/* The table, and room for the next one: a forked child never has half of one. */
static struct perfex_table tables[2];
static int current;
static int is_made; /* all is in it that can be had without load_costs() */

/* The process that reads or writes, or 0. A child of one in which another thread did takes over. */
static int owner;

static void lock(int *cancel_state)
{
  const struct timespec pause = { 0, 20000 };
  int self = (int)getpid(), other;

  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel_state);
  for (;;) {
    other = __atomic_load_n(&owner, __ATOMIC_RELAXED);
    if (other == self)
      nanosleep(&pause, NULL);
    else if (__atomic_compare_exchange_n(&owner, &other, self, 0, __ATOMIC_ACQUIRE,
               __ATOMIC_RELAXED))
      return;
  }
}

static void unlock(int cancel_state)
{
  __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
  pthread_setcancelstate(cancel_state, NULL);
}

/* Puts what the file states where nothing of at least that rank is. */
static void merge(struct perfex_table *table, const struct perfex_file *file,
  enum perfex_origin origin)
{
  int i;

  for (i = 0; i < PERFEX_EVENTS; i++)
    if (file->stated[i] && table->origin[i] <= origin) {
      table->cost[i] = file->cost[i];
      table->origin[i] = (unsigned char)origin;
    }
}

static int is_complete(const struct perfex_table *table)
{
  int i;

  for (i = 0; i < PERFEX_EVENTS; i++)
    if (perfex_row(i)->name && table->origin[i] == PERFEX_UNKNOWN)
      return 0;
  return 1;
}

static void make(struct perfex_table *table)
{
  struct perfex_file file;
  int error = perfex_read_file(PERFEX_ETC_FILE, &file);

  if (error == 0)
    merge(table, &file, PERFEX_ETC);
  else if (error == EINVAL)
    perfex_say("%s is not obeyed", PERFEX_ETC_FILE);
  else if (error != ENOENT)
    perfex_say("%s is not obeyed: %s", PERFEX_ETC_FILE, strerror(error));
  if (is_complete(table))
    return;
  perfex_measure(PERFEX_ROOT, &table->measured);
  perfex_costs_of(&table->measured, &file);
  merge(table, &file, PERFEX_MEASURED);
}

void perfex_table(struct perfex_table *copy)
{
  int saved_errno = errno, cancel_state;

  lock(&cancel_state);
  if (!is_made) {
    tables[!current] = tables[current];
    make(&tables[!current]);
    current = !current;
    is_made = 1;
  }
  *copy = tables[current];
  unlock(cancel_state);
  errno = saved_errno;
}

int load_costs(char *CostFileName)
{
  int saved_errno = errno, error = EFAULT, cancel_state;
  struct perfex_file file;
  struct perfex_table *next;
  int i;

  if (CostFileName)
    error = perfex_read_file(CostFileName, &file);
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
  merge(next, &file, PERFEX_LOADED);
  snprintf(next->loaded, sizeof next->loaded, "%s", CostFileName);
  current = !current;
  unlock(cancel_state);
  errno = saved_errno;
  return perfex_generation();
}

static struct perfex_cost cost(long long minimum, long long typical, long long maximum)
{
  minimum = minimum < 0 ? 0 : minimum < typical ? minimum : typical;
  maximum = maximum > typical ? maximum : typical;
  return (struct perfex_cost) { minimum, typical, maximum };
}

static void state(struct perfex_file *file, int event, struct perfex_cost stated)
{
  file->cost[event] = stated;
  file->stated[event] = 1;
}

/* Where nothing waits for an instruction, it may cost nothing; typically, a load or store takes its
   place in a cycle. What misses a cache waits for the next one, or at the most for memory; a walk
   through the page table is taken for a load of an entry. The manual says the same: libperfex(3),
   COSTS. */
void perfex_costs_of(const struct perfex_measured *measured, struct perfex_file *file)
{
  const long long cycle = measured->cycle.typical;
  const int last = measured->levels - 1;
  struct perfex_cost near, next, farthest;

  memset(file, 0, sizeof *file);
  if (cycle > 0) {
    state(file, 0, measured->cycle);
    state(file, 16, measured->cycle);
    state(file, 15, cost(0, 0, cycle));
    state(file, 17, cost(0, 0, cycle));
    state(file, 6, cost(0, cycle, cycle));
    state(file, 19, cost(0, cycle, cycle));
    if (last >= 0)
      state(file, 18, cost(0, cycle, measured->level[0].load.typical));
  }
  if (measured->branch_miss.typical > 0)
    state(file, 24, measured->branch_miss);
  if (last < 1)
    return;
  near = measured->level[0].load;
  next = measured->level[1].load;
  farthest = measured->level[last].load;
  state(file, 9, cost(next.minimum - near.typical, next.typical, farthest.maximum));
  state(file, 25, file->cost[9]);
  state(file, 23, cost(near.minimum, next.typical, farthest.maximum));
  if (measured->has_memory) {
    state(file, 10, farthest);
    state(file, 26, farthest);
  }
}
