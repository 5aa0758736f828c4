/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the tool's description of a machine, from its files.
   check_examine tests the tool's measurements, check_printers what it concludes and prints. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "sys/file.h"

#include "tests/suites/machine.h"

#include <sys/utsname.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define CPUS "/sys/devices/system/cpu/"
#define SIBLINGS "/topology/thread_siblings_list"
#define GOVERNOR "/cpufreq/scaling_governor"
#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"
#define INFO "/proc/cpuinfo"
#define BOARD_FILE "/proc/device-tree/model"
#ifdef HAVE_SYSCTLBYNAME
#define BOARD NULL
#else
#define BOARD "Some Board Rev 1.4"
#endif

static struct report report;

static void fill(const char *architecture)
{
  memset(&report, 0, sizeof report);
  fill_cpu(&report.cpu, architecture);
  fill_settings(&report.settings);
  fill_system(&report.system);
}

__attribute__((format(printf, 2, 3)))
static void append(char *text, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(text + strlen(text), 400 - strlen(text), format, arguments);
  va_end(arguments);
}

/* Describes what fill() found, except the model. */
static const char *describe(void)
{
  static char text[400];
  const struct cpu_info *cpu = &report.cpu;
  const struct settings_info *settings = &report.settings;
  int i;

  *text = 0;
  if (cpu->cpu_count > 0)
    append(text, "%d CPUs;", cpu->cpu_count);
  if (cpu->core_count > 0)
    append(text, "%d cores;", cpu->core_count);
  for (i = 0; i < cpu->type_count; i++)
    append(text, "%d %s;", cpu->types[i].count, cpu->types[i].name);
  if (*report.system.container)
    append(text, "%s;", report.system.container);
  if (*settings->clock_source)
    append(text, "%s of %s;", settings->clock_source, settings->clock_sources);
  if (*settings->governor)
    append(text, "%s on %d%s;", settings->governor, settings->governor_cpu_count,
      settings->other_governors ? " and others" : "");
  if (settings->turbo >= 0)
    append(text, "turbo %d;", settings->turbo);
  append(text, "%s%s", cpu->foreign ? "foreign;" : "", settings->nmi_watchdog ? "watchdog;" : "");
  return text;
}

/* Files, as Linux writes them. The model NULL is not that of /proc/cpuinfo: it is empty, or comes
   from sysctlbyname() on systems that have it. */
