/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the remedies for refused counters against simulated files of the kernel: a remedy is
   given where it helps on that machine, and none elsewhere. */

#include "config.h"

#include "backends/common/perf-remedy.h"
#include "sys/hypervisor.h"

#include "tests/suites/machine.h"

#include <errno.h>
#include <string.h>

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
#define RDPMC(n) { "/sys/bus/event_source/devices/cpu/rdpmc", n "\n" }
#define HYBRID_RDPMC(n) { "/sys/bus/event_source/devices/cpu_core/rdpmc", n "\n" }
#define WATCHDOG(n) { "/proc/sys/kernel/nmi_watchdog", n "\n" }
#define DOCKER { "/.dockerenv", "" }
#define PMU(name) { "/sys/bus/event_source/devices/" name "/type", "4\n" }
#define NO_PMU { "/sys/bus/event_source/devices/software/type", "1\n" }
#define VIRTUAL \
  { "/proc/cpuinfo", "processor\t: 0\nvendor_id\t: x\nflags\t\t: fpu tsc hypervisor lahf_lm\n" }
#define REAL \
  { "/proc/cpuinfo", "processor\t: 0\nvendor_id\t: hypervisor\nflags\t\t: fpu tsc lahf_lm\n" }
#define PRODUCT(text) { "/sys/class/dmi/id/product_name", text "\n" }
#define VENDOR(text) { "/sys/class/dmi/id/sys_vendor", text "\n" }
#define TREE(text) { "/proc/device-tree/hypervisor/compatible", text }
#define BOARD(text) { "/proc/device-tree/compatible", text }

/* QEMU has this option on some CPUs only. */
#define KVM_REMEDY \
  (QEMU_HAS_PMU_OPTION \
      ? "give the virtual machine a PMU (QEMU: -cpu host,pmu=on), or run outside of it" \
      : "give the virtual machine a PMU, or run outside of it")

static void begin_machine(const struct file *files)
{
  int i;

  strcpy(machine_root, "cpucycles-machine-XXXXXX");
  make_machine();
  for (i = 0; i < FILES && files[i].path; i++)
    write_file(files[i].path, files[i].text);
}

/* Expects NULL for NULL, else a text that begins with `wanted`. */
static void expect_begins(const char *got, const char *wanted)
{
  if (!wanted)
    ck_assert_msg(!got, "there is nothing to say, and it says: %s", got);
  else
    ck_assert_msg(got && strncmp(got, wanted, strlen(wanted)) == 0, "'%s' does not begin with '%s'",
      got ? got : "", wanted);
}

