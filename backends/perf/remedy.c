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

#include "backends/perf/remedy.h"

#include "backends/perf/pmu.h"
#include "sys/file.h"
#include "sys/hypervisor.h"
#include "sys/parse.h"
#include "sys/perf-core-types.h"

#include <errno.h>
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

/* Returns 1 in a container of Docker or Podman. */
static int is_in_container(void)
{
  return cpuc_file_exists("/.dockerenv") || cpuc_file_exists("/run/.containerenv");
}

static int is_android(void)
{
  return cpuc_file_exists("/system/build.prop");
}

/* Returns 1 for a PMU to which contrib/arm-pmu-access can give access: one of ARMv7 or later. PMUs
   of Apple, and those of ARMv5 and ARMv6, have other registers. */
static int is_pmu_of_arm_module(const char *name)
{
  return strncmp(name, "armv", 4) == 0 && name[4] >= '7';
}

/* Facts about this machine and process. Of each group, at most one bit is set. */
enum {
  /* Does the kernel drive a PMU of the cores? */
  PMU_ABSENT = 1 << 0,
  PMU_UNKNOWN = 1 << 1,
  PMU_PRESENT = 1 << 2,
  PMU_BITS = PMU_ABSENT | PMU_UNKNOWN | PMU_PRESENT,
  /* How was the event refused? */
  GOT_EPERM = 1 << 3,
  GOT_EACCES = 1 << 4,
  GOT_ENOSYS = 1 << 5,
  GOT_OTHER = 1 << 6,
  REFUSAL_BITS = GOT_EPERM | GOT_EACCES | GOT_ENOSYS | GOT_OTHER,
  /* Does this process have a seccomp filter? */
  UNFILTERED = 1 << 7,
  FILTERED = 1 << 8,
  FILTER_BITS = UNFILTERED | FILTERED,
  /* Does kernel.perf_event_paranoid permit the event to this user, and if not, what does? */
  LEVEL_MISSING = 1 << 9,
  LEVEL_PERMITS = 1 << 10,
  LEVEL_NEEDS_PERFMON = 1 << 11, /* or a lower level */
  LEVEL_NEEDS_ADMIN = 1 << 12,   /* or a lower level */
  LEVEL_NEEDS_SYSCTL = 1 << 13,  /* a lower level only */
  LEVEL_REFUSES = LEVEL_NEEDS_PERFMON | LEVEL_NEEDS_ADMIN | LEVEL_NEEDS_SYSCTL,
  LEVEL_BITS = LEVEL_MISSING | LEVEL_PERMITS | LEVEL_REFUSES,
  /* Does the event count cycles in the kernel, because the PMU cannot exclude them? */
  WITHOUT_KERNEL = 1 << 14,
  WITH_KERNEL = 1 << 15,
  MODE_BITS = WITHOUT_KERNEL | WITH_KERNEL,
  /* Is the process in a container, which has its own filter, but the settings of its host? */
  ON_HOST = 1 << 16,
  IN_CONTAINER = 1 << 17,
  PLACE_BITS = ON_HOST | IN_CONTAINER,
  /* Can CAP_PERFMON be added? Kernels before 5.8 do not have it. */
  PERFMON_CAN_BE_ADDED = 1 << 18,
  /* The hypervisor, if there is one. */
  KVM = 1 << 19,
  QEMU = 1 << 20, /* perhaps without KVM, which -cpu host needs */
  VMWARE = 1 << 21,
  HYPER_V = 1 << 22,
  XEN = 1 << 23,
  WSL = 1 << 24,
  PARALLELS = 1 << 25,
  EC2 = 1 << 26,
  GOOGLE = 1 << 27,
  CLOUD = 1 << 28, /* another, which sells machines with a PMU */
  OTHER_HYPERVISOR = 1 << 29,
  HYPERVISOR_BITS = KVM | QEMU | VMWARE | HYPER_V | XEN | WSL | PARALLELS | EC2 | GOOGLE | CLOUD
    | OTHER_HYPERVISOR,
  /* Is this Android, and does perf_event_paranoid not permit the event? */
  ANDROID_REFUSES = 1 << 30
};

