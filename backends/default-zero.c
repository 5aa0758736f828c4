/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-zero: a counter that is always 0 and cannot fail. It never passes a trial, and is
   selected only if no clock can be read. */

#include "config.h"
#if HAVE_BACKEND_default_zero

#include "backends/backend.h"

static long long read_zero(void)
{
  return 0;
}

const struct cpuc_backend cpuc_backend_default_zero = {
  .kind = CPUC_KIND_NONE,
  .unit = "nothing",
  .read = read_zero,
};
#endif
