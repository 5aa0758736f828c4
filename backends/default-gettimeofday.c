/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-gettimeofday: the wall clock in microseconds.
   Readable everywhere, unless a filter forbids the system call. The clock jumps when the time is
   set. read() counts from the second in which open() ran, so that the scaled count stays far from
   the limits of 64 bits.
   Width: 64 bits. Rate: 1 MHz.
   Source: POSIX.1-2008, gettimeofday. */

#include "config.h"
#if HAVE_BACKEND_default_gettimeofday

#include "backends/backend.h"
#include "sys/os-clock.h"

#include <errno.h>

/* Written by open() only, before the counter is published. */
static long long origin;

static int open_wall_clock(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis)
{
  long long now = cpuc_os_clock_wall_microseconds();

  (void)services, (void)diagnosis;
  origin = now / 1000000 * 1000000;
  return now != 0 ? 0 : EPERM;
}

static long long read_wall_clock(void)
{
  return cpuc_os_clock_wall_microseconds() - origin;
}

const struct cpuc_backend cpuc_backend_default_gettimeofday = {
  .kind = CPUC_KIND_CLOCK,
  .register_name = "OS clock",
  .unit = "microseconds",
  .open = open_wall_clock,
  .read = read_wall_clock,
  .constant_rate = 1000000,
};
#endif
