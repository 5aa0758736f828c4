/* SPDX-License-Identifier: 0BSD OR MIT */
/* Explains why a counter that needs a PMU was refused, from files of the kernel. Suggests only
   remedies that help on this machine.
   Source: perf_event_open(2), "ERRORS"; Linux, Documentation/admin-guide/sysctl/kernel.rst,
   perf_event_paranoid and perf_user_access; Documentation/admin-guide/perf-security.rst
   (CAP_PERFMON since 5.8); kernel/events/core.c (no level refuses an event that excludes the
   kernel; permission is tested before the kernel looks for the PMU); Debian, "security,perf: Allow
   further restriction of perf_event_open" (above 2 even an event that excludes the kernel needs
   CAP_SYS_ADMIN); for Ubuntu: launchpad.net/bugs/2131046; Docker and Podman, default seccomp
   profile (perf_event_open with CAP_PERFMON); drivers/perf/arm_pmuv3.c and riscv_pmu_sbi.c, which
   create perf_user_access if they find a PMU; proc_pid_status(5), Seccomp and CapEff;
   user_namespaces(7), uid_map; Android, system/core/rootdir/init.rc, security.perf_harden; Amazon,
   "AWS Graviton Getting Started", perfrunbook/debug_hw_perf.md, for sizes with a PMU; Google Cloud,
   "PMU overview"; Xen, "Xen Hypervisor Command Line Options" and xl.cfg(5), vpmu. */

#include "config.h"

#include "sys/perf/remedy.h"

#include "sys/container.h"
#include "sys/emulator.h"
#include "sys/file.h"
#include "sys/hypervisor.h"
#include "sys/parse.h"
#include "sys/perf/pmu.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Returns 1 if the kernel is this release, such as 5.17, or later, or if its release cannot be
   read. */
static int kernel_is_since(int major, int minor)
{
  char text[64];
  const char *rest;
  int first, second;

  if (cpuc_file_read_start("/proc/sys/kernel/osrelease", text, sizeof text) <= 0)
    return 1;
  rest = cpuc_parse_integer(text, &first);
  return rest && *rest == '.' && cpuc_parse_integer(rest + 1, &second)
    && (first > major || (first == major && second >= minor));
}

/* Copies the rest of a line of the status of the calling thread, to which filters and capabilities
   belong. Linux before 3.17 has only the status of the first thread. Returns the length, or -1. */
static int read_status(const char *key, char *text, size_t size)
{
  int length = cpuc_file_read_line("/proc/thread-self/status", key, text, size);

  return length >= 0 ? length : cpuc_file_read_line("/proc/self/status", key, text, size);
}

/* Returns 1 if this thread has a seccomp filter, as in most containers. */
static int is_filtered(void)
{
  char text[16];

  return read_status("Seccomp:", text, sizeof text) > 0 && cpuc_parse_number(text, 1) == 2;
}

/* Returns 1 if this thread has the capability of this number in capabilities(7). */
static int has_capability(int number)
{
  char text[32];
  unsigned long long capabilities;

  return read_status("CapEff:", text, sizeof text) > 0
    && cpuc_parse_hexadecimal(cpuc_parse_skip_blanks(text), &capabilities)
    && (capabilities >> number & 1) != 0;
}

enum { CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38 };

/* Returns 1 if the user namespace is not the initial one. Capabilities in other namespaces do not
   permit perf events. */
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

