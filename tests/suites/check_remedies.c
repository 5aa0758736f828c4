/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests what is found in simulated files of the kernel: the remedies for refused counters, given on
   each machine where they help, and on no other; hypervisors; the tool's description of the
   machine. */

#include "config.h"

#include "backends/backend.h"
#include "cpucycles-info/fill.h"
#include "sys/cpuid.h"
#include "sys/file.h"
#include "sys/hypervisor.h"
#include "sys/perf/remedy.h"

#include "tests/suites/machine.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#endif

/* The signatures of hypervisors in CPUID. The first one is empty if CPUID reports no hypervisor.
   Without a signature, the CPU does not have CPUID. */
static char signatures[4][13];
static int signature_count;

/* The vendor in CPUID leaf 0. */
static const char *vendor;

/* In place of sys/cpuid.c: a CPU of Intel with three fixed counters of 48 bits. */
struct cpuc_cpuid_leaf cpuc_cpuid_read(unsigned int leaf)
{
  static const struct cpuc_cpuid_leaf nothing;
  unsigned int words[3];

  if (signature_count == 0)
    return nothing;
  if (leaf == 1)
    return (struct cpuc_cpuid_leaf) { 0, 0, *signatures[0] ? 1u << 31 : 0, 0 };
  if (leaf == 0xa)
    return (struct cpuc_cpuid_leaf) { 4, 0, 0, 48 << 5 | 3 };
  if (leaf >= 0x80000000)
    return nothing;
  memcpy(words, leaf == 0 ? vendor : signatures[leaf >> 8 & 3], sizeof words);
  if (leaf == 0)
    return (struct cpuc_cpuid_leaf) { 0xa, words[0], words[2], words[1] };
  if (leaf < 0x40000000)
    return nothing;
  /* no other leaf of a hypervisor is read, because each takes microseconds */
  ck_assert_uint_eq(leaf & ~0x300u, 0x40000000);
  return (struct cpuc_cpuid_leaf) { leaf + 1, words[0], words[1], words[2] };
}

#define PROC "/proc/self/status"
#define THREAD "/proc/thread-self/status"
#define DMI "/sys/class/dmi/id/"
#define PMUS "/sys/bus/event_source/devices/"
#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"
#define CPUS "/sys/devices/system/cpu/"

/* Files of simulated machines. %s is the value of the word, and %c a byte 0. */
static const struct {
  const char *word, *path, *text;
} words[] = {
  { "level", "/proc/sys/kernel/perf_event_paranoid", "%s\n" },
  { "access", "/proc/sys/kernel/perf_user_access", "%s\n" },
  { "watchdog", "/proc/sys/kernel/nmi_watchdog", "%s\n" },
  { "linux", "/proc/sys/kernel/osrelease", "%s\n" },
  { "seccomp", PROC, "x-Seccomp:\t0\nSeccomp:\t%s\nSeccomp_filters:\t1\n" },
  { "user", PROC, "CapEff:\t0000000000000000\nSeccomp:\t0\n" },
  { "root", PROC, "CapEff:\t000001ffffffffff\nSeccomp:\t0\n" },
  { "no-caps", PROC, "CapEff:\t0000000000000000\n" },
  { "all-caps", PROC, "CapEff:\t000001ffffffffff\n" },
  { "perfmon-caps", PROC, "CapEff:\t0000004000000000\n" },
  { "docker-caps", PROC, "CapEff:\t00000000a80425fb\n" },
  { "docker-perfmon-caps", PROC, "CapEff:\t00000040a80425fb\n" },
  { "thread-seccomp", THREAD, "Seccomp:\t%s\n" },
  { "thread-no-caps", THREAD, "CapEff:\t0000000000000000\n" },
  { "thread-all-caps", THREAD, "CapEff:\t000001ffffffffff\n" },
  { "user-namespace", "/proc/self/uid_map", "         0       1000          1\n" },
  { "first-namespace", "/proc/self/uid_map", "         0          0 4294967295\n" },
  { "docker", "/.dockerenv", "" },
  { "podman", "/run/.containerenv", "" },
  { "android", "/system/build.prop", "" },
  { "pmu", PMUS "%s/type", "4\n" },
  { "no-pmu", PMUS "software/type", "1\n" },
  { "rdpmc", PMUS "cpu/rdpmc", "%s\n" },
  { "hybrid-rdpmc", PMUS "cpu_core/rdpmc", "%s\n" },
  { "machine", "/proc/cpuinfo", "processor\t: 0\nmachine\t\t: %s\n" },
  { "metal", "/proc/cpuinfo", "processor\t: 0\nmachine\t\t: PowerNV 8335-GTH\n" },
  { "tree", "/proc/device-tree/hypervisor/compatible", "%s" },
  { "board", "/proc/device-tree/compatible", "%s" },
  { "virtual", "/proc/device-tree/hypervisor/compatible", "acme,thing" },
  { "product", DMI "product_name", "%s\n" },
  { "vendor", DMI "sys_vendor", "%s\n" },
  { "asset", DMI "chassis_asset_tag", "%s\n" },
  { "bios", DMI "bios_version", "%s\n" },
  { "board-vendor", DMI "board_vendor", "%s\n" },
  { "board-name", DMI "board_name", "%s\n" },
  { "virtio", "/sys/bus/virtio/devices/virtio0", "" },
  { "virtio-type", "/sys/bus/virtio/devices/virtio0/device", "%s\n" },
  { "no-virtio", "/sys/bus/virtio/drivers/virtio_net", "" },
  { "vmbus", "/sys/bus/vmbus/devices/vmbus_0", "" },
  { "sys", "/sys/bus/%s", "" },
  { "container", "/run/systemd/container", "%s\n" },
  { "kubernetes", "/run/secrets/kubernetes.io/serviceaccount/namespace", "default" },
  { "cgroup", "/proc/self/cgroup", "0::%s\n" },
  { "mount", "/proc/self/mountinfo", "%s - overlay overlay rw,lowerdir=/var/lib/containerd/x\n" },
  { "overlay", "/proc/self/mountinfo", "1 0 0:1 / / rw - overlay overlay rw,lowerdir=%s\n" },
  { "apptainer", "/.singularity.d/env/01-base.sh", "" },
  { "arch", "/proc/sys/kernel/arch", "%s\n" },
  { "version", "/proc/version", "Linux version %s\n" },
  { "interpreter", "/proc/sys/fs/binfmt_misc/%s", "enabled\n" },
  { "kvm", DMI "product_name", "KVM Virtual Machine\n" },
  { "xen", "/sys/hypervisor/type", "xen\n" },
  { "kvm-clock", CLOCKS "available_clocksource", "kvm-clock tsc acpi_pm \n" },
  { "current-clock", CLOCKS "current_clocksource", "%s\n" },
  { "clocks", CLOCKS "available_clocksource", "%s\n" },
  { "online", CPUS "online", "%s\n" },
  { "boost", CPUS "cpufreq/boost", "%s\n" },
  { "no-turbo", CPUS "intel_pstate/no_turbo", "%s\n" },
  { "type-core", "/sys/devices/cpu_core/cpus", "%s\n" },
  { "type-atom", "/sys/devices/cpu_atom/cpus", "%s\n" },
  { "cpuinfo", "/proc/cpuinfo", "%s" },
  { "model", "/proc/device-tree/model", "%s%c" },
};

