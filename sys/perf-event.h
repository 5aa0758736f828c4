/* SPDX-License-Identifier: 0BSD OR MIT */
/* What libcpucycles (perf-open.c) and libperfex (perfex/) share of perf events: the system calls,
   what is left out of a count, and that signals wait while a thread's events are not of one piece.
   Beside this, libperfex takes kernel-file.h, as readers of files do here, and what cpucycles.h
   offers to all; nothing else is shared. What is opened, how it is read, and what a loss means, is
   each one's matter. Source: perf_event_open(2); signal-safety(7). */

#ifndef CPUCYCLES_PERF_EVENT_H
#define CPUCYCLES_PERF_EVENT_H

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Opens an event of the calling thread, on whatever CPU; group: the leader's descriptor, or -1. */
static inline int perf_event_open_in(struct perf_event_attr *wanted, int group)
{
  int result;

  do
    result = (int)syscall(SYS_perf_event_open, wanted, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
  while (result < 0 && errno == EINTR);
  return result;
}

/* Says the event's number, which no other has; a descriptor that is something else has none. */
static inline int perf_event_identify(int descriptor, uint64_t *id)
{
  return ioctl(descriptor, PERF_EVENT_IOC_ID, id);
}

/* The C library's read() and close() are cancellation points, and these are none. */
static inline ssize_t perf_event_read(int descriptor, void *reading, size_t size)
{
  ssize_t length;

  do
    length = syscall(SYS_read, descriptor, reading, size);
  while (length < 0 && errno == EINTR);
  return length;
}

static inline void perf_event_close(int descriptor)
{
  syscall(SYS_close, descriptor);
}

/* What is left out of a count, in the order to be tried: some PMUs cannot leave the kernel out, and
   Apple's count no guest. */
static const struct perf_event_exclusion {
  unsigned kernel, guest;
} perf_event_exclusions[] = { { 1, 0 }, { 1, 1 }, { 0, 0 } };

enum {
  PERF_EVENT_USER_ALONE = 2, /* that many leave the kernel out */
  PERF_EVENT_ANY = sizeof perf_event_exclusions / sizeof perf_event_exclusions[0]
};

/* Opens an event by open_one(), with the first of so many exclusions that the PMU takes, which
   `wanted` then says. Returns its descriptor, or -1 with errno. */
static inline int perf_event_open_excluding(struct perf_event_attr *wanted, int exclusions,
  int (*open_one)(struct perf_event_attr *wanted))
{
  int i, descriptor = -1;

  for (i = 0; i < exclusions; i++) {
    wanted->exclude_kernel = perf_event_exclusions[i].kernel;
    wanted->exclude_hv = perf_event_exclusions[i].kernel;
    wanted->exclude_guest = perf_event_exclusions[i].guest;
    descriptor = open_one(wanted);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EINVAL))
      break;
  }
  return descriptor;
}

/* Signals wait while a thread's state is not of one piece; but a fault has its handler. What the
   program has blocked stays so; but where a filter raises SIGSYS for what is asked here, that would
   end the process if it were blocked: so it is not, unless one is pending. */
static inline void perf_event_wait_begin(sigset_t *mask)
{
  sigset_t waiting, pending;

  sigfillset(&waiting);
  sigdelset(&waiting, SIGSEGV);
  sigdelset(&waiting, SIGBUS);
  sigdelset(&waiting, SIGSYS);
  pthread_sigmask(SIG_BLOCK, &waiting, mask);
  if (sigismember(mask, SIGSYS) == 1 && sigpending(&pending) == 0
    && sigismember(&pending, SIGSYS) == 0) {
    sigemptyset(&waiting);
    sigaddset(&waiting, SIGSYS);
    pthread_sigmask(SIG_UNBLOCK, &waiting, NULL);
  }
}

static inline void perf_event_wait_end(const sigset_t *mask)
{
  pthread_sigmask(SIG_SETMASK, mask, NULL);
}

#endif
