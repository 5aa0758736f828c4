/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the facts about this machine and process, in files of the kernel.
   Source: Linux, Documentation/admin-guide/sysctl/kernel.rst, perf_event_paranoid and
   perf_user_access; proc_pid_status(5), Seccomp and CapEff; user_namespaces(7), uid_map; Android,
   system/core/init, which reads /system/build.prop. */

#include "config.h"

#include "sys/machine.h"

#include "sys/emulator.h"
#include "sys/file.h"
#include "sys/hypervisor.h"
#include "sys/parse.h"
#include "sys/perf/pmu.h"

#include <limits.h>
#include <stddef.h>

/* Returns 5017 if the release of the kernel is 5.17.3, or INT_MAX if it cannot be read. */
static int read_release(void)
{
  char text[64];
  const char *rest;
  int major, minor;

  if (cpuc_file_read_start("/proc/sys/kernel/osrelease", text, sizeof text) <= 0)
    return INT_MAX;
  rest = cpuc_parse_integer(text, &major);
  if (!rest || *rest != '.' || !cpuc_parse_integer(rest + 1, &minor))
    return 0;
  return 1000 * major + minor;
}

/* Copies the rest of a line of the status of the calling thread, to which filters and capabilities
   belong. Linux before 3.17 has only the status of the first thread. Returns the length, or -1. */
static int read_status(const char *key, char *text, size_t size)
{
  int length = cpuc_file_read_line("/proc/thread-self/status", key, text, size);

  return length >= 0 ? length : cpuc_file_read_line("/proc/self/status", key, text, size);
}

static int is_filtered(void)
{
  char text[16];

  return read_status("Seccomp:", text, sizeof text) > 0 && cpuc_parse_number(text, 1) == 2;
}

static unsigned long long read_capabilities(void)
{
  char text[32];
  unsigned long long capabilities;

  return read_status("CapEff:", text, sizeof text) > 0
      && cpuc_parse_hexadecimal(cpuc_parse_skip_blanks(text), &capabilities)
    ? capabilities : 0;
}

static int is_in_user_namespace(void)
{
  static const long long initial_map[] = { 0, 0, 0xffffffff };
  char text[64];
  const char *rest = text;
  long long number;
  int i;

  if (cpuc_file_read_start("/proc/self/uid_map", text, sizeof text) <= 0)
    return 0;
  for (i = 0; i < 3; i++) {
    rest = cpuc_parse_decimal(cpuc_parse_skip_blanks(rest), 1, &number);
    if (!rest || number != initial_map[i])
      return 1;
  }
  return 0;
}

static void note_pmu_of_cores(const char *name, void *is_found)
{
  *(int *)is_found |= cpuc_perf_pmu_is_of_cores(name);
}

static int find_pmu(void)
{
  int is_found = 0;

  if (cpuc_file_list(CPUC_PERF_PMU_LIST, note_pmu_of_cores, &is_found) == 0)
    return is_found ? CPUC_MACHINE_PMU_PRESENT : CPUC_MACHINE_PMU_ABSENT;
  return errno == ENOENT && cpuc_file_exists("/sys/bus") ? CPUC_MACHINE_PMU_UNLISTED
                                                         : CPUC_MACHINE_PMU_HIDDEN;
}

static int read_level(void)
{
  static const char setting[] = "/proc/sys/kernel/perf_event_paranoid";
  long long level = cpuc_file_read_number(setting, 1);
  char text[16];

  if (level >= 0)
    return level < INT_MAX ? (int)level : INT_MAX;
  if (cpuc_file_read_start(setting, text, sizeof text) > 0)
    return -1;
  return cpuc_file_exists("/proc/sys/kernel/osrelease") ? CPUC_MACHINE_LEVEL_MISSING
                                                        : CPUC_MACHINE_LEVEL_UNKNOWN;
}

void cpuc_machine_find(struct cpuc_machine *machine)
{
  if (machine->is_found)
    return;
  machine->pmu = find_pmu();
  machine->level = read_level();
  machine->user_access = (int)cpuc_file_read_number("/proc/sys/kernel/perf_user_access", 1);
  machine->release = read_release();
  machine->capabilities = read_capabilities();
  machine->is_in_user_namespace = is_in_user_namespace();
  machine->is_filtered = is_filtered();
  machine->is_android = cpuc_file_exists("/system/build.prop");
  machine->container = cpuc_container_find();
  machine->hypervisor = cpuc_hypervisor_find(&machine->of_hypervisor);
  machine->emulator = cpuc_emulator_find();
  machine->is_found = 1; /* last, because a filter may raise SIGSYS before */
}
