/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the tool's description of a machine, from files of the test and of recorded machines, and
   the tool's warnings. check_examine tests the tool's measurements, and tests/scripts/report.py
   tests the tool's report. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "sys/file.h"

#include "tests/suites/machine.h"

#include <sys/utsname.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define CPU "/sys/devices/system/cpu/"

static struct cpu_info cpu;
static struct settings_info settings;
static struct system_info system_found;

static void fill(const char *architecture)
{
  memset(&cpu, 0, sizeof cpu);
  memset(&settings, 0, sizeof settings);
  memset(&system_found, 0, sizeof system_found);
  fill_cpu(&cpu, architecture);
  fill_settings(&settings);
  fill_system(&system_found);
}

/* Expects this model for a machine whose /proc/cpuinfo does not contain the model. */
static void expect_fallback_model(const char *model)
{
#ifdef HAVE_SYSCTLBYNAME
  (void)model;
  skip_part("(model) sysctlbyname() reports the model of this machine");
#else
  ck_assert_str_eq(cpu.model, model);
#endif
}

TEST(machine_without_files_is_not_known)
{
  make_machine();
  fill("x86_64");
  remove_machine();
  expect_fallback_model("");
  ck_assert_int_eq(cpu.cpu_count, 0);
  ck_assert_int_eq(cpu.core_count, 0);
  ck_assert_int_eq(cpu.type_count, 0);
  ck_assert_str_eq(settings.clock_source, "");
  ck_assert_str_eq(settings.governor, "");
  ck_assert_int_eq(settings.turbo, -1);
  ck_assert_str_eq(system_found.container, "");
}

/* Under valgrind, this also shows that the empty line is initialized. */
TEST(empty_cpuinfo_has_no_model)
{
  make_machine();
  write_file("/proc/cpuinfo", "");
  fill("x86_64");
  remove_machine();
  expect_fallback_model("");
  ck_assert_int_eq(cpu.type_count, 0);
}

TEST(core_with_several_threads_is_counted_once)
{
  make_machine();
  write_file(CPU "online", "0-3,6\n");
  write_file(CPU "cpu0/topology/thread_siblings_list", "0-1\n");
  write_file(CPU "cpu1/topology/thread_siblings_list", "0-1\n");
  write_file(CPU "cpu2/topology/thread_siblings_list", "2,6\n");
  write_file(CPU "cpu3/topology/thread_siblings_list", "3\n");
  write_file(CPU "cpu6/topology/thread_siblings_list", "2,6\n");
  fill("x86_64");
  remove_machine();
  ck_assert_int_eq(cpu.cpu_count, 5);
  ck_assert_int_eq(cpu.core_count, 3);
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
  list[length] = '\n';
  make_machine();
  write_file(CPU "online", list);
  write_file(CPU "cpu1528/topology/thread_siblings_list", "1528-1529\n");
  fill("ppc64le");
  remove_machine();
  ck_assert_int_eq(cpu.cpu_count, 384);
  ck_assert_int_eq(cpu.core_count, 1);
}

TEST(list_of_cpus_ends_before_a_number_that_is_too_large)
{
  make_machine();
  write_file(CPU "online", "0-3,4294967296,7\n");
  fill("x86_64");
  remove_machine();
  ck_assert_int_eq(cpu.cpu_count, 4);
}

TEST(core_types_are_counted)
{
  make_machine();
  write_file("/sys/devices/cpu_core/cpus", "0-11\n");
  write_file("/sys/devices/cpu_atom/cpus", "12-19\n");
  fill("x86_64");
  ck_assert_int_eq(cpu.type_count, 2);
  ck_assert_str_eq(cpu.types[0].name, "cpu_core");
  ck_assert_int_eq(cpu.types[0].count, 12);
  ck_assert_int_eq(cpu.types[1].count, 8);
  remove_machine();
  make_machine();
  write_file("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n"
                              "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd09\n\n"
                              "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd09\n");
  fill("aarch64");
  remove_machine();
  ck_assert_int_eq(cpu.type_count, 2);
  ck_assert_str_eq(cpu.types[0].name, "implementer 0x41 part 0xd03");
  ck_assert_int_eq(cpu.types[0].count, 1);
  ck_assert_int_eq(cpu.types[1].count, 2);
}

