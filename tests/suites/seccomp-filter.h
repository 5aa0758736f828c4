/* SPDX-License-Identifier: 0BSD OR MIT */
/* Seccomp filters for suites. A filter cannot be removed, so each test sets it in its own child.
   Include this header only if configure has found linux/seccomp.h. */

#ifndef CPUCYCLES_SECCOMP_FILTER_H
#define CPUCYCLES_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { NO_FILTERS = 77 }; /* exit status of a child that cannot set a filter */

/* Makes the kernel answer these system calls with this action. Returns 0, or -1 if a filter is
   impossible here. */
static inline int set_filter(const int *calls, int count, unsigned int action)
{
  struct sock_filter program[16];
  struct sock_fprog whole = { 0, program };
  int i;

  program[whole.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
    offsetof(struct seccomp_data, nr));
  for (i = 0; i < count; i++) {
    program[whole.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
      (unsigned)calls[i], 0, 1);
    program[whole.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
  }
  program[whole.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole);
}

#endif
