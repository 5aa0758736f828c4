/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces sys/perf/kernel.c with a simulated kernel. Software events replace those of PMUs,
   because every Linux counts them without a PMU: the CPU time of the thread in nanoseconds replaces
   cycles, page faults replace instructions (event 15 of libperfex), and minor page faults, the same
   number in the tests, replace all others (such as event 24). A test fills the mmap pages itself,
   and may change what the kernel returns. The real kernel does all the rest. Where it has no perf
   events, as under qemu-user, a test that fills a page gets a descriptor of /dev/null in place of
   an event. */

#ifndef CPUCYCLES_PERF_KERNEL_TEST_H
#define CPUCYCLES_PERF_KERNEL_TEST_H

#include "backends/perf/thread.h"
#include "sys/perf/group.h"
#include "sys/perf/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PERF_KERNEL_PAGES = 2, SIMULATED_ID = 1000 };

static struct perf_kernel {
  int has_no_events;      /* as in an emulator */
  uint32_t excluding_pmu; /* type of the only PMU that can exclude the kernel; 0: all can */
  int lost_hardware;      /* 1: read(2) fails for events with config1 */
  uint32_t lacking_pmu;   /* type of a PMU that lacks the generic event; 0: none */
  uint32_t event_11_pmu;  /* type of the only PMU of Arm, which has event 0x11; 0: no such limit */
  /* Software events that are refused with refusal_errno, by their config: always, or as members of
     a group; 0: none. */
  int refused, refused_together;
  int refusal_errno;
  /* The pages for the next events that are mapped, the number of these pages that events have got,
     and whether every event gets a copy of the first page instead. An event without a page here
     gets the page of the kernel. */
  struct perf_event_mmap_page *pages[PERF_KERNEL_PAGES];
  int added, mapped;
  int copies_page;
  int mapped_now; /* pages that are not unmapped */
  /* If its enabled time is not 0, `reading` is the result of read(2) for one event, except for the
     ID of the event. */
  struct cpuc_perf_reading reading;
  long long ahead; /* added to each count of read(2) for one event */
  /* Called like a signal handler: before an event is opened, and after read(2) for one event. */
  void (*on_open)(void);
  void (*during_read)(void);
  /* Called with the result of read(2) for a group. */
  void (*alter_reading)(struct cpuc_perf_group_reading *reading, ssize_t *length);
  int simulates_events; /* 1: opens /dev/null, because the real kernel has no events */
} perf_kernel;

/* The calls of the kernel by this thread that open, identify or read an event. */
static _Thread_local int perf_kernel_calls;

/* The IDs of the last leader that the thread has opened, and of its member. */
static _Thread_local uint64_t perf_kernel_ids[2];

/* 1 if the event that this thread opened last has config1, and if its group takes turns with other
   events, because it is not pinned. */
static _Thread_local int last_event_has_config1, takes_turns;

/* Returns the software event for an event of any core type. */
static int software_event(const struct perf_event_attr *wanted)
{
  const uint32_t config = (uint32_t)wanted->config;

  return wanted->type == PERF_TYPE_SOFTWARE ? (int)config
    : config == PERF_COUNT_HW_CPU_CYCLES ? PERF_COUNT_SW_TASK_CLOCK
    : config == PERF_COUNT_HW_INSTRUCTIONS ? PERF_COUNT_SW_PAGE_FAULTS
                                           : PERF_COUNT_SW_PAGE_FAULTS_MIN;
}

/* Returns 0 or an errno. */
static int refusal(const struct perf_event_attr *wanted, int leader)
{
  uint32_t pmu = (uint32_t)(wanted->config >> 32);
  int event = software_event(wanted);

  return perf_kernel.has_no_events ? ENOSYS
    : pmu != 0 && pmu == perf_kernel.lacking_pmu ? ENOENT
    : perf_kernel.event_11_pmu && wanted->type > PERF_TYPE_BREAKPOINT
      && (wanted->type != perf_kernel.event_11_pmu || wanted->config != 0x11)
    ? ENOENT
    : perf_kernel.excluding_pmu && wanted->exclude_kernel && pmu != perf_kernel.excluding_pmu
    ? EOPNOTSUPP
    : event == perf_kernel.refused || (event == perf_kernel.refused_together && leader >= 0)
    ? perf_kernel.refusal_errno : 0;
}