/* Lines of /proc/cpuinfo, as Linux writes them. */
static const struct {
  const char *architecture, *cpuinfo, *model;
} models[] = {
  { "x86_64",
    "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t: 140\nmodel name\t: 11th Gen Core\n",
    "11th Gen Core" },
  { "i686", "vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n", "AMD EPYC" },
  { "ppc64le", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2300.000000MHz\n",
    "POWER9, altivec supported" },
  { "mips64", "system type\t\t: MIPS Malta\ncpu model\t\t: MIPS 5KE V0.0  FPU V0.0\n",
    "MIPS 5KE V0.0  FPU V0.0" },
  { "loongarch64", "Model Name\t\t: Loongson-3A5000-HV\n", "Loongson-3A5000-HV" },
  { "riscv64", "isa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n", "sifive,u74-mc" },
  { "s390x",
    "vendor_id       : IBM/S390\nprocessor 0: version = 00,  identification = 0A1B2C,  machine = "
    "3906\n", "machine 3906" },
  { "sparc64", "cpu\t\t: TI UltraSparc II  (BlackBird)\n", "TI UltraSparc II  (BlackBird)" },
  { "aarch64", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n",
    "implementer 0x41 part 0xd08" },
  { "armv7l", "model name\t: ARMv7 Processor rev 4\nSerial\t\t: 00000000deadbeef\n",
    "ARMv7 Processor rev 4" },
  { "x86_64", "model name\t: \033[31m  \t\n", "?[31m  ?" },
};

TEST(model_is_found_on_each_architecture)
{
  size_t i;

  for (i = 0; i < sizeof models / sizeof models[0]; i++) {
    make_machine();
    write_file("/proc/cpuinfo", models[i].cpuinfo);
    fill(models[i].architecture);
    remove_machine();
    ck_assert_str_eq(cpu.model, models[i].model);
    ck_assert_int_eq(cpu.foreign, 0);
    ck_assert_int_eq(cpu.type_count, 0);
  }
}

TEST(cpuinfo_of_another_architecture_reveals_an_emulator)
{
  static const struct {
    const char *architecture, *cpuinfo;
  } rows[] = {
    { "aarch64", "vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n" },
    { "x86_64", "processor\t: 0\nCPU implementer\t: 0x61\nCPU part\t: 0x000\n" },
    { "i686", "processor\t: 0\nisa\t\t: rv64imafdc\n" },
  };
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    make_machine();
    write_file("/proc/cpuinfo", rows[i].cpuinfo);
    write_file("/proc/device-tree/model", "not this either");
    fill(rows[i].architecture);
    remove_machine();
    ck_assert_int_eq(cpu.foreign, 1);
    expect_fallback_model("");
  }
}

TEST(model_of_the_board_is_the_fallback)
{
  make_machine();
  write_file("/proc/cpuinfo", "processor\t: 0\n");
  write_bytes("/proc/device-tree/model", "Some Board Rev 1.4\0", 19);
  fill("riscv64");
  remove_machine();
  expect_fallback_model("Some Board Rev 1.4");
}

TEST(cpuid_and_kernel_agree_about_a_virtual_machine)
{
  char flags[4096];

  SKIP_IF(suite_under("valgrind")
        || suite_under("qemu")
        || cpuc_file_read_line("/proc/cpuinfo", "flags", flags, sizeof flags) < 0,
    "no flags, or an emulated CPU");
  fill("x86_64");
  ck_assert_int_eq(*system_found.hypervisor != 0, strstr(flags, " hypervisor") != NULL);
}

TEST(known_containers_are_named)
{
  static const struct {
    const char *path, *text, *name;
  } rows[] = {
    { "/.dockerenv", "", "docker" },
    { "/run/.containerenv", "name=\"secret\"\n", "podman" },
    { "/run/systemd/container", "lxc\n", "lxc" },
    { "/run/systemd/container", "somebodys-name\n", "" },
    { "/etc/nothing", "", "" },
  };
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    make_machine();
    write_file(rows[i].path, rows[i].text);
    fill("x86_64");
    remove_machine();
    ck_assert_str_eq(system_found.container, rows[i].name);
  }
}

static struct report report;

static int has_warning(const char *words)
{
  int i;

  for (i = 0; i < report.warning_count; i++)
    if (strstr(report.warnings[i].text, words))
      return 1;
  return 0;
}

/* An empty report on this process's counters. */
static void begin_report(void)
{
  memset(&report, 0, sizeof report);
  fill_library(&report.library);
}

/* Finds the warnings about the settings below machine_root, and about this process's counter. */
static void warn_about_settings(void)
{
  fill("x86_64");
  begin_report();
  report.settings = settings;
  judge_report(&report);
}