static const struct {
  const char *architecture;
  struct {
    const char *path, *text;
  } files[8];
  const char *model, *description;
} machines[] = {
  { "x86_64", { { NULL, NULL } }, NULL, "" },
  /* under valgrind, this also shows that the empty line is initialized */
  { "x86_64", { { INFO, "" } }, NULL, "" },
  /* a core is counted once, and a list ends before a number that is too large */
  { "x86_64",
    { { CPUS "online", "0-3,6\n" }, { CPUS "cpu0" SIBLINGS, "0-1\n" },
      { CPUS "cpu1" SIBLINGS, "0-1\n" }, { CPUS "cpu2" SIBLINGS, "2,6\n" },
      { CPUS "cpu3" SIBLINGS, "3\n" }, { CPUS "cpu6" SIBLINGS, "2,6\n" } },
    NULL, "5 CPUs;3 cores;" },
  { "x86_64", { { CPUS "online", "0-3,4294967296,7\n" } }, NULL, "4 CPUs;" },
  /* core types */
  { "x86_64",
    { { "/sys/devices/cpu_core/cpus", "0-11\n" }, { "/sys/devices/cpu_atom/cpus", "12-19\n" } },
    NULL, "12 cpu_core;8 cpu_atom;" },
  { "aarch64",
    { { INFO, "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n"
              "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd09\n\n"
              "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd09\n\n"
              "processor\t: 3\nCPU implementer\t: 0x61\nCPU part\t: 0xd09\n" } }, NULL,
    "1 implementer 0x41 part 0xd03;2 implementer 0x41 part 0xd09;1 implementer 0x61 part 0xd09;" },
  /* the model */
  { "x86_64", { { INFO, "model\t: 140\nmodel name\t: 11th Gen Core\n" } }, "11th Gen Core", "" },
  { "ppc64le", { { INFO, "processor\t: 0\ncpu\t\t: POWER9, altivec\n" } }, "POWER9, altivec", "" },
  { "mips64", { { INFO, "cpu model\t\t: MIPS 5KE  FPU V0.0\n" } }, "MIPS 5KE  FPU V0.0", "" },
  { "loongarch64", { { INFO, "Model Name\t\t: Loongson-3A5000-HV\n" } }, "Loongson-3A5000-HV", "" },
  { "riscv64", { { INFO, "isa\t\t: rv64\nuarch\t\t: sifive,u74-mc\n" } }, "sifive,u74-mc", "" },
  { "s390x", { { INFO, "processor 0: identification = 0A1B,  machine = 3906\n" } }, "machine 3906",
    "" },
  { "aarch64", { { INFO, "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n" } },
    "implementer 0x41 part 0xd08", "" },
  { "armv7l", { { INFO, "model name\t: ARMv7 Processor rev 4\nSerial\t\t: 00000000deadbeef\n" } },
    "ARMv7 Processor rev 4", "" },
  { "x86_64", { { INFO, "model name\t: \033[31m  \t\n" } }, "?[31m  ?", "" },
  { "riscv64", { { INFO, "processor\t: 0\n" }, { BOARD_FILE, "Some Board Rev 1.4" } }, BOARD, "" },
  /* lines of another architecture reveal an emulator */
  { "aarch64",
    { { INFO, "vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n" },
      { BOARD_FILE, "not this either" } },
    NULL, "foreign;" },
  { "x86_64", { { INFO, "CPU implementer\t: 0x61\nCPU part\t: 0x000\n" } }, NULL, "foreign;" },
  { "i686", { { INFO, "processor\t: 0\nisa\t\t: rv64imafdc\n" } }, NULL, "foreign;" },
  /* containers; an unknown name may identify a person */
  { "x86_64", { { "/.dockerenv", "" } }, NULL, "docker;" },
  { "x86_64", { { "/run/.containerenv", "name=\"secret\"\n" } }, NULL, "podman;" },
  { "x86_64", { { "/run/systemd/container", "lxc\n" } }, NULL, "lxc;" },
  { "x86_64", { { "/run/systemd/container", "somebodys-name\n" } }, NULL, "" },
  { "x86_64", { { "/run/secrets/kubernetes.io/serviceaccount/namespace", "secret\n" },
      { "/run/.containerenv", "" } }, NULL, "kubernetes;" },
  { "x86_64", { { "/proc/version", "Linux version 4.19.0-gvisor #1\n" } }, NULL, "gvisor;" },
  /* settings */
  { "x86_64",
    { { CPUS "online", "0-2\n" }, { CPUS "cpu0" GOVERNOR, "performance\n" },
      { CPUS "cpu1" GOVERNOR, "performance\n" }, { CPUS "cpufreq/boost", "0\n" },
      { CLOCKS "current_clocksource", "tsc\n" },
      { CLOCKS "available_clocksource", "tsc hpet acpi_pm \n" } },
    NULL, "3 CPUs;tsc of tsc hpet acpi_pm;performance on 2;turbo 0;" },
  { "x86_64",
    { { CPUS "online", "0-2\n" }, { CPUS "cpu0" GOVERNOR, "performance\n" },
      { CPUS "cpu1" GOVERNOR, "powersave\n" }, { CPUS "cpu2" GOVERNOR, "performance\n" },
      { CPUS "cpufreq/boost", "1\n" }, { CPUS "intel_pstate/no_turbo", "1\n" },
      { "/proc/sys/kernel/nmi_watchdog", "0\n" } },
    NULL, "3 CPUs;powersave on 1 and others;turbo 0;" },
  { "x86_64", { { CPUS "cpufreq/boost", "1\n" }, { "/proc/sys/kernel/nmi_watchdog", "1\n" } },
    NULL, "turbo 1;watchdog;" },
};

