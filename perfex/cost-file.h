/* SPDX-License-Identifier: 0BSD OR MIT */
/* Costs from a file. */

#ifndef PERFEX_COST_FILE_H
#define PERFEX_COST_FILE_H

#include "perfex/cost.h"

#include <stddef.h>

enum {
  PERFEX_FILE_LIMIT = 65536, /* bytes */
  PERFEX_NO_LINE = 0
};

/* Parses the text of a file. Returns PERFEX_NO_LINE, or the number of the malformed line; *mistake
   is then a sentence about it. */
int perfex_parse_costs(const char *text, size_t length, struct perfex_costs *costs,
  const char **mistake);

/* Reads a file. Returns 0 or an errno. EINVAL: it is no regular file; or it is malformed or too
   long, and a message says so. */
int perfex_read_cost_file(const char *path, struct perfex_costs *costs);

#endif
