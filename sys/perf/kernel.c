/* SPDX-License-Identifier: 0BSD OR MIT */
/* The system calls of perf events. Source: perf_event_open(2); mmap(2). */

#include "config.h"
#ifdef HAVE_PERF_EVENTS

#include "sys/perf/kernel.h"

#include "sys/guard.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The freezer, and work of io_uring, can interrupt the call even if the thread blocks all
   signals. */
int cpuc_perf_kernel_open(struct perf_event_attr *wanted, int leader)
{
  int result;

  do
    result = (int)syscall(SYS_perf_event_open, wanted, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
  while (result < 0 && errno == EINTR);
  return result;
}

int cpuc_perf_kernel_control(int descriptor, unsigned long request, uint64_t *id)
{
  return ioctl(descriptor, request, id);
}

/* Does not retry, because a signal does not interrupt the read of an event. */
ssize_t cpuc_perf_kernel_read(int descriptor, void *reading, size_t size)
{
  return (ssize_t)syscall(SYS_read, descriptor, reading, size);
}

static size_t page_size(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

struct mapping {
  int descriptor;
  void *page;
};

static void map(void *argument)
{
  struct mapping *mapping = argument;

  mapping->page = mmap(NULL, page_size(), PROT_READ, MAP_SHARED, mapping->descriptor, 0);
}

/* Without a page the event is read with read(2), so a signal at mmap(2) is not an error. */
struct perf_event_mmap_page *cpuc_perf_kernel_map(int descriptor)
{
  struct mapping mapping = { descriptor, MAP_FAILED };

  cpuc_guard_run(map, &mapping);
  return mapping.page == MAP_FAILED ? NULL : mapping.page;
}

void cpuc_perf_kernel_unmap(const volatile struct perf_event_mmap_page *page)
{
  munmap((void *)page, page_size());
}
#endif