static const struct {
  struct file files[FILES];
  int error, with_kernel;
  const char *explanation, *remedy;
} events[] = {
  /* The setting is above 2. Distributions add these levels to Linux, and CAP_PERFMON does not
     override them. */
  { { PARANOID("3"), RELEASE("6.1.0-18-amd64") }, EACCES, 0,
    "kernel.perf_event_paranoid is above 2",
    "sysctl kernel.perf_event_paranoid=2, or give the program CAP_SYS_ADMIN" },
  { { PARANOID("4"), RELEASE("5.15.0-91-generic") }, EACCES, 0,
    "kernel.perf_event_paranoid is above 2",
    "sysctl kernel.perf_event_paranoid=2, or give the program CAP_SYS_ADMIN" },
  { { PARANOID("10"), RELEASE("5.8.0") }, EACCES, 0, "kernel.perf_event_paranoid is above 2",
    "sysctl kernel.perf_event_paranoid=2, or give the program CAP_SYS_ADMIN" },
  { { PARANOID("3"), RELEASE("4.19.0-26-amd64") }, EACCES, 0,
    "kernel.perf_event_paranoid is above 2",
    "sysctl kernel.perf_event_paranoid=2, or give the program CAP_SYS_ADMIN" },
  { { PARANOID("3"), RELEASE("5.7.19") }, EPERM, 0, "kernel.perf_event_paranoid is above 2",
    "sysctl kernel.perf_event_paranoid=2, or give the program CAP_SYS_ADMIN" },
  { { PARANOID("3"), RELEASE("6.1.0"), FILTER("0") }, EPERM, 0,
    "kernel.perf_event_paranoid is above 2",
    "sysctl kernel.perf_event_paranoid=2, or give the program CAP_SYS_ADMIN" },
  /* A PMU that cannot exclude the kernel needs a lower level. */
  { { PARANOID("2"), RELEASE("6.12.0") }, EACCES, 1, "this PMU cannot leave the kernel out",
    "sysctl kernel.perf_event_paranoid=1, or give the program CAP_PERFMON" },
  { { PARANOID("2"), RELEASE("5.7.19") }, EACCES, 1, "this PMU cannot leave the kernel out",
    "sysctl kernel.perf_event_paranoid=1, or give the program CAP_SYS_ADMIN" },
  { { PARANOID("4"), RELEASE("6.12.0") }, EACCES, 1, "this PMU cannot leave the kernel out",
    "sysctl kernel.perf_event_paranoid=1, or give the program CAP_SYS_ADMIN" },
  /* The setting permits the event. */
  { { PARANOID("2"), RELEASE("6.1.0") }, EACCES, 0, "a security module", NULL },
  { { PARANOID("-1"), RELEASE("6.1.0") }, EACCES, 0, "a security module", NULL },
  { { PARANOID("1"), RELEASE("6.1.0") }, EACCES, 1, "a security module", NULL },
  { { PARANOID("2"), FILTER("0") }, EPERM, 0, NULL, NULL },
  { { PARANOID("2") }, EPERM, 0, NULL, NULL },
  { { RELEASE("6.1.0") }, EACCES, 0, NULL, NULL },
  /* a seccomp filter */
  { { PARANOID("2"), FILTER("2") }, EPERM, 0, "a seccomp filter refuses perf_event_open",
    "let the seccomp filter of this process allow perf_event_open" },
  { { PARANOID("4"), FILTER("2") }, EPERM, 0, "a seccomp filter refuses perf_event_open",
    "let the seccomp filter of this process allow perf_event_open, and sysctl "
    "kernel.perf_event_paranoid=2" },
  { { PARANOID("2"), RELEASE("6.1.0"), FILTER("2"), DOCKER }, EPERM, 0,
    "a seccomp filter refuses perf_event_open",
    "run the container with a seccomp profile that allows perf_event_open, or with --cap-add "
    "PERFMON" },
  { { PARANOID("2"), RELEASE("5.4.0-150-generic"), FILTER("2"), DOCKER }, EPERM, 0,
    "a seccomp filter refuses perf_event_open",
    "run the container with a seccomp profile that allows perf_event_open" },
  { { PARANOID("4"), RELEASE("5.15.0-91-generic"), FILTER("2"), DOCKER }, EPERM, 0,
    "a seccomp filter refuses perf_event_open",
    "run the container with a seccomp profile that allows perf_event_open, and "
    "sysctl kernel.perf_event_paranoid=2 on the host" },
  { { PARANOID("3"), RELEASE("4.19.0-26-amd64"), FILTER("2"), DOCKER }, EPERM, 0,
    "a seccomp filter refuses perf_event_open",
    "run the container with a seccomp profile that allows perf_event_open, and "
    "sysctl kernel.perf_event_paranoid=2 on the host" },
  { { PARANOID("2"), FILTER("2") }, ENOSYS, 0, "a seccomp filter refuses perf_event_open",
    "let the seccomp filter of this process allow perf_event_open" },
  { { PARANOID("2"), FILTER("2") }, EACCES, 0, "a security module", NULL },
  /* no such system call */
  { { PARANOID("2"), FILTER("0") }, ENOSYS, 0, "what runs this program, such as an emulator",
    NULL },
  { { FILTER("2") }, ENOSYS, 0, "this kernel was built without perf events", NULL },
  /* no PMU */
  { { PARANOID("2"), NO_PMU, VIRTUAL }, ENOENT, 0, "this virtual machine has no PMU",
    "run outside of the virtual machine" },
  { { PARANOID("4"), NO_PMU, VIRTUAL, PRODUCT("Standard PC (Q35 + ICH9, 2009)"), VENDOR("QEMU") },
    ENOENT, 0,
    "this virtual machine has no PMU", "give the virtual machine a PMU, or run outside of it" },
  { { NO_PMU, VIRTUAL, PRODUCT("VMware Virtual Platform"), VENDOR("VMware, Inc.") }, EOPNOTSUPP, 0,
    "this virtual machine has no PMU",
    "give the virtual machine a PMU (vpmc.enable = TRUE), or run outside of it" },
  { { NO_PMU, PRODUCT("Virtual Machine"), VENDOR("Microsoft Corporation") }, ENODEV, 0,
    "this virtual machine has no PMU",
    "give the virtual machine a PMU (Set-VMProcessor -Perfmon @(\"pmu\")), or run outside of it" },
  { { NO_PMU, { "/sys/hypervisor/type", "xen\n" } }, ENOENT, 0, "this virtual machine has no PMU",
    "give the virtual machine a PMU (vpmu=on on Xen's command line), or run outside of it" },
  { { NO_PMU, VENDOR("innotek GmbH"), PRODUCT("VirtualBox") }, ENOENT, 0,
    "this virtual machine has no PMU", "run outside of the virtual machine" },
  { { NO_PMU, BOARD("linux,dummy-virt") }, ENOENT, 0, "this virtual machine has no PMU",
    "give the virtual machine a PMU, or run outside of it" },
  { { NO_PMU, BOARD("riscv-virtio") }, ENOENT, 0, "this virtual machine has no PMU",
    "give the virtual machine a PMU, or run outside of it" },
  { { NO_PMU,
    { "/proc/cpuinfo", "cpu\t: POWER9\nmachine\t\t: CHRP IBM pSeries (emulated by qemu)\n" } },
    ENOENT, 0, "this virtual machine has no PMU",
      "give the virtual machine a PMU, or run outside of it" },
  { { NO_PMU, TREE("linux,kvm") }, ENOENT, 0, "this virtual machine has no PMU", KVM_REMEDY },
  { { NO_PMU, PRODUCT("Google Compute Engine") }, ENOENT, 0, "this virtual machine has no PMU",
    KVM_REMEDY },
  /* no remedy for missing hardware */
  { { PARANOID("2"), NO_PMU, REAL }, ENOENT, 0, NULL, NULL },
  { { PARANOID("4"), NO_PMU, REAL, PRODUCT("20XW00"), VENDOR("LENOVO") }, ENOENT, 0, NULL, NULL },
  /* A PMU exists, so its absence is not the cause. */
  { { PMU("cpu"), VIRTUAL }, ENOENT, 0, NULL, NULL },
  { { PMU("cpu_core"), VIRTUAL }, EOPNOTSUPP, 0, NULL, NULL },
  { { PMU("armv8_pmuv3_0"), TREE("linux,kvm") }, ENOENT, 0, NULL, NULL },
  { { PMU("apple_firestorm_pmu"), TREE("linux,kvm") }, ENOENT, 0, NULL, NULL },
  { { PARANOID("4"), VIRTUAL, FILTER("2") }, EMFILE, 0, NULL, NULL },
  { { PARANOID("4"), VIRTUAL, FILTER("2") }, EINVAL, 0, NULL, NULL },
};

