/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the remedies for refused counters against simulated files of the kernel: a remedy is given
   on each machine where it helps, and on no other machine. */

#include "config.h"

#include "backends/perf/remedy.h"
#include "cpucycles-info/fill.h"
#include "sys/cpuid.h"
#include "sys/file.h"
#include "sys/hypervisor.h"

#include "tests/suites/machine.h"

#include <errno.h>
#include <string.h>

#ifdef HAVE_PERF_EVENTS
#include "sys/perf-pmu.h"
#endif

enum { SIGNATURES = 4 };

/* The signatures of hypervisors in CPUID. The first one is empty if CPUID reports no hypervisor,
   and NULL if the CPU does not have CPUID. */
static const char *signatures[SIGNATURES];

/* The vendor in CPUID leaf 0. */
static const char *vendor = "GenuineIntel";

/* In place of sys/cpuid.c: a CPU of Intel with three fixed counters of 48 bits. */
struct cpuc_cpuid_leaf cpuc_cpuid_read(unsigned int leaf)
{
  static const struct cpuc_cpuid_leaf nothing;
  unsigned int words[4] = { 0 }, which = (leaf - 0x40000000) / 0x100;

  if (!signatures[0])
    return nothing;
  switch (leaf) {
  case 0:
    memcpy(words, vendor, 12);
    return (struct cpuc_cpuid_leaf) { 0xa, words[0], words[2], words[1] };
  case 1:
    return (struct cpuc_cpuid_leaf) { 0, 0, *signatures[0] ? 1u << 31 : 0, 0 };
  case 0xa:
    return (struct cpuc_cpuid_leaf) { 4, 0, 0, 48 << 5 | 3 };
  case 0x40000000:
  case 0x40000100:
  case 0x40000200:
  case 0x40000300:
    if (signatures[which])
      memcpy(words, signatures[which], strlen(signatures[which]));
    return (struct cpuc_cpuid_leaf) { leaf + 1, words[0], words[1], words[2] };
  default:
    ck_assert_uint_lt(leaf, 0x40000000); /* because each leaf of a hypervisor takes microseconds */
    return nothing;
  }
}

enum { FILES = 6 };

/* A file of a simulated machine. */
struct file {
  const char *path, *text;
};

#define PARANOID(n) { "/proc/sys/kernel/perf_event_paranoid", n "\n" }
#define ACCESS(n) { "/proc/sys/kernel/perf_user_access", n "\n" }
#define RELEASE(text) { "/proc/sys/kernel/osrelease", text "\n" }
#define FILTER(n) \
  { "/proc/self/status", "Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t" n "\nSeccomp_filters:\t1\n" }
#define PROCESS(seccomp, capabilities) \
  { "/proc/self/status", "Name:\tx\nCapEff:\t" capabilities "\nSeccomp:\t" seccomp "\n" }
#define THREAD(seccomp, capabilities) \
  { "/proc/thread-self/status", "Name:\tx\nCapEff:\t" capabilities "\nSeccomp:\t" seccomp "\n" }
#define NO_CAPS "0000000000000000"
#define ALL_CAPS "000001ffffffffff"
#define PERFMON_CAPS "0000004000000000"
#define DOCKER_CAPS "00000000a80425fb"
#define DOCKER_PERFMON_CAPS "00000040a80425fb"
#define USER_NAMESPACE { "/proc/self/uid_map", "         0       1000          1\n" }
#define FIRST_NAMESPACE { "/proc/self/uid_map", "         0          0 4294967295\n" }
#define RDPMC(n) { "/sys/bus/event_source/devices/cpu/rdpmc", n "\n" }
#define HYBRID_RDPMC(n) { "/sys/bus/event_source/devices/cpu_core/rdpmc", n "\n" }
#define WATCHDOG(n) { "/proc/sys/kernel/nmi_watchdog", n "\n" }
#define RUN "sysctl kernel.nmi_watchdog=0; perf stat -a -e cycles sleep infinity &"
#define DOCKER { "/.dockerenv", "" }
#define PODMAN { "/run/.containerenv", "" }
#define ANDROID { "/system/build.prop", "" }
#define PMU(name) { "/sys/bus/event_source/devices/" name "/type", "4\n" }
#define NO_PMU { "/sys/bus/event_source/devices/software/type", "1\n" }
#define VIRTUAL TREE("acme,thing")
#define REAL { "/proc/cpuinfo", "processor\t: 0\nmachine\t\t: PowerNV 8335-GTH\n" }
#define KVM PRODUCT("KVM Virtual Machine")
#define PRODUCT(text) { "/sys/class/dmi/id/product_name", text "\n" }
#define VENDOR(text) { "/sys/class/dmi/id/sys_vendor", text "\n" }
#define TREE(text) { "/proc/device-tree/hypervisor/compatible", text }
#define BOARD(text) { "/proc/device-tree/compatible", text }

/* QEMU has the option pmu=on on some CPUs only. */
#define KVM_REMEDY \
  (CPUC_REMEDY_QEMU_HAS_PMU_OPTION \
      ? "give the virtual machine a PMU (QEMU: -cpu host,pmu=on), or run outside of it" \
      : "give the virtual machine a PMU, or run outside of it")

#define XEN_REMEDY \
  (CPUC_REMEDY_IS_X86 \
      ? "give the virtual machine a PMU (vpmu=on on Xen's command line), or run outside of it" \
      : "give the virtual machine a PMU (vpmu=1 in its xl.cfg), or run outside of it")

static void begin_machine(const struct file *files)
{
  int i;

  make_machine();
  for (i = 0; i < FILES && files[i].path; i++)
    write_file(files[i].path, files[i].text);
}

/* Does `got` begin with `wanted`? NULL begins with NULL only. */
static int begins(const char *got, const char *wanted)
{
  return got && wanted ? strncmp(got, wanted, strlen(wanted)) == 0 : got == wanted;
}

static int equals(const char *got, const char *wanted)
{
  return got && wanted ? strcmp(got, wanted) == 0 : got == wanted;
}