/* Adds text to a file. `path` and `text` are formats of the value. */
static void add_text(const char *path, const char *text, const char *value)
{
  char name[128];
  FILE *file;

  snprintf(name, sizeof name, path, value);
  file = fopen(path_of(name), "a");
  ck_assert_ptr_nonnull(file);
  fprintf(file, text, value, 0);
  ck_assert_int_eq(fclose(file), 0);
}

static void add_word(const char *word, const char *value)
{
  size_t i = 0;

  if (strcmp(word, "cpuid") == 0) {
    memcpy(signatures[signature_count++], value, strlen(value));
    return;
  }
  if (strcmp(word, "cpu") == 0) {
    vendor = value;
    return;
  }
  while (strcmp(words[i].word, word) != 0)
    ck_assert_msg(++i < sizeof words / sizeof words[0], "unknown word: %s", word);
  add_text(words[i].path, words[i].text, value);
}

/* Makes a machine from words, which are separated by "; ". The value of a word follows "=". The
   word "cpuid" has a signature, and "cpu" the vendor of the CPU. A word that begins with a slash is
   a path, and its value the text of the file. */
static void begin_machine(const char *description)
{
  static char text[700];
  char *word = text, *next, *value;

  make_machine();
  memset(signatures, 0, sizeof signatures);
  signature_count = 0;
  vendor = "GenuineIntel";
  for (strcpy(text, description); word && *word; word = next) {
    next = strstr(word, "; ");
    if (next) {
      *next = 0;
      next += 2;
    }
    value = strchr(word, '=');
    if (value)
      *value++ = 0;
    if (*word == '/')
      add_text(word, "%s", value);
    else
      add_word(word, value);
  }
}

static int equals(const char *got, const char *wanted)
{
  return got && wanted ? strcmp(got, wanted) == 0 : got == wanted;
}

#define NO_PMU_HERE "this virtual machine has no PMU"
#define NO_PMU_DRIVEN "the kernel has no driver for a PMU of this CPU"
#define UNKNOWN_PMU "it is unknown whether there is a PMU (/sys cannot be read)"
#define FILTERED "a seccomp filter refuses perf_event_open"
#define ABOVE_2 "kernel.perf_event_paranoid is above 2"
#define CANNOT_EXCLUDE \
  "this PMU cannot exclude the kernel, and kernel.perf_event_paranoid is above 1"
#define WATCHDOG "the kernel's NMI watchdog sets it back, usually every ten seconds"

#define SET(level) "sysctl kernel.perf_event_paranoid=" level
#define HOST_LEVEL_2 SET("2") " on the host"
#define PROFILE "run the container with a seccomp profile that allows perf_event_open"
#define ALLOW "allow perf_event_open in the seccomp filter of this process"
#define RUN "sysctl kernel.nmi_watchdog=0; perf stat -a -e cycles sleep infinity &"
#define NO_RDPMC "the kernel does not allow RDPMC in user mode"
#define MAPPED_ONLY "the kernel allows RDPMC only in processes that have an event mapped"
#define LEAVE "run outside of the virtual machine"
#define GIVE(how) "give the virtual machine a PMU" how ", or run outside of it"
#define HYPER_V_REMEDY GIVE(" (Set-VMProcessor -Perfmon @(\"pmu\"))")
#define WSL "hardwarePerformanceCounters=true below [wsl2] in .wslconfig, then wsl --shutdown"
#define WSL_REMEDY (CPUC_HYPERVISOR_IS_X86 ? GIVE(" (" WSL ")") : LEAVE)
#define VMWARE_REMEDY GIVE(" (vpmc.enable = TRUE)")
#define EC2_REMEDY "use an instance type with a PMU: a metal size, or generation 7 or later"
#define CLOUD_REMEDY "use an instance type with a PMU, such as a bare-metal one"
/* QEMU has the option pmu=on on some CPUs only. */
#define KVM_REMEDY \
  (CPUC_HYPERVISOR_QEMU_HAS_PMU_OPTION ? GIVE(" (QEMU: -cpu host,pmu=on)") : GIVE(""))
#define XEN_REMEDY \
  (CPUC_HYPERVISOR_IS_X86 ? GIVE(" (vpmu=on on Xen's command line)") \
                          : GIVE(" (vpmu=1 in its xl.cfg)"))

#define POD_PROFILE "give the pod a securityContext.seccompProfile that allows perf_event_open " \
  "(type Localhost or Unconfined)"
#define POD_PERFMON ", or add PERFMON to securityContext.capabilities of the container"
#define POD_ADMIN ", or add SYS_ADMIN to securityContext.capabilities of the container"

/* Explanation and remedy. */
#define IN_GVISOR "this sandbox does not implement perf_event_open", \
  "run outside of gVisor, which has no perf events"
#define EMULATED "an emulator runs this program", \
  "run a program that is compiled for the CPU of this machine"
#define NO_PERF_EVENTS "this kernel offers no perf events", NULL
#define UNKNOWN NULL, NULL
#define MODULE \
  NULL, "load the kernel module of contrib/arm-pmu-access, and name this counter in " \
        "CPUCYCLES_IMPLEMENTATION"
#define LEGACY NULL, "sysctl kernel.perf_user_access=2"
#define IN_KVM NO_PMU_HERE, KVM_REMEDY
#define NOT_DRIVEN NO_PMU_DRIVEN, NULL
#define NO_SYS UNKNOWN_PMU, NULL
#define TOO_HIGH ABOVE_2, SET("2") ", or give the program CAP_SYS_ADMIN"
#define KERNEL_TOO_HIGH CANNOT_EXCLUDE, SET("1") ", or give the program CAP_SYS_ADMIN"
#define CAN_ALLOW FILTERED, ALLOW
#define REFUSES(who) \
  who " refuses perf_event_open, although kernel.perf_event_paranoid allows it", NULL
#define REFUSED REFUSES("a security module")
#define NOT_IMPLEMENTED "perf_event_open is not implemented here, for example by an emulator", NULL
#define NOT_ALLOWED \
  "kernel.perf_user_access does not allow programs to read it", "sysctl kernel.perf_user_access=1"
#define TOO_OLD(linux) \
  "user-space access to the PMU needs a newer kernel", "use Linux " linux " or later"
#define MAY_NOT_COUNT_KERNEL \
  "this user may not count the kernel, because kernel.perf_event_paranoid is above 1", \
    SET("1") ", or give the program CAP_PERFMON"
#define ANDROID_REFUSED \
  "Android's security.perf_harden refuses perf events", "adb shell setprop security.perf_harden 0"