START_TEST(remedy_for_a_perf_event_fits_the_machine)
{
  size_t i;

  for (i = 0; i < sizeof events / sizeof events[0]; i++) {
    struct cpucycles_why why = { 0 };

    begin_machine(events[i].files);
    cpucycles_perf_event_why(machine_root, events[i].error, events[i].with_kernel, &why);
    remove_machine();
    ck_assert_ptr_null(why.reason);
    expect_begins(why.explanation, events[i].explanation);
    if (events[i].remedy) {
      ck_assert_ptr_nonnull(why.remedy);
      ck_assert_str_eq(why.remedy, events[i].remedy);
    } else
      ck_assert_ptr_null(why.remedy);
  }
}
END_TEST

static const struct cpucycles_user_access arm64 = CPUCYCLES_ARM64_USER_ACCESS;
static const struct cpucycles_user_access riscv = CPUCYCLES_RISCV_USER_ACCESS;

static const struct {
  struct file files[FILES];
  const struct cpucycles_user_access *needed;
  int is_the_cause;
  const char *remedy;
} accesses[] = {
  { { ACCESS("0"), RELEASE("6.1.0") }, &arm64, 1, "sysctl kernel.perf_user_access=1" },
  { { ACCESS("1"), RELEASE("6.1.0") }, &arm64, 0, NULL },
  { { RELEASE("5.16.20") }, &arm64, 1, "Linux 5.17 or later" },
  { { RELEASE("4.19.0"), TREE("linux,kvm") }, &arm64, 1, "Linux 5.17 or later" },
  { { RELEASE("5.17.0-rc1"), REAL }, &arm64, 1, NULL },
  { { RELEASE("6.1.0"), BOARD("linux,dummy-virt") }, &arm64, 1,
    "give the virtual machine a PMU" },
  { { RELEASE("6.1.0") }, &arm64, 1, NULL },
  { { ACCESS("0"), RELEASE("6.12.0") }, &riscv, 1, "sysctl kernel.perf_user_access=1" },
  { { ACCESS("1"), RELEASE("6.12.0") }, &riscv, 0, NULL },
  { { ACCESS("2"), RELEASE("6.12.0") }, &riscv, 0, NULL },
  { { RELEASE("6.5.13") }, &riscv, 1, "Linux 6.6 or later" },
  { { RELEASE("5.19.0") }, &riscv, 1, "Linux 6.6 or later" },
  { { RELEASE("6.6.0") }, &riscv, 1, NULL },
  { { RELEASE("6.12.0"), BOARD("riscv-virtio,qemu") }, &riscv, 1,
    "give the virtual machine a PMU" },
};

