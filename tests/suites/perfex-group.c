/* SPDX-License-Identifier: 0BSD OR MIT */
/* The kernel counts software events in place of hardware events. A test can replace single answers
   of the kernel. */

#include "config.h"

#include "tests/suites/perfex-group.h"

#include "sys/perf-event.h"

#include <errno.h>
#include <unistd.h>

struct simulated_group simulated_group;
_Thread_local struct perfex_group_call perfex_group_calls[PERFEX_GROUP_CALLS];
_Thread_local int perfex_group_call_count;
static _Thread_local uint64_t ids[2];

int perfex_group_reads;

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
    || (simulated_group.refused && config == simulated_group.refused)
    || (simulated_group.refused_together && config == simulated_group.refused_together
      && leader >= 0)) {
    errno = simulated_group.refusal_errno;
    return -1;
  }
  descriptor = cpuc_perf_event_open_in_group(&software, leader);
  if (descriptor >= 0)
    cpuc_perf_event_identify(descriptor, &ids[leader >= 0]);
  return descriptor;
}

int perfex_group_descriptor(int is_member)
{
  int descriptor = 0;
  uint64_t id = 0;

  while (descriptor < 65536
    && !(cpuc_perf_event_identify(descriptor, &id) && id == ids[is_member]))
    descriptor++;
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