static void expect_begins(const char *got, const char *wanted)
{
  ck_assert_msg(begins(got, wanted), "'%s' does not begin with '%s'", got ? got : "none",
    wanted ? wanted : "none");
}

#define NO_PMU_HERE "this virtual machine has no PMU"
#define NO_PMU_DRIVEN "the kernel has no driver for a PMU of this CPU"
#define UNKNOWN_PMU "it is unknown whether there is a PMU"
#define FILTERED "a seccomp filter refuses perf_event_open"
#define ABOVE_2 "kernel.perf_event_paranoid is above 2"
#define CANNOT_EXCLUDE "this PMU cannot exclude the kernel"
#define PROFILE "run the container with a seccomp profile that allows perf_event_open"
#define ALLOW "allow perf_event_open in the seccomp filter of this process"
#define SET(level) "sysctl kernel.perf_event_paranoid=" level

static const struct {
  const char *machine;
  struct file files[FILES];
  int error, with_kernel;
  const char *explanation, *remedy;
} events[] = {
  /* Machines as they are found. The kernel of Debian and Ubuntu refuses the event above level 2,
     and Docker's filter refuses the call, before anything looks for a PMU. */
  { "Docker on a cloud machine",
    { PARANOID("4"), RELEASE("6.8.0-45-generic"), PROCESS("2", DOCKER_CAPS), DOCKER, NO_PMU, KVM },
    EPERM, 0, NO_PMU_HERE, KVM_REMEDY },
  { "user of Debian on a cloud machine",
    { PARANOID("3"), RELEASE("6.1.0-18-cloud-amd64"), PROCESS("0", NO_CAPS), NO_PMU, KVM },
    EACCES, 0, NO_PMU_HERE, KVM_REMEDY },
  { "user of Ubuntu on a cloud machine",
    { PARANOID("4"), RELEASE("6.8.0-45-generic"), PROCESS("0", NO_CAPS), NO_PMU,
      VENDOR("Microsoft Corporation"), PRODUCT("Virtual Machine") },
    EACCES, 0, NO_PMU_HERE,
    "give the virtual machine a PMU (Set-VMProcessor -Perfmon @(\"pmu\")), "
    "or run outside of it" },
  { "root of a cloud machine",
    { PARANOID("4"), RELEASE("6.8.0-45-generic"), PROCESS("0", ALL_CAPS), NO_PMU, KVM },
    ENOENT, 0, NO_PMU_HERE, KVM_REMEDY },
  { "user of Debian on bare metal",
    { PARANOID("3"), RELEASE("6.1.0-18-amd64"), PROCESS("0", NO_CAPS), PMU("cpu"), REAL },
    EACCES, 0, ABOVE_2, SET("2") ", or give the program CAP_SYS_ADMIN" },
  { "user of Ubuntu on bare metal",
    { PARANOID("4"), RELEASE("5.15.0-91-generic"), PROCESS("0", NO_CAPS), PMU("cpu"), REAL },
    EACCES, 0, ABOVE_2, SET("2") ", or give the program CAP_SYS_ADMIN" },
  { "user of Ubuntu with CAP_PERFMON",
    { PARANOID("4"), RELEASE("5.15.0-91-generic"), PROCESS("0", PERFMON_CAPS), PMU("cpu"), REAL },
    EACCES, 0, ABOVE_2, SET("2") ", or give the program CAP_SYS_ADMIN" },
  { "hybrid laptop",
    { PARANOID("4"), RELEASE("6.8.0-45-generic"), PROCESS("0", NO_CAPS), PMU("cpu_core"),
      PMU("cpu_atom"), REAL },
    EACCES, 0, ABOVE_2, SET("2") ", or give the program CAP_SYS_ADMIN" },
  { "root in a container with CAP_PERFMON, on Ubuntu",
    { PARANOID("4"), RELEASE("6.8.0-45-generic"), PROCESS("2", DOCKER_PERFMON_CAPS), DOCKER,
      PMU("cpu"), REAL },
    EACCES, 0, ABOVE_2, SET("2") " on the host, or run the container with --cap-add SYS_ADMIN" },
  { "root in a container with CAP_PERFMON, on a cloud machine",
    { PARANOID("4"), RELEASE("6.8.0-45-generic"), PROCESS("2", DOCKER_PERFMON_CAPS), DOCKER,
      NO_PMU, KVM },
    EACCES, 0, NO_PMU_HERE, KVM_REMEDY },
  { "Docker on Fedora",
    { PARANOID("2"), RELEASE("6.1.0"), PROCESS("2", DOCKER_CAPS), DOCKER, PMU("cpu"), REAL },
    EPERM, 0, FILTERED, PROFILE ", or with --cap-add PERFMON" },
  { "Podman without root on Fedora",
    { PARANOID("2"), RELEASE("6.1.0"), PROCESS("2", DOCKER_CAPS), PODMAN, USER_NAMESPACE,
      PMU("cpu") },
    EPERM, 0, FILTERED, PROFILE ", or with --cap-add PERFMON" },
  { "emulator", { PARANOID("2"), PROCESS("0", NO_CAPS), PMU("cpu") }, ENOSYS, 0,
    "perf_event_open is not implemented here", NULL },
  { "emulator on a cloud machine", { PARANOID("4"), PROCESS("0", NO_CAPS), NO_PMU, KVM }, ENOSYS,
    0, NO_PMU_HERE, KVM_REMEDY },
  { "kernel without perf events", { RELEASE("6.1.0"), PROCESS("2", NO_CAPS) }, ENOSYS, 0,
    "this kernel was built without perf events", NULL },
  { "neither /proc nor /sys", { { NULL, NULL } }, ENOSYS, 0,
    "perf_event_open is not implemented here", NULL },

  /* Distributions add the levels above 2, and CAP_PERFMON does not override them. */
  { "highest level", { PARANOID("10"), RELEASE("5.8.0"), PMU("cpu") }, EACCES, 0, ABOVE_2,
    SET("2") ", or give the program CAP_SYS_ADMIN" },
  { "kernel without CAP_PERFMON", { PARANOID("3"), RELEASE("4.19.0-26-amd64"), PMU("cpu") },
    EACCES, 0, ABOVE_2, SET("2") ", or give the program CAP_SYS_ADMIN" },
  { "EPERM without a filter", { PARANOID("3"), RELEASE("6.1.0"), FILTER("0"), PMU("cpu") }, EPERM,
    0, ABOVE_2, SET("2") ", or give the program CAP_SYS_ADMIN" },
  { "root of a user namespace",
    { PARANOID("3"), RELEASE("6.1.0"), PROCESS("0", ALL_CAPS), USER_NAMESPACE, PMU("cpu") },
    EACCES, 0, ABOVE_2, SET("2") " on the host" },
  { "first user namespace",
    { PARANOID("3"), RELEASE("6.1.0"), PROCESS("0", NO_CAPS), FIRST_NAMESPACE, PMU("cpu") },
    EACCES, 0, ABOVE_2, SET("2") ", or give the program CAP_SYS_ADMIN" },
  /* A PMU that cannot exclude the kernel needs a lower level. */
  { "level 2, with the kernel", { PARANOID("2"), RELEASE("6.12.0"), PMU("armv7_cortex_a7") },
    EACCES, 1, CANNOT_EXCLUDE,
    SET("1") ", or give the program CAP_PERFMON" },
  { "level 2, with the kernel, before CAP_PERFMON",
    { PARANOID("2"), RELEASE("5.7.19"), PMU("armv7_cortex_a7") }, EACCES, 1,
    CANNOT_EXCLUDE, SET("1") ", or give the program CAP_SYS_ADMIN" },
  { "level 4, with the kernel", { PARANOID("4"), RELEASE("6.12.0"), PMU("armv7_cortex_a7") },
    EACCES, 1, CANNOT_EXCLUDE,
    SET("1") ", or give the program CAP_SYS_ADMIN" },
  { "level 4, with the kernel, in a container", { PARANOID("4"), RELEASE("6.12.0"), DOCKER,
      PMU("armv7_cortex_a7") },
    EACCES, 1, CANNOT_EXCLUDE, SET("1") " on the host" },
  { "level 2, with the kernel and CAP_PERFMON",
    { PARANOID("2"), RELEASE("6.12.0"), PROCESS("0", PERFMON_CAPS), PMU("cpu") }, EACCES, 1,
    "a security module", NULL },
  /* The setting permits the event. */
  { "level 2", { PARANOID("2"), RELEASE("6.1.0"), PMU("cpu") }, EACCES, 0, "a security module",
    NULL },
  { "level -1", { PARANOID("-1"), RELEASE("6.1.0"), PMU("cpu") }, EACCES, 0, "a security module",
    NULL },
  { "level 1, with the kernel", { PARANOID("1"), RELEASE("6.1.0"), PMU("cpu") }, EACCES, 1,
    "a security module", NULL },
  { "level 4, root", { PARANOID("4"), PROCESS("0", ALL_CAPS), PMU("cpu") }, EACCES, 0,
    "a security module", NULL },
  { "level 2, filter", { PARANOID("2"), FILTER("2"), PMU("cpu") }, EACCES, 0,
    "a seccomp filter or a security module", NULL },
  { "EPERM of unknown cause", { PARANOID("2"), FILTER("0"), PMU("cpu") }, EPERM, 0, NULL, NULL },
  { "no level", { RELEASE("6.1.0"), PMU("cpu") }, EACCES, 0, NULL, NULL },
  /* A seccomp filter, and a PMU. */
  { "filter", { PARANOID("2"), RELEASE("6.1.0"), FILTER("2"), PMU("cpu") }, EPERM, 0, FILTERED,
    ALLOW },
  { "filter of this thread alone",
    { PARANOID("2"), RELEASE("6.1.0"), PROCESS("0", NO_CAPS), THREAD("2", NO_CAPS), PMU("cpu") },
    EPERM, 0, FILTERED, ALLOW },
  { "capability of this thread alone",
    { PARANOID("4"), PROCESS("0", NO_CAPS), THREAD("0", ALL_CAPS), PMU("cpu") }, EACCES, 0,
    "a security module", NULL },
  { "filter, by ENOSYS", { PARANOID("2"), FILTER("2"), PMU("cpu") }, ENOSYS, 0, FILTERED, ALLOW },
  { "filter and level", { PARANOID("3"), RELEASE("6.1.0"), FILTER("2"), PMU("cpu") }, EPERM, 0,
    FILTERED, ALLOW ", and " SET("2") },
  { "filter and level, root",
    { PARANOID("3"), RELEASE("6.1.0"), PROCESS("2", ALL_CAPS), PMU("cpu") }, EPERM, 0, FILTERED,
    ALLOW },
  { "Docker before CAP_PERFMON",
    { PARANOID("2"), RELEASE("5.4.0-150-generic"), PROCESS("2", DOCKER_CAPS), DOCKER, PMU("cpu") },
    EPERM, 0, FILTERED, PROFILE },
  { "Docker with CAP_PERFMON and another profile",
    { PARANOID("2"), RELEASE("6.1.0"), PROCESS("2", DOCKER_PERFMON_CAPS), DOCKER, PMU("cpu") },
    EPERM, 0, FILTERED, PROFILE },
  { "Docker on Ubuntu",
    { PARANOID("4"), RELEASE("5.15.0-91-generic"), PROCESS("2", DOCKER_CAPS), DOCKER, PMU("cpu") },
    EPERM, 0, FILTERED, PROFILE ", and " SET("2") " on the host" },
  { "Podman without root on Debian",
    { PARANOID("3"), RELEASE("6.1.0"), PROCESS("2", ALL_CAPS), PODMAN, USER_NAMESPACE,
      PMU("cpu") },
    EPERM, 0, FILTERED, PROFILE ", and " SET("2") " on the host" },
  /* No PMU in a virtual machine. */
  { "unnamed hypervisor", { PARANOID("2"), NO_PMU, VIRTUAL }, ENOENT, 0, NO_PMU_HERE,
    "run outside of the virtual machine" },
  { "QEMU", { NO_PMU, PRODUCT("Standard PC (Q35 + ICH9, 2009)"), VENDOR("QEMU") }, ENOENT, 0,
    NO_PMU_HERE, "give the virtual machine a PMU, or run outside of it" },
  { "VMware", { NO_PMU, PRODUCT("VMware Virtual Platform"), VENDOR("VMware, Inc.") }, EOPNOTSUPP, 0,
    NO_PMU_HERE,
    "give the virtual machine a PMU (vpmc.enable = TRUE), or run outside of it" },
  { "Hyper-V", { NO_PMU, PRODUCT("Virtual Machine"), VENDOR("Microsoft Corporation") }, ENODEV, 0,
    NO_PMU_HERE,
    "give the virtual machine a PMU (Set-VMProcessor -Perfmon @(\"pmu\")), "
    "or run outside of it" },
  { "Xen", { NO_PMU, { "/sys/hypervisor/type", "xen\n" } }, ENOENT, 0, NO_PMU_HERE,
    XEN_REMEDY },
  { "VirtualBox", { NO_PMU, VENDOR("innotek GmbH"), PRODUCT("VirtualBox") }, ENOENT, 0,
    NO_PMU_HERE, "run outside of the virtual machine" },
  { "Arm board of several hypervisors", { NO_PMU, BOARD("linux,dummy-virt") }, ENOENT, 0,
    NO_PMU_HERE, "run outside of the virtual machine" },
  { "RISC-V board of QEMU", { NO_PMU, BOARD("riscv-virtio") }, ENOENT, 0, NO_PMU_HERE,
    "give the virtual machine a PMU, or run outside of it" },
  { "Android application", { RELEASE("5.10.157-android13"), ANDROID }, EACCES, 0,
    "Android's security.perf_harden refuses perf events",
    "adb shell setprop security.perf_harden 0" },
  { "Android shell", { PARANOID("3"), RELEASE("4.14.180"), PMU("armv8_pmuv3"), ANDROID }, EACCES, 0,
    "Android's security.perf_harden refuses perf events",
    "adb shell setprop security.perf_harden 0" },
  { "Android after setprop", { PARANOID("-1"), RELEASE("5.10.157"), PMU("armv8_pmuv3"), ANDROID },
    EACCES, 0, "a security module", NULL },
  { "POWER board of QEMU",
    { NO_PMU,
      { "/proc/cpuinfo", "cpu\t: POWER9\nmachine\t\t: CHRP IBM pSeries (emulated by qemu)\n" } },
    ENOENT, 0, NO_PMU_HERE, "give the virtual machine a PMU, or run outside of it" },
  { "KVM by the device tree", { NO_PMU, TREE("linux,kvm") }, ENOENT, 0, NO_PMU_HERE, KVM_REMEDY },
  { "too many open files, no PMU", { PARANOID("4"), NO_PMU, KVM }, EMFILE, 0, NO_PMU_HERE,
    KVM_REMEDY },
  { "filter by ENOSYS, no PMU", { PARANOID("2"), FILTER("2"), NO_PMU, KVM }, ENOSYS, 0,
    NO_PMU_HERE, KVM_REMEDY },
  { "security module, no PMU", { PARANOID("2"), NO_PMU, KVM }, EACCES, 0, NO_PMU_HERE,
    KVM_REMEDY },
  /* No remedy for missing hardware. */
  { "no PMU", { PARANOID("2"), NO_PMU, REAL }, ENOENT, 0, NO_PMU_DRIVEN, NULL },
  { "no PMU, and level 4", { PARANOID("4"), NO_PMU, REAL, PRODUCT("20XW00"), VENDOR("LENOVO") },
    EACCES, 0, NO_PMU_DRIVEN, NULL },
  { "no PMU, and a filter", { PARANOID("2"), FILTER("2"), NO_PMU, REAL }, EPERM, 0, NO_PMU_DRIVEN,
    NULL },
  /* PMUs that do not count what cores do. */
  { "other PMUs of Arm",
    { PMU("arm_spe_0"), PMU("arm_cmn_0"), PMU("arm_dsu_0"), PMU("arm_smmuv3_pmcg_2b0"),
      TREE("linux,kvm") },
    ENOENT, 0, NO_PMU_HERE, KVM_REMEDY },
  { "other PMUs of x86", { PMU("uncore_imc_0"), PMU("msr"), PMU("power"), PMU("cpu_clock"), KVM },
    EACCES, 0, NO_PMU_HERE, KVM_REMEDY },
  { "other PMUs of s390x", { PMU("cpum_sf"), PMU("pai_crypto"), KVM }, ENOENT, 0, NO_PMU_HERE,
    KVM_REMEDY },
  /* /sys is not mounted, or hidden. */
  { "unknown PMU", { VIRTUAL }, ENOENT, 0, UNKNOWN_PMU, NULL },
  { "unknown PMU, level 4", { PARANOID("4"), VIRTUAL }, EACCES, 0, ABOVE_2 "; " UNKNOWN_PMU, NULL },
  { "unknown PMU, filter", { PARANOID("2"), FILTER("2"), DOCKER, VIRTUAL }, EPERM, 0,
    FILTERED "; " UNKNOWN_PMU, NULL },
  { "unknown PMU, level 2, with the kernel", { PARANOID("2"), VIRTUAL }, EACCES, 1, UNKNOWN_PMU,
    NULL },
  { "unknown PMU, security module", { PARANOID("2"), VIRTUAL }, EACCES, 0, UNKNOWN_PMU, NULL },
  { "unknown PMU, too many open files", { PARANOID("4"), VIRTUAL, FILTER("2") }, EMFILE, 0, NULL,
    NULL },
  /* A PMU exists, so its absence is not the cause. */
  { "PMU without the event", { PMU("cpu"), VIRTUAL }, ENOENT, 0, NULL, NULL },
  { "hybrid PMU without the event", { PMU("cpu_core"), VIRTUAL }, EOPNOTSUPP, 0, NULL, NULL },
  { "Arm's PMU without the event", { PMU("armv8_pmuv3_0"), TREE("linux,kvm") }, ENOENT, 0, NULL,
    NULL },
  { "Apple's PMU without the event", { PMU("apple_firestorm_pmu"), TREE("linux,kvm") }, ENOENT, 0,
    NULL, NULL },
  { "PMU of s390x without the event", { PMU("cpum_cf"), VIRTUAL }, ENOENT, 0, NULL, NULL },
  { "too many open files", { PARANOID("4"), PMU("cpu"), FILTER("2") }, EMFILE, 0, NULL, NULL },
  { "invalid event", { PARANOID("4"), PMU("cpu"), FILTER("2") }, EINVAL, 0, NULL, NULL },
};