TEST(machine_is_described_from_its_files)
{
  const char *model;
  size_t i;
  int k;

  for (i = 0; i < sizeof machines / sizeof machines[0]; i++) {
    make_machine();
    for (k = 0; k < 8 && machines[i].files[k].path; k++)
      write_bytes(machines[i].files[k].path, machines[i].files[k].text,
        strlen(machines[i].files[k].text)
          + (strcmp(machines[i].files[k].path, BOARD_FILE) == 0)); /* a string with its end */
    fill(machines[i].architecture);
    remove_machine();
    model = machines[i].model;
#ifdef HAVE_SYSCTLBYNAME
    if (!model)
      model = report.cpu.model;
#endif
    ck_assert_msg(strcmp(report.cpu.model, model ? model : "") == 0, "row %d: %s", (int)i,
      report.cpu.model);
    ck_assert_msg(strcmp(describe(), machines[i].description) == 0, "row %d: %s", (int)i,
      describe());
  }
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
  write_file(CPUS "online", list);
  write_file(CPUS "cpu1528" SIBLINGS, "1528-1529\n");
  fill("ppc64le");
  remove_machine();
  ck_assert_str_eq(describe(), "384 CPUs;1 cores;");
}

TEST(cpuid_and_kernel_agree_about_a_virtual_machine)
{
  char flags[4096];

  SKIP_IF(suite_under("valgrind")
        || suite_under("qemu")
        || cpuc_file_read_line("/proc/cpuinfo", "flags", flags, sizeof flags) < 0,
    "no flags, or an emulated CPU");
  fill("x86_64");
  ck_assert_int_eq(*report.system.hypervisor != 0, strstr(flags, " hypervisor") != NULL);
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

/* binfmt_misc starts programs of this architecture with an emulator. */
TEST_LOOP(enabled_interpreter_of_this_architecture_is_an_emulator, 6)
{
  static const struct {
    const char *kernel, *big_endian, *little_endian; /* names of the architecture: Linux, qemu */
  } rows[6] = { { "mips", "qemu-mips", "qemu-mipsel" },
    { "mips64", "qemu-mips64", "qemu-mips64el" }, { "parisc", "qemu-hppa", "qemu-hppa" },
    { "i686", "qemu-i386", "qemu-i386" }, { "x86_64", "qemu-x86_64", "qemu-x86_64" },
    { "riscv64", "qemu-riscv64", "qemu-riscv64" } };
  const unsigned int one = 1;
  const char *qemu = *(const unsigned char *)&one ? rows[_i].little_endian : rows[_i].big_endian;
  char path[128];

  simulated_architecture = rows[_i].kernel;
  snprintf(path, sizeof path, "/proc/sys/fs/binfmt_misc/%s", qemu);
  make_machine();
  write_file("/proc/sys/fs/binfmt_misc/qemu-another", "enabled\n");
  write_file(path, "disabled\ninterpreter /usr/bin/qemu\n");
  fill_system(&report.system);
  ck_assert_str_ne(report.system.emulator, qemu);
  if (*report.system.emulator)
    remove_machine();
  SKIP_IF(*report.system.emulator, "CPUID names an emulator");
  write_file(path, "enabled\ninterpreter /usr/bin/qemu\n");
  fill_system(&report.system);
  ck_assert_str_eq(report.system.emulator, qemu);
  write_file("/proc/sys/fs/binfmt_misc/rosetta", "enabled\n");
  fill_system(&report.system);
  ck_assert_str_eq(report.system.emulator,
    strcmp(simulated_architecture, "x86_64") == 0 ? "Rosetta" : qemu);
  remove_machine();
}
#endif

static void leave_the_container(void)
{
  unsetenv("container"); /* the name of the container in which the suite runs */
  unsetenv("KUBERNETES_SERVICE_HOST");
}

SUITE_AROUND("report", leave_the_container, NULL)
