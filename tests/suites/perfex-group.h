/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces perfex/group.c: software events replace hardware events, because every Linux counts them
   without a PMU. Event 15 counts page faults, event 24 counts minor page faults (the same number in
   the tests), and event 0 the thread's CPU time. */

#ifndef CPUCYCLES_PERFEX_GROUP_TEST_H
#define CPUCYCLES_PERFEX_GROUP_TEST_H

#include "perfex/set.h"
#include "sys/perf/event.h"

#include "tests/suites/child.h"

/* Answers of the kernel that a test replaces. */
static struct simulated_group {
  /* Events that perf_event_open(2) refuses. */
  int refused;                /* config of the software event that is always refused; 0: none */
  int refused_together;       /* config refused as the second of a group; 0: none */
  int refused_without_kernel; /* 1: every event that excludes the kernel */
  int refusal_errno;
  /* Called if not NULL: on_open() before an event is opened, and alter_reading() after the group is
     read, with the result. */
  void (*on_open)(void);
  void (*alter_reading)(struct pfx_group_reading *reading, ssize_t *length);
} simulated_group;

enum { PERFEX_GROUP_CALLS = 8 };

/* The thread's first calls of pfx_group_open(), and their number. */
static _Thread_local struct perfex_group_call {
  struct perf_event_attr wanted;
  int leader;
} perfex_group_calls[PERFEX_GROUP_CALLS];
static _Thread_local int perfex_group_call_count;

static int perfex_group_reads; /* calls of pfx_group_read() */

/* The IDs of the last leader that the thread has opened, and of its member. */
static _Thread_local uint64_t perfex_group_ids[2];

/* Returns the software event for a hardware event of any core type. */
static int software_event(const struct perf_event_attr *wanted)
{
  const uint32_t config = (uint32_t)wanted->config;

  return wanted->type == PERF_TYPE_SOFTWARE ? (int)config
    : config == PERF_COUNT_HW_CPU_CYCLES ? PERF_COUNT_SW_TASK_CLOCK
    : config == PERF_COUNT_HW_INSTRUCTIONS ? PERF_COUNT_SW_PAGE_FAULTS
                                                   : PERF_COUNT_SW_PAGE_FAULTS_MIN;
}

int pfx_group_open(struct perf_event_attr *wanted, int leader)
{
  struct perf_event_attr software = *wanted;
  int config = software_event(wanted), descriptor;

  software.type = PERF_TYPE_SOFTWARE;
  software.config = (unsigned)config;
  if (perfex_group_call_count < PERFEX_GROUP_CALLS)
    perfex_group_calls[perfex_group_call_count++] = (struct perfex_group_call){ *wanted, leader };
  if (simulated_group.on_open)
    simulated_group.on_open();
  if ((simulated_group.refused_without_kernel && wanted->exclude_kernel)
    || config == simulated_group.refused
    || (config == simulated_group.refused_together && leader >= 0)) {
    errno = simulated_group.refusal_errno;
    return -1;
  }
  descriptor = cpuc_perf_event_open_in_group(&software, leader);
  if (descriptor >= 0)
    cpuc_perf_event_identify(descriptor, &perfex_group_ids[leader >= 0]);
  return descriptor;
}

ssize_t pfx_group_read(int leader, struct pfx_group_reading *reading)
{
  ssize_t length = read(leader, reading, sizeof *reading); /* a cancellation point, as in group.c */

  if (simulated_group.alter_reading)
    simulated_group.alter_reading(reading, &length);
  __atomic_add_fetch(&perfex_group_reads, 1, __ATOMIC_RELAXED);
  return length;
}

/* Returns the descriptor of the last leader that the thread has opened, or of its member. */
static inline int perfex_group_descriptor(int is_member)
{
  int descriptor = 0;
  uint64_t id = 0;

  while (descriptor < 65536
    && !(cpuc_perf_event_identify(descriptor, &id) && id == perfex_group_ids[is_member]))
    descriptor++;
  return descriptor;
}

/* 0 if the kernel counts page faults of a thread in user mode; else its errno, or 255. */
static inline int count_page_fault(void)
{
  int event = open_software_event(PERF_COUNT_SW_PAGE_FAULTS);
  long long count = 0;
  char *page;

  if (event < 0)
    return errno;
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return 255;
  *(volatile char *)page = 1;
  return read(event, &count, sizeof count) == (ssize_t)sizeof count && count > 0 ? 0 : 255;
}

/* Skips the test unless the kernel can count these events here. */
static inline void skip_without_counts(void)
{
  skip_unless(count_page_fault, 0, "the kernel or emulator counts no page faults in user mode");
}

enum { PAGES = 64 };

static _Thread_local volatile char *mapping;

/* Maps pages that were never touched, so the first write to each page is a fault. */
static inline void map_pages(int pages)
{
  size_t size = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
  void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  ck_assert_ptr_ne(mapped, MAP_FAILED);
  madvise(mapped, size, MADV_NOHUGEPAGE);
  mapping = mapped;
}

/* Not sanitized, because sanitizers touch pages of their own. */
static __attribute__((noinline, no_sanitize("address", "thread"))) void touch(int pages)
{
  long size = sysconf(_SC_PAGESIZE);
  int i;

  for (i = 0; i < pages; i++)
    mapping[i * size] = 1;
}

#endif