/* On a machine without a PMU, the reason is "absent" and does not follow from the errno. */
static const char *expected_reason(const char *explanation)
{
  return equals(explanation, NO_PMU_HERE) || equals(explanation, NO_PMU_DRIVEN) ? "absent" : NULL;
}

TEST(remedy_for_a_perf_event_fits_the_machine)
{
  size_t i;

  for (i = 0; i < sizeof events / sizeof events[0]; i++) {
    struct cpuc_diagnosis diagnosis = { 0 };

    begin_machine(events[i].files);
    cpuc_remedy_for_perf_event(events[i].error, events[i].with_kernel, &diagnosis);
    remove_machine();
    ck_assert_msg(equals(diagnosis.reason, expected_reason(events[i].explanation)), "%s: %s",
      events[i].machine, diagnosis.reason ? diagnosis.reason : "none");
    ck_assert_msg(begins(diagnosis.explanation, events[i].explanation)
        && equals(diagnosis.remedy, events[i].remedy),
      "%s: %s; remedy: %s", events[i].machine,
      diagnosis.explanation ? diagnosis.explanation : "none",
      diagnosis.remedy ? diagnosis.remedy : "none");
  }
}

static void find_arm64_access(struct cpuc_diagnosis *diagnosis)
{
  static const struct cpuc_remedy_user_access needed = CPUC_REMEDY_ARM64_USER_ACCESS;

  cpuc_remedy_for_user_access(&needed, diagnosis);
}