#if HAVE_BACKEND_amd64_pmcff
extern const struct cpuc_backend cpuc_backend_amd64_pmcff;
#endif

/* The functions that explain. */
enum find { EVENT, KERNEL_EVENT, EVENT_WITH_KERNEL, ARM64_ACCESS, RISCV_ACCESS, ARM_MODULE, RDCYCLE,
  READ_PMC, FIXED_COUNTER };

enum { TRAPPED = -1 }; /* in place of an errno: a filter has raised SIGSYS */

/* The argument is an errno, or for READ_PMC the value that RDPMC needs. */
static struct cpuc_diagnosis explain(enum find find, int argument)
{
  static struct cpuc_machine machine;
  struct cpuc_diagnosis found = { .machine = &machine };

  machine = (struct cpuc_machine){ .cycles.with_kernel = find == KERNEL_EVENT };
  if (find <= EVENT_WITH_KERNEL)
    cpuc_remedy_for_perf_event(argument, argument == TRAPPED ? SIGSYS : 0, 1,
      find == EVENT_WITH_KERNEL, &found);
  if (find == ARM64_ACCESS)
    cpuc_remedy_for_arm64_user_access(&found);
  if (find == RISCV_ACCESS)
    cpuc_remedy_for_riscv_user_access(&found);
  if (find == ARM_MODULE)
    cpuc_remedy_for_arm_module(0, SIGILL, &found);
  if (find == RDCYCLE)
    cpuc_remedy_for_rdcycle(0, SIGILL, &found);
  if (find == READ_PMC)
    cpuc_remedy_for_rdpmc(argument, &found);
#if HAVE_BACKEND_amd64_pmcff
  if (find == FIXED_COUNTER) {
    ck_assert_int_eq(cpuc_backend_amd64_pmcff.open(NULL, &found), argument);
    if (argument != ENODEV) /* 0: the counter is opened, and is stopped */
      cpuc_backend_amd64_pmcff.explain(argument, 0, &found);
  }
#endif
  return found;
}

/* Each row contains a function and its argument, a machine, and the explanation and the remedy that
   the function gives there. */