TEST(warning_of_settings_that_distort_measurements)
{
  make_machine();
  warn_about_settings();
  ck_assert(!has_warning("governor") && !has_warning("turbo") && !has_warning("clock source"));
  write_file(CPU "online", "0-2\n");
  write_file(CPU "cpu0/cpufreq/scaling_governor", "performance\n");
  write_file(CPU "cpu1/cpufreq/scaling_governor", "performance\n");
  write_file(CPU "cpufreq/boost", "0\n");
  write_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  write_file("/sys/devices/system/clocksource/clocksource0/available_clocksource",
    "tsc hpet acpi_pm \n");
  warn_about_settings();
  ck_assert_str_eq(settings.governor, "performance");
  ck_assert_int_eq(settings.governor_cpu_count, 2);
  ck_assert_int_eq(settings.other_governors, 0);
  ck_assert_int_eq(settings.turbo, 0);
  ck_assert_str_eq(settings.clock_sources, "tsc hpet acpi_pm");
  ck_assert(!has_warning("governor") && !has_warning("turbo") && !has_warning("clock source"));
  write_file(CPU "cpu1/cpufreq/scaling_governor", "powersave\n");
  write_file(CPU "cpu2/cpufreq/scaling_governor", "powersave\n");
  write_file(CPU "cpufreq/boost", "1\n");
  write_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  warn_about_settings();
  ck_assert_str_eq(settings.governor, "powersave");
  ck_assert_int_eq(settings.governor_cpu_count, 2);
  ck_assert_int_eq(settings.other_governors, 1);
  ck_assert(has_warning("the governor powersave can change"));
  ck_assert(has_warning("turbo is on"));
  ck_assert(has_warning("the clock source hpet is slow"));
  write_file(CPU "cpu0/cpufreq/scaling_governor", "powersave\n");
  write_file(CPU "cpu2/cpufreq/scaling_governor", "performance\n");
  fill("x86_64");
  ck_assert_str_eq(settings.governor, "powersave");
  ck_assert_int_eq(settings.governor_cpu_count, 2);
  write_file(CPU "intel_pstate/no_turbo", "1\n");
  warn_about_settings();
  ck_assert_int_eq(settings.turbo, 0);
  remove_machine();
}

static int warns_of_watchdog(const char *setting, const char *name)
{
  const struct cpucycles_counter_info counter = { .name = name, .kind = "core", .scope = "core" };

  write_file("/proc/sys/kernel/nmi_watchdog", setting);
  fill("x86_64");
  begin_report();
  report.settings = settings;
  report.library.selected = &counter;
  judge_report(&report);
  return has_warning("the kernel's NMI watchdog sets amd64-pmcff back");
}

TEST(warning_of_a_watchdog_that_sets_the_counter_back)
{
  make_machine();
  ck_assert_int_eq(warns_of_watchdog("1\n", "amd64-pmcff"), 1);
  ck_assert_int_eq(warns_of_watchdog("0\n", "amd64-pmcff"), 0);
  ck_assert_int_eq(warns_of_watchdog("", "amd64-pmcff"), 0);
  ck_assert_int_eq(warns_of_watchdog("1\n", "amd64-pmc"), 0);
  remove_machine();
}

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

TEST_LOOP(emulator_is_found_where_qemu_and_the_kernel_differ_in_the_name, 4)
{
  static const char *const names[4][3] = { { "mips", "qemu-mips", "qemu-mipsel" },
    { "mips64", "qemu-mips64", "qemu-mips64el" }, { "parisc", "qemu-hppa", "qemu-hppa" },
    { "i686", "qemu-i386", "qemu-i386" } };
  const unsigned int one = 1;
  const char *qemu = names[_i][1 + *(const unsigned char *)&one];
  char path[128];

  simulated_architecture = names[_i][0];
  snprintf(path, sizeof path, "/proc/sys/fs/binfmt_misc/%s", qemu);
  make_machine();
  fill_system(&system_found);
  if (*system_found.emulator)
    remove_machine();
  SKIP_IF(*system_found.emulator, "CPUID names an emulator");
  write_file(path, "enabled\ninterpreter /usr/bin/qemu\n");
  fill_system(&system_found);
  ck_assert_str_eq(system_found.emulator, qemu);
  remove_machine();
}
#endif

