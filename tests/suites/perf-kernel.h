/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces sys/perf/kernel.c and sys/perf/pmu.c with a simulated kernel. A software event
   replaces the cycles of the PMU. It counts the CPU time of the thread in nanoseconds, which every
   Linux counts. A test fills the mmap pages itself, and may change what the kernel returns. The
   real kernel does all the rest. Where it has no perf events, as under qemu-user, a test that fills
   a page gets a descriptor of /dev/null in place of an event. */

#ifndef CPUCYCLES_PERF_KERNEL_TEST_H
#define CPUCYCLES_PERF_KERNEL_TEST_H

#include "sys/perf/kernel.h"
#include "sys/perf/event.h"
#include "sys/perf/pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PERF_KERNEL_PAGES = 2, PERF_KERNEL_REQUESTS = 16, SIMULATED_ID = 1000 };

/* A file in the directory of a PMU. */
struct perf_kernel_file {
  const char *pmu, *name, *text;
};

static struct perf_kernel {
  int has_no_events;      /* as in an emulator */
  uint32_t excluding_pmu; /* type of the only PMU that can exclude the kernel; 0: all can */
  int lost_hardware;      /* 1: read(2) fails for events with config1 */
  uint32_t lacking_pmu;   /* type of a PMU that lacks the generic event; 0: none */
  /* The pages for the next events that are mapped, the number of these pages that events have got,
     and whether every event gets a copy of the first page instead. An event without a page here
     gets the page of the kernel. */
  struct perf_event_mmap_page *pages[PERF_KERNEL_PAGES];
  int added, mapped;
  int copies_page;
  /* If its enabled time is not 0, `reading` is the result of read(2), except for the ID of the
     event. */
  struct cpuc_perf_reading reading;
  long long ahead;           /* added to each count of read(2) */
  void (*during_read)(void); /* called after read(2), like a signal handler */
  /* The files of all PMUs. A row of zeros ends the list. */
  const struct perf_kernel_file *files;
  int simulates_events; /* 1: opens /dev/null, because the real kernel has no events */
} perf_kernel = { .files = &(const struct perf_kernel_file){ NULL, NULL, NULL } };

/* The events that this thread has requested from the kernel, and its calls of the kernel that open,
   identify or read an event. */
static _Thread_local struct perf_event_attr perf_kernel_requests[PERF_KERNEL_REQUESTS];
static _Thread_local int perf_kernel_request_count, perf_kernel_calls;

/* 1 if the event that this thread opened last has config1. */
static _Thread_local int last_event_has_config1;

static int refuses(const struct perf_event_attr *wanted)
{
  uint32_t pmu = (uint32_t)(wanted->config >> 32);

  errno = perf_kernel.has_no_events ? ENOSYS
    : pmu != 0 && pmu == perf_kernel.lacking_pmu ? ENOENT
    : perf_kernel.excluding_pmu && wanted->exclude_kernel && pmu != perf_kernel.excluding_pmu
    ? EOPNOTSUPP : 0;
  return errno != 0;
}

int cpuc_perf_kernel_open(struct perf_event_attr *wanted)
{
  struct perf_event_attr real = *wanted;
  int event;

  perf_kernel_calls++;
  if (perf_kernel_request_count < PERF_KERNEL_REQUESTS)
    perf_kernel_requests[perf_kernel_request_count++] = *wanted;
  if (refuses(wanted))
    return -1;
  last_event_has_config1 = wanted->config1 != 0;
  real.exclude_kernel = real.exclude_hv = 1; /* an event that any user may open */
  real.type = PERF_TYPE_SOFTWARE;
  real.config = PERF_COUNT_SW_TASK_CLOCK;
  real.config1 = 0;
  event = cpuc_perf_event_open_in_group(&real, -1);
  if (event >= 0 || !(perf_kernel.simulates_events || perf_kernel.added))
    return event;
  perf_kernel.simulates_events = 1;
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int cpuc_perf_kernel_identify(int descriptor, uint64_t *id)
{
  perf_kernel_calls++;
  if (!perf_kernel.simulates_events)
    return cpuc_perf_event_identify(descriptor, id);
  *id = SIMULATED_ID;
  return fcntl(descriptor, F_GETFD) >= 0;
}

/* Returns the CPU time of this thread in nanoseconds. */
static long long cpu_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int cpuc_perf_kernel_read(int descriptor, struct cpuc_perf_reading *reading)
{
  int is_whole = 1;

  perf_kernel_calls++;
  if (perf_kernel.lost_hardware && last_event_has_config1)
    return 0;
  if (perf_kernel.simulates_events)
    *reading = (struct cpuc_perf_reading){ (uint64_t)cpu_time(), 1, 1, SIMULATED_ID };
  else
    is_whole = syscall(SYS_read, descriptor, reading, sizeof *reading) == (long)sizeof *reading;
  if (is_whole && perf_kernel.reading.enabled)
    memcpy(reading, &perf_kernel.reading, offsetof(struct cpuc_perf_reading, id));
  reading->value += (uint64_t)perf_kernel.ahead;
  if (perf_kernel.during_read)
    perf_kernel.during_read();
  return is_whole;
}

static size_t page_size(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns a page with the contents that the kernel would store. Forked children do not have it. */
static struct perf_event_mmap_page *make_page(uint32_t index, int width, long long offset)
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

static struct perf_event_mmap_page *add_page(uint32_t index, int width, long long offset)
{
  return perf_kernel.pages[perf_kernel.added++] = make_page(index, width, offset);
}

struct perf_event_mmap_page *cpuc_perf_kernel_map(int descriptor)
{
  const struct perf_event_mmap_page *first = perf_kernel.pages[0];
  void *page;

  if (perf_kernel.copies_page)
    return make_page(first->index, first->pmc_width, first->offset);
  if (perf_kernel.mapped < perf_kernel.added)
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

  for (; file->pmu; file++) {
    if (strcmp(file->pmu, last) != 0)
      visit(file->pmu, argument);
    last = file->pmu;
  }
}

int cpuc_perf_pmu_read(const char *pmu, const char *name, char *text, size_t size)
{
  const struct perf_kernel_file *file = perf_kernel.files;

  while (file->pmu && (strcmp(file->pmu, pmu) != 0 || strcmp(file->name, name) != 0))
    file++;
  if (!file->pmu || strlen(file->text) >= size)
    return 0;
  strcpy(text, file->text);
  return *text != '\0';
}

#endif