static const struct {
  enum find find;
  int argument;
  const char *machine, *explanation, *remedy;
} rows[] = {
  /* Machines as they are found. The kernel of Debian and Ubuntu refuses the event above level 2,
     and Docker's filter refuses the call, before anything looks for a PMU. */
  { EVENT, EPERM, "level=4; linux=6.8.0; seccomp=2; docker-caps; docker; no-pmu; kvm", IN_KVM },
  { EVENT, EACCES,
    "level=4; linux=6.8.0; user; no-pmu; vendor=Microsoft Corporation; product=Virtual Machine",
    NO_PMU_HERE, HYPER_V_REMEDY },
  { EVENT, EACCES, "level=4; linux=5.15.0; seccomp=0; perfmon-caps; pmu=cpu; metal", TOO_HIGH },
  { EVENT, EACCES, "level=4; linux=6.8.0; seccomp=2; docker-perfmon-caps; docker; pmu=cpu; metal",
    ABOVE_2, SET("2") " on the host, or run the container with --cap-add SYS_ADMIN" },
  { EVENT, EPERM, "level=2; linux=6.1.0; seccomp=2; docker-caps; docker; pmu=cpu; metal", FILTERED,
    PROFILE ", or with --cap-add PERFMON" },
  { EVENT, ENOSYS, "level=2; user; pmu=cpu", NOT_IMPLEMENTED },
  { EVENT, ENOSYS, "linux=6.1.0; seccomp=2; no-caps", "this kernel was built without perf events",
    NULL },
  { EVENT, ENOSYS, "", NOT_IMPLEMENTED },
  /* Distributions add the levels above 2, and CAP_PERFMON does not override them. */
  { EVENT, EPERM, "level=3; linux=6.1.0; seccomp=0; pmu=cpu", TOO_HIGH },
  { EVENT, EACCES, "level=3; linux=6.1.0; root; user-namespace; pmu=cpu", ABOVE_2, HOST_LEVEL_2 },
  { EVENT, EACCES, "level=3; linux=6.1.0; user; first-namespace; pmu=cpu", TOO_HIGH },
  /* A PMU that cannot exclude the kernel needs a lower level. */
  { KERNEL_EVENT, EACCES, "level=2; linux=6.12.0; pmu=armv7_cortex_a7", CANNOT_EXCLUDE,
    SET("1") ", or give the program CAP_PERFMON" },
  { KERNEL_EVENT, EACCES, "level=2; linux=5.7.19; pmu=armv7_cortex_a7", KERNEL_TOO_HIGH },
  { KERNEL_EVENT, EACCES, "level=4; linux=6.12.0; pmu=armv7_cortex_a7", KERNEL_TOO_HIGH },
  { KERNEL_EVENT, EACCES, "level=4; linux=6.12.0; docker; pmu=armv7_cortex_a7", CANNOT_EXCLUDE,
    SET("1") " on the host" },
  { KERNEL_EVENT, EACCES, "level=2; linux=6.12.0; seccomp=0; perfmon-caps; pmu=cpu", REFUSED },
  { EVENT_WITH_KERNEL, EACCES, "level=2; linux=6.12.0; pmu=cpu", MAY_NOT_COUNT_KERNEL },
  { EVENT_WITH_KERNEL, EACCES, "level=2; linux=6.12.0; virtual", MAY_NOT_COUNT_KERNEL },
  { EVENT_WITH_KERNEL, EACCES, "level=2; root; pmu=cpu", REFUSED },
  /* The setting permits the event. */
  { EVENT, EACCES, "level=2; linux=6.1.0; pmu=cpu", REFUSED },
  { KERNEL_EVENT, EACCES, "level=1; linux=6.1.0; pmu=cpu", REFUSED },
  { EVENT, EACCES, "level=4; root; pmu=cpu", REFUSED },
  { EVENT, EACCES, "level=2; seccomp=2; pmu=cpu",
    REFUSES("a seccomp filter or a security module") },
  { EVENT, EPERM, "level=2; seccomp=0; pmu=cpu", UNKNOWN },
  { EVENT, EACCES, "linux=6.1.0; pmu=cpu", UNKNOWN },
  /* A seccomp filter, and a PMU. */
  { EVENT, EPERM, "level=2; linux=6.1.0; seccomp=2; pmu=cpu", CAN_ALLOW },
  { EVENT, EPERM, "level=2; linux=6.1.0; user; thread-seccomp=2; thread-no-caps; pmu=cpu",
    CAN_ALLOW },
  { EVENT, EACCES, "level=4; user; thread-seccomp=0; thread-all-caps; pmu=cpu", REFUSED },
  { EVENT, ENOSYS, "level=2; seccomp=2; pmu=cpu", CAN_ALLOW },
  { EVENT, EPERM, "level=3; linux=6.1.0; seccomp=2; pmu=cpu", FILTERED, ALLOW ", and " SET("2") },
  { EVENT, EPERM, "level=2; linux=5.4.0; seccomp=2; docker-caps; docker; pmu=cpu", FILTERED,
    PROFILE },
  { EVENT, EPERM, "level=2; linux=6.1.0; seccomp=2; docker-perfmon-caps; docker; pmu=cpu", FILTERED,
    PROFILE },
  { EVENT, EPERM, "level=3; linux=6.1.0; seccomp=2; all-caps; podman; user-namespace; pmu=cpu",
    FILTERED, PROFILE ", and " HOST_LEVEL_2 },
  /* No PMU in a virtual machine. */
  { EVENT, EACCES, "linux=5.10.157-android13; android", ANDROID_REFUSED },
  { EVENT, EACCES, "level=3; linux=4.14.180; pmu=armv8_pmuv3; android", ANDROID_REFUSED },
  { EVENT, EACCES, "level=-1; linux=5.10.157; pmu=armv8_pmuv3; android", REFUSED },
  { EVENT, EMFILE, "level=4; no-pmu; kvm", IN_KVM },
  { EVENT, ENOSYS, "level=2; seccomp=2; no-pmu; kvm", IN_KVM },
  /* No remedy for missing hardware. */
  { EVENT, EPERM, "level=2; seccomp=2; no-pmu; metal", NOT_DRIVEN },
  /* PMUs that do not count what cores do. */
  { EVENT, ENOENT, "pmu=arm_spe_0; pmu=arm_cmn_0; pmu=arm_dsu_0; pmu=arm_smmuv3_pmcg_2b0; kvm",
    IN_KVM },
  { EVENT, EACCES, "pmu=uncore_imc_0; pmu=msr; pmu=power; pmu=cpu_clock; pmu=cpum_sf; kvm",
    IN_KVM },
  /* The kernel has looked for a PMU, so its answer counts where /sys is not mounted, or hidden. */
  { EVENT, ENOENT, "virtual", NO_PMU_HERE, LEAVE },
  { EVENT, ENODEV, "kvm", IN_KVM },
  { EVENT, ENOENT, "kvm; android; seccomp=2", IN_KVM },
  { EVENT, ENOENT, "linux=6.1.0; metal", NOT_DRIVEN },
  { EVENT, EOPNOTSUPP, "virtual", NO_SYS },
  /* /sys can be read, but the kernel lists no PMUs. */
  { EVENT, EACCES, "level=4; sys=pci; virtual", NO_PERF_EVENTS },
  { EVENT, EPERM, "seccomp=2; sys=pci", NO_PERF_EVENTS },
  { EVENT, ENOENT, "sys=pci; kvm", IN_KVM },
  /* sandboxes and containers */
  { EVENT, ENODEV, "version=4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016; seccomp=0; sys=x",
    IN_GVISOR },
  { EVENT, ENODEV, "version=4.19.0-gvisor #1; docker; kubernetes", IN_GVISOR },
  { EVENT, EPERM, "level=4; linux=6.8.0; seccomp=2; docker-caps; kubernetes; pmu=cpu; podman",
    FILTERED, POD_PROFILE ", and " HOST_LEVEL_2 },
  { EVENT, EPERM, "level=2; linux=6.8.0; seccomp=2; docker-caps; cgroup=/kubepods/x; pmu=cpu",
    FILTERED, POD_PROFILE POD_PERFMON },
  { EVENT, EACCES, "level=4; linux=6.8.0; seccomp=0; docker-caps; kubernetes; pmu=cpu", ABOVE_2,
    HOST_LEVEL_2 POD_ADMIN },
  { EVENT, EPERM, "level=2; linux=6.8.0; seccomp=2; docker-caps; mount=1 0 0:1 / / rw; pmu=cpu",
    FILTERED, PROFILE ", or with --cap-add PERFMON" },
  { EVENT, EPERM, "level=2; linux=6.8.0; seccomp=2; mount=1 0 0:1 / /run/x rw; pmu=cpu",
    CAN_ALLOW }, /* the host of a container */
  { EVENT, EPERM, "level=2; linux=6.8.0; seccomp=2; docker-caps; podman; pmu=cpu", FILTERED,
    PROFILE ", or with --cap-add PERFMON,SYS_ADMIN" },
  { EVENT, EPERM, "level=2; linux=6.8.0; seccomp=2; overlay=/var/lib/containers/storage/x; pmu=cpu",
    FILTERED, PROFILE ", or with --cap-add PERFMON,SYS_ADMIN" },
  { EVENT, EACCES, "level=4; linux=6.8.0; seccomp=0; pmu=cpu; "
    "overlay=/var/lib/rancher/k3s/agent/containerd/io.containerd.snapshotter.v1.overlayfs/1",
    ABOVE_2, HOST_LEVEL_2 ", or run the container with --cap-add SYS_ADMIN" },
  { EVENT, EPERM, "level=4; seccomp=2; overlay=/var/lib/docker/overlay2/l/A; pmu=cpu", FILTERED,
    PROFILE ", and " HOST_LEVEL_2 },
  { EVENT, EACCES, "level=3; linux=6.1.0; user; apptainer; pmu=cpu", ABOVE_2, HOST_LEVEL_2 },
  { EVENT, EPERM, "level=2; seccomp=2; container=lxc; pmu=cpu", FILTERED,
    "allow perf_event_open in lxc.seccomp.profile of the container" },
  { EVENT, EACCES, "level=4; linux=6.8.0; seccomp=0; container=lxc; pmu=cpu", ABOVE_2,
    HOST_LEVEL_2 },
  { EVENT, EPERM, "level=2; seccomp=2; container=systemd-nspawn; pmu=cpu", FILTERED,
    "run systemd-nspawn with --system-call-filter=perf_event_open" },
  { EVENT, EACCES, "level=4; linux=6.8.0; seccomp=0; container=systemd-nspawn; pmu=cpu", ABOVE_2,
    HOST_LEVEL_2 },
  /* emulators */
  { EVENT, ENOENT, "cpuid=FEXIFEXIEMU; pmu=armv8_pmuv3_0", EMULATED },
#ifdef __linux__
  { EVENT, ENOSYS, "level=2; linux=6.8.0; seccomp=2; docker; no-pmu; kvm; arch=vax", EMULATED },
#endif
#ifdef __x86_64__
  { EVENT, ENOSYS, "level=2; linux=6.8.0; seccomp=2; pmu=cpu; arch=i386", CAN_ALLOW },
  { EVENT, ENOENT, "interpreter=FEX-x86_64; pmu=armv8_pmuv3_0", EMULATED },
  { EVENT, ENOENT, "interpreter=box64; pmu=armv8_pmuv3_0", EMULATED },
  { EVENT, ENOENT, "interpreter=FEX-x86; pmu=cpu", UNKNOWN }, /* of other programs */
#endif
  /* /sys is not mounted, or hidden. */
  { EVENT, EACCES, "level=4; virtual", ABOVE_2 "; " UNKNOWN_PMU, NULL },
  { EVENT, EPERM, "level=2; seccomp=2; docker; virtual", FILTERED "; " UNKNOWN_PMU, NULL },
  { KERNEL_EVENT, EACCES, "level=2; virtual", NO_SYS },
  { EVENT, EACCES, "level=2; virtual", NO_SYS },
  { EVENT, EMFILE, "level=4; virtual; seccomp=2", UNKNOWN },
  /* A PMU exists, so its absence is not the cause. */
  { EVENT, ENOENT, "pmu=cpu; virtual", UNKNOWN },
  { EVENT, EOPNOTSUPP, "pmu=cpu_core; virtual", UNKNOWN },
  { EVENT, ENOENT, "pmu=armv8_pmuv3_0; tree=linux,kvm", UNKNOWN },
  { EVENT, ENOENT, "pmu=apple_firestorm_pmu; tree=linux,kvm", UNKNOWN },
  { EVENT, ENOENT, "pmu=cpum_cf; virtual", UNKNOWN },
  /* after a signal */
  { EVENT, TRAPPED, "level=2; seccomp=2; no-pmu; kvm", IN_KVM },
  { EVENT, TRAPPED, "level=2; seccomp=2; virtual", FILTERED "; " UNKNOWN_PMU, NULL },
  { EVENT, TRAPPED, "level=2; seccomp=2; pmu=cpu", CAN_ALLOW },
  /* user access to counters */
  { ARM64_ACCESS, 0, "access=0; linux=6.1.0", NOT_ALLOWED },
  { ARM64_ACCESS, 0, "access=0; linux=6.1.0; docker", NOT_ALLOWED " on the host" },
  { ARM64_ACCESS, 0, "access=1; linux=6.1.0", UNKNOWN },
  { ARM64_ACCESS, 0, "linux=5.16.20", TOO_OLD("5.17") },
  { ARM64_ACCESS, 0, "linux=5.17.0-rc1; metal; no-pmu", NOT_DRIVEN },
  { ARM64_ACCESS, 0, "linux=6.1.0; board=linux,dummy-virt; no-pmu", NO_PMU_HERE, LEAVE },
  { ARM64_ACCESS, 0, "no-pmu; metal", NOT_DRIVEN },
  { RISCV_ACCESS, 0, "access=0; linux=6.12.0", NOT_ALLOWED },
  { RISCV_ACCESS, 0, "access=1; linux=6.12.0", UNKNOWN },
  { RISCV_ACCESS, 0, "access=2; linux=6.12.0", UNKNOWN },
  { RISCV_ACCESS, 0, "linux=6.5.13", TOO_OLD("6.6") },
  { RISCV_ACCESS, 0, "linux=6.6.0", NO_SYS },
  { RISCV_ACCESS, 0, "linux=6.12.0; board=riscv-virtio,qemu; no-pmu", NO_PMU_HERE, GIVE("") },
  /* RDPMC */
  { READ_PMC, 1, "rdpmc=0", NO_RDPMC, "echo 1 > " PMUS "cpu/rdpmc" },
  { READ_PMC, 1, "rdpmc=1", UNKNOWN },
  { READ_PMC, 2, "rdpmc=1", MAPPED_ONLY, "echo 2 > " PMUS "cpu/rdpmc; " RUN },
  { READ_PMC, 2, "rdpmc=2", UNKNOWN },
  { READ_PMC, 1, "hybrid-rdpmc=0", NO_RDPMC, "echo 1 > " PMUS "cpu_core/rdpmc" },
  { READ_PMC, 2, "hybrid-rdpmc=1", MAPPED_ONLY, "echo 2 > " PMUS "cpu_core/rdpmc; " RUN },
  { READ_PMC, 1, "no-pmu", UNKNOWN },
  { READ_PMC, 1, "rdpmc=x", UNKNOWN },
  /* PMCCNTR */
  { ARM_MODULE, 0, "pmu=armv8_pmuv3", MODULE },
  { ARM_MODULE, 0, "pmu=armv7_cortex_a7", MODULE },
  /* These PMUs have other registers. */
  { ARM_MODULE, 0, "pmu=armv6_1176", UNKNOWN },
  { ARM_MODULE, 0, "pmu=apple_firestorm_pmu", UNKNOWN },
  { ARM_MODULE, 0, "pmu=arm_spe_0; pmu=arm_cmn_0", UNKNOWN },
  /* it is unknown whether there is a PMU */
  { ARM_MODULE, 0, "linux=6.1.0", UNKNOWN },
  { RDCYCLE, 0, "access=0", LEGACY },
  { RDCYCLE, 0, "access=1", LEGACY },
  { RDCYCLE, 0, "access=1; docker", LEGACY " on the host" },
  { RDCYCLE, 0, "access=2", UNKNOWN },
  /* no newline, so the number may be cut short */
  { RDCYCLE, 0, "/proc/sys/kernel/perf_user_access=1", UNKNOWN },
  { RDCYCLE, 0, "linux=6.1.0", UNKNOWN },
#if HAVE_BACKEND_amd64_pmcff
  { FIXED_COUNTER, EBUSY, "cpuid=; rdpmc=2; watchdog=1", WATCHDOG, RUN },
  { FIXED_COUNTER, 0, "cpuid=; rdpmc=2; watchdog=0",
    "it is stopped, because no perf event keeps it running", RUN },
  { FIXED_COUNTER, EACCES, "cpuid=; rdpmc=1; watchdog=1", MAPPED_ONLY,
    "echo 2 > " PMUS "cpu/rdpmc; " RUN },
  { FIXED_COUNTER, ENODEV, "cpuid=; no-pmu; watchdog=1", NULL, NULL },
#endif
};

