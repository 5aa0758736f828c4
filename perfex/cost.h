/* SPDX-License-Identifier: 0BSD OR MIT */
/* The cost of one event, the costs in a file, what is measured, and the table of the costs of the
   process. */

#ifndef PERFEX_COST_H
#define PERFEX_COST_H

#include "perfex/events.h"

#include <stddef.h>

/* The cost of one event in picoseconds. minimum <= typical <= maximum. */
struct pfx_cost {
  long long minimum, typical, maximum;
};

#define PFX_COST_PICOSECONDS_PER_SECOND 1000000000000LL

/* The highest cost: one second. */
#define PFX_COST_LIMIT PFX_COST_PICOSECONDS_PER_SECOND

/* The costs in a file. */
struct pfx_costs {
  struct pfx_cost cost[PFX_EVENTS];
  unsigned char has_cost[PFX_EVENTS]; /* 1 if the file has a cost for this event */
};

enum { PFX_COST_FILE_LIMIT = 65536 /* bytes */ };

/* Parses the text of a file, and overwrites it and text[length]. Returns 0. If a line is
   malformed, returns the number of the first such line instead, and stores a sentence on the
   mistake in *mistake. */
int pfx_cost_file_parse(char *text, size_t length, struct pfx_costs *costs, const char **mistake);

/* Reads a file. Returns 0 or an errno. EINVAL: the file is malformed, too long or not regular,
   which a message explains. */
int pfx_cost_file_read(const char *path, struct pfx_costs *costs);

enum { PFX_COST_LEVELS = 4 }; /* caches */

struct pfx_cost_measured {
  struct pfx_cost cycle, branch_miss;
  struct {
    long bytes; /* size of the memory over which the loads were spread; L1: a line, of which one
                   word is loaded */
    struct pfx_cost load;
  } level[PFX_COST_LEVELS];
  int levels; /* number of measured levels; the first is the L1 cache */
  long long nanoseconds; /* elapsed time of the measurement */
};

/* Measures, in some milliseconds, and stores the results in *measured. Levels that need too much
   memory are missing. A cost that cannot be measured is 0, but that of a cycle is always known. */
void pfx_cost_measure(struct pfx_cost_measured *measured);

/* cost-table.c */

#define PFX_COST_SYSTEM_PATH "/etc/perfex.costs"

/* The origin of a cost. A cost of higher origin replaces one of lower origin. */
enum pfx_cost_origin {
  PFX_COST_UNKNOWN,
  PFX_COST_BUILT_IN,
  PFX_COST_MEASURED,
  PFX_COST_SYSTEM_FILE,    /* from PFX_COST_SYSTEM_PATH */
  PFX_COST_LOADED_EARLIER, /* loaded by load_costs(), but not by its last call */
  PFX_COST_LOADED
};

struct pfx_cost_table {
  struct pfx_cost cost[PFX_EVENTS];
  unsigned char origin[PFX_EVENTS];
  char loaded[128];             /* name of the last loaded file, cut to size */
  struct pfx_cost_measured measured; /* all 0 if no cost was measured */
};

/* Estimates costs from the measured times in the table, and sets them if they have no cost of
   higher origin. */
void pfx_cost_estimate(struct pfx_cost_table *table);

/* Copies the table. The first call reads PFX_COST_SYSTEM_PATH and measures the missing costs. */
void pfx_cost_table_get(struct pfx_cost_table *copy);

#endif