/* Facts about this machine and process. A fact that implies another one has its bit, too. */
enum {
  /* Does the kernel drive a PMU of the cores? HIDDEN: /sys cannot be read. UNLISTED: it can, but
     the kernel lists no PMUs at all, as without perf events. */
  PMU_ABSENT = 1 << 0,
  PMU_PRESENT = 1 << 1,
  PMU_UNKNOWN = 1 << 2,
  PMU_HIDDEN = 1 << 3 | PMU_UNKNOWN,
  PMU_UNLISTED = 1 << 4 | PMU_UNKNOWN,
  /* The error of the call. */
  GOT_PERMISSION = 1 << 5, /* EPERM or EACCES */
  GOT_EACCES = 1 << 6 | GOT_PERMISSION,
  GOT_ENOSYS = 1 << 7,
  GOT_ABSENT = 1 << 8,
  GOT_OTHER = 1 << 9,
  /* Is there a seccomp filter, and does its error refuse the call? */
  UNFILTERED = 1 << 10,
  FILTERED = 1 << 11,
  REFUSED_CALL = 1 << 12 | FILTERED,
  /* Does kernel.perf_event_paranoid permit the event to this user, and if not, what does? */
  LEVEL_MISSING = 1 << 13,
  LEVEL_PERMITS = 1 << 14,
  LEVEL_REFUSES = 1 << 15, /* a lower level permits it, and in the next two cases a capability */
  LEVEL_NEEDS_PERFMON = 1 << 16 | LEVEL_REFUSES,
  LEVEL_NEEDS_ADMIN = 1 << 17 | LEVEL_REFUSES,
  /* Does the event count cycles in the kernel, because the PMU cannot exclude them? */
  WITHOUT_KERNEL = 1 << 18,
  WITH_KERNEL = 1 << 19,
  /* A container has its own filter, but the settings of its host. A sandbox has no perf events. */
  ON_HOST = 1 << 20,
  IN_CONTAINER = 1 << 21,
  IN_SANDBOX = 1 << 22,
  PERFMON_CAN_BE_ADDED = 1 << 23, /* kernels before 5.8 lack it */
  ON_VIRTUAL_MACHINE = 1 << 24,
  ANDROID_REFUSES = 1 << 25,
  ON_EMULATOR = 1 << 26
};

#define VIRTUAL_MACHINE "this virtual machine has no PMU"
#define IS_UNKNOWN "it is unknown whether there is a PMU (/sys cannot be read)"
#define FILTER "a seccomp filter refuses perf_event_open"
#define ABOVE_2 "kernel.perf_event_paranoid is above 2"
#define CANNOT_EXCLUDE \
  "this PMU cannot exclude the kernel, and kernel.perf_event_paranoid is above 1"
#define ALLOW "allow perf_event_open in the seccomp filter of this process"
#define EMULATED \
  "an emulator runs this program", "run a program that is compiled for the CPU of this machine"
#define SET(level) "sysctl kernel.perf_event_paranoid=" level

/* A remedy other than a step of the container: the one in the row, or that of the hypervisor. */
enum { CONSTANT = CPUC_CONTAINER_STEPS, OF_HYPERVISOR };

/* The decision: the first row applies whose facts all are known. Without a PMU no permission helps,
   but the kernel tests permissions first. So the rows about permissions come after the rows for an
   absent PMU, which set the reason "absent". */
