/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-monotonic: the OS clock that does not jump when the time is set, in nanoseconds since an
   unspecified start.
   Readable everywhere, unless a filter forbids the system call. The trial measures the step of the
   clock. Width: 64 bits. Rate: 1 GHz.
   Source: POSIX.1-2008, clock_gettime, CLOCK_MONOTONIC. */

#include "config.h"
#if HAVE_BACKEND_default_monotonic

#include "backends/backend.h"
#include "sys/os-clock.h"

#include <errno.h>

static int open_monotonic(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis)
{
  (void)services, (void)diagnosis;
  return cpuc_os_clock_monotonic() != 0 ? 0 : EPERM;
}

static long long read_monotonic(void)
{
  return cpuc_os_clock_monotonic();
}

const struct cpuc_backend cpuc_backend_default_monotonic = {
  .kind = CPUC_KIND_CLOCK,
  .register_name = "OS clock",
  .unit = "nanoseconds",
  .open = open_monotonic,
  .read = read_monotonic,
  .constant_rate = 1000000000,
};
#endif
