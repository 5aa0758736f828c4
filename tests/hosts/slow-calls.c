/* SPDX-License-Identifier: 0BSD OR MIT */
/* A host on which each system call takes some microseconds longer, as in a sandbox. The reason is a
   seccomp filter that divides many times. The filter reads an argument of the call, because the
   kernel executes no filter that always allows the call, whatever the arguments. */

#include "tests/hosts/filter.h"

#include <time.h>

enum { CALLS = 1000, DIVISIONS = 4000, LEAST_DELAY = 3000 /* nanoseconds */ };

/* Duration of a system call in nanoseconds: the shortest of many, because some calls are
   interrupted. */
static long long call_duration(void)
{
  struct timespec begin, end;
  long long duration, shortest = 1000000000;
  int i;

  for (i = 0; i < CALLS; i++) {
    clock_gettime(CLOCK_MONOTONIC, &begin);
    syscall(SYS_getppid);
    clock_gettime(CLOCK_MONOTONIC, &end);
    duration = (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec;
    shortest = duration < shortest ? duration : shortest;
  }
  return shortest;
}

static void slow_down(void)
{
  static struct sock_filter program[DIVISIONS + 2];
  int i;

  program[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
    offsetof(struct seccomp_data, args));
  for (i = 1; i <= DIVISIONS; i++)
    program[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 3);
  program[i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  (void)filter_install(program, DIVISIONS + 2);
}

int main(int argc, char **argv)
{
  long long usual = call_duration();

  (void)argc;
  slow_down();
  if (call_duration() < usual + LEAST_DELAY)
    host_is_impossible("the filter delays a system call by less than 3 us");
  return host_run(argv);
}