static const struct {
  int if_known, step;
  const char *explanation, *remedy;
} decisions[] = {
  { IN_SANDBOX, CPUC_CONTAINER_LEAVE, "this sandbox does not implement perf_event_open", NULL },
  /* Most emulators of one program lack the system call, whatever the machine has. */
  { ON_EMULATOR | GOT_ENOSYS, CONSTANT, EMULATED },
  /* Some hypervisors can be configured to provide a PMU. */
  { PMU_ABSENT | ON_VIRTUAL_MACHINE, OF_HYPERVISOR, VIRTUAL_MACHINE, NULL },
  { ON_EMULATOR, CONSTANT, EMULATED },
  { PMU_ABSENT, CONSTANT, "the kernel has no driver for a PMU of this CPU", NULL },
  /* The system call is missing. A kernel without perf events has neither a level nor a directory
     of PMUs. */
  { PMU_UNKNOWN | GOT_ENOSYS | LEVEL_MISSING, CONSTANT, "this kernel was built without perf events",
    NULL },
  { GOT_ENOSYS | UNFILTERED, CONSTANT,
    "perf_event_open is not implemented here, for example by an emulator", NULL },
  /* Other errors, such as too many open files, do not depend on a PMU. */
  { GOT_OTHER, CONSTANT, NULL, NULL },
  /* Programs on Android can read neither the level nor the list of PMUs. */
  { GOT_PERMISSION | ANDROID_REFUSES, CONSTANT,
    "Android's security.perf_harden refuses perf events",
    "adb shell setprop security.perf_harden 0" },
  { PMU_UNLISTED, CONSTANT, "this kernel offers no perf events", NULL },
  { PMU_HIDDEN | REFUSED_CALL, CONSTANT, FILTER "; " IS_UNKNOWN, NULL },
  { PMU_HIDDEN | GOT_PERMISSION | WITHOUT_KERNEL | LEVEL_REFUSES, CONSTANT, ABOVE_2 "; " IS_UNKNOWN,
    NULL },
  { PMU_HIDDEN, CONSTANT, IS_UNKNOWN, NULL },
  /* There is a PMU, but a filter refuses the call. */
  { REFUSED_CALL | IN_CONTAINER | LEVEL_REFUSES, CPUC_CONTAINER_AND_LEVEL, FILTER, NULL },
  { REFUSED_CALL | IN_CONTAINER | PERFMON_CAN_BE_ADDED, CPUC_CONTAINER_OR_PERFMON, FILTER, NULL },
  { REFUSED_CALL | IN_CONTAINER, CPUC_CONTAINER_ALLOW, FILTER, NULL },
  { REFUSED_CALL | LEVEL_REFUSES, CONSTANT, FILTER, ALLOW ", and " SET("2") },
  { REFUSED_CALL, CONSTANT, FILTER, ALLOW },
  /* There is a PMU, but the setting does not permit the event to this user. */
  { GOT_PERMISSION | WITH_KERNEL | LEVEL_NEEDS_PERFMON | ON_HOST, CONSTANT, CANNOT_EXCLUDE,
    SET("1") ", or give the program CAP_PERFMON" },
  { GOT_PERMISSION | WITH_KERNEL | LEVEL_NEEDS_ADMIN | ON_HOST, CONSTANT, CANNOT_EXCLUDE,
    SET("1") ", or give the program CAP_SYS_ADMIN" },
  { GOT_PERMISSION | WITH_KERNEL | LEVEL_REFUSES, CONSTANT, CANNOT_EXCLUDE,
    SET("1") " on the host" },
  { GOT_PERMISSION | LEVEL_NEEDS_ADMIN | ON_HOST, CONSTANT, ABOVE_2,
    SET("2") ", or give the program CAP_SYS_ADMIN" },
  { GOT_PERMISSION | LEVEL_NEEDS_ADMIN | IN_CONTAINER, CPUC_CONTAINER_LEVEL, ABOVE_2, NULL },
  { GOT_PERMISSION | LEVEL_REFUSES, CONSTANT, ABOVE_2, SET("2") " on the host" },
  { GOT_EACCES | FILTERED | LEVEL_PERMITS, CONSTANT,
    "a seccomp filter or a security module refuses perf_event_open, although "
    "kernel.perf_event_paranoid allows it",
    NULL },
  { GOT_EACCES | LEVEL_PERMITS, CONSTANT,
    "a security module refuses perf_event_open, although kernel.perf_event_paranoid allows it",
    NULL },
};

enum { DECISIONS = sizeof decisions / sizeof decisions[0] };

static void note_pmu_of_cores(const char *name, void *is_found)
{
  *(int *)is_found |= cpuc_perf_pmu_is_of_cores(name);
}

static int find_pmu(void)
{
  int is_found = 0;

  if (cpuc_file_list(CPUC_PERF_PMU_LIST, note_pmu_of_cores, &is_found) == 0)
    return is_found ? PMU_PRESENT : PMU_ABSENT;
  return errno == ENOENT && cpuc_file_exists("/sys/bus") ? PMU_UNLISTED : PMU_HIDDEN;
}

/* Returns what the error shows, together with the fact about the filter. */
static int facts_of_error(int error, int filter)
{
  int is_refused = filter == FILTERED ? REFUSED_CALL : filter;

  switch (error) {
  case EPERM:
    return GOT_PERMISSION | is_refused;
  case EACCES:
    return GOT_EACCES | filter;
  case ENOSYS:
    return GOT_ENOSYS | is_refused;
  case ENOENT:
  case ENODEV:
    return GOT_ABSENT | filter; /* no PMU has it: the kernel has permitted and looked for it */
  case EOPNOTSUPP:
    return filter; /* the PMU does not have the event */
  }
  return GOT_OTHER | filter;
}

