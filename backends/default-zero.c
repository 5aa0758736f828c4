/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-zero: always 0, so that the list of counters is never empty. It raises no signal, and
   the library drops it as not increasing. */

#include "config.h"

#include "backends/backend.h"

static long long read_zero(void)
{
  return 0;
}

const struct cpucycles_backend cpucycles_backend_default_zero = {
  .kind = CPUCYCLES_KIND_NONE,
  .scope = CPUCYCLES_SCOPE_SYSTEM,
  .width = 64,
  .source = "nothing",
  .unit = "nothing",
  .read = read_zero,
};
