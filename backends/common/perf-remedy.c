/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the kernel's files below a root folder, "" or a test's, after a counter was refused, and
   suggests only remedies that help on this machine.
   Source: perf_event_open(2), "ERRORS"; Linux, Documentation/admin-guide/sysctl/kernel.rst,
   perf_event_paranoid and perf_user_access; Documentation/admin-guide/perf-security.rst
   (CAP_PERFMON since 5.8); kernel/events/core.c (no level refuses an event that leaves the
   kernel out); Debian, "security,perf: Allow further restriction of perf_event_open" (above 2
   such an event needs CAP_SYS_ADMIN), in Ubuntu also: launchpad.net/bugs/2131046;
   arch/x86/events/core.c, rdpmc; drivers/perf/arm_pmuv3.c and riscv_pmu_sbi.c, which make
   perf_user_access where they find a PMU; proc_pid_status(5), Seccomp. */

#include "config.h"

#include "backends/common/perf-remedy.h"

#include "sys/hypervisor.h"
#include "sys/kernel-file.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a number of the kernel; `none` if the file is missing or has other contents. */
static int kernel_number(const char *root, const char *path, int none)
{
  char text[16], *end;
  long number;

  if (cpucycles_read_kernel_text(root, path, text, sizeof text) <= 0)
    return none;
  number = strtol(text, &end, 10);
  return end > text && *end == '\n' && number > -1000 && number < 1000 ? (int)number : none;
}

/* Is the kernel of that release, such as 5.17, or later? 0 if its release is unknown. */
static int kernel_is_since(const char *root, int major, int minor)
{
  char text[64], *end;
  long numbers[2] = { 0, 0 };

  if (cpucycles_read_kernel_text(root, "/proc/sys/kernel/osrelease", text, sizeof text) <= 0)
    return 0;
  numbers[0] = strtol(text, &end, 10);
  if (end > text && *end == '.')
    numbers[1] = strtol(end + 1, NULL, 10);
  return numbers[0] > major || (numbers[0] == major && numbers[1] >= minor);
}

/* Does this process have a seccomp filter, as in most containers? */
static int is_filtered(const char *root)
{
  char text[16];

  return cpucycles_read_kernel_line(root, "/proc/self/status", "Seccomp:", text, sizeof text) > 0
    && strtol(text, NULL, 10) == 2;
}

/* Does the kernel drive a PMU whose name begins with one of `names`, a list that ends in NULL? */
static int has_pmu(const char *root, const char *const *names)
{
  char path[256];
  DIR *folder = NULL;
  struct dirent *entry;
  int found = 0, i;

  if (cpucycles_tried.list_folder < 0)
    return 1; /* not known to be missing */
  if (snprintf(path, sizeof path, "%s/sys/bus/event_source/devices", root) < (int)sizeof path)
    folder = opendir(path);
  if (!folder)
    return errno != ENOENT; /* access refused: a PMU is not known to be missing */
  while (!found && (entry = readdir(folder)) != NULL)
    for (i = 0; names[i] && !found; i++)
      found = strncmp(entry->d_name, names[i], strlen(names[i])) == 0;
  closedir(folder);
  return found;
}

/* Some hypervisors provide a PMU if they are configured to. "QEMU" alone may be an emulated CPU,
   where -cpu host is not available. */