static void find_riscv_access(struct cpuc_diagnosis *diagnosis)
{
  static const struct cpuc_remedy_user_access needed = CPUC_REMEDY_RISCV_USER_ACCESS;

  cpuc_remedy_for_user_access(&needed, diagnosis);
}

static void find_rdpmc_1(struct cpuc_diagnosis *diagnosis)
{
  cpuc_remedy_for_rdpmc(1, diagnosis);
}

static void find_rdpmc_2(struct cpuc_diagnosis *diagnosis)
{
  cpuc_remedy_for_rdpmc(2, diagnosis);
}

#define MODULE "load the kernel module of contrib/arm-pmu-access"
#define LEGACY "sysctl kernel.perf_user_access=2"
#define ANY "any"

/* Each row contains a function, a machine, and the beginnings of the explanation and the remedy
   that the function gives there; NULL: none. */
static const struct {
  void (*find)(struct cpuc_diagnosis *diagnosis);
  struct file files[FILES];
  const char *explanation, *remedy;
} single_remedies[] = {
  /* after a signal */
  { cpuc_remedy_for_perf_filter, { PARANOID("2"), FILTER("2"), NO_PMU, KVM }, NO_PMU_HERE,
    KVM_REMEDY },
  { cpuc_remedy_for_perf_filter, { PARANOID("2"), FILTER("2"), NO_PMU, REAL }, NO_PMU_DRIVEN,
    NULL },
  { cpuc_remedy_for_perf_filter, { PARANOID("2"), FILTER("2"), VIRTUAL },
    FILTERED "; " UNKNOWN_PMU, NULL },
  { cpuc_remedy_for_perf_filter, { PARANOID("2"), FILTER("2"), PMU("cpu") }, FILTERED, ALLOW },
  /* user access to counters */
  { find_arm64_access, { ACCESS("0"), RELEASE("6.1.0") }, "", "sysctl kernel.perf_user_access=1" },
  { find_arm64_access, { ACCESS("1"), RELEASE("6.1.0") }, NULL, NULL },
  { find_arm64_access, { RELEASE("5.16.20") }, "", "use Linux 5.17 or later" },
  { find_arm64_access, { RELEASE("4.19.0"), TREE("linux,kvm") }, "", "use Linux 5.17 or later" },
  { find_arm64_access, { RELEASE("5.17.0-rc1"), REAL, NO_PMU }, "", NULL },
  { find_arm64_access, { RELEASE("6.1.0"), BOARD("linux,dummy-virt"), NO_PMU }, "",
    "run outside of the virtual machine" },
  { find_arm64_access, { NO_PMU, REAL }, "", NULL }, /* no release */
  { find_arm64_access, { RELEASE("6.1.0") }, "", NULL },
  { find_riscv_access, { ACCESS("0"), RELEASE("6.12.0") }, "", "sysctl kernel.perf_user_access=1" },
  { find_riscv_access, { ACCESS("1"), RELEASE("6.12.0") }, NULL, NULL },
  { find_riscv_access, { ACCESS("2"), RELEASE("6.12.0") }, NULL, NULL },
  { find_riscv_access, { RELEASE("6.5.13") }, "", "use Linux 6.6 or later" },
  { find_riscv_access, { RELEASE("5.19.0") }, "", "use Linux 6.6 or later" },
  { find_riscv_access, { RELEASE("6.6.0") }, "", NULL },
  { find_riscv_access, { RELEASE("6.12.0"), BOARD("riscv-virtio,qemu"), NO_PMU }, "",
    "give the virtual machine a PMU" },
  /* RDPMC */
  { find_rdpmc_1, { RDPMC("0") }, ANY, "echo 1 > /sys/bus/event_source/devices/cpu/rdpmc" },
  { find_rdpmc_1, { RDPMC("1") }, ANY, NULL },
  { find_rdpmc_1, { RDPMC("2") }, ANY, NULL },
  { find_rdpmc_2, { RDPMC("0") }, ANY, "echo 2 > /sys/bus/event_source/devices/cpu/rdpmc; " RUN },
  { find_rdpmc_2, { RDPMC("1") }, ANY, "echo 2 > /sys/bus/event_source/devices/cpu/rdpmc; " RUN },
  { find_rdpmc_2, { RDPMC("2") }, ANY, NULL },
  { find_rdpmc_1, { HYBRID_RDPMC("0") }, ANY,
    "echo 1 > /sys/bus/event_source/devices/cpu_core/rdpmc" },
  { find_rdpmc_2, { HYBRID_RDPMC("1") }, ANY,
    "echo 2 > /sys/bus/event_source/devices/cpu_core/rdpmc; " RUN },
  { find_rdpmc_1, { NO_PMU }, ANY, NULL },
  { find_rdpmc_1, { RDPMC("x") }, ANY, NULL },
  /* PMCCNTR */
  { cpuc_remedy_for_arm_module, { PMU("armv8_pmuv3") }, ANY, MODULE },
  { cpuc_remedy_for_arm_module, { PMU("armv8_cortex_a72"), ACCESS("0") }, ANY, MODULE },
  { cpuc_remedy_for_arm_module, { PMU("armv7_cortex_a7") }, ANY, MODULE },
  /* These PMUs have other registers. */
  { cpuc_remedy_for_arm_module, { PMU("armv5_xscale1") }, ANY, NULL },
  { cpuc_remedy_for_arm_module, { PMU("armv6_1176") }, ANY, NULL },
  { cpuc_remedy_for_arm_module, { PMU("apple_firestorm_pmu") }, ANY, NULL },
  { cpuc_remedy_for_arm_module, { NO_PMU }, ANY, NULL },
  { cpuc_remedy_for_arm_module, { PMU("arm_spe_0"), PMU("arm_cmn_0") }, ANY, NULL },
  /* it is unknown whether there is a PMU */
  { cpuc_remedy_for_arm_module, { RELEASE("6.1.0") }, ANY, NULL },
  { cpuc_remedy_for_rdcycle, { ACCESS("0") }, ANY, LEGACY },
  { cpuc_remedy_for_rdcycle, { ACCESS("1") }, ANY, LEGACY },
  { cpuc_remedy_for_rdcycle, { ACCESS("2") }, ANY, NULL },
  /* no newline, so the number may be cut short */
  { cpuc_remedy_for_rdcycle, { { "/proc/sys/kernel/perf_user_access", "1" } }, ANY, NULL },
  { cpuc_remedy_for_rdcycle, { RELEASE("6.1.0") }, ANY, NULL },
};