/* Where there is no PMU, or the watchdog is on, the reason does not follow from the errno. */
static enum cpuc_reason expected_reason(const char *explanation)
{
  if (equals(explanation, WATCHDOG))
    return CPUC_REASON_DECREASING;
  return equals(explanation, NO_PMU_HERE) || equals(explanation, NO_PMU_DRIVEN)
    ? CPUC_REASON_ABSENT : CPUC_REASON_NONE;
}

TEST_LOOP(remedy_fits_the_machine_and_the_refused_counter, sizeof rows / sizeof rows[0])
{
  struct cpuc_diagnosis found;

  begin_machine(rows[_i].machine);
  found = explain(rows[_i].find, rows[_i].argument);
  remove_machine();
  ck_assert_pstr_eq(found.explanation, rows[_i].explanation);
  ck_assert_pstr_eq(found.remedy, rows[_i].remedy);
  ck_assert_int_eq(found.reason, expected_reason(rows[_i].explanation));
}

/* Combinations of signs as they are found, without a PMU. Name NULL: no virtual machine. A row
   without a remedy has one that depends on the CPU, or none. */
static const struct {
  const char *machine, *name, *remedy;
} hypervisors[] = {
  /* KVM, and hypervisors that it imitates */
  { "cpuid=KVMKVMKVM; vendor=QEMU; product=Standard PC (Q35 + ICH9, 2009); kvm-clock", "KVM",
    KVM_REMEDY },
  { "cpuid=Microsoft Hv; cpuid=Linux KVM Hv; vendor=QEMU", "KVM", KVM_REMEDY },
  { "cpuid=Microsoft Hv; vendor=QEMU; kvm-clock", "KVM", KVM_REMEDY },
  { "cpuid=Microsoft Hv; vendor=QEMU", "QEMU", GIVE("") }, /* kvm=off */
  { "cpuid=bhyve bhyve ; kvm-clock", "KVM", KVM_REMEDY }, /* PVM */
  { "cpuid=bhyve bhyve ; current-clock=kvm-clock", "KVM", KVM_REMEDY },
  { "cpuid=something; kvm-clock", "KVM", KVM_REMEDY },
  { "cpuid=bhyve bhyve ; vendor=BHYVE; product=BHYVE", "bhyve", LEAVE },
  { "cpuid=; vendor=QEMU; product=Standard PC (i440FX + PIIX, 1996)", "QEMU", GIVE("") },
  { "cpuid=TCGTCGTCGTCG; vendor=QEMU", "QEMU TCG", LEAVE },
  { "cpuid=FEXIFEXIEMU; vendor=QEMU; product=KVM Virtual Machine", "KVM", KVM_REMEDY },
  /* clouds: the user cannot configure the hypervisor */
  { "vendor=Amazon EC2; product=m6g.medium", "KVM (Amazon EC2)", EC2_REMEDY },
  { "cpuid=XenVMMXenVMM; vendor=Xen; product=HVM domU; bios=4.11.amazon; xen", "Xen (Amazon EC2)",
    EC2_REMEDY },
  { "vendor=Amazon EC2; product=c7g.metal", NULL, NULL },
  { "cpuid=KVMKVMKVM; vendor=Google; product=Google Compute Engine", "KVM (Google Compute Engine)",
    "use a machine type with a PMU, such as C4 or C4A, created with "
    "--performance-monitoring-unit=architectural" },
  { "cpuid=; vendor=Google; product=Google Compute Engine", NULL, NULL },
  { "cpuid=KVMKVMKVM; vendor=Alibaba Cloud; product=Alibaba Cloud ECS", "KVM (Alibaba Cloud)",
    CLOUD_REMEDY },
  { "cpuid=KVMKVMKVM; vendor=QEMU; product=Standard PC; asset=OracleCloud.com",
    "KVM (Oracle Cloud)", CLOUD_REMEDY },
  { "cpuid=KVMKVMKVM; vendor=Hetzner; product=vServer", "KVM (Hetzner)", CLOUD_REMEDY },
  { "cpuid=KVMKVMKVM; vendor=Akamai; product=Compute Instance", "KVM (Akamai)", CLOUD_REMEDY },
  { "cpuid=KVMKVMKVM; vendor=UpCloud; product=Server", "KVM (UpCloud)", CLOUD_REMEDY },
  { "cpuid=KVMKVMKVM; vendor=Exoscale; product=Exoscale Compute Platform", "KVM (Exoscale)",
    CLOUD_REMEDY },
  { "cpuid=Microsoft Hv; vendor=Microsoft Corporation; product=Virtual Machine; "
    "asset=7783-7084-3265-9085-8269-3286-77", "Hyper-V (Azure)", LEAVE },
  /* Hyper-V, and WSL, whose machines Set-VMProcessor does not find */
  { "cpuid=Microsoft Hv; vendor=Microsoft Corporation; product=Virtual Machine", "Hyper-V",
    HYPER_V_REMEDY },
  { "cpuid=Microsoft Hv; linux=5.15.167.4-microsoft-standard-WSL2", "Hyper-V (WSL2)", WSL_REMEDY },
  { "linux=6.6.0-WSL2-custom+", "Hyper-V (WSL2)", NULL },
  { "cpuid=; linux=4.4.0-19041-Microsoft", NULL, NULL },
  { "cpuid=; vendor=Microsoft Corporation; product=Surface Pro", NULL, NULL },
  /* Xen: as HVM, with leaves of Hyper-V, and PV, which shows the CPUID of the host */
  { "cpuid=Microsoft Hv; cpuid=XenVMMXenVMM; vendor=Xen", "Xen", XEN_REMEDY },
  { "cpuid=Microsoft Hv; cpuid=; cpuid=XenVMMXenVMM", "Xen", XEN_REMEDY },
  { "cpuid=; xen", "Xen", XEN_REMEDY },
  { "xen", "Xen", XEN_REMEDY },
  /* products that imitate KVM or Hyper-V */
  { "cpuid=KVMKVMKVM; vendor=innotek GmbH; product=VirtualBox; kvm-clock", "VirtualBox", LEAVE },
  { "cpuid=Microsoft Hv; vendor=innotek GmbH; product=VirtualBox", "VirtualBox", LEAVE },
  { "cpuid=VMwareVMware; vendor=VMware, Inc.; product=VMware7,1", "VMware", VMWARE_REMEDY },
  { "vendor=VMware, Inc.; product=VMware20,1", "VMware", VMWARE_REMEDY },
  { "cpuid=prl hyperv; vendor=Parallels Software International Inc.", "Parallels", NULL },
  { "vendor=Parallels International GmbH.; product=Parallels ARM Virtual Machine", "Parallels",
    NULL },
  { "vendor=Apple Inc.; product=Apple Virtualization Generic Platform", "Apple Virtualization",
    LEAVE },
  /* texts of the host, except on the board */
  { "cpuid=KVMKVMKVM; vendor=LENOVO; product=20N2S00600; board-vendor=Oracle Corporation; "
    "board-name=VirtualBox", "VirtualBox", LEAVE },
  { "cpuid=; vendor=Oracle Corporation; product=ORACLE SERVER X5-2; "
    "board-vendor=Oracle Corporation", NULL, NULL },
  { "cpuid=KVMKVMKVM; vendor=Xen; board-vendor=Amazon EC2", "KVM (Amazon EC2)", EC2_REMEDY },
  /* without CPUID, whole machines of clouds have the texts of virtual ones */
  { "vendor=Oracle Corporation; asset=OracleCloud.com; no-virtio", CPUC_HYPERVISOR_UNKNOWN, NULL },
  { "vendor=Google; product=Google Compute Engine", CPUC_HYPERVISOR_UNKNOWN, NULL },
  { "vendor=Oracle Corporation; asset=OracleCloud.com; virtio", "KVM (Oracle Cloud)",
    CLOUD_REMEDY },
  { "vendor=Microsoft Corporation; product=Virtual Machine; vmbus; "
    "asset=7783-7084-3265-9085-8269-3286-77", "Hyper-V (Azure)", LEAVE },
  { "virtio", CPUC_HYPERVISOR_UNNAMED, LEAVE },
  { "virtio-type=0x0001", CPUC_HYPERVISOR_UNNAMED, LEAVE },
  { "virtio-type=0x0007; board=ti,am625-sk", NULL, NULL }, /* rpmsg to a coprocessor */
  { "cpuid=something; virtio; vendor=Hetzner", "KVM (Hetzner)", CLOUD_REMEDY },
  { "cpuid=; virtio", NULL, NULL }, /* hardware that imitates virtio */
  { "cpuid=something", CPUC_HYPERVISOR_UNNAMED, LEAVE },
  /* other CPUs */
  { "virtual", CPUC_HYPERVISOR_UNNAMED, LEAVE },
  { "vendor=QEMU; product=KVM Virtual Machine", "KVM", KVM_REMEDY },
  { "metal", NULL, NULL },
  { "/proc/sysinfo=LPAR Name: X\nVM00 Name: Y\nVM00 Control Program: KVM/Linux\n", "KVM",
    KVM_REMEDY },
  { "/proc/sysinfo=VM00 Control Program: z/VM    7.2.0\n", "z/VM", LEAVE },
  { "/proc/sysinfo=LPAR Number: 3\n", NULL, NULL },
  { "tree=linux,kvm", "KVM", KVM_REMEDY },
  { "board=linux,dummy-virt", CPUC_HYPERVISOR_UNNAMED, LEAVE },
  { "board=riscv-virtio", "QEMU", GIVE("") },
  { "machine=CHRP IBM pSeries (emulated by qemu)", "QEMU", GIVE("") },
  { "cpuid=", NULL, NULL },
};

