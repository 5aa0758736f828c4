/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of the counters that were built, in the order of backends.def. */

#ifndef CPUCYCLES_TABLE_H
#define CPUCYCLES_TABLE_H

#include "backends/backend.h"

#pragma GCC visibility push(hidden)

struct cpuc_table_entry {
  const char *name, *summary;
  const struct cpuc_backend *backend;
};

enum {
  CPUC_TABLE_LENGTH = 0
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum */
#define CPUCYCLES_BACKEND(id, name, summary) +HAVE_BACKEND_##id
#include "backends/backends.def"
#undef CPUCYCLES_BACKEND
};

extern const struct cpuc_table_entry cpuc_table[CPUC_TABLE_LENGTH];

#pragma GCC visibility pop

#endif
