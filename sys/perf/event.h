/* SPDX-License-Identifier: 0BSD OR MIT */
/* Perf events of Linux, for libcpucycles and libperfex: the system calls, and the exclusions from a
   count. The functions are static inline because each is little more than a call.
   Source: perf_event_open(2). */

#ifndef CPUCYCLES_PERF_EVENT_H
#define CPUCYCLES_PERF_EVENT_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opens an event of the calling thread, on any CPU. group is the descriptor of the group leader, or
   -1. Returns a descriptor, or -1 with errno. The freezer, and work of io_uring, can interrupt the
   call even if the thread blocks all signals. */
static inline int cpuc_perf_event_open_in_group(struct perf_event_attr *wanted, int group)
{
  int result;

  do
    result = (int)syscall(SYS_perf_event_open, wanted, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
  while (result < 0 && errno == EINTR);
  return result;
}

/* Finds the unique ID of the event. Returns 1, or 0 if the descriptor is not that of an event. */
static inline int cpuc_perf_event_identify(int descriptor, uint64_t *id)
{
  return ioctl(descriptor, PERF_EVENT_IOC_ID, id) == 0;
}

/* Unlike close() of the C library, this is not a cancellation point. */
static inline void cpuc_perf_event_close(int descriptor)
{
  syscall(SYS_close, descriptor);
}

/* Moves a descriptor to a number from a quarter of the limit, or from 1024 if 1024 is less, up to
   half of the limit. The kernel gives files of the program lower numbers as long as a lower number
   is free. If the descriptor had a low number and the program closed it, the number would soon
   belong to another file, from which the library would read once. The numbers below 3 are the
   standard streams, and select(2) works only with numbers below 1024. Returns 0 or an errno. */
static inline int cpuc_perf_event_move_up(int *descriptor)
{
  struct rlimit limit = { 0, 0 };
  int begin, end, moved;

  getrlimit(RLIMIT_NOFILE, &limit);
  end = limit.rlim_cur / 2 < INT_MAX ? (int)(limit.rlim_cur / 2) : INT_MAX;
  begin = end / 2 < 1024 ? end / 2 : 1024;
  moved = fcntl(*descriptor, F_DUPFD_CLOEXEC, begin > 3 ? begin : 3);
  if (moved < 0)
    return EMFILE;
  cpuc_perf_event_close(*descriptor);
  *descriptor = moved;
  return moved < end ? 0 : EMFILE;
}

/* Exclusions from a count, in the order in which they are tried. There are several, because PMUs of
   Apple require that guests are excluded, and some other PMUs cannot exclude the kernel. */
static const struct cpuc_perf_event_exclusion {
  unsigned kernel, guest;
} perf_event_exclusions[] = { { 1, 0 }, { 1, 1 }, { 0, 0 } };

/* Opens an event with open_one(). Tries the rows of the table above until the PMU supports one, and
   leaves that row in `wanted`. Returns a descriptor, or -1 with errno. */
static inline int cpuc_perf_event_open_first_supported(struct perf_event_attr *wanted,
  int (*open_one)(struct perf_event_attr *wanted))
{
  enum { ROWS = sizeof perf_event_exclusions / sizeof perf_event_exclusions[0] };
  int i, descriptor = -1;

  for (i = 0; i < ROWS; i++) {
    wanted->exclude_kernel = perf_event_exclusions[i].kernel;
    wanted->exclude_hv = perf_event_exclusions[i].kernel;
    wanted->exclude_guest = perf_event_exclusions[i].guest;
    descriptor = open_one(wanted);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EINVAL))
      break;
  }
  return descriptor;
}

#endif