TEST_LOOP(hypervisor_is_named_and_the_remedy_can_be_applied,
  sizeof hypervisors / sizeof hypervisors[0])
{
  struct cpuc_diagnosis found;
  const char *name, *remedy;

  begin_machine(hypervisors[_i].machine);
  add_word("no-pmu", NULL);
  name = cpuc_hypervisor_find(&remedy);
  found = explain(EVENT, ENOENT);
  remove_machine();
  ck_assert_pstr_eq(name, hypervisors[_i].name);
  ck_assert_str_eq(found.explanation,
    name && strcmp(name, CPUC_HYPERVISOR_UNKNOWN) != 0 ? NO_PMU_HERE : NO_PMU_DRIVEN);
  if (hypervisors[_i].remedy || !name)
    ck_assert_pstr_eq(found.remedy, hypervisors[_i].remedy);
}

TEST(line_is_found_anywhere_in_a_file)
{
  char text[8];

  begin_machine("/a=xkey: 0\nke\nkey: 1\nkey: 2\n; /b=\nkey:\n; /c=keykey: 3\nkey: 4; /d=; "
    "/f=key:123456789\n");
  ck_assert_int_eq(cpuc_file_read_line("/a", "key:", text, sizeof text), 2);
  ck_assert_str_eq(text, " 1");
  ck_assert_int_eq(cpuc_file_read_line("/b", "key:", text, sizeof text), 0);
  ck_assert_int_eq(cpuc_file_read_line("/c", "key:", text, sizeof text), -1);
  ck_assert_int_eq(cpuc_file_read_line("/d", "key:", text, sizeof text), -1);
  ck_assert_int_eq(cpuc_file_read_line("/e", "key:", text, sizeof text), -1);
  ck_assert_int_eq(cpuc_file_read_line("/f", "key:", text, sizeof text), 7);
  ck_assert_str_eq(text, "1234567");
  remove_machine();
}

