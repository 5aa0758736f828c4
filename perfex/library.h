/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the files of perfex/ offer each other, in the order in which data flows:
   events -> counters; parse, measure -> costs -> print. */

#ifndef PERFEX_LIBRARY_H
#define PERFEX_LIBRARY_H

#include "include/perfex.h"

#include <stddef.h>
#include <stdint.h>

/* events.c: what a number stands for. */

enum { PERFEX_EVENTS = 32 };

struct perfex_event_row {
  const char *text;        /* what is counted */
  const char *name, *also; /* as perfex_event() knows it; 0 if the kernel counts no such thing */
  uint32_t type;           /* struct perf_event_attr's */
  uint64_t config;
};

/* The event's row; 0 if there is no such number. */
const struct perfex_event_row *perfex_row(int event);

/* The events that the environment asks for, in place of those in events[]. Returns 0, or, if
   complain is not 0, -1 with errno, having said why on standard error: what is asked for is none.
   */
int perfex_override(int events[2], int complain);

/* Says a line on standard error, after the library's name. */
void perfex_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* parse.c: costs as a file states them. */

/* What one event costs, in picoseconds. */
struct perfex_cost {
  long long minimum, typical, maximum;
};

enum {
  PERFEX_FILE_LIMIT = 65536, /* bytes of a file */
  PERFEX_NO_LINE = 0
};

/* The most that an event may cost: a second. */
#define PERFEX_COST_LIMIT 1000000000000LL

struct perfex_file {
  struct perfex_cost cost[PERFEX_EVENTS];
  unsigned char stated[PERFEX_EVENTS];
};

/* Takes the text of a file. Returns 0, or the number of the line that is malformed, with *what
   being what is wrong there. */
int perfex_parse(const char *text, size_t length, struct perfex_file *file, const char **what);

/* Reads a file. Returns 0, or an errno; EINVAL: it is malformed, or too long, which was said. */
int perfex_read_file(const char *path, struct perfex_file *file);

/* measure.c: costs as they are here. */

enum { PERFEX_LEVELS = 5 }; /* of caches, and memory */

struct perfex_measured {
  struct perfex_cost cycle, branch_miss;
  struct {
    long bytes; /* among which the loads were spread */
    struct perfex_cost load;
  } level[PERFEX_LEVELS];
  int levels;            /* that were measured; the first is the nearest */
  int has_memory;        /* the last one is more than the caches hold */
  int is_hidden;         /* memory cannot be told from a cache of which the size is not clear */
  long long nanoseconds; /* that it took */
};

/* Measures, in at most 20 ms of the CPU; what there was no time or no room for is missing. root:
   the folder below which the kernel says how large caches are. */
void perfex_measure(const char *root, struct perfex_measured *measured);

/* What each event costs, by what was measured. */
void perfex_costs_of(const struct perfex_measured *measured, struct perfex_file *file);

/* costs.c: the table. */

enum perfex_origin {
  PERFEX_UNKNOWN,
  PERFEX_MEASURED,
  PERFEX_ETC,
  PERFEX_LOADED_EARLIER, /* from a file that is not the last one */
  PERFEX_LOADED
};

struct perfex_table {
  struct perfex_cost cost[PERFEX_EVENTS];
  unsigned char origin[PERFEX_EVENTS];
  char loaded[128];                /* the last file's name, cut to size */
  struct perfex_measured measured; /* if anything was */
};

/* A copy of the table, made if it is not yet. */
void perfex_table(struct perfex_table *copy);

/* counters.c: the generation number of the calling thread's counters, from 1 to 2147483647. */
int perfex_generation(void);

#endif