int cpuc_perf_kernel_open(struct perf_event_attr *wanted, int leader)
{
  struct perf_event_attr real = *wanted;
  int event;

  perf_kernel_calls++;
  if (perf_kernel.on_open)
    perf_kernel.on_open();
  errno = refusal(wanted, leader);
  if (errno != 0)
    return -1;
  last_event_has_config1 = wanted->config1 != 0;
  if (leader < 0)
    takes_turns = !wanted->pinned && !wanted->inherit;
  real.type = PERF_TYPE_SOFTWARE;
  real.config = (unsigned)software_event(wanted);
  real.config1 = 0;
  if (perf_kernel.excluding_pmu) /* an event that any user may open */
    real.exclude_kernel = real.exclude_hv = 1;
  event = (int)syscall(SYS_perf_event_open, &real, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
  if (event >= 0)
    ioctl(event, PERF_EVENT_IOC_ID, &perf_kernel_ids[leader >= 0]);
  if (event >= 0 || !(perf_kernel.simulates_events || perf_kernel.added))
    return event;
  perf_kernel.simulates_events = 1;
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int cpuc_perf_kernel_control(int descriptor, unsigned long request, uint64_t *id)
{
  perf_kernel_calls += request == PERF_EVENT_IOC_ID;
  if (!perf_kernel.simulates_events)
    return ioctl(descriptor, request, id);
  if (request == PERF_EVENT_IOC_ID)
    *id = SIMULATED_ID;
  return fcntl(descriptor, F_GETFD) >= 0 ? 0 : -1;
}

/* Returns the descriptor of the last leader that the thread has opened, or of its member. */
static inline int perf_kernel_descriptor(int is_member)
{
  int descriptor = 0;
  uint64_t id = 0;

  while (descriptor < 65536 && !(ioctl(descriptor, PERF_EVENT_IOC_ID, &id) == 0
    && id == perf_kernel_ids[is_member]))
    descriptor++;
  return descriptor;
}

/* Returns the CPU time of this thread in nanoseconds. */
static long long cpu_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void alter_event(struct cpuc_perf_reading *reading, ssize_t length)
{
  if (length == (ssize_t)sizeof *reading && perf_kernel.reading.enabled)
    memcpy(reading, &perf_kernel.reading, offsetof(struct cpuc_perf_reading, id));
  reading->value += (uint64_t)perf_kernel.ahead;
  reading->enabled += (uint64_t)takes_turns;
  if (perf_kernel.during_read)
    perf_kernel.during_read();
}

ssize_t cpuc_perf_kernel_read(int descriptor, void *reading, size_t size)
{
  int is_one_event = size == sizeof(struct cpuc_perf_reading);
  ssize_t length = (ssize_t)size;

  perf_kernel_calls++;
  if (perf_kernel.lost_hardware && last_event_has_config1)
    return 0;
  if (perf_kernel.simulates_events && is_one_event)
    *(struct cpuc_perf_reading *)reading
      = (struct cpuc_perf_reading){ (uint64_t)cpu_time(), 1, 1, SIMULATED_ID };
  else
    length = read(descriptor, reading, size); /* a cancellation point, unlike the real one */
  if (is_one_event)
    alter_event(reading, length);
  else
    ((struct cpuc_perf_group_reading *)reading)->enabled += (uint64_t)takes_turns;
  if (!is_one_event && perf_kernel.alter_reading)
    perf_kernel.alter_reading(reading, &length);
  return length;
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

static inline struct perf_event_mmap_page *add_page(uint32_t index, int width, long long offset)
{
  return perf_kernel.pages[perf_kernel.added++] = make_page(index, width, offset);
}

struct perf_event_mmap_page *cpuc_perf_kernel_map(int descriptor)
{
  const struct perf_event_mmap_page *first = perf_kernel.pages[0];
  void *page;

  __atomic_add_fetch(&perf_kernel.mapped_now, 1, __ATOMIC_RELAXED);
  if (perf_kernel.copies_page)
    return make_page(first->index, first->pmc_width, first->offset);
  if (perf_kernel.mapped < perf_kernel.added)
    return perf_kernel.pages[perf_kernel.mapped++];
  page = mmap(NULL, page_size(), PROT_READ, MAP_SHARED, descriptor, 0);
  if (page != MAP_FAILED)
    return page;
  __atomic_sub_fetch(&perf_kernel.mapped_now, 1, __ATOMIC_RELAXED);
  return NULL;
}

void cpuc_perf_kernel_unmap(const volatile struct perf_event_mmap_page *page)
{
  __atomic_sub_fetch(&perf_kernel.mapped_now, 1, __ATOMIC_RELAXED);
  munmap((void *)page, page_size());
}

#endif