#define VIRTUAL_MACHINE "this virtual machine has no PMU"
#define GIVE_PMU "give the virtual machine a PMU"
#define LEAVE_MACHINE "run outside of the virtual machine"
#define IS_UNKNOWN "it is unknown whether there is a PMU (/sys cannot be read)"
#define FILTER "a seccomp filter refuses perf_event_open"
#define ABOVE_2 "kernel.perf_event_paranoid is above 2"
#define CANNOT_EXCLUDE \
  "this PMU cannot exclude the kernel, and kernel.perf_event_paranoid is above 1"
#define ALLOW "allow perf_event_open in the seccomp filter of this process"
#define ALLOW_IN_CONTAINER "run the container with a seccomp profile that allows perf_event_open"
#define SET(level) "sysctl kernel.perf_event_paranoid=" level

/* The decision: the first row that fits applies. A row fits if, in each group, it has no bit, or
   one of its bits is set in the known facts. Without a PMU no permission helps, but the kernel
   tests permissions first. So the rows about permissions come after the rows for an absent PMU,
   which set the reason "absent". */
static const struct {
  unsigned if_known;
  const char *explanation, *remedy;
} decisions[] = {
  /* Some hypervisors can be configured to provide a PMU. */
  { PMU_ABSENT | KVM, VIRTUAL_MACHINE, CPUC_REMEDY_QEMU_HAS_PMU_OPTION
      ? GIVE_PMU " (QEMU: -cpu host,pmu=on), or run outside of it"
      : GIVE_PMU ", or run outside of it" },
  { PMU_ABSENT | QEMU, VIRTUAL_MACHINE, GIVE_PMU ", or run outside of it" },
  { PMU_ABSENT | VMWARE, VIRTUAL_MACHINE,
    GIVE_PMU " (vpmc.enable = TRUE), or run outside of it" },
  { PMU_ABSENT | HYPER_V, VIRTUAL_MACHINE,
    GIVE_PMU " (Set-VMProcessor -Perfmon @(\"pmu\")), or run outside of it" },
  { PMU_ABSENT | WSL, VIRTUAL_MACHINE, CPUC_REMEDY_IS_X86
      ? GIVE_PMU " (hardwarePerformanceCounters=true below [wsl2] in .wslconfig, then "
                 "wsl --shutdown), or run outside of it"
      : LEAVE_MACHINE },
  { PMU_ABSENT | XEN, VIRTUAL_MACHINE, CPUC_REMEDY_IS_X86
      ? GIVE_PMU " (vpmu=on on Xen's command line), or run outside of it"
      : GIVE_PMU " (vpmu=1 in its xl.cfg), or run outside of it" },
  { PMU_ABSENT | PARALLELS, VIRTUAL_MACHINE, CPUC_REMEDY_IS_X86
      ? GIVE_PMU " (prlctl set NAME --pmu-virt on), or run outside of it"
      : LEAVE_MACHINE },
  { PMU_ABSENT | EC2, VIRTUAL_MACHINE,
    "use an instance type with a PMU: a metal size, or generation 7 or later" },
  { PMU_ABSENT | GOOGLE, VIRTUAL_MACHINE,
    "use a machine type with a PMU, such as C4 or C4A, created with "
    "--performance-monitoring-unit=architectural" },
  { PMU_ABSENT | CLOUD, VIRTUAL_MACHINE,
    "use an instance type with a PMU, such as a bare-metal one" },
  { PMU_ABSENT | OTHER_HYPERVISOR, VIRTUAL_MACHINE, LEAVE_MACHINE },
  { PMU_ABSENT, "the kernel has no driver for a PMU of this CPU", NULL },
  /* The system call is missing. A kernel without perf events has neither a level nor a directory
     of PMUs, so PMU_UNKNOWN is set. */
  { PMU_UNKNOWN | GOT_ENOSYS | LEVEL_MISSING, "this kernel was built without perf events", NULL },
  { GOT_ENOSYS | UNFILTERED,
    "perf_event_open is not implemented here, for example by an emulator", NULL },
  /* Other errors, such as too many open files, do not depend on a PMU. */
  { GOT_OTHER, NULL, NULL },
  /* Programs on Android can read neither the level nor the list of PMUs. */
  { GOT_EPERM | GOT_EACCES | ANDROID_REFUSES, "Android's security.perf_harden refuses perf events",
    "adb shell setprop security.perf_harden 0" },
  { PMU_UNKNOWN | GOT_EPERM | GOT_ENOSYS | FILTERED, FILTER "; " IS_UNKNOWN, NULL },
  { PMU_UNKNOWN | GOT_EPERM | GOT_EACCES | WITHOUT_KERNEL | LEVEL_REFUSES, ABOVE_2 "; " IS_UNKNOWN,
    NULL },
  { PMU_UNKNOWN, IS_UNKNOWN, NULL },
  /* There is a PMU, but a filter refuses the call. */
  { FILTERED | GOT_EPERM | GOT_ENOSYS | IN_CONTAINER | LEVEL_REFUSES, FILTER,
    ALLOW_IN_CONTAINER ", and " SET("2") " on the host" },
  { FILTERED | GOT_EPERM | GOT_ENOSYS | IN_CONTAINER | PERFMON_CAN_BE_ADDED, FILTER,
    ALLOW_IN_CONTAINER ", or with --cap-add PERFMON" },
  { FILTERED | GOT_EPERM | GOT_ENOSYS | IN_CONTAINER, FILTER, ALLOW_IN_CONTAINER },
  { FILTERED | GOT_EPERM | GOT_ENOSYS | LEVEL_REFUSES, FILTER, ALLOW ", and " SET("2") },
  { FILTERED | GOT_EPERM | GOT_ENOSYS, FILTER, ALLOW },
  /* There is a PMU, but the setting does not permit the event to this user. */
  { GOT_EPERM | GOT_EACCES | WITH_KERNEL | LEVEL_NEEDS_PERFMON | ON_HOST, CANNOT_EXCLUDE,
    SET("1") ", or give the program CAP_PERFMON" },
  { GOT_EPERM | GOT_EACCES | WITH_KERNEL | LEVEL_NEEDS_ADMIN | ON_HOST, CANNOT_EXCLUDE,
    SET("1") ", or give the program CAP_SYS_ADMIN" },
  { GOT_EPERM | GOT_EACCES | WITH_KERNEL | LEVEL_REFUSES, CANNOT_EXCLUDE, SET("1") " on the host" },
  { GOT_EPERM | GOT_EACCES | LEVEL_NEEDS_ADMIN | ON_HOST, ABOVE_2,
    SET("2") ", or give the program CAP_SYS_ADMIN" },
  { GOT_EPERM | GOT_EACCES | LEVEL_NEEDS_ADMIN | IN_CONTAINER, ABOVE_2,
    SET("2") " on the host, or run the container with --cap-add SYS_ADMIN" },
  { GOT_EPERM | GOT_EACCES | LEVEL_REFUSES, ABOVE_2, SET("2") " on the host" },
  { GOT_EACCES | FILTERED | LEVEL_PERMITS,
    "a seccomp filter or a security module refuses perf_event_open, although "
    "kernel.perf_event_paranoid allows it",
    NULL },
  { GOT_EACCES | LEVEL_PERMITS,
    "a security module refuses perf_event_open, although kernel.perf_event_paranoid allows it",
    NULL },
};

