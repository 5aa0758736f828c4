/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces backends/perf/kernel.c and sys/perf-pmu.c: see perf-kernel.h. Where the kernel has no
   perf events, as under qemu-user, a test that fills a page gets a descriptor of /dev/null in place
   of an event. */

#include "config.h"

#ifdef HAVE_PERF_EVENTS

#include "tests/suites/perf-kernel.h"

#include "sys/perf-event.h"
#include "sys/perf-pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct perf_kernel perf_kernel;
_Thread_local struct perf_event_attr perf_kernel_requests[PERF_KERNEL_REQUESTS];
_Thread_local int perf_kernel_request_count;
_Thread_local int perf_kernel_identify_count;

enum { SIMULATED_ID = 1000 };

static int simulates_events; /* 1: opens /dev/null, because the kernel has no events */

/* 1 if the event that this thread opened last has config1. */
static _Thread_local int last_event_has_config1;

static int refuses(const struct perf_event_attr *wanted)
{
  errno = perf_kernel.has_no_events ? ENOSYS
    : perf_kernel.lacking_pmu && wanted->config >> 32 == perf_kernel.lacking_pmu ? ENOENT
    : perf_kernel.cannot_exclude_kernel && wanted->exclude_kernel
        && !(perf_kernel.excluding_pmu && wanted->config >> 32 == perf_kernel.excluding_pmu)
    ? EOPNOTSUPP : 0;
  return errno != 0;
}

int cpuc_perf_kernel_open(struct perf_event_attr *wanted)
{
  struct perf_event_attr real = *wanted;
  int event;

  if (perf_kernel_request_count < PERF_KERNEL_REQUESTS)
    perf_kernel_requests[perf_kernel_request_count++] = *wanted;
  if (refuses(wanted))
    return -1;
  last_event_has_config1 = wanted->config1 != 0;
  real.exclude_kernel = real.exclude_hv = 1; /* an event that any user may open */
  if (real.type == PERF_TYPE_HARDWARE) {
    real.type = PERF_TYPE_SOFTWARE;
    real.config = PERF_COUNT_SW_TASK_CLOCK;
  }
  real.config1 = 0;
  event = cpuc_perf_event_open_in_group(&real, -1);
  if (event >= 0 || !(simulates_events || perf_kernel.pages[0]) || real.type != PERF_TYPE_SOFTWARE)
    return event;
  simulates_events = 1;
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int cpuc_perf_kernel_identify(int descriptor, uint64_t *id)
{
  perf_kernel_identify_count++;
  if (!simulates_events)
    return cpuc_perf_event_identify(descriptor, id);
  *id = SIMULATED_ID;
  return fcntl(descriptor, F_GETFD) >= 0;
}

long long perf_kernel_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int cpuc_perf_kernel_read(int descriptor, struct cpuc_perf_reading *reading)
{
  int is_whole = 1;

  if (perf_kernel.lost_hardware && last_event_has_config1)
    return 0;
  if (simulates_events)
    *reading = (struct cpuc_perf_reading){ (uint64_t)perf_kernel_time(), 1, 1, SIMULATED_ID };
  else
    is_whole = syscall(SYS_read, descriptor, reading, sizeof *reading) == (long)sizeof *reading;
  if (is_whole && perf_kernel.reading.enabled) {
    uint64_t id = reading->id;

    *reading = perf_kernel.reading;
    reading->id = id;
  }
  reading->value += (uint64_t)perf_kernel.ahead;
  if (perf_kernel.during_read)
    perf_kernel.during_read();
  return is_whole;
}

static size_t page_size(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

struct perf_event_mmap_page *perf_kernel_page(uint32_t index, int width, long long offset)
{
  struct perf_event_mmap_page *page
    = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (page == MAP_FAILED)
    abort();
  madvise(page, page_size(), MADV_DONTFORK);
  page->cap_user_rdpmc = 1;
  page->lock = 6;
  page->index = index;
  page->pmc_width = (uint16_t)width;
  page->offset = offset;
  page->time_enabled = page->time_running = 1000000;
  return page;
}

struct perf_event_mmap_page *cpuc_perf_kernel_map(int descriptor)
{
  const struct perf_event_mmap_page *first = perf_kernel.pages[0];
  void *page;

  if (perf_kernel.copies_page)
    return perf_kernel_page(first->index, first->pmc_width, first->offset);
  if (perf_kernel.mapped < PERF_KERNEL_PAGES && perf_kernel.pages[perf_kernel.mapped])
    return perf_kernel.pages[perf_kernel.mapped++];
  page = mmap(NULL, page_size(), PROT_READ, MAP_SHARED, descriptor, 0);
  return page == MAP_FAILED ? NULL : page;
}

void cpuc_perf_kernel_unmap(struct perf_event_mmap_page *page)
{
  munmap(page, page_size());
}

/* Visits each PMU at its first file. */
void cpuc_perf_pmu_visit(void (*visit)(const char *name, void *argument), void *argument)
{
  const struct perf_kernel_file *file = perf_kernel.files;
  const char *last = "";

  for (; file && file->pmu; file++) {
    if (strcmp(file->pmu, last) != 0)
      visit(file->pmu, argument);
    last = file->pmu;
  }
}

int cpuc_perf_pmu_read(const char *pmu, const char *name, char *text, size_t size)
{
  const struct perf_kernel_file *file = perf_kernel.files;

  while (file && file->pmu && (strcmp(file->pmu, pmu) != 0 || strcmp(file->name, name) != 0))
    file++;
  if (!file || !file->pmu || strlen(file->text) >= size)
    return 0;
  strcpy(text, file->text);
  return *text != '\0';
}

#endif
