/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of the counters that were built, generated from backends.def. */

#include "config.h"

#include "lib/table.h"

#define CPUCYCLES_BACKEND(id, name, summary) \
  extern const struct cpuc_backend cpuc_backend_##id;
#include "backends/backends.def"
#undef CPUCYCLES_BACKEND

/* ROW(0, ...) expands to nothing, ROW(1, ...) to an entry. */
#define ROW_0(id, name, summary)
#define ROW_1(id, name, summary) { name, summary, &cpuc_backend_##id },
#define ROW_(built, id, name, summary) ROW_##built(id, name, summary)
#define ROW(built, id, name, summary) ROW_(built, id, name, summary)

const struct cpuc_table_entry cpuc_table[CPUC_TABLE_LENGTH] = {
#define CPUCYCLES_BACKEND(id, name, summary) ROW(HAVE_BACKEND_##id, id, name, summary)
#include "backends/backends.def"
#undef CPUCYCLES_BACKEND
};
