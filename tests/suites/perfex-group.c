/* SPDX-License-Identifier: 0BSD OR MIT */
/* The kernel counts software events in place of hardware events. A test can replace single answers
   of the kernel. */

#include "config.h"

#include "tests/suites/perfex-group.h"

#include "sys/perf-event.h"

#include <errno.h>
#include <unistd.h>

struct perfex_group perfex_group;
_Thread_local struct perfex_group_call perfex_group_calls[PERFEX_GROUP_CALLS];
_Thread_local int perfex_group_call_count, perfex_group_descriptor[2];

/* Returns the software event for a hardware event. */
static int software_event(const struct perf_event_attr *wanted)
{
  return wanted->config == PERF_COUNT_HW_CPU_CYCLES ? PERF_COUNT_SW_TASK_CLOCK
    : wanted->config == PERF_COUNT_HW_INSTRUCTIONS ? PERF_COUNT_SW_PAGE_FAULTS
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
  if (perfex_group.on_open)
    perfex_group.on_open();
  if ((perfex_group.refused_without_kernel && wanted->exclude_kernel)
    || (perfex_group.refused && config == perfex_group.refused)
    || (perfex_group.refused_together && config == perfex_group.refused_together && leader >= 0)) {
    errno = perfex_group.refusal_errno;
    return -1;
  }
  descriptor = cpuc_perf_event_open_in_group(&software, leader);
  perfex_group_descriptor[leader >= 0] = descriptor;
  return descriptor;
}

ssize_t pfx_group_read(int leader, struct pfx_group_reading *reading)
{
  ssize_t length = read(leader, reading, sizeof *reading); /* a cancellation point, as in group.c */

  if (perfex_group.alter_reading)
    perfex_group.alter_reading(reading, &length);
  return length;
}