/* The argument of find_pmu(), and its result. */
struct search {
  int (*is_wanted)(const char *name);
  unsigned found; /* a bit of PMU_BITS */
};

static void note_if_wanted(const char *name, void *argument)
{
  struct search *search = argument;

  if (search->is_wanted(name))
    search->found = PMU_PRESENT;
}

/* Searches for a PMU whose name is_wanted() accepts. Returns a bit of PMU_BITS. */
static unsigned find_pmu(int (*is_wanted)(const char *name))
{
  struct search search = { is_wanted, PMU_ABSENT };

  return cpuc_file_list("/sys/bus/event_source/devices", note_if_wanted, &search) == 0
    ? search.found : PMU_UNKNOWN;
}

static unsigned refusal_of(int error)
{
  switch (error) {
  case EPERM:
    return GOT_EPERM;
  case EACCES:
    return GOT_EACCES;
  case ENOSYS:
    return GOT_ENOSYS;
  case ENOENT:
  case ENODEV:
  case EOPNOTSUPP:
    return 0; /* there is no PMU, or it does not have the event */
  }
  return GOT_OTHER;
}

/* Compares kernel.perf_event_paranoid with the capabilities of this process. Distributions add
   levels above 2, which CAP_PERFMON does not override. */
static unsigned find_level(int with_kernel)
{
  static const char setting[] = "/proc/sys/kernel/perf_event_paranoid";
  long long level = cpuc_file_read_number(setting, 1);
  int kernel_has_perfmon = kernel_is_since(5, 8);
  char text[16];

  if (level < 0) { /* no such file, or level -1, which permits more than 0 does */
    if (cpuc_file_read_start(setting, text, sizeof text) > 0)
      return LEVEL_PERMITS;
    return cpuc_file_exists("/proc/sys/kernel/osrelease") ? LEVEL_MISSING : 0;
  }
  if (level <= (with_kernel ? 1 : 2))
    return LEVEL_PERMITS;
  if (is_in_user_namespace())
    return LEVEL_NEEDS_SYSCTL;
  if (has_capability(CAPABILITY_SYS_ADMIN))
    return LEVEL_PERMITS;
  if (level > 2 || !kernel_has_perfmon)
    return LEVEL_NEEDS_ADMIN;
  return has_capability(CAPABILITY_PERFMON) ? LEVEL_PERMITS : LEVEL_NEEDS_PERFMON;
}

