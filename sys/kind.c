/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of the kinds of counters. */

#include "config.h"

#include "sys/kind.h"

#include <string.h>

const struct cpuc_kind_facts cpuc_kind_facts[CPUC_KIND_UNPROVEN + 1] = {
  /* name, penalty, unit of the count, group, core cycles, time-based, fallback, invariant and its
     source */
  [CPUC_KIND_CORE] = { "core", 0, "core cycles", 0, 1, 0, 0, 0, "kind of the counter" },
  [CPUC_KIND_CORE_SYSTEM_CALL]
    = { "system call", 100, "core cycles", 0, 1, 0, 0, 0, "kind of the counter" },
  [CPUC_KIND_REFERENCE] = { "reference", 100, "reference cycles", 0, 0, 0, 1, -1, NULL },
  [CPUC_KIND_SCALED]
    = { "scaled", 100, "scaled cycles", 1, 0, 1, 1, 1, "architecture or operating system" },
  [CPUC_KIND_CLOCK] = { "clock", 200, "scaled cycles", 1, 0, 1, 0, 1, "operating system" },
  [CPUC_KIND_NONE] = { "none", 200, "counts", 1, 0, 0, 0, -1, NULL },
  [CPUC_KIND_UNPROVEN] = { NULL, 0, "counts", 2, 0, 0, 0, -1, NULL },
};

enum cpuc_kind cpuc_kind_named(const char *name)
{
  int kind = 0;

  while (kind < CPUC_KIND_NONE && strcmp(cpuc_kind_facts[kind].name, name) != 0)
    kind++;
  return (enum cpuc_kind)kind;
}