TEST(remedy_for_a_refused_instruction_fits_the_machine)
{
  size_t i;

  for (i = 0; i < sizeof single_remedies / sizeof single_remedies[0]; i++) {
    const char *explanation = single_remedies[i].explanation;
    struct cpuc_diagnosis diagnosis = { 0 };

    begin_machine(single_remedies[i].files);
    single_remedies[i].find(&diagnosis);
    remove_machine();
    if (!explanation || strcmp(explanation, ANY) != 0)
      expect_begins(diagnosis.explanation, explanation);
    if (single_remedies[i].find == cpuc_remedy_for_perf_filter)
      ck_assert(equals(diagnosis.reason, expected_reason(explanation)));
    expect_begins(diagnosis.remedy, single_remedies[i].remedy);
  }
}

#if HAVE_BACKEND_amd64_pmcff

extern const struct cpuc_backend cpuc_backend_amd64_pmcff;

TEST(fixed_counter_is_dropped_while_the_watchdog_is_on)
{
  static const struct {
    struct file files[FILES];
    int error;
    const char *explanation, *remedy;
  } rows[] = {
    { { RDPMC("2"), WATCHDOG("1") }, EBUSY, "the kernel's NMI watchdog sets it back", RUN },
    { { RDPMC("2"), WATCHDOG("0") }, 0, "it is stopped", RUN },
    { { RDPMC("2") }, 0, "it is stopped", RUN },
    { { RDPMC("1"), WATCHDOG("1") }, EACCES, "the kernel allows RDPMC only", "echo 2 > " },
    { { NO_PMU, WATCHDOG("1") }, ENODEV, NULL, NULL },
  };
  size_t i;

  signatures[0] = "";
  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct cpuc_diagnosis diagnosis = { 0 };

    begin_machine(rows[i].files);
    ck_assert_int_eq(cpuc_backend_amd64_pmcff.open(NULL, &diagnosis), rows[i].error);
    if (rows[i].error == EBUSY)
      ck_assert_str_eq(diagnosis.reason, "decreasing");
    else
      ck_assert_ptr_null(diagnosis.reason);
    if (rows[i].error != ENODEV) /* 0: the counter was opened and is stopped */
      cpuc_backend_amd64_pmcff.explain(rows[i].error, 0, &diagnosis);
    remove_machine();
    expect_begins(diagnosis.explanation, rows[i].explanation);
    expect_begins(diagnosis.remedy, rows[i].remedy);
  }
  signatures[0] = NULL;
}

