/* SPDX-License-Identifier: 0BSD OR MIT */
/* A host on which prctl(PR_SET_TSC, PR_TSC_SIGSEGV) succeeds without an effect, as with some
   hypervisors. Where the call has an effect, this program installs a seccomp filter that answers
   the call with 0. */

#include "tests/hosts/filter.h"

#include <sys/wait.h>

#if defined(__x86_64__) || defined(__i386__)

#include <x86intrin.h>

/* Forbids the TSC, and reads it. */
static _Noreturn void read_the_tsc(void)
{
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
    _exit(EXIT_FAILURE);
  __rdtsc();
  _exit(EXIT_SUCCESS);
}

#else

static _Noreturn void read_the_tsc(void)
{
  _exit(EXIT_FAILURE);
}

#endif

static int tsc_is_forbidden(void)
{
  pid_t child = fork();
  int status = -1;

  if (child == 0)
    read_the_tsc();
  waitpid(child, &status, 0);
  return status != 0;
}

int main(int argc, char **argv)
{
  struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_TSC, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };

  (void)argc;
  if (tsc_is_forbidden())
    (void)filter_install(program, sizeof program / sizeof *program);
  if (tsc_is_forbidden())
    host_is_impossible("this CPU has no TSC");
  return host_run(argv);
}
