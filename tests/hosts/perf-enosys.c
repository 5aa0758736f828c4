/* SPDX-License-Identifier: 0BSD OR MIT */
/* A host whose seccomp filter refuses perf_event_open with ENOSYS, as a kernel without
   perf_event_open does. */

#include "tests/hosts/filter.h"

int main(int argc, char **argv)
{
  (void)argc;
  host_refuse_perf_events(ENOSYS);
  return host_run(argv);
}
