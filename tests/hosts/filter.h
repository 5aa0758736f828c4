/* SPDX-License-Identifier: 0BSD OR MIT */
/* Seccomp filters, which a process and its children cannot remove; for hosts, and for suites, which
   set a filter in a child. Include this header only if there is a linux/seccomp.h. */

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

/* Exit status of a program that cannot set a filter or be such a host. */
enum { FILTER_IMPOSSIBLE = 77 };

/* Returns 0, or -1 if a filter is impossible here. */
static inline int filter_install(struct sock_filter *program, unsigned short length)
{
  const struct sock_fprog whole = { length, program };

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole);
}

/* Makes the kernel answer these system calls with this action. Returns 0, or -1. */
static inline int filter_calls(const int *calls, int count, unsigned int action)
{
  struct sock_filter program[16];
  unsigned short length = 0;
  int i;

  program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
    offsetof(struct seccomp_data, nr));
  for (i = 0; i < count; i++) {
    program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
      (unsigned)calls[i], 0, 1);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
  }
  program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  return filter_install(program, length);
}

/* Ends the program, since this machine cannot be such a host. */
static inline _Noreturn void host_is_impossible(const char *why)
{
  puts(why);
  exit(FILTER_IMPOSSIBLE);
}

/* Executes the command that follows the host's name. Returns only if execvp() fails. */
static inline int host_run(char **argv)
{
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}

#endif