/* Compares kernel.perf_event_paranoid with the capabilities of this process. Distributions add
   levels above 2, which CAP_PERFMON does not override. */
static int find_level(int with_kernel)
{
  static const char setting[] = "/proc/sys/kernel/perf_event_paranoid";
  long long level = cpuc_file_read_number(setting, 1);
  char text[16];

  if (level < 0) { /* no such file, or level -1, which permits more than 0 does */
    if (cpuc_file_read_start(setting, text, sizeof text) > 0)
      return LEVEL_PERMITS;
    return cpuc_file_exists("/proc/sys/kernel/osrelease") ? LEVEL_MISSING : 0;
  }
  if (level <= (with_kernel ? 1 : 2))
    return LEVEL_PERMITS;
  if (is_in_user_namespace())
    return LEVEL_REFUSES;
  if (has_capability(CAPABILITY_SYS_ADMIN))
    return LEVEL_PERMITS;
  if (level > 2 || !kernel_is_since(5, 8))
    return LEVEL_NEEDS_ADMIN;
  return has_capability(CAPABILITY_PERFMON) ? LEVEL_PERMITS : LEVEL_NEEDS_PERFMON;
}

/* Finds the row that applies. The facts about the error, the filter and the mode are known, and
   PMU_PRESENT if the event needs no PMU. The kernel's answer that no PMU has the event counts if
   its files cannot be read. */
static void decide(int known, struct cpuc_diagnosis *diagnosis)
{
  const struct cpuc_container *container = cpuc_container_find();
  int level = find_level(known & WITH_KERNEL),
      pmu = known & PMU_PRESENT ? PMU_PRESENT : find_pmu();
  const char *of_hypervisor;
  size_t i = 0;

  (void)cpuc_hypervisor_find(&of_hypervisor);
  if (pmu != PMU_PRESENT && ((known & GOT_ABSENT) || cpuc_machine_lacks_pmu(diagnosis->machine)))
    pmu = PMU_ABSENT;
  known |= pmu | level;
  known |= !container ? ON_HOST
    : container->steps[CPUC_CONTAINER_LEAVE] ? IN_SANDBOX : IN_CONTAINER;
  if (kernel_is_since(5, 8) && !has_capability(CAPABILITY_PERFMON))
    known |= PERFMON_CAN_BE_ADDED;
  if (cpuc_file_exists("/system/build.prop") && level != LEVEL_PERMITS)
    known |= ANDROID_REFUSES;
  if (of_hypervisor)
    known |= ON_VIRTUAL_MACHINE;
  if (cpuc_emulator_find())
    known |= ON_EMULATOR;
  while (i < DECISIONS && (decisions[i].if_known & ~known) != 0)
    i++;
  if (i == DECISIONS)
    return;
  if (decisions[i].if_known & PMU_ABSENT)
    diagnosis->reason = CPUC_REASON_ABSENT;
  diagnosis->explanation = decisions[i].explanation;
  diagnosis->remedy = container && decisions[i].step < CONSTANT
    ? container->steps[decisions[i].step]
    : decisions[i].step == OF_HYPERVISOR ? of_hypervisor : decisions[i].remedy;
}

void cpuc_remedy_for_no_pmu(struct cpuc_diagnosis *diagnosis)
{
  decide(UNFILTERED | WITHOUT_KERNEL, diagnosis);
}

void cpuc_remedy_for_perf_event(int error, int signal, int needs_pmu,
  struct cpuc_diagnosis *diagnosis)
{
  decide((needs_pmu ? 0 : PMU_PRESENT)
      | facts_of_error(signal ? EPERM : error, signal || is_filtered() ? FILTERED : UNFILTERED)
      | (diagnosis->machine->cycles.with_kernel ? WITH_KERNEL : WITHOUT_KERNEL),
    diagnosis);
}

/* A container has the setting of its host, but cannot change it. */
#define SET_ACCESS(value) (cpuc_container_find() ? "sysctl kernel.perf_user_access=" value \
  " on the host" : "sysctl kernel.perf_user_access=" value)