static unsigned find_hypervisor(void)
{
  static const struct {
    const char *name; /* or a part of the name */
    unsigned bit;
  } known[] = { { "(Amazon EC2)", EC2 }, { "(Google Compute Engine)", GOOGLE }, { "(WSL2)", WSL },
    { "(Azure)", OTHER_HYPERVISOR }, { "(", CLOUD }, { "QEMU TCG", OTHER_HYPERVISOR },
    { "KVM", KVM }, { "QEMU", QEMU }, { "VMware", VMWARE }, { "Hyper-V", HYPER_V }, { "Xen", XEN },
    { "Parallels", PARALLELS } };
  const char *name = cpuc_hypervisor_find();
  size_t i;

  if (!name)
    return 0;
  for (i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strstr(name, known[i].name))
      return known[i].bit;
  return OTHER_HYPERVISOR;
}

static int fits(unsigned row, unsigned known)
{
  static const unsigned groups[] = { PMU_BITS, REFUSAL_BITS, FILTER_BITS, LEVEL_BITS, MODE_BITS,
    PLACE_BITS, PERFMON_CAN_BE_ADDED, HYPERVISOR_BITS, ANDROID_REFUSES };
  size_t i;

  for (i = 0; i < sizeof groups / sizeof groups[0]; i++)
    if ((row & groups[i]) != 0 && (row & groups[i] & known) == 0)
      return 0;
  return 1;
}

/* Finds the row that applies. `known` contains the bits of the refusal, the filter and the mode. */
static void decide(unsigned known, struct cpuc_diagnosis *diagnosis)
{
  size_t i;

  known |= find_pmu(cpuc_perf_core_types_is_pmu) | find_level((known & WITH_KERNEL) != 0);
  known |= is_in_container() ? IN_CONTAINER : ON_HOST;
  if (kernel_is_since(5, 8) && !has_capability(CAPABILITY_PERFMON))
    known |= PERFMON_CAN_BE_ADDED;
  if (is_android() && !(known & LEVEL_PERMITS))
    known |= ANDROID_REFUSES;
  known |= find_hypervisor();
  for (i = 0; i < sizeof decisions / sizeof decisions[0]; i++)
    if (fits(decisions[i].if_known, known)) {
      if ((decisions[i].if_known & PMU_BITS) == PMU_ABSENT)
        diagnosis->reason = CPUC_REASON_ABSENT;
      diagnosis->explanation = decisions[i].explanation;
      diagnosis->remedy = decisions[i].remedy;
      return;
    }
}

void cpuc_remedy_for_no_pmu(struct cpuc_diagnosis *diagnosis)
{
  decide(UNFILTERED | WITHOUT_KERNEL, diagnosis);
}