#else

TEST(fixed_counter_is_dropped_while_the_watchdog_is_on)
{
  SKIP_IF(1, "amd64-pmcff is not built here");
}

#endif

#define GIVE(how) "give the virtual machine a PMU" how ", or run outside of it"
#define LEAVE "run outside of the virtual machine"
#define EC2_REMEDY "use an instance type with a PMU: a metal size, or generation 7 or later"
#define CLOUD_REMEDY "use an instance type with a PMU, such as a bare-metal one"
#define ASSET(text) { "/sys/class/dmi/id/chassis_asset_tag", text "\n" }
#define BIOS(text) { "/sys/class/dmi/id/bios_version", text "\n" }
#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"
#define KVM_CLOCK { CLOCKS "available_clocksource", "kvm-clock tsc acpi_pm \n" }
#define XEN_FILE { "/sys/hypervisor/type", "xen\n" }

/* Combinations of signs as they are found, without a PMU. Name NULL: no virtual machine. */
static const struct {
  const char *signatures[SIGNATURES];
  struct file files[FILES];
  const char *name, *remedy;
} hypervisors[] = {
  /* KVM, and hypervisors that it imitates */
  { { "KVMKVMKVM" }, { { NULL, NULL } }, "KVM", KVM_REMEDY },
  { { "KVMKVMKVM" }, { VENDOR("QEMU"), PRODUCT("Standard PC (Q35 + ICH9, 2009)"), KVM_CLOCK },
    "KVM", KVM_REMEDY },
  { { "Microsoft Hv", "KVMKVMKVM" }, { { NULL, NULL } }, "KVM", KVM_REMEDY },
  { { "Microsoft Hv", "Linux KVM Hv" }, { VENDOR("QEMU") }, "KVM", KVM_REMEDY },
  { { "Microsoft Hv" }, { VENDOR("QEMU"), KVM_CLOCK }, "KVM", KVM_REMEDY },
  { { "Microsoft Hv" }, { VENDOR("QEMU") }, "QEMU", GIVE("") }, /* kvm=off */
  { { "bhyve bhyve " }, { KVM_CLOCK }, "KVM", KVM_REMEDY },     /* PVM */
  { { "bhyve bhyve " }, { { CLOCKS "current_clocksource", "kvm-clock\n" } }, "KVM", KVM_REMEDY },
  { { "something" }, { KVM_CLOCK }, "KVM", KVM_REMEDY },
  { { "bhyve bhyve " }, { VENDOR("BHYVE"), PRODUCT("BHYVE") }, "bhyve", LEAVE },
  { { "" }, { VENDOR("QEMU"), PRODUCT("Standard PC (i440FX + PIIX, 1996)") }, "QEMU", GIVE("") },
  { { "TCGTCGTCGTCG" }, { VENDOR("QEMU") }, "QEMU TCG", LEAVE },
  /* clouds: the user cannot configure the hypervisor */
  { { "KVMKVMKVM" }, { VENDOR("Amazon EC2"), PRODUCT("c5.large"), KVM_CLOCK }, "KVM (Amazon EC2)",
    EC2_REMEDY },
  { { NULL }, { VENDOR("Amazon EC2"), PRODUCT("m6g.medium") }, "KVM (Amazon EC2)", EC2_REMEDY },
  { { "XenVMMXenVMM" }, { VENDOR("Xen"), PRODUCT("HVM domU"), BIOS("4.11.amazon"), XEN_FILE },
    "Xen (Amazon EC2)", EC2_REMEDY },
  { { "" }, { VENDOR("Amazon EC2"), PRODUCT("m7i.metal-24xl") }, NULL, NULL },
  { { NULL }, { VENDOR("Amazon EC2"), PRODUCT("c7g.metal") }, NULL, NULL },
  { { "KVMKVMKVM" }, { VENDOR("Google"), PRODUCT("Google Compute Engine") },
    "KVM (Google Compute Engine)",
    "use a machine type with a PMU, such as C4 or C4A, created with "
    "--performance-monitoring-unit=architectural" },
  { { "" }, { VENDOR("Google"), PRODUCT("Google Compute Engine") }, NULL, NULL },
  { { "KVMKVMKVM" }, { VENDOR("Alibaba Cloud"), PRODUCT("Alibaba Cloud ECS") },
    "KVM (Alibaba Cloud)", CLOUD_REMEDY },
  { { "KVMKVMKVM" }, { VENDOR("QEMU"), PRODUCT("Standard PC"), ASSET("OracleCloud.com") },
    "KVM (Oracle Cloud)", CLOUD_REMEDY },
  { { "KVMKVMKVM" }, { VENDOR("Hetzner"), PRODUCT("vServer") }, "KVM (Hetzner)", CLOUD_REMEDY },
  { { "Microsoft Hv" }, { VENDOR("Microsoft Corporation"), PRODUCT("Virtual Machine"),
      ASSET("7783-7084-3265-9085-8269-3286-77") },
    "Hyper-V (Azure)", LEAVE },
  /* Hyper-V, and WSL, whose machines Set-VMProcessor does not find */
  { { "Microsoft Hv" }, { VENDOR("Microsoft Corporation"), PRODUCT("Virtual Machine") }, "Hyper-V",
    GIVE(" (Set-VMProcessor -Perfmon @(\"pmu\"))") },
  { { "Microsoft Hv" }, { RELEASE("5.15.167.4-microsoft-standard-WSL2") }, "Hyper-V (WSL2)",
    CPUC_REMEDY_IS_X86
      ? GIVE(" (hardwarePerformanceCounters=true below [wsl2] in .wslconfig, then wsl --shutdown)")
      : LEAVE },
  { { NULL }, { RELEASE("6.6.0-WSL2-custom+") }, "Hyper-V (WSL2)", NULL },
  { { "" }, { RELEASE("4.4.0-19041-Microsoft") }, NULL, NULL },
  { { "" }, { VENDOR("Microsoft Corporation"), PRODUCT("Surface Pro") }, NULL, NULL },
  /* Xen: as HVM, with leaves of Hyper-V, and PV, which shows the CPUID of the host */
  { { "XenVMMXenVMM" }, { VENDOR("Xen"), PRODUCT("HVM domU") }, "Xen", XEN_REMEDY },
  { { "Microsoft Hv", "XenVMMXenVMM" }, { VENDOR("Xen") }, "Xen", XEN_REMEDY },
  { { "Microsoft Hv", NULL, "XenVMMXenVMM" }, { { NULL, NULL } }, "Xen", XEN_REMEDY },
  { { "" }, { XEN_FILE }, "Xen", XEN_REMEDY },
  { { NULL }, { XEN_FILE }, "Xen", XEN_REMEDY },
  /* products that imitate KVM or Hyper-V */
  { { "KVMKVMKVM" }, { VENDOR("innotek GmbH"), PRODUCT("VirtualBox"), KVM_CLOCK }, "VirtualBox",
    LEAVE },
  { { "Microsoft Hv" }, { VENDOR("innotek GmbH"), PRODUCT("VirtualBox") }, "VirtualBox", LEAVE },
  { { "" }, { VENDOR("innotek GmbH"), PRODUCT("VirtualBox") }, "VirtualBox", LEAVE },
  { { "VMwareVMware" }, { VENDOR("VMware, Inc."), PRODUCT("VMware7,1") }, "VMware",
    GIVE(" (vpmc.enable = TRUE)") },
  { { NULL }, { VENDOR("VMware, Inc."), PRODUCT("VMware20,1") }, "VMware",
    GIVE(" (vpmc.enable = TRUE)") },
  { { "prl hyperv" }, { VENDOR("Parallels Software International Inc.") }, "Parallels", NULL },
  { { NULL }, { VENDOR("Parallels International GmbH."), PRODUCT("Parallels ARM Virtual Machine") },
    "Parallels", NULL },
  { { NULL }, { VENDOR("Apple Inc."), PRODUCT("Apple Virtualization Generic Platform") },
    "Apple Virtualization", LEAVE },
  { { "something" }, { { NULL, NULL } }, CPUC_HYPERVISOR_UNNAMED, LEAVE },
  /* other CPUs */
  { { NULL }, { VIRTUAL }, CPUC_HYPERVISOR_UNNAMED, LEAVE },
  { { NULL }, { VENDOR("QEMU"), PRODUCT("KVM Virtual Machine") }, "KVM", KVM_REMEDY },
  { { NULL }, { REAL }, NULL, NULL },
  { { NULL },
    { { "/proc/sysinfo", "LPAR Name: X\nVM00 Name: Y\nVM00 Control Program: KVM/Linux\n" } },
    "KVM", KVM_REMEDY },
  { { NULL }, { { "/proc/sysinfo", "VM00 Control Program: z/VM    7.2.0\n" } }, "z/VM", LEAVE },
  { { NULL }, { { "/proc/sysinfo", "LPAR Number: 3\n" } }, NULL, NULL },
  { { NULL },
    { { "/proc/cpuinfo", "cpu\t: POWER9\nmachine\t\t: CHRP IBM pSeries (emulated by qemu)\n" } },
    "QEMU", GIVE("") },
  { { NULL }, { { NULL, NULL } }, NULL, NULL },
  { { "" }, { { NULL, NULL } }, NULL, NULL },
};

