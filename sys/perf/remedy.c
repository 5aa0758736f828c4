/* SPDX-License-Identifier: 0BSD OR MIT */
/* Explains why a counter that needs a PMU was refused, from the facts of sys/machine.h. Suggests
   only remedies that help on this machine.
   Source: perf_event_open(2), "ERRORS"; Linux, Documentation/admin-guide/perf-security.rst
   (CAP_PERFMON since 5.8); kernel/events/core.c (no level refuses an event that excludes the
   kernel; permission is tested before the kernel looks for the PMU); Debian, "security,perf: Allow
   further restriction of perf_event_open" (above 2 even an event that excludes the kernel needs
   CAP_SYS_ADMIN); for Ubuntu: launchpad.net/bugs/2131046; Docker and Podman, default seccomp
   profile (perf_event_open with CAP_PERFMON); drivers/perf/arm_pmuv3.c and riscv_pmu_sbi.c, which
   create perf_user_access if they find a PMU; Android, system/core/rootdir/init.rc,
   security.perf_harden. */

#include "config.h"

#include "sys/perf/remedy.h"

#include "sys/file.h"
#include "sys/perf/pmu.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#define IS_UNKNOWN "it is unknown whether there is a PMU (/sys cannot be read)"
#define FILTER "a seccomp filter refuses perf_event_open"
#define ALLOW "allow perf_event_open in the seccomp filter of this process"
#define ABOVE_2 "kernel.perf_event_paranoid is above 2"
#define SET_1 CPUC_CONTAINER_SET("perf_event_paranoid=1")
#define SET_2 CPUC_CONTAINER_SET("perf_event_paranoid=2")
#define OR_GIVE ", or give the program "

/* Does kernel.perf_event_paranoid permit the event to this user, and if not, what does? A lower
   level permits what is refused, and in the last two cases a capability, too. */
enum permission { UNKNOWN, PERMITTED, REFUSED, NEEDS_PERFMON, NEEDS_ADMIN };

/* Capabilities in other user namespaces do not permit perf events. Distributions add levels above
   2, which CAP_PERFMON does not override. */
static enum permission find_permission(const struct cpuc_machine *machine, int with_kernel)
{
  if (machine->level <= CPUC_MACHINE_LEVEL_MISSING)
    return UNKNOWN;
  if (machine->level <= (with_kernel ? 1 : 2))
    return PERMITTED;
  if (machine->is_in_user_namespace)
    return REFUSED;
  if (cpuc_machine_has(machine, CPUC_MACHINE_SYS_ADMIN))
    return PERMITTED;
  if (machine->level > 2 || machine->release < 5008)
    return NEEDS_ADMIN;
  return cpuc_machine_has(machine, CPUC_MACHINE_PERFMON) ? PERMITTED : NEEDS_PERFMON;
}

static void explain(struct cpuc_diagnosis *diagnosis, const char *explanation, const char *remedy)
{
  diagnosis->explanation = explanation;
  diagnosis->remedy = remedy;
}

/* Explains why an event that the kernel has does not serve the counter. Returns 0 if the kernel
   does not have it. */
static int explain_opened(int error, struct cpuc_diagnosis *diagnosis)
{
  const struct cpuc_perf_cycles *cycles = &diagnosis->machine->cycles;

  if (cycles->is_partial)
    explain(diagnosis, "there are more than 4 core types, or one of them has no event", NULL);
  else if (error == EIO)
    explain(diagnosis, "the event opened, but does not count: other events may use its hardware",
      NULL);
  else if (error == EACCES && cycles->is_known)
    explain(diagnosis,
      "the kernel has the event, but its page is missing or does not give programs access", NULL);
  else
    return 0;
  return 1;
}

/* Explains what no permission changes. Most emulators of one program lack the system call, whatever
   the machine has. Returns 0 if there may be a PMU. */
