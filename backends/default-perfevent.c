/* SPDX-License-Identifier: 0BSD OR MIT */
/* default-perfevent: user-mode core cycles of the calling thread, from a perf event read with
   read(2).
   Readable if the kernel has a driver for the PMU, and one of these conditions holds:
   perf_event_paranoid is at most 2, or at most 1 if the PMU cannot exclude the kernel; the program
   has CAP_SYS_ADMIN in the initial user namespace; or perf_event_paranoid is 2, and the program has
   CAP_PERFMON there (since Linux 5.8). See sys/perf/remedy.c.
   Threads, forked children and lost events: backends/perf/.
   Width: 64 bits, extended by the kernel. Rate: the current core frequency.
   Source: perf_event_open(2), sections "read_format" and "ERRORS". */

#include "config.h"
#if HAVE_BACKEND_default_perfevent

#include "backends/perf/counter.h"

static const struct cpuc_perf_counter counter = { .instruction = NULL };

static long long read_cycles(void)
{
  return cpuc_perf_read_slowly(&counter);
}

const struct cpuc_backend cpuc_backend_default_perfevent = {
  .kind = CPUC_KIND_CORE_SYSTEM_CALL,
  CPUC_PERF_MEMBERS,
  .read = read_cycles,
};
#endif
