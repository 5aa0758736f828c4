/* SPDX-License-Identifier: 0BSD OR MIT */
/* The environment variable CPUCYCLES_IMPLEMENTATION: a list of names of counters. */

#ifndef CPUCYCLES_CHOICE_H
#define CPUCYCLES_CHOICE_H

#include "include/cpucycles.h"

#pragma GCC visibility push(hidden)

/* Is there a name in it? list may be 0. */
int cpucycles_choice_is_made(const char *list);

/* Is the counter's among them? */
int cpucycles_choice_names(const char *list, const char *counter);

/* Once all is decided: says in words which of the names could not be used, and why; the empty
   string if there is none. */
void cpucycles_choice_report(const char *list, const struct cpucycles_counter_info *infos,
  int count, char *skipped, int size);

#pragma GCC visibility pop

#endif
