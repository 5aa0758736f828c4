/* SPDX-License-Identifier: 0BSD OR MIT */
/* A host whose seccomp filter refuses perf_event_open with EPERM, like the filter of some
   containers. Without the filter, the call would fail with EFAULT. */

#include "tests/hosts/filter.h"

int main(int argc, char **argv)
{
  static const int call[] = { SYS_perf_event_open };

  (void)argc;
  if (filter_calls(call, 1, SECCOMP_RET_ERRNO | EPERM) != 0
    || syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) != -1 || errno != EPERM)
    host_is_impossible("no filter refuses perf_event_open");
  return host_run(argv);
}