/* major.minor is the first release with the setting. */
static void explain_user_access(int highest, int major, int minor, const char *upgrade,
  struct cpuc_diagnosis *diagnosis)
{
  long long access = cpuc_file_read_number("/proc/sys/kernel/perf_user_access", 1);

  if (access >= 1 && access <= highest)
    return;
  if (access >= 0) {
    diagnosis->explanation = "kernel.perf_user_access does not allow programs to read it";
    diagnosis->remedy = SET_ACCESS("1");
  } else if (!kernel_is_since(major, minor)) {
    diagnosis->explanation = "user-space access to the PMU needs a newer kernel";
    diagnosis->remedy = upgrade;
  } else
    cpuc_remedy_for_no_pmu(diagnosis); /* because a driver that finds a PMU creates the setting */
}

void cpuc_remedy_for_arm64_user_access(struct cpuc_diagnosis *diagnosis)
{
  explain_user_access(1, 5, 17, "use Linux 5.17 or later", diagnosis);
}

void cpuc_remedy_for_riscv_user_access(struct cpuc_diagnosis *diagnosis)
{
  explain_user_access(2, 6, 6, "use Linux 6.6 or later", diagnosis);
}

/* contrib/arm-pmu-access can give access to a PMU of ARMv7 or later. PMUs of Apple, and those of
   ARMv5 and ARMv6, have other registers. */
static void note_pmu_of_arm_module(const char *name, void *is_found)
{
  *(int *)is_found |= strncmp(name, "armv", 4) == 0 && name[4] >= '7';
}

void cpuc_remedy_for_arm_module(int error, int signal, struct cpuc_diagnosis *diagnosis)
{
  int is_found = 0;

  (void)error;
  if (signal == SIGILL)
    cpuc_file_list(CPUC_PERF_PMU_LIST, note_pmu_of_arm_module, &is_found);
  if (is_found)
    diagnosis->remedy = "load the kernel module of contrib/arm-pmu-access, and name this counter "
                        "in CPUCYCLES_IMPLEMENTATION";
}

void cpuc_remedy_for_rdcycle(int error, int signal, struct cpuc_diagnosis *diagnosis)
{
  long long access = cpuc_file_read_number("/proc/sys/kernel/perf_user_access", 1);

  (void)error;
  if (signal == SIGILL && (access == 0 || access == 1))
    diagnosis->remedy = SET_ACCESS("2");
}

/* The event of perf stat keeps Intel's fixed cycle counter running, and sets it back only once in
   several hours (after 2^47 cycles). The watchdog must be off, because it uses the counter. */
#define FIXED_COUNTER_REMEDY "sysctl kernel.nmi_watchdog=0; perf stat -a -e cycles sleep infinity &"

void cpuc_remedy_for_rdpmc(int needed, struct cpuc_diagnosis *diagnosis)
{
  int is_hybrid = !cpuc_file_exists(CPUC_PERF_PMU_RDPMC);
  long long level = cpuc_perf_pmu_read_rdpmc();

  if (level < 0 || level >= needed)
    return;
  diagnosis->explanation = level == 0
    ? "the kernel does not allow RDPMC in user mode"
    : "the kernel allows RDPMC only in processes that have an event mapped";
#define SET_RDPMC(value, then) \
  (is_hybrid ? "echo " value " > " CPUC_PERF_PMU_HYBRID_RDPMC then \
             : "echo " value " > " CPUC_PERF_PMU_RDPMC then)
  diagnosis->remedy = needed == 1 ? SET_RDPMC("1", "") : SET_RDPMC("2", "; " FIXED_COUNTER_REMEDY);
#undef SET_RDPMC
}

void cpuc_remedy_for_fixed_counter(struct cpuc_diagnosis *diagnosis)
{
  diagnosis->explanation = cpuc_perf_pmu_watchdog_is_on()
    ? "the kernel's NMI watchdog sets it back, usually every ten seconds"
    : "it is stopped, because no perf event keeps it running";
  diagnosis->remedy = FIXED_COUNTER_REMEDY;
}
