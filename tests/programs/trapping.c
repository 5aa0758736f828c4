/* SPDX-License-Identifier: 0BSD OR MIT */
/* trapping CALL COMMAND [ARGUMENT]...: runs a command under a seccomp filter that raises SIGSYS at
   this system call. Exits with 77 if this is not possible here. */

#include "config.h"

#include <stdio.h>

#ifdef HAVE_LINUX_SECCOMP_H

#include "tests/hosts/filter.h"

#include <string.h>

static const struct {
  const char *name;
  int number;
} calls[] = {
  { "perf_event_open", SYS_perf_event_open },
  { "getdents64", SYS_getdents64 },
  { "uname", SYS_uname },
  { "sched_getaffinity", SYS_sched_getaffinity },
  { "sched_setaffinity", SYS_sched_setaffinity },
};

int main(int argc, char **argv)
{
  size_t i;

  if (argc < 3)
    return 2;
  for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
    if (strcmp(calls[i].name, argv[1]) == 0) {
      if (filter_calls(&calls[i].number, 1, SECCOMP_RET_TRAP) != 0)
        break;
      return host_run(argv + 1);
    }
  return FILTER_IMPOSSIBLE;
}

#else

int main(void)
{
  puts("this system has no seccomp filters");
  return 77;
}

#endif