static int explain_absence(int error, int pmu, struct cpuc_diagnosis *diagnosis)
{
  const struct cpuc_machine *machine = diagnosis->machine;
  const struct cpuc_container *container = machine->container;
  int is_absent = pmu == CPUC_MACHINE_PMU_ABSENT;

  if (container && container->steps[CPUC_CONTAINER_LEAVE])
    explain(diagnosis, "this sandbox does not implement perf_event_open",
      container->steps[CPUC_CONTAINER_LEAVE]);
  else if (machine->emulator && (error == ENOSYS || !is_absent || !machine->of_hypervisor))
    explain(diagnosis, "an emulator runs this program",
      "run a program that is compiled for the CPU of this machine");
  else if (is_absent) {
    diagnosis->reason = CPUC_REASON_ABSENT;
    explain(diagnosis,
      machine->of_hypervisor ? "this virtual machine has no PMU"
                             : "the kernel has no driver for a PMU of this CPU",
      machine->of_hypervisor);
  } else
    return 0;
  return 1;
}

/* Containers and user namespaces have their own filter, but the settings of their host. */
static const char *allow_call(const struct cpuc_machine *machine, enum permission permission)
{
  const struct cpuc_container *container = machine->container;

  if (!container)
    return permission >= REFUSED ? ALLOW ", and " SET_2 : ALLOW;
  if (permission >= REFUSED)
    return container->steps[CPUC_CONTAINER_AND_LEVEL];
  return machine->release >= 5008 && !cpuc_machine_has(machine, CPUC_MACHINE_PERFMON)
    ? container->steps[CPUC_CONTAINER_OR_PERFMON]
    : container->steps[CPUC_CONTAINER_ALLOW];
}

static void explain_level(struct cpuc_diagnosis *diagnosis, enum permission permission,
  int with_kernel)
{
  const struct cpuc_container *container = diagnosis->machine->container;
  int is_own = !container && permission != REFUSED;

  if (with_kernel)
    explain(diagnosis,
      diagnosis->machine->cycles.with_kernel
        ? "this PMU cannot exclude the kernel, and kernel.perf_event_paranoid is above 1"
        : "this user may not count the kernel, because kernel.perf_event_paranoid is above 1",
      !is_own                       ? SET_1 CPUC_CONTAINER_ON_HOST
        : permission == NEEDS_ADMIN ? SET_1 OR_GIVE "CAP_SYS_ADMIN"
                                    : SET_1 OR_GIVE "CAP_PERFMON");
  else
    explain(diagnosis, ABOVE_2,
      is_own                                     ? SET_2 OR_GIVE "CAP_SYS_ADMIN"
        : container && permission == NEEDS_ADMIN ? container->steps[CPUC_CONTAINER_LEVEL]
                                                 : SET_2 CPUC_CONTAINER_ON_HOST);
}

/* The kernel tests permissions before it looks for the PMU. Programs on Android can read neither
   the level nor the list of PMUs. */
static void explain_refusal(int error, int is_filtered, int pmu, int with_kernel,
  struct cpuc_diagnosis *diagnosis)
{
  const struct cpuc_machine *machine = diagnosis->machine;
  enum permission permission = find_permission(machine, with_kernel);
  int is_refused = error == EPERM || error == EACCES,
      is_refused_call = is_filtered && (error == EPERM || error == ENOSYS),
      is_above_level = is_refused && permission >= REFUSED;

  if (error == ENOSYS && machine->level == CPUC_MACHINE_LEVEL_MISSING
    && pmu != CPUC_MACHINE_PMU_PRESENT)
    explain(diagnosis, "this kernel was built without perf events", NULL);
  else if (error == ENOSYS && !is_filtered)
    explain(diagnosis, "perf_event_open is not implemented here, for example by an emulator", NULL);
  else if (is_refused && machine->is_android && permission != PERMITTED)
    explain(diagnosis, "Android's security.perf_harden refuses perf events",
      "adb shell setprop security.perf_harden 0");
  else if (pmu == CPUC_MACHINE_PMU_UNLISTED)
    explain(diagnosis, "this kernel offers no perf events", NULL);
  else if (pmu == CPUC_MACHINE_PMU_HIDDEN && is_refused_call)
    explain(diagnosis, FILTER "; " IS_UNKNOWN, NULL);
  else if (pmu == CPUC_MACHINE_PMU_HIDDEN
    && (!is_above_level || !with_kernel || machine->cycles.with_kernel))
    explain(diagnosis, is_above_level && !with_kernel ? ABOVE_2 "; " IS_UNKNOWN : IS_UNKNOWN, NULL);
  else if (is_refused_call)
    explain(diagnosis, FILTER, allow_call(machine, permission));
  else if (is_above_level)
    explain_level(diagnosis, permission, with_kernel);
  else if (error == EACCES && permission == PERMITTED)
    explain(diagnosis, is_filtered
        ? "a seccomp filter or a security module refuses perf_event_open, although "
          "kernel.perf_event_paranoid allows it"
        : "a security module refuses perf_event_open, although kernel.perf_event_paranoid "
          "allows it", NULL);
}