START_TEST(remedy_for_user_access_fits_setting_and_release)
{
  size_t i;

  for (i = 0; i < sizeof accesses / sizeof accesses[0]; i++) {
    struct cpucycles_why why = { 0 };

    begin_machine(accesses[i].files);
    ck_assert_int_eq(cpucycles_user_access_why(machine_root, accesses[i].needed, &why),
      accesses[i].is_the_cause);
    remove_machine();
    expect_begins(why.remedy, accesses[i].remedy);
  }
}
END_TEST

static const struct {
  struct file files[FILES];
  int needed, level;
  const char *remedy;
} settings[] = {
  { { RDPMC("0") }, 1, 0, "echo 1 > /sys/bus/event_source/devices/cpu/rdpmc" },
  { { RDPMC("1") }, 1, 1, NULL },
  { { RDPMC("2") }, 1, 2, NULL },
  { { RDPMC("0"), WATCHDOG("1") }, 2, 0, "echo 2 > /sys/bus/event_source/devices/cpu/rdpmc" },
  { { RDPMC("1"), WATCHDOG("1") }, 2, 1, "echo 2 > /sys/bus/event_source/devices/cpu/rdpmc" },
  { { RDPMC("1") }, 2, 1, "echo 2 > /sys/bus/event_source/devices/cpu/rdpmc" },
  { { RDPMC("1"), WATCHDOG("0") }, 2, 1,
    "echo 2 > /sys/bus/event_source/devices/cpu/rdpmc; sysctl kernel.nmi_watchdog=1" },
  { { RDPMC("2"), WATCHDOG("0") }, 2, 2, NULL },
  { { HYBRID_RDPMC("0") }, 1, 0, "echo 1 > /sys/bus/event_source/devices/cpu_core/rdpmc" },
  { { HYBRID_RDPMC("1") }, 2, 1, "echo 2 > /sys/bus/event_source/devices/cpu_core/rdpmc" },
  { { NO_PMU }, 1, -1, NULL },
  { { RDPMC("x") }, 1, -1, NULL },
};

