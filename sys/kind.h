/* SPDX-License-Identifier: 0BSD OR MIT */
/* The kinds of counters, and what follows from the kind of a counter. */

#ifndef CPUCYCLES_KIND_H
#define CPUCYCLES_KIND_H

#pragma GCC visibility push(hidden)

/* Better kinds come first. */
enum cpuc_kind {
  CPUC_KIND_CORE,             /* core cycles */
  CPUC_KIND_CORE_SYSTEM_CALL, /* core cycles, read with a system call */
  CPUC_KIND_REFERENCE,        /* near the nominal frequency, never scaled */
  CPUC_KIND_SCALED,           /* outside of the core, any rate, scaled to cycles */
  CPUC_KIND_CLOCK,            /* OS clock, fixed rate, scaled to cycles */
  CPUC_KIND_NONE,             /* counts nothing */
  CPUC_KIND_UNPROVEN          /* of core cycles by its name, but counts something else */
};

struct cpuc_kind_facts {
  const char *name;             /* `kind` of struct cpucycles_counter_info */
  const char *count_unit;       /* of the count after scaling */
  const char *invariant_source; /* what defines `invariant`, or NULL */
  int invariant; /* 1: the rate is constant; 0: it follows the core frequency; -1: not known */
  int penalty;   /* the part of the score that depends on the kind */
  int group;     /* a counter of a lower group wins, whatever the scores: doc/decisions.md */
  int counts_core_cycles;
  int is_time_based; /* 1: the count is scaled with the frequency estimate */
  int is_fallback;   /* 1: threads that lack their counter can read this one, instead of a clock */
};

extern const struct cpuc_kind_facts cpuc_kind_facts[CPUC_KIND_UNPROVEN + 1];

/* Returns the kind of this name, never CPUC_KIND_UNPROVEN, which has none. */
enum cpuc_kind cpuc_kind_named(const char *name);

#pragma GCC visibility pop

#endif
