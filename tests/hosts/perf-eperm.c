/* SPDX-License-Identifier: 0BSD OR MIT */
/* A host whose seccomp filter refuses perf_event_open with EPERM, like the filter of some
   containers. */

#include "tests/hosts/filter.h"

int main(int argc, char **argv)
{
  (void)argc;
  host_refuse_perf_events(EPERM);
  return host_run(argv);
}
