/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of the kinds of counters. */

#include "config.h"

#include "sys/kind.h"

#include <string.h>

const struct cpuc_kind_facts cpuc_kind_facts[CPUC_KIND_UNPROVEN + 1] = {
  /* name, unit of the count, source of invariant, invariant, penalty, group, core cycles,
     time-based, fallback */
  [CPUC_KIND_CORE] = { "core", "core cycles", "kind of the counter", 0, 0, 0, 1, 0, 0 },
  [CPUC_KIND_CORE_SYSTEM_CALL]
    = { "system call", "core cycles", "kind of the counter", 0, 100, 0, 1, 0, 0 },
  [CPUC_KIND_REFERENCE] = { "reference", "reference cycles", NULL, -1, 100, 0, 0, 0, 1 },
  [CPUC_KIND_SCALED]
    = { "scaled", "scaled cycles", "architecture or operating system", 1, 100, 1, 0, 1, 1 },
  [CPUC_KIND_CLOCK] = { "clock", "scaled cycles", "operating system", 1, 200, 1, 0, 1, 0 },
  [CPUC_KIND_NONE] = { "none", "counts", NULL, -1, 200, 1, 0, 0, 0 },
  [CPUC_KIND_UNPROVEN] = { NULL, "counts", NULL, -1, 0, 2, 0, 0, 0 },
};

enum cpuc_kind cpuc_kind_named(const char *name)
{
  int kind = 0;

  while (kind < CPUC_KIND_NONE && strcmp(cpuc_kind_facts[kind].name, name) != 0)
    kind++;
  return (enum cpuc_kind)kind;
}