void cpuc_remedy_for_perf_filter(struct cpuc_diagnosis *diagnosis)
{
  decide(GOT_EPERM | FILTERED | WITHOUT_KERNEL, diagnosis);
}

void cpuc_remedy_for_perf_event(int error, int with_kernel, struct cpuc_diagnosis *diagnosis)
{
  decide(refusal_of(error) | (is_filtered() ? FILTERED : UNFILTERED)
      | (with_kernel ? WITH_KERNEL : WITHOUT_KERNEL),
    diagnosis);
}

void cpuc_remedy_for_user_access(const struct cpuc_remedy_user_access *needed,
  struct cpuc_diagnosis *diagnosis)
{
  long long access = cpuc_file_read_number("/proc/sys/kernel/perf_user_access", 1);

  if (access >= 1 && access <= needed->highest)
    return;
  if (access >= 0) {
    diagnosis->explanation = "kernel.perf_user_access does not allow programs to read it";
    diagnosis->remedy = "sysctl kernel.perf_user_access=1";
  } else if (!kernel_is_since(needed->major, needed->minor)) {
    diagnosis->explanation = "user-space access to the PMU needs a newer kernel";
    diagnosis->remedy = needed->upgrade_remedy;
  } else
    cpuc_remedy_for_no_pmu(diagnosis); /* because a driver that finds a PMU creates the setting */
}

void cpuc_remedy_for_arm_module(struct cpuc_diagnosis *diagnosis)
{
  if (find_pmu(is_pmu_of_arm_module) == PMU_PRESENT)
    diagnosis->remedy = "load the kernel module of contrib/arm-pmu-access, and name this counter "
                        "in CPUCYCLES_IMPLEMENTATION";
}

void cpuc_remedy_for_rdcycle(struct cpuc_diagnosis *diagnosis)
{
  long long access = cpuc_file_read_number("/proc/sys/kernel/perf_user_access", 1);

  if (access == 0 || access == 1)
    diagnosis->remedy = "sysctl kernel.perf_user_access=2";
}

/* The event of perf stat keeps Intel's fixed cycle counter running, and sets it back only once in
   several hours (after 2^47 cycles). The watchdog must be off, because it uses the counter. */
#define FIXED_COUNTER_REMEDY \
  "sysctl kernel.nmi_watchdog=0; perf stat -a -e cycles sleep infinity &"

/* The remedies that set RDPMC on x86 to 1, or to 2 for amd64-pmcff. The second row is for hybrid
   CPUs. */
static const struct {
  const char *set_to_1, *set_to_2_and_run;
} rdpmc_remedies[2] = {
#define RDPMC_REMEDIES(file) { "echo 1 > " file, "echo 2 > " file "; " FIXED_COUNTER_REMEDY }
  RDPMC_REMEDIES(CPUC_PMU_RDPMC_FILE),
  RDPMC_REMEDIES(CPUC_PMU_HYBRID_RDPMC_FILE),
#undef RDPMC_REMEDIES
};

void cpuc_remedy_for_rdpmc(int needed, struct cpuc_diagnosis *diagnosis)
{
  int is_hybrid;
  long long level = cpuc_pmu_read_rdpmc_level(&is_hybrid);

  if (level < 0 || level >= needed)
    return;
  if (needed == 1) {
    diagnosis->explanation = "the kernel does not allow RDPMC in user mode";
    diagnosis->remedy = rdpmc_remedies[is_hybrid].set_to_1;
    return;
  }
  diagnosis->explanation = level == 0
    ? "the kernel does not allow RDPMC in user mode"
    : "the kernel allows RDPMC only in processes that have an event mapped";
  diagnosis->remedy = rdpmc_remedies[is_hybrid].set_to_2_and_run;
}

void cpuc_remedy_for_fixed_counter(struct cpuc_diagnosis *diagnosis)
{
  diagnosis->explanation = cpuc_pmu_nmi_watchdog_is_on()
    ? "the kernel's NMI watchdog sets it back, usually every ten seconds"
    : "it is stopped, because no perf event keeps it running";
  diagnosis->remedy = FIXED_COUNTER_REMEDY;
}
