/* SPDX-License-Identifier: 0BSD OR MIT */
/* The system calls of the perf event counters. The system calls of a read are made with syscall()
   where the function of the C library, such as read() or close(), is a cancellation point, because
   cpucycles() is not a cancellation point.
   Source: perf_event_open(2); mmap(2); Linux,
   Documentation/ABI/testing/sysfs-bus-event_source-devices*. */

#include "config.h"

#include "backends/perf/kernel.h"

#include "sys/file.h"
#include "sys/guard.h"
#include "sys/os-thread.h"
#include "sys/perf-event.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define PMUS "/sys/bus/event_source/devices"

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

void cpuc_perf_kernel_close(int descriptor)
{
  cpuc_perf_event_close(descriptor);
}

int cpuc_perf_kernel_copy(int descriptor, int lowest)
{
  return fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
}

unsigned long cpuc_perf_kernel_descriptor_limit(void)
{
  struct rlimit limit = { 0, 0 };

  getrlimit(RLIMIT_NOFILE, &limit);
  return (unsigned long)limit.rlim_cur;
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

void cpuc_perf_kernel_visit_pmus(void (*visit)(const char *name, void *argument), void *argument)
{
  cpuc_file_list(PMUS, visit, argument);
}

int cpuc_perf_kernel_read_pmu(const char *pmu, const char *file, char *text, size_t size)
{
  char path[256];
  int length = snprintf(path, sizeof path, PMUS "/%s/%s", pmu, file);

  return length > 0 && length < (int)sizeof path && cpuc_file_read_start(path, text, size) > 0;
}

void cpuc_perf_kernel_run_uninterrupted(void (*change)(void))
{
  struct cpuc_os_thread_saved saved;

  cpuc_os_thread_block_signals_and_cancellation(&saved);
  change();
  cpuc_os_thread_restore_signals_and_cancellation(&saved);
}