START_TEST(remedy_for_rdpmc_names_the_needed_level)
{
  size_t i;

  for (i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    struct cpucycles_why why = { 0 };

    begin_machine(settings[i].files);
    ck_assert_int_eq(cpucycles_rdpmc_why(machine_root, settings[i].needed, &why),
      settings[i].level);
    remove_machine();
    if (settings[i].remedy)
      ck_assert_str_eq(why.remedy, settings[i].remedy);
    else
      ck_assert_ptr_null(why.remedy);
  }
}
END_TEST

static const struct {
  struct file files[FILES];
  const char *remedy;
} modules[] = {
  { { PMU("armv8_pmuv3") }, "load the kernel module of contrib/arm-pmu-access" },
  { { PMU("armv8_cortex_a72"), ACCESS("0") }, "load the kernel module of contrib/arm-pmu-access" },
  { { PMU("armv7_cortex_a7") }, "load the kernel module of contrib/arm-pmu-access" },
  { { PMU("apple_firestorm_pmu") }, NULL }, /* Apple's PMU has other registers */
  { { NO_PMU }, NULL },
  { { RELEASE("6.1.0") }, NULL },
};

START_TEST(watchdog_is_the_remedy_for_a_constant_counter_if_it_is_off)
{
  static const struct {
    struct file files[FILES];
    const char *remedy;
  } rows[] = {
    { { RDPMC("2"), WATCHDOG("0") }, "sysctl kernel.nmi_watchdog=1" },
    { { RDPMC("2"), WATCHDOG("1") }, NULL },
    { { RDPMC("2") }, NULL },
  };
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct cpucycles_why why = { 0 };

    begin_machine(rows[i].files);
    cpucycles_fixed_counter_why(machine_root, &why);
    remove_machine();
    expect_begins(why.remedy, rows[i].remedy);
    expect_begins(why.explanation, rows[i].remedy ? "it stands still" : NULL);
  }
}
END_TEST

START_TEST(kernel_module_is_the_remedy_where_a_pmu_exists)
{
  size_t i;

  for (i = 0; i < sizeof modules / sizeof modules[0]; i++) {
    struct cpucycles_why why = { 0 };

    begin_machine(modules[i].files);
    cpucycles_arm_module_why(machine_root, &why);
    remove_machine();
    expect_begins(why.remedy, modules[i].remedy);
  }
}
END_TEST

START_TEST(legacy_setting_is_the_remedy_for_rdcycle)
{
  static const struct {
    struct file files[FILES];
    const char *remedy;
  } rows[] = {
    { { ACCESS("0") }, "sysctl kernel.perf_user_access=2" },
    { { ACCESS("1") }, "sysctl kernel.perf_user_access=2" },
    { { ACCESS("2") }, NULL },
    { { { "/proc/sys/kernel/perf_user_access", "1" } }, NULL },
    { { RELEASE("6.1.0") }, NULL },
  };
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct cpucycles_why why = { 0 };

    begin_machine(rows[i].files);
    cpucycles_rdcycle_why(machine_root, &why);
    remove_machine();
    expect_begins(why.remedy, rows[i].remedy);
  }
}
END_TEST

static const struct {
  struct file files[FILES];
  const char *name;
} hypervisors[] = {
  { { VIRTUAL }, HYPERVISOR_UNNAMED },
  { { REAL }, NULL },
  { { { "/proc/sysinfo", "LPAR Name: X\nVM00 Name: Y\nVM00 Control Program: KVM/Linux\n" } },
    "KVM" },
  { { { "/proc/sysinfo", "VM00 Control Program: z/VM    7.2.0\n" } }, "z/VM" },
  { { { "/proc/sysinfo", "LPAR Number: 3\n" } }, NULL },
  { { { "/proc/cpuinfo", "cpu\t: POWER9\nmachine\t\t: CHRP IBM pSeries (emulated by qemu)\n" } },
    "QEMU" },
  { { { "/proc/cpuinfo", "cpu\t: POWER9\nmachine\t\t: PowerNV 8335-GTH\n" } }, NULL },
  { { VENDOR("Amazon EC2"), PRODUCT("c7g.metal") }, NULL },
  { { PRODUCT("Google Compute Engine") }, "KVM" },
  { { TREE("acme,thing") }, HYPERVISOR_UNNAMED },
  { { { NULL, NULL } }, NULL },
};