/* binfmt_misc starts programs of this architecture with an emulator. */
TEST(enabled_interpreter_of_this_architecture_is_an_emulator)
{
  struct utsname name;
  char path[128], qemu[80];

  ck_assert_int_eq(uname(&name), 0);
  SKIP_IF(strncmp(name.machine, "arm", 3) == 0 || strcmp(name.machine + 2, "86") == 0
      || strncmp(name.machine, "mips", 4) == 0 || strcmp(name.machine, "parisc") == 0,
    "qemu has another name for it");
  snprintf(qemu, sizeof qemu, "qemu-%s", name.machine);
  snprintf(path, sizeof path, "/proc/sys/fs/binfmt_misc/%s", qemu);
  make_machine();
  write_file("/proc/sys/fs/binfmt_misc/qemu-another", "enabled\n");
  write_file(path, "disabled\ninterpreter /usr/bin/qemu\n");
  fill_system(&system_found);
  ck_assert_str_ne(system_found.emulator, qemu);
  if (*system_found.emulator)
    remove_machine();
  SKIP_IF(*system_found.emulator, "CPUID names an emulator");
  write_file(path, "enabled\ninterpreter /usr/bin/qemu\n");
  fill_system(&system_found);
  ck_assert_str_eq(system_found.emulator, qemu);
  begin_report();
  report.system = system_found;
  judge_report(&report);
  ck_assert(has_warning(qemu) && has_warning("counts are those of the emulator"));
  write_file("/proc/sys/fs/binfmt_misc/rosetta", "enabled\n");
  fill_system(&system_found);
  ck_assert_int_eq(strcmp(system_found.emulator, "Rosetta") == 0,
    strcmp(name.machine, "x86_64") == 0);
  remove_machine();
}

/* Warnings about a timer that has the name of one of this library's counters. */
TEST(warning_of_a_counter_that_is_not_as_reported)
{
  static const struct {
    long long reported, step_back;
    double measured, uncertainty;
    int below_zero;
    const char *source, *hypervisor;
    const char *warnings[2]; /* NULL: none */
  } rows[] = {
    { 1000000, 0, 1000100, 0, 0, "", "", { NULL, NULL } },
    { 1000000, 0, 980000, 0, 0, "", "",
      { "counts 980000 units per second instead of the reported 1000000",
        "typical of emulators" } },
    { 1000000, 0, 980000, 25000, 0, "", "", { NULL, NULL } }, /* within the uncertainty */
    { 1000000, 0, 970000, 25000, 0, "CPUID leaf 15H", "", { "typical of emulators", NULL } },
    { 1000000, 0, 970000, 25000, 0, "CPUID leaf 15H", "KVM",
      { "CPUID can contain the value of the host", NULL } },
    { 0, 0, 970000, 0, 0, "", "", { NULL, NULL } },
    { 0, 12345, 970000, 0, 3, "", "",
      { "differs between CPUs, by 12345 cycles", "stepped back in 3 of 100" } },
  };
  static struct counter_results results = { .name = "default-gettimeofday", .invariant = 1,
    .difference_count = 100 };
  size_t i;
  int k;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    begin_report();
    results.reported = rows[i].reported;
    results.measured = rows[i].measured;
    results.uncertainty = rows[i].uncertainty;
    results.largest_step_back = rows[i].step_back;
    results.below_zero = rows[i].below_zero;
    strcpy(results.reported_source, rows[i].source);
    strcpy(report.system.hypervisor, rows[i].hypervisor);
    report.settings.turbo = -1;
    report.results = &results;
    report.result_count = 1;
    judge_report(&report);
    for (k = 0; k < 2 && rows[i].warnings[k]; k++)
      ck_assert_msg(has_warning(rows[i].warnings[k]), "row %d: %s", (int)i, rows[i].warnings[k]);
    ck_assert(has_warning("typical of emulators") + has_warning("value of the host")
      == has_warning("instead of the reported"));
    if (k == 0)
      ck_assert(!has_warning("instead of the reported") && !has_warning("differs")
        && !has_warning("stepped back"));
  }
}

TEST(recorded_machines_are_described)
{
  static const struct {
    const char *directory, *architecture, *model;
  } rows[] = {
    { "x86_64-dell_e4310", "x86_64", "Intel(R) Core(TM) i5 CPU       M 560  @ 2.67GHz" },
    { "x86_64-64cpu-linux6.2", "x86_64", "11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz" },
    { "ppc64-POWER7", "ppc64", "POWER7" },
    { "loongarch-loongson_3a5000_hv", "loongarch64", "Loongson-3A5000-HV" },
    { "rv64-visionfive2", "riscv64", "sifive,u74-mc" },
    { "s390-lpar-drawer", "s390x", "machine 2964" },
  };
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    files_root = recorded_machine(rows[i].directory);
    SKIP_IF(!cpuc_file_exists("/proc/cpuinfo"),
      "CPUCYCLES_MACHINES names no directory of recorded machines");
    fill(rows[i].architecture);
    ck_assert_msg(strstr(cpu.model, rows[i].model) != NULL, "%s: %s", rows[i].directory, cpu.model);
  }
  files_root = recorded_machine("arm-A510-A710-A715-X3");
  fill("aarch64");
  ck_assert_int_eq(cpu.type_count, 4);
}

static void leave_the_container(void)
{
  unsetenv("container"); /* the name of the container in which the suite runs */
}

SUITE_AROUND("report", leave_the_container, NULL)
