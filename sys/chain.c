/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads a counter or clock around chains of dependent adds. An interruption makes a window longer,
   so the smallest windows count. Windows of both lengths take turns, so that a change of the core
   frequency affects both. */

#include "config.h"

#include "sys/chain.h"

#include "sys/dependent-add.h"
#include "sys/step.h"

#include <limits.h>

enum { SMALLEST = 3 };

/* The smallest advances, ascending. */
struct smallest {
  long long advance[SMALLEST];
};

static void insert(struct smallest *smallest, long long advance)
{
  int i;

  for (i = 0; i < SMALLEST; i++)
    if (advance < smallest->advance[i]) {
      long long larger = smallest->advance[i];

      smallest->advance[i] = advance;
      advance = larger;
    }
}

static int add_window(long long (*read)(const void *counter), const void *counter, long passes,
  struct smallest *smallest)
{
  long long before = read(counter);

  if (cpuc_dependent_add_run(passes) != 0)
    return 0;
  insert(smallest, cpuc_step_between(before, read(counter)));
  return 1;
}

static int agree(const struct smallest *smallest, int parts)
{
  long long first = smallest->advance[0];

  return first > 0 && smallest->advance[SMALLEST - 1] - first <= first / parts;
}

int cpuc_chain_measure(long long (*read)(const void *counter), const void *counter, long passes,
  int windows, int parts, long long *advance, long long *longer)
{
  struct smallest once = { { LLONG_MAX, LLONG_MAX, LLONG_MAX } }, twice = once;
  int i;

  for (i = 0; i < windows; i++)
    if (!add_window(read, counter, passes, &once)
      || !add_window(read, counter, 2 * passes, &twice))
      return 0;
  *advance = cpuc_step_between(once.advance[0], twice.advance[0]);
  if (longer)
    *longer = twice.advance[0];
  return parts == 0 || (agree(&once, parts) && agree(&twice, parts));
}