/* A row without a remedy has one that depends on the CPU, or none. */
TEST(hypervisor_is_named_and_the_remedy_can_be_applied)
{
  size_t i;

  for (i = 0; i < sizeof hypervisors / sizeof hypervisors[0]; i++) {
    struct cpuc_diagnosis diagnosis = { 0 };
    const char *name;

    memcpy(signatures, hypervisors[i].signatures, sizeof signatures);
    begin_machine(hypervisors[i].files);
    path_of("/sys/bus/event_source/devices/software");
    name = cpuc_hypervisor_find();
    cpuc_remedy_for_perf_event(ENOENT, 0, &diagnosis);
    remove_machine();
    ck_assert_msg(equals(name, hypervisors[i].name), "row %d: %s", (int)i, name ? name : "none");
    ck_assert_str_eq(diagnosis.explanation, name ? NO_PMU_HERE : NO_PMU_DRIVEN);
    if (hypervisors[i].remedy || !name)
      ck_assert_msg(equals(diagnosis.remedy, hypervisors[i].remedy), "row %d: %s", (int)i,
        diagnosis.remedy ? diagnosis.remedy : "none");
  }
  memset(signatures, 0, sizeof signatures);
}

#ifdef HAVE_PERF_EVENTS
static void append_name(const char *name, void *names)
{
  if (*name != '.')
    strcat(strcat(names, name), " ");
}

