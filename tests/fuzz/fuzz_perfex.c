/* SPDX-License-Identifier: 0BSD OR MIT */
/* Random inputs for the parser of libperfex's cost files: accepted costs are in range and in order,
   a refused file has a line and a mistake, and the sanitizers find nothing. For libFuzzer: make
   check-fuzz. */

#include "config.h"

#include "perfex/cost.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct pfx_costs costs;
  const char *mistake = NULL;
  char *text = malloc(size + 1); /* exact size: ASan sees overreads */
  int line, lines = 1, i;
  size_t at;

  memcpy(text, data, size);
  for (at = 0; at < size; at++)
    lines += text[at] == '\n';
  line = pfx_cost_file_parse(text, size, &costs, &mistake);
  if (line < 0 || line > lines || (line != 0 && !(mistake && *mistake)))
    abort();
  if (line == 0 && memchr(data, 0, size))
    abort();
  for (i = 0; line == 0 && i < PFX_EVENTS; i++) {
    const struct pfx_cost *cost = &costs.cost[i];

    FUZZ_EXPECT(cost->minimum >= 0 && cost->minimum <= cost->typical
      && cost->typical <= cost->maximum && cost->maximum <= PFX_COST_LIMIT
      && costs.has_cost[i] <= 1);
  }
  free(text);
  return 0;
}
