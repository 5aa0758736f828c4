/* SPDX-License-Identifier: 0BSD OR MIT */
/* The environment variable CPUCYCLES_IMPLEMENTATION: a list of names of counters. */

#ifndef CPUCYCLES_REQUEST_H
#define CPUCYCLES_REQUEST_H

#include "lib/candidate.h"

#pragma GCC visibility push(hidden)

/* Returns 1 if the list contains the name of the counter. */
int cpuc_request_includes(const char *list, const char *counter);

/* Call after the selection. Stores a sentence on the names that could not be used and the reasons,
   for which it asks the backends, or the empty string if all could be used. */
void cpuc_request_describe_unusable(const char *list, struct cpuc_candidate *candidates, int count,
  char *text, int size);

#pragma GCC visibility pop

#endif
