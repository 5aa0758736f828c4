/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the core types of a hybrid CPU, for each of which the kernel lists a PMU.
   Source: Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices*; perf_event_open(2),
   "PERF_TYPE_HARDWARE" for the generic event of one PMU; tools/perf/pmu-events and
   tools/perf/util/pmus.c for the files of a core PMU ("cpus", "type"). */

#include "config.h"

#include "sys/perf/core-types.h"

#include "sys/parse.h"
#include "sys/perf/pmu.h"

#include <errno.h>
#include <string.h>

int cpuc_perf_core_types_is_pmu(const char *name)
{
  return strcmp(name, "cpu") == 0 /* on most architectures; in older releases on all */
    || (strncmp(name, "cpu_", 4) == 0 && strcmp(name, "cpu_clock") != 0) /* hybrid x86 */
    || strcmp(name, "cpum_cf") == 0 || strcmp(name, "arc_pct") == 0
    || strncmp(name, "armv", 4) == 0 || strncmp(name, "apple_", 6) == 0;
}

/* The arguments of cpuc_perf_core_types_find(). */
struct search {
  struct cpuc_perf_core_types *found;
  struct cpuc_perf_core_event generic;
  int (*try_event)(struct cpuc_perf_core_event event);
};

long long cpuc_perf_core_types_read_type(const char *pmu)
{
  char text[64];
  long long type;

  if (!cpuc_perf_pmu_read(pmu, "type", text, sizeof text))
    return -1;
  type = cpuc_parse_number_line(text, 1);
  return type < INT32_MAX ? type : -1;
}

/* Reads a file that consists of "event=0x", a number and a newline. Returns 1, or 0 if the PMU does
   not have such a file. */
static int read_event(const char *pmu, const char *file, unsigned long long *number)
{
  static const char begin[] = "event=0x";
  char text[64];
  const char *rest;

  if (!cpuc_perf_pmu_read(pmu, file, text, sizeof text)
    || strncmp(text, begin, strlen(begin)) != 0)
    return 0;
  rest = cpuc_parse_hexadecimal(text + strlen(begin), number);
  return rest && *rest == '\n';
}

/* Tests the name of the PMU first, because this test takes no system call. */
int cpuc_perf_core_types_read_cpus(const char *pmu, char *cpus, size_t size)
{
  return cpuc_perf_core_types_is_pmu(pmu) && cpuc_perf_pmu_read(pmu, "cpus", cpus, size);
}

static int is_core_type(const char *pmu)
{
  char cpus[64];

  return cpuc_perf_core_types_read_cpus(pmu, cpus, sizeof cpus);
}

/* Chooses the event of the PMU: the generic event, with the type of the PMU in the upper half of
   config; or, if the kernel rejects this event (Arm, before 6.6), the event whose number is in the
   directory of the PMU. Returns 1, or 0 if the PMU has neither event. */
static int find_event(const struct search *search, const char *pmu,
  struct cpuc_perf_core_event *event)
{
  long long type = cpuc_perf_core_types_read_type(pmu);
  unsigned long long number;

  if (type < 0)
    return 0;
  event->type = search->generic.type;
  event->config = (uint64_t)type << 32 | search->generic.config;
  if (search->try_event(*event) == 0)
    return 1;
  if (!read_event(pmu, "events/cpu_cycles", &number)
    && !read_event(pmu, "events/cycles", &number))
    return 0;
  event->type = (uint32_t)type;
  event->config = number;
  return search->try_event(*event) == 0;
}

static void count_core_type(const char *pmu, void *count)
{
  *(int *)count += is_core_type(pmu);
}

int cpuc_perf_core_types_count(void)
{
  int count = 0;

  cpuc_perf_pmu_visit(count_core_type, &count);
  return count;
}

static void add_core_type(const char *pmu, void *argument)
{
  const struct search *search = argument;
  struct cpuc_perf_core_types *found = search->found;

  if (found->count < CPUC_PERF_CORE_TYPES && is_core_type(pmu)
    && find_event(search, pmu, &found->events[found->count]))
    found->count++;
}

int cpuc_perf_core_types_find(struct cpuc_perf_core_types *found, int count,
  struct cpuc_perf_core_event generic, int (*try_event)(struct cpuc_perf_core_event event))
{
  struct search search = { found, generic, try_event };

  found->events[0] = generic;
  found->count = 1;
  if (count <= 1)
    return 0;
  found->count = 0; /* add_core_type() counts */
  cpuc_perf_pmu_visit(add_core_type, &search);
  return found->count == count ? 0 : ENODEV;
}
