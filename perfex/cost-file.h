/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads costs from a file. */

#ifndef PERFEX_COST_FILE_H
#define PERFEX_COST_FILE_H

#include "perfex/cost.h"

#include <stddef.h>

enum {
  PFX_COST_FILE_LIMIT = 65536, /* bytes */
  PFX_COST_FILE_VALID = 0
};

/* Parses the text of a file. Returns PFX_COST_FILE_VALID. If a line is malformed, returns the
   number of the first such line instead, and stores a sentence on the mistake in *mistake. */
int pfx_cost_file_parse(const char *text, size_t length, struct pfx_costs *costs,
  const char **mistake);

/* Reads a file. Returns 0 or an errno. EINVAL: the file is malformed, too long or not regular,
   which a message explains. */
int pfx_cost_file_read(const char *path, struct pfx_costs *costs);

#endif