void cpucycles_no_pmu_why(const char *root, struct cpucycles_why *why)
{
  static const struct {
    const char *hypervisor, *remedy;
  } remedies[] = {
    { "KVM", QEMU_HAS_PMU_OPTION
        ? "give the virtual machine a PMU (QEMU: -cpu host,pmu=on), or run outside of it"
        : "give the virtual machine a PMU, or run outside of it" },
    { "QEMU", "give the virtual machine a PMU, or run outside of it" },
    { "VMware", "give the virtual machine a PMU (vpmc.enable = TRUE), or run outside of it" },
    { "Hyper-V",
      "give the virtual machine a PMU (Set-VMProcessor -Perfmon @(\"pmu\")), "
      "or run outside of it" },
    { "Xen",
      "give the virtual machine a PMU (vpmu=on on Xen's command line), or run outside of it" },
  };
  const char *hypervisor
    = cpucycles_tried.cpuid > 0 ? cpucycles_find_hypervisor(root)
                                : cpucycles_hypervisor_of_files(root);
  size_t i;

  if (!hypervisor)
    return;
  why->explanation = "this virtual machine has no PMU";
  why->remedy = "run outside of the virtual machine";
  for (i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
    if (strcmp(remedies[i].hypervisor, hypervisor) == 0)
      why->remedy = remedies[i].remedy;
}

/* Remedy for a seccomp filter that refuses perf_event_open(2). */
#define PERF_FILTER_REMEDY "let the seccomp filter of this process allow perf_event_open"
/* Remedy for Docker's own filter, which allows the call to processes with CAP_PERFMON. */
#define DOCKER_FILTER_REMEDY "run the container with a seccomp profile that allows perf_event_open"

void cpucycles_perf_filter_why(const char *root, struct cpucycles_why *why)
{
  int is_docker = cpucycles_can_open_file(root, "/.dockerenv");

  why->explanation = "a seccomp filter refuses perf_event_open";
  why->remedy = is_docker ? DOCKER_FILTER_REMEDY : PERF_FILTER_REMEDY;
  /* above level 2, CAP_PERFMON would not help */
  if (kernel_number(root, "/proc/sys/kernel/perf_event_paranoid", 2) > 2)
    why->remedy = is_docker
      ? DOCKER_FILTER_REMEDY ", and sysctl kernel.perf_event_paranoid=2 on the host"
      : PERF_FILTER_REMEDY ", and sysctl kernel.perf_event_paranoid=2";
  else if (is_docker && kernel_is_since(root, 5, 8))
    why->remedy = DOCKER_FILTER_REMEDY ", or with --cap-add PERFMON";
}

static void perf_paranoid_why(const char *root, int with_kernel, struct cpucycles_why *why)
{
  int paranoid = kernel_number(root, "/proc/sys/kernel/perf_event_paranoid", -1);

  if (with_kernel && paranoid > 1) {
    why->explanation
      = "this PMU cannot leave the kernel out, and kernel.perf_event_paranoid is above 1";
    why->remedy = paranoid == 2 && kernel_is_since(root, 5, 8)
      ? "sysctl kernel.perf_event_paranoid=1, or give the program CAP_PERFMON"
      : "sysctl kernel.perf_event_paranoid=1, or give the program CAP_SYS_ADMIN";
  } else if (paranoid > 2) {
    why->explanation = "kernel.perf_event_paranoid is above 2";
    why->remedy = "sysctl kernel.perf_event_paranoid=2, or give the program CAP_SYS_ADMIN";
  }
}

void cpucycles_perf_event_why(const char *root, int error, int with_kernel,
  struct cpucycles_why *why)
{
  static const char *const core_pmus[] = { "cpu", "arm", "apple", NULL };
  int has_perf_events = kernel_number(root, "/proc/sys/kernel/perf_event_paranoid", -1000) > -1000;

  switch (error) {
  case EPERM:
    if (is_filtered(root))
      cpucycles_perf_filter_why(root, why);
    else
      perf_paranoid_why(root, with_kernel, why);
    break;
  case EACCES:
    perf_paranoid_why(root, with_kernel, why);
    if (has_perf_events && !why->remedy)
      why->explanation
        = "a security module of the kernel refuses it, though kernel.perf_event_paranoid allows it";
    break;
  case ENOSYS:
    if (!has_perf_events)
      why->explanation = "this kernel was built without perf events";
    else if (is_filtered(root))
      cpucycles_perf_filter_why(root, why);
    else
      why->explanation
        = "what runs this program, such as an emulator, does not pass perf_event_open on";
    break;
  case ENOENT:
  case ENODEV:
  case EOPNOTSUPP:
    if (!has_pmu(root, core_pmus))
      cpucycles_no_pmu_why(root, why);
    break;
  }
}

int cpucycles_user_access_why(const char *root, const struct cpucycles_user_access *needed,
  struct cpucycles_why *why)
{
  int access = kernel_number(root, "/proc/sys/kernel/perf_user_access", -1);

  if (access >= needed->lowest && access <= needed->highest)
    return 0;
  if (access >= 0) {
    why->explanation = "kernel.perf_user_access forbids it";
    why->remedy = needed->remedy;
  } else if (!kernel_is_since(root, needed->major, needed->minor)) {
    why->explanation = needed->too_old;
    why->remedy = needed->newer;
  } else
    cpucycles_no_pmu_why(root, why); /* a driver that finds a PMU makes the setting */
  return 1;
}

void cpucycles_arm_module_why(const char *root, struct cpucycles_why *why)
{
  static const char *const names[] = { "armv", NULL };

  if (has_pmu(root, names))
    why->remedy = "load the kernel module of contrib/arm-pmu-access";
}

void cpucycles_rdcycle_why(const char *root, struct cpucycles_why *why)
{
  int access = kernel_number(root, "/proc/sys/kernel/perf_user_access", -1);

  if (access == 0 || access == 1)
    why->remedy = "sysctl kernel.perf_user_access=2";
}

/* RDPMC on x86: the file of its setting, and the remedies that set it to 1, to 2, and to 2 with the
   NMI watchdog. CPUs with two kinds of core have no PMU named cpu; one setting applies to all. */
static const struct {
  const char *file, *set_to_1, *set_to_2, *set_to_2_and_watch;
} rdpmc_settings[] = {
#define RDPMC_SETTING(file) \
  { file, "echo 1 > " file, "echo 2 > " file, "echo 2 > " file "; sysctl kernel.nmi_watchdog=1" }
  RDPMC_SETTING("/sys/bus/event_source/devices/cpu/rdpmc"),
  RDPMC_SETTING("/sys/bus/event_source/devices/cpu_core/rdpmc"),
#undef RDPMC_SETTING
};

enum { RDPMC_SETTINGS = sizeof rdpmc_settings / sizeof rdpmc_settings[0] };

/* Returns the setting, or -1. *which: index of the file that has it. */
static int rdpmc_setting(const char *root, int *which)
{
  int level = -1;

  for (*which = 0; *which < RDPMC_SETTINGS; ++*which) {
    level = kernel_number(root, rdpmc_settings[*which].file, -1);
    if (level >= 0)
      break;
  }
  return level;
}

int cpucycles_rdpmc_level(const char *root)
{
  int which;

  return rdpmc_setting(root, &which);
}

int cpucycles_rdpmc_why(const char *root, int needed, struct cpucycles_why *why)
{
  int which, level = rdpmc_setting(root, &which);

  if (level < 0 || level >= needed)
    return level;
  if (needed == 1) {
    why->explanation = "the kernel lets nobody use RDPMC";
    why->remedy = rdpmc_settings[which].set_to_1;
    return level;
  }
  why->explanation = "the kernel lets RDPMC read mapped events at most";
  /* amd64-pmcff has no event of its own; the NMI watchdog keeps the counter running */
  why->remedy = kernel_number(root, "/proc/sys/kernel/nmi_watchdog", 1) == 0
    ? rdpmc_settings[which].set_to_2_and_watch : rdpmc_settings[which].set_to_2;
  return level;
}

void cpucycles_fixed_counter_why(const char *root, struct cpucycles_why *why)
{
  if (kernel_number(root, "/proc/sys/kernel/nmi_watchdog", 1) != 0)
    return;
  why->explanation = "it stands still, since nothing keeps it running";
  why->remedy = "sysctl kernel.nmi_watchdog=1";
}
