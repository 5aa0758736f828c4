/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of the counters that were built, in the order of backends.def. */

#ifndef CPUCYCLES_TABLE_H
#define CPUCYCLES_TABLE_H

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

struct cpucycles_entry {
  const char *name, *summary;
  const struct cpucycles_backend *backend;
};

enum {
  CPUCYCLES_TABLE_LENGTH = 0
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum */
#define CPUCYCLES_BACKEND(id, name, summary) +HAVE_BACKEND_##id
#include "backends/backends.def"
#undef CPUCYCLES_BACKEND
};

extern const struct cpucycles_entry cpucycles_table[CPUCYCLES_TABLE_LENGTH];

#pragma GCC visibility pop

#endif