START_TEST(hypervisor_is_recognised_by_files_of_the_kernel)
{
  size_t i;

  for (i = 0; i < sizeof hypervisors / sizeof hypervisors[0]; i++) {
    const char *name;

    begin_machine(hypervisors[i].files);
    name = cpucycles_find_hypervisor(machine_root);
    remove_machine();
    if (hypervisors[i].name)
      ck_assert_str_eq(name, hypervisors[i].name);
    else
      ck_assert_ptr_null(name);
  }
  ck_assert_str_eq(cpucycles_hypervisor_of_signature("KVMKVMKVM"), "KVM");
  ck_assert_str_eq(cpucycles_hypervisor_of_signature("VMwareVMware"), "VMware");
  ck_assert_str_eq(cpucycles_hypervisor_of_signature("something"), HYPERVISOR_UNNAMED);
}
END_TEST

START_TEST(cpuid_and_kernel_agree_about_a_virtual_machine)
{
  const char *by_cpu = NULL;
  int by_cpuid = cpucycles_hypervisor_of_cpu(&by_cpu);
  char flags[4096];

  if (by_cpuid < 0 || suite_under("valgrind") || suite_under("qemu")
    || cpucycles_read_kernel_line("", "/proc/cpuinfo", "flags", flags, sizeof flags) < 0) {
    skip("cpuid_and_kernel_agree_about_a_virtual_machine",
      "no CPUID, no flags, or an emulated CPU");
    return;
  }
  ck_assert_int_eq(by_cpuid, strstr(flags, " hypervisor") != NULL);
}
END_TEST

START_TEST(line_is_found_anywhere_in_a_file)
{
  char text[8], longer[4000];

  begin_machine((const struct file[FILES]) { { "/a", "xkey: 0\nke\nkey: 1\nkey: 2\n" },
    { "/b", "\nkey:" }, { "/c", "keykey: 3\n" }, { "/d", "" }, { NULL, NULL } });
  ck_assert_int_eq(cpucycles_read_kernel_line(machine_root, "/a", "key:", text, sizeof text), 2);
  ck_assert_str_eq(text, " 1");
  ck_assert_int_eq(cpucycles_read_kernel_line(machine_root, "/b", "key:", text, sizeof text), 0);
  ck_assert_int_eq(cpucycles_read_kernel_line(machine_root, "/c", "key:", text, sizeof text), -1);
  ck_assert_int_eq(cpucycles_read_kernel_line(machine_root, "/d", "key:", text, sizeof text), -1);
  ck_assert_int_eq(cpucycles_read_kernel_line(machine_root, "/e", "key:", text, sizeof text), -1);
  memset(longer, 'x', sizeof longer);
  /* across the end of a chunk, and longer than the buffer */
  memcpy(longer + 1020, "\nkey:123456789", 14);
  longer[sizeof longer - 1] = 0;
  write_file("/f", longer);
  ck_assert_int_eq(cpucycles_read_kernel_line(machine_root, "/f", "key:", text, sizeof text), 7);
  ck_assert_str_eq(text, "1234567");
  remove_machine();
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, remedy_for_a_perf_event_fits_the_machine);
  tcase_add_test(tests, remedy_for_user_access_fits_setting_and_release);
  tcase_add_test(tests, remedy_for_rdpmc_names_the_needed_level);
  tcase_add_test(tests, watchdog_is_the_remedy_for_a_constant_counter_if_it_is_off);
  tcase_add_test(tests, kernel_module_is_the_remedy_where_a_pmu_exists);
  tcase_add_test(tests, legacy_setting_is_the_remedy_for_rdcycle);
  tcase_add_test(tests, hypervisor_is_recognised_by_files_of_the_kernel);
  tcase_add_test(tests, cpuid_and_kernel_agree_about_a_virtual_machine);
  tcase_add_test(tests, line_is_found_anywhere_in_a_file);
}

int main(void)
{
  return suite_main("remedies", add);
}