TEST(listed_pmus_are_those_of_the_machine)
{
  char names[256] = "", type[8];

  begin_machine((const struct file[FILES]) { PMU("cpu_of_test"), { NULL, NULL } });
  cpuc_perf_pmu_visit(append_name, names);
  ck_assert_str_eq(names, "cpu_of_test ");
  ck_assert_int_eq(cpuc_perf_pmu_read("cpu_of_test", "type", type, sizeof type), 1);
  ck_assert_str_eq(type, "4\n");
  remove_machine();
}
#endif

TEST(line_is_found_anywhere_in_a_file)
{
  char text[8], longer[4000];

  begin_machine((const struct file[FILES]) { { "/a", "xkey: 0\nke\nkey: 1\nkey: 2\n" },
    { "/b", "\nkey:\n" }, { "/c", "keykey: 3\nkey: 4" }, { "/d", "" }, { NULL, NULL } });
  ck_assert_int_eq(cpuc_file_read_line("/a", "key:", text, sizeof text), 2);
  ck_assert_str_eq(text, " 1");
  ck_assert_int_eq(cpuc_file_read_line("/b", "key:", text, sizeof text), 0);
  ck_assert_int_eq(cpuc_file_read_line("/c", "key:", text, sizeof text), -1);
  ck_assert_int_eq(cpuc_file_read_line("/d", "key:", text, sizeof text), -1);
  ck_assert_int_eq(cpuc_file_read_line("/e", "key:", text, sizeof text), -1);
  memset(longer, 'x', sizeof longer);
  /* across the end of a chunk, and longer than the buffer */
  memcpy(longer + 1020, "\nkey:123456789", 14);
  strcpy(longer + sizeof longer - 2, "\n");
  write_file("/f", longer);
  ck_assert_int_eq(cpuc_file_read_line("/f", "key:", text, sizeof text), 7);
  ck_assert_str_eq(text, "1234567");
  remove_machine();
}

/* Rosetta has a vendor of its own, and qemu without KVM a signature, whatever DMI reports. */
TEST(cpuid_reveals_emulators)
{
  static struct system_info system;

  make_machine();
  signatures[0] = "";
  fill_system(&system);
  ck_assert_str_eq(system.emulator, "");
  signatures[0] = "TCGTCGTCGTCG";
  write_file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  fill_system(&system);
  ck_assert_str_eq(system.emulator, "QEMU TCG");
  vendor = "VirtualApple";
  fill_system(&system);
  remove_machine();
  vendor = "GenuineIntel";
  ck_assert_str_eq(system.emulator, "Rosetta");
}

SUITE("remedies")
