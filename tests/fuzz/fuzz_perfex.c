/* SPDX-License-Identifier: 0BSD OR MIT */
/* Random inputs for the parser of libperfex's cost files: what it takes is in range and in order,
   what it refuses has a line and a reason, and the sanitizers find nothing. For libFuzzer: make
   check-fuzz. */

#include "config.h"

#include "perfex/cost-file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct perfex_costs file;
  const char *what = NULL;
  char *text = malloc(size ? size : 1); /* of that size, so that nothing behind it is read unseen */
  int line, lines = 1, i;
  size_t at;

  memcpy(text, data, size);
  for (at = 0; at < size; at++)
    lines += text[at] == '\n';
  line = perfex_parse_costs(text, size, &file, &what);
  if (line < 0 || line > lines || (line != PERFEX_NO_LINE && !(what && *what)))
    abort();
  if (line == PERFEX_NO_LINE && memchr(text, 0, size))
    abort();
  for (i = 0; line == PERFEX_NO_LINE && i < PERFEX_EVENTS; i++) {
    const struct perfex_cost *cost = &file.cost[i];

    if (cost->minimum < 0 || cost->minimum > cost->typical || cost->typical > cost->maximum
      || cost->maximum > PERFEX_COST_LIMIT || file.stated[i] > 1)
      abort();
  }
  free(text);
  return 0;
}