static struct report report;

/* Describes what the tool finds, except the model. */
static const char *describe(void)
{
  static char text[400];
  const struct cpu_info *cpu = &report.cpu;
  const struct settings_info *settings = &report.settings;
  FILE *out = fmemopen(text, sizeof text, "w");
  int i;

  ck_assert_ptr_nonnull(out);
  *text = 0; /* for no output */
  if (cpu->cpu_count > 0)
    fprintf(out, "%d CPUs;", cpu->cpu_count);
  if (cpu->core_count > 0)
    fprintf(out, "%d cores;", cpu->core_count);
  for (i = 0; i < cpu->type_count; i++)
    fprintf(out, "%d %s;", cpu->types[i].count, cpu->types[i].name);
  if (*report.system.container)
    fprintf(out, "%s;", report.system.container);
  if (*report.system.emulator)
    fprintf(out, "%s;", report.system.emulator);
  if (*settings->clock_source)
    fprintf(out, "%s of %s;", settings->clock_source, settings->clock_sources);
  if (*settings->governor)
    fprintf(out, "%s on %d%s;", settings->governor, settings->governor_cpu_count,
      settings->other_governors ? " and others" : "");
  if (settings->turbo >= 0)
    fprintf(out, "turbo %d;", settings->turbo);
  fprintf(out, "%s%s", cpu->foreign ? "foreign;" : "", settings->nmi_watchdog ? "watchdog;" : "");
  fclose(out);
  return text;
}

#ifdef HAVE_SYSCTLBYNAME
#define BOARD NULL
#else
#define BOARD "Some Board Rev 1.4"
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ /* Linux has one name for both orders of bytes */
#define QEMU_MIPS "qemu-mipsel"
#define QEMU_MIPS64 "qemu-mips64el"
#else
#define QEMU_MIPS "qemu-mips"
#define QEMU_MIPS64 "qemu-mips64"
#endif
#define CORE(cpu, list) "; " CPUS "cpu" #cpu "/topology/thread_siblings_list=" list "\n"
#define GOVERNOR(cpu, name) "; " CPUS "cpu" #cpu "/cpufreq/scaling_governor=" name "\n"
#define ARM_CPU(number, implementer, part) "processor\t: " #number "\nCPU implementer\t: " \
  implementer "\nCPU part\t: " part "\n\n"

/* The model NULL is not that of /proc/cpuinfo: it is empty, or comes from sysctlbyname() on systems
   that have it. */
