/* SPDX-License-Identifier: 0BSD OR MIT */
/* Shared by the hosts that are seccomp filters. The command and its children inherit the filter. */

#ifndef CPUCYCLES_HOSTS_FILTER_H
#define CPUCYCLES_HOSTS_FILTER_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HOST_IMPOSSIBLE = 77 };

/* Ends the program, since this machine cannot be such a host. */
static inline _Noreturn void host_is_impossible(const char *why)
{
  puts(why);
  exit(HOST_IMPOSSIBLE);
}

static inline void host_filter(struct sock_filter *program, unsigned short length)
{
  const struct sock_fprog whole = { length, program };

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
    || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) != 0)
    host_is_impossible("a seccomp filter cannot be installed");
}

/* Makes perf_event_open(2) fail with this error. Without the filter, the call that verifies the
   error would fail with EFAULT. */
static inline void host_refuse_perf_events(int error)
{
  struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };

  host_filter(program, sizeof program / sizeof *program);
  if (syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) != -1 || errno != error)
    host_is_impossible("the filter does not refuse perf_event_open");
}

/* Executes the command that follows the host's name. Returns only if execvp() fails. */
static inline int host_run(char **argv)
{
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}

#endif
