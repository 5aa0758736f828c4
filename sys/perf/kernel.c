/* SPDX-License-Identifier: 0BSD OR MIT */
/* The system calls that a test can simulate. A read is made with syscall(), because read() is a
   cancellation point, and cpucycles() is not.
   Source: perf_event_open(2); mmap(2). */

#include "config.h"

#include "sys/perf/kernel.h"

#include "sys/guard.h"
#include "sys/perf/event.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int cpuc_perf_kernel_open(struct perf_event_attr *wanted)
{
  return cpuc_perf_event_open_in_group(wanted, -1);
}

int cpuc_perf_kernel_identify(int descriptor, uint64_t *id)
{
  return cpuc_perf_event_identify(descriptor, id);
}

/* Does not retry, because a signal does not interrupt the read of an event. */
int cpuc_perf_kernel_read(int descriptor, struct cpuc_perf_reading *reading)
{
  return syscall(SYS_read, descriptor, reading, sizeof *reading) == (long)sizeof *reading;
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

/* Without a page the event is read with read(2), so a signal at mmap(2) does not drop the
   counter. */
struct perf_event_mmap_page *cpuc_perf_kernel_map(int descriptor)
{
  struct mapping mapping = { descriptor, MAP_FAILED };

  cpuc_guard_run(map, &mapping);
  return mapping.page == MAP_FAILED ? NULL : mapping.page;
}

void cpuc_perf_kernel_unmap(struct perf_event_mmap_page *page)
{
  munmap(page, page_size());
}