static const struct {
  const char *architecture, *machine, *model, *description;
} machines[] = {
  { "x86_64", "", NULL, "" },
  /* under valgrind, this also shows that the empty line is initialized */
  { "x86_64", "cpuinfo=", NULL, "" },
  /* a core is counted once, and a list ends before a number that is too large */
  { "x86_64", "online=0-3,6" CORE(0, "0-1") CORE(1, "0-1") CORE(2, "2,6") CORE(3, "3")
      CORE(6, "2,6"), NULL, "5 CPUs;3 cores;" },
  { "x86_64", "online=0-3,4294967296,7", NULL, "4 CPUs;" },
  /* core types */
  { "x86_64", "type-core=0-11; type-atom=12-19", NULL, "12 cpu_core;8 cpu_atom;" },
  { "aarch64", "cpuinfo=" ARM_CPU(0, "0x41", "0xd03") ARM_CPU(1, "0x41", "0xd09")
      ARM_CPU(2, "0x41", "0xd09") ARM_CPU(3, "0x61", "0xd09"), NULL,
    "1 implementer 0x41 part 0xd03;2 implementer 0x41 part 0xd09;1 implementer 0x61 part 0xd09;" },
  /* the model */
  { "x86_64", "cpuinfo=model\t: 140\nmodel name\t: 11th Gen Core\n", "11th Gen Core", "" },
  { "ppc64le", "cpuinfo=processor\t: 0\ncpu\t\t: POWER9, altivec\n", "POWER9, altivec", "" },
  { "mips64", "cpuinfo=cpu model\t\t: MIPS 5KE  FPU V0.0\n", "MIPS 5KE  FPU V0.0", "" },
  { "loongarch64", "cpuinfo=Model Name\t\t: Loongson-3A5000-HV\n", "Loongson-3A5000-HV", "" },
  { "riscv64", "cpuinfo=isa\t\t: rv64\nuarch\t\t: sifive,u74-mc\n", "sifive,u74-mc", "" },
  { "s390x", "cpuinfo=processor 0: identification = 0A1B,  machine = 3906\n", "machine 3906", "" },
  { "aarch64", "cpuinfo=" ARM_CPU(0, "0x41", "0xd08"), "implementer 0x41 part 0xd08", "" },
  { "armv7l", "cpuinfo=model name\t: ARMv7 Processor rev 4\nSerial\t\t: 00000000deadbeef\n",
    "ARMv7 Processor rev 4", "" },
  { "x86_64", "cpuinfo=model name\t: \033[31m  \t\n", "?[31m  ?", "" },
  { "riscv64", "cpuinfo=processor\t: 0\n; model=Some Board Rev 1.4", BOARD, "" },
  /* lines of another architecture reveal an emulator */
  { "aarch64", "cpuinfo=vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n; model=nor this", NULL,
    "foreign;" },
  { "x86_64", "cpuinfo=CPU implementer\t: 0x61\nCPU part\t: 0x000\n", NULL, "foreign;" },
  { "i686", "cpuinfo=processor\t: 0\nisa\t\t: rv64imafdc\n", NULL, "foreign;" },
  /* other emulators; binfmt_misc starts programs of the architecture with an interpreter */
  { "x86_64", "cpuid=TCGTCGTCGTCG; vendor=Amazon EC2", NULL, "QEMU TCG;" },
  { "x86_64", "cpuid=FEXIFEXIEMU; vendor=QEMU; product=KVM Virtual Machine", NULL, "FEX;" },
  { "x86_64", "cpu=VirtualApple; cpuid=TCGTCGTCGTCG; vendor=Amazon EC2", NULL, "Rosetta;" },
#ifdef __linux__
  { "x86_64", "interpreter=qemu-x86_64", NULL, "qemu-x86_64;" },
  { "x86_64", "interpreter=qemu-x86_64; interpreter=rosetta", NULL, "Rosetta;" },
  { "x86_64", "interpreter=qemu-i386; /proc/sys/fs/binfmt_misc/qemu-x86_64=disabled\n", NULL, "" },
  { "i686", "interpreter=qemu-i386", NULL, "qemu-i386;" },
  { "parisc", "interpreter=qemu-hppa", NULL, "qemu-hppa;" },
  { "riscv64", "interpreter=qemu-riscv64; interpreter=rosetta", NULL, "qemu-riscv64;" },
  { "aarch64", "docker; arch=x86_64", NULL, "docker;user-mode (foreign kernel);" },
  { "x86_64", "arch=aarch64", NULL, "user-mode (foreign kernel);" },
  { "armv8l", "arch=aarch64", NULL, "" },
  { "i686", "arch=x86_64", NULL, "" },
  { "x86_64", "arch=um", NULL, "" },
  { "mips", "interpreter=" QEMU_MIPS, NULL, QEMU_MIPS ";" },
  { "mips64", "interpreter=" QEMU_MIPS64, NULL, QEMU_MIPS64 ";" },
#endif
  /* containers; an unknown name may identify a person */
  { "x86_64", "docker", NULL, "docker;" },
  { "x86_64", "podman", NULL, "podman;" },
  { "x86_64", "container=lxc", NULL, "lxc;" },
  { "x86_64", "container=somebodys-name", NULL, "" },
  { "x86_64", "kubernetes; podman", NULL, "kubernetes;" },
  { "x86_64", "version=4.19.0-gvisor #1", NULL, "gvisor;" },
  /* settings */
  { "x86_64", "online=0-2" GOVERNOR(0, "performance") GOVERNOR(1, "performance")
      "; boost=0; current-clock=tsc; clocks=tsc hpet acpi_pm ", NULL,
    "3 CPUs;tsc of tsc hpet acpi_pm;performance on 2;turbo 0;" },
  { "x86_64", "online=0-2" GOVERNOR(0, "performance") GOVERNOR(1, "powersave")
      GOVERNOR(2, "performance") "; boost=1; no-turbo=1; watchdog=0", NULL,
    "3 CPUs;powersave on 1 and others;turbo 0;" },
  { "x86_64", "boost=1; watchdog=1", NULL, "turbo 1;watchdog;" },
};

#ifdef __linux__
static const char *simulated_architecture; /* NULL: that of this machine */

/* Replaces the function of the C library. */
int uname(struct utsname *name)
{
  int result = (int)syscall(SYS_uname, name);

  if (simulated_architecture)
    strcpy(name->machine, simulated_architecture);
  return result;
}
#endif

static void fill(const char *architecture)
{
#ifdef __linux__
  simulated_architecture = architecture;
#endif
  fill_cpu(&report.cpu, architecture);
  fill_settings(&report.settings);
  fill_system(&report.system);
  remove_machine();
}

TEST_LOOP(machine_is_described_from_its_files, sizeof machines / sizeof machines[0])
{
  const char *model = machines[_i].model ? machines[_i].model : "";

  begin_machine(machines[_i].machine);
  fill(machines[_i].architecture);
#ifdef HAVE_SYSCTLBYNAME
  if (!machines[_i].model)
    model = report.cpu.model;
#endif
  ck_assert_str_eq(report.cpu.model, model);
  ck_assert_str_eq(describe(), machines[_i].description);
}

/* A server of 1536 threads. Two of every eight threads are online. */
TEST(long_list_of_cpus_is_read_whole)
{
  char list[4096] = "";
  size_t length = 0;
  int first;

  for (first = 0; first < 1536; first += 8)
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%d-%d", first ? "," : "",
      first, first + 1);
  begin_machine("model=" CORE(1528, "1528-1529"));
  add_word("online", list);
  fill("ppc64le");
  ck_assert_str_eq(describe(), "384 CPUs;1 cores;");
}

static void leave_the_container(void)
{
  unsetenv("container"); /* of the container in which the suite runs */
  unsetenv("KUBERNETES_SERVICE_HOST");
}

SUITE_AROUND("remedies", leave_the_container, NULL)