void cpuc_remedy_for_no_pmu(struct cpuc_diagnosis *diagnosis)
{
  cpuc_remedy_for_perf_event(0, 0, 1, 0, diagnosis);
}

/* The kernel's answer that no PMU has the event counts if its files cannot be read. Errors that are
   not in the list below, such as too many open files, do not depend on a PMU. */
void cpuc_remedy_for_perf_event(int error, int signal, int needs_pmu, int counts_kernel,
  struct cpuc_diagnosis *diagnosis)
{
  struct cpuc_machine *machine = diagnosis->machine;
  int pmu;

  if (explain_opened(error, diagnosis))
    return;
  cpuc_machine_find(machine);
  pmu = needs_pmu ? machine->pmu : CPUC_MACHINE_PMU_PRESENT;
  if (signal)
    error = EPERM;
  if (pmu != CPUC_MACHINE_PMU_PRESENT
    && (error == ENOENT || error == ENODEV || cpuc_machine_lacks_pmu(machine)))
    pmu = CPUC_MACHINE_PMU_ABSENT;
  if (explain_absence(error, pmu, diagnosis))
    return;
  if (error == 0 || error == EPERM || error == EACCES || error == ENOSYS || error == EOPNOTSUPP)
    explain_refusal(error, signal || machine->is_filtered, pmu,
      counts_kernel || machine->cycles.with_kernel, diagnosis);
}

#define SET_ACCESS(machine, value) \
  ((machine)->container ? CPUC_CONTAINER_SET("perf_user_access=" value) CPUC_CONTAINER_ON_HOST \
                        : CPUC_CONTAINER_SET("perf_user_access=" value))

/* `since` is the first release with the setting. */
static void explain_user_access(int highest, int since, const char *upgrade,
  struct cpuc_diagnosis *diagnosis)
{
  struct cpuc_machine *machine = diagnosis->machine;

  cpuc_machine_find(machine);
  if (machine->user_access >= 1 && machine->user_access <= highest)
    return;
  if (machine->user_access >= 0)
    explain(diagnosis, "kernel.perf_user_access does not allow programs to read it",
      SET_ACCESS(machine, "1"));
  else if (machine->release < since)
    explain(diagnosis, "user-space access to the PMU needs a newer kernel", upgrade);
  else
    cpuc_remedy_for_no_pmu(diagnosis); /* because a driver that finds a PMU creates the setting */
}

void cpuc_remedy_for_arm64_user_access(struct cpuc_diagnosis *diagnosis)
{
  explain_user_access(1, 5017, "use Linux 5.17 or later", diagnosis);
}

void cpuc_remedy_for_riscv_user_access(struct cpuc_diagnosis *diagnosis)
{
  explain_user_access(2, 6006, "use Linux 6.6 or later", diagnosis);
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
  struct cpuc_machine *machine = diagnosis->machine;

  (void)error;
  if (signal != SIGILL)
    return;
  cpuc_machine_find(machine);
  if (machine->user_access == 0 || machine->user_access == 1)
    diagnosis->remedy = SET_ACCESS(machine, "2");
}

/* The event of perf stat keeps Intel's fixed cycle counter running: doc/decisions.md. */
#define FIXED_COUNTER_REMEDY CPUC_PERF_PMU_WATCHDOG_OFF "; perf stat -a -e cycles sleep infinity &"

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
