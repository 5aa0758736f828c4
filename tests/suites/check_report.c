/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the tool says of a machine, by files made for the test and by recorded machines, and what
   it warns of. What it measures, tests/scripts/report.py tries on the tool itself. */

#include "config.h"

#include "cpucycles-info/library.c"
#include "cpucycles-info/machine.c"
#include "cpucycles-info/report.c"
#include "cpucycles-info/system.c"
#include "cpucycles-info/warn.c"

#include "tests/suites/machine.h"

#define CPU "/sys/devices/system/cpu/"

static struct cpu_info cpu;
static struct state_info state;
static struct system_info system_found;

static void look(const char *root, const char *architecture)
{
  memset(&cpu, 0, sizeof cpu);
  memset(&state, 0, sizeof state);
  memset(&system_found, 0, sizeof system_found);
  fill_cpu(&cpu, root, architecture);
  fill_state(&state, root);
  fill_system(&system_found, root);
}

START_TEST(machine_that_says_nothing_is_not_known)
{
  make_machine();
  look(machine_root, "x86_64");
  remove_machine();
  ck_assert_str_eq(cpu.model, "");
  ck_assert_int_eq(cpu.cpus, 0);
  ck_assert_int_eq(cpu.cores, 0);
  ck_assert_int_eq(cpu.types, 0);
  ck_assert_str_eq(state.clock_source, "");
  ck_assert_str_eq(state.governor, "");
  ck_assert_int_eq(state.turbo, -1);
  ck_assert_str_eq(system_found.container, "");
  ck_assert_str_eq(system_found.hypervisor, "");
}
END_TEST

START_TEST(threads_of_a_core_are_told_from_cores)
{
  make_machine();
  write_file(CPU "online", "0-3,6\n");
  write_file(CPU "cpu0/topology/thread_siblings_list", "0-1\n");
  write_file(CPU "cpu1/topology/thread_siblings_list", "0-1\n");
  write_file(CPU "cpu2/topology/thread_siblings_list", "2,6\n");
  write_file(CPU "cpu3/topology/thread_siblings_list", "3\n");
  write_file(CPU "cpu6/topology/thread_siblings_list", "2,6\n");
  look(machine_root, "x86_64");
  remove_machine();
  ck_assert_int_eq(cpu.cpus, 5);
  ck_assert_int_eq(cpu.cores, 3);
}
END_TEST

START_TEST(types_of_core_are_counted)
{
  make_machine();
  write_file("/sys/devices/cpu_core/cpus", "0-11\n");
  write_file("/sys/devices/cpu_atom/cpus", "12-19\n");
  look(machine_root, "x86_64");
  ck_assert_int_eq(cpu.types, 2);
  ck_assert_str_eq(cpu.type[0].name, "cpu_core");
  ck_assert_int_eq(cpu.type[0].count, 12);
  ck_assert_int_eq(cpu.type[1].count, 8);
  remove_machine();
  strcpy(machine_root, "cpucycles-machine-XXXXXX");
  make_machine();
  write_file("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n"
                              "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd09\n\n"
                              "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd09\n");
  look(machine_root, "aarch64");
  remove_machine();
  ck_assert_int_eq(cpu.types, 2);
  ck_assert_str_eq(cpu.type[0].name, "implementer 0x41 part 0xd03");
  ck_assert_int_eq(cpu.type[0].count, 1);
  ck_assert_int_eq(cpu.type[1].count, 2);
}
END_TEST

/* A line of each architecture, as Linux writes it. */
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

START_TEST(model_is_what_the_machine_calls_it)
{
  size_t i;

  for (i = 0; i < sizeof models / sizeof models[0]; i++) {
    strcpy(machine_root, "cpucycles-machine-XXXXXX");
    make_machine();
    write_file("/proc/cpuinfo", models[i].cpuinfo);
    look(machine_root, models[i].architecture);
    remove_machine();
    ck_assert_str_eq(cpu.model, models[i].model);
    ck_assert_int_eq(cpu.foreign, 0);
    ck_assert_int_eq(cpu.types, 0);
  }
}
END_TEST

START_TEST(file_of_another_architecture_tells_of_an_emulator)
{
  make_machine();
  write_file("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n");
  write_file("/proc/device-tree/model", "not this either");
  look(machine_root, "aarch64");
  remove_machine();
  ck_assert_int_eq(cpu.foreign, 1);
  ck_assert_str_eq(cpu.model, "");
}
END_TEST

START_TEST(board_names_what_cpuinfo_does_not)
{
  make_machine();
  write_file("/proc/cpuinfo", "processor\t: 0\n");
  write_bytes("/proc/device-tree/model", "Some Board Rev 1.4\0", 19);
  look(machine_root, "riscv64");
  remove_machine();
  ck_assert_str_eq(cpu.model, "Some Board Rev 1.4");
}
END_TEST

START_TEST(containers_of_known_makers_are_named)
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
    strcpy(machine_root, "cpucycles-machine-XXXXXX");
    make_machine();
    write_file(rows[i].path, rows[i].text);
    look(machine_root, "x86_64");
    remove_machine();
    ck_assert_str_eq(system_found.container, rows[i].name);
  }
}
END_TEST

static struct report report;

static int warns_of(const char *words)
{
  int i;

  for (i = 0; i < report.warnings; i++)
    if (strstr(report.warning[i], words))
      return 1;
  return 0;
}

/* An empty report on this process's counters. */
static void begin_report(void)
{
  memset(&report, 0, sizeof report);
  fill_library(&report.library);
}

/* Of the state that was found, whatever counter this process has. */
static void look_for_warnings(void)
{
  look(machine_root, "x86_64");
  begin_report();
  report.state = state;
  find_warnings(&report);
}

START_TEST(state_that_endangers_a_measurement_is_warned_of)
{
  make_machine();
  look_for_warnings();
  ck_assert(!warns_of("governor") && !warns_of("turbo") && !warns_of("clock source"));
  write_file(CPU "online", "0-2\n");
  write_file(CPU "cpu0/cpufreq/scaling_governor", "performance\n");
  write_file(CPU "cpu1/cpufreq/scaling_governor", "performance\n");
  write_file(CPU "cpufreq/boost", "0\n");
  write_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  write_file("/sys/devices/system/clocksource/clocksource0/available_clocksource",
    "tsc hpet acpi_pm \n");
  look_for_warnings();
  ck_assert_str_eq(state.governor, "performance");
  ck_assert_int_eq(state.governor_cpus, 2);
  ck_assert_int_eq(state.governors, 1);
  ck_assert_int_eq(state.turbo, 0);
  ck_assert_str_eq(state.clock_sources, "tsc hpet acpi_pm");
  ck_assert(!warns_of("governor") && !warns_of("turbo") && !warns_of("clock source"));
  write_file(CPU "cpu1/cpufreq/scaling_governor", "powersave\n");
  write_file(CPU "cpu2/cpufreq/scaling_governor", "powersave\n");
  write_file(CPU "cpufreq/boost", "1\n");
  write_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  look_for_warnings();
  ck_assert_str_eq(state.governor, "powersave");
  ck_assert_int_eq(state.governor_cpus, 2);
  ck_assert_int_eq(state.governors, 2);
  ck_assert(warns_of("the governor powersave changes"));
  ck_assert(warns_of("turbo is on"));
  ck_assert(warns_of("the clock source hpet is slow"));
  write_file(CPU "intel_pstate/no_turbo", "1\n");
  look_for_warnings();
  ck_assert_int_eq(state.turbo, 0);
  remove_machine();
}
END_TEST

/* A timer of one of this library's counters, as the tool finds it. */
static void judge(const struct timer *timer)
{
  begin_report();
  report.state.turbo = -1;
  report.timer = (struct timer *)timer;
  report.timers = 1;
  find_warnings(&report);
}

START_TEST(counter_that_does_not_deliver_what_is_stated_is_warned_of)
{
  static struct timer timer = { .name = "default-gettimeofday", .stated = 1000000,
    .measured = 1000100,
    .invariant = 1, .samples = 100 };

  judge(&timer);
  ck_assert(!warns_of("stated") && !warns_of("differs") && !warns_of("backward"));
  timer.measured = 980000;
  judge(&timer);
  ck_assert(warns_of("is stated to count 1000000 a second, and counts 980000"));
  ck_assert_double_eq_tol(rate_off_ppm(&timer), -20000, 1e-6);
  timer.uncertainty = 25000; /* it may be as stated */
  judge(&timer);
  ck_assert(!warns_of("stated"));
  timer.measured = 970000;
  judge(&timer);
  ck_assert(warns_of("stated"));
  timer.stated = 0;
  judge(&timer);
  ck_assert(!warns_of("stated"));
  timer.largest_step_back = 12345;
  timer.below_zero = 3;
  judge(&timer);
  ck_assert(warns_of("differs between CPUs, by 12345 cycles"));
  ck_assert(warns_of("ran backward in 3 of 100"));
}
END_TEST

START_TEST(clock_in_use_is_warned_of)
{
  setenv("CPUCYCLES_IMPLEMENTATION", "default-gettimeofday", 1);
  begin_report();
  report.state.turbo = 1;
  find_warnings(&report);
  ck_assert(warns_of("default-gettimeofday is a clock of the operating system"));
  ck_assert(warns_of("the cycles counted are not the core's"));
}
END_TEST

/* The core's rate, in hundredths of what is counted in a second. */
START_TEST(core_is_warned_of_where_its_rate_is_not_what_is_counted)
{
  static const struct {
    int hundredths, is_warned_of;
  } rows[] = { { 97, 1 }, { 99, 0 }, { 101, 0 }, { 103, 1 } };
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    begin_report();
    report.state.turbo = -1;
    report.core.counted_persecond = 2000000000;
    report.core.persecond_before = report.core.persecond_after = 20000000LL * rows[i].hundredths;
    find_warnings(&report);
    ck_assert_msg(warns_of("but the core runs at") == rows[i].is_warned_of, "%d",
      rows[i].hundredths);
    report.warnings = 0;
    report.core.is_counted = 1;
    find_warnings(&report);
    ck_assert(!warns_of("but the core runs at"));
  }
}
END_TEST

START_TEST(recorded_machines_are_described)
{
  static const struct {
    const char *folder, *architecture, *model;
  } rows[] = {
    { "x86_64-dell_e4310", "x86_64", "Intel(R) Core(TM) i5 CPU       M 560  @ 2.67GHz" },
    { "x86_64-64cpu-linux6.2", "x86_64", "11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz" },
    { "ppc64-POWER7", "ppc64", "POWER7" },
    { "loongarch-loongson_3a5000_hv", "loongarch64", "Loongson-3A5000-HV" },
    { "rv64-visionfive2", "riscv64", "sifive,u74-mc" },
    { "s390-lpar-drawer", "s390x", "machine 2964" },
  };
  const char *wanted = getenv("CPUCYCLES_MACHINES"), *srcdir = getenv("srcdir");
  char machines[256], root[512];
  size_t i;

  if (wanted)
    snprintf(machines, sizeof machines, "%s", wanted);
  else
    snprintf(machines, sizeof machines, "%s/../shared/machines", srcdir ? srcdir : ".");
  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    snprintf(root, sizeof root, "%s/%s", machines, rows[i].folder);
    if (!is_kernel_file(root, "/proc/cpuinfo")) {
      skip("recorded_machines_are_described",
        "CPUCYCLES_MACHINES names no folder of recorded machines");
      return;
    }
    look(root, rows[i].architecture);
    ck_assert_msg(strstr(cpu.model, rows[i].model) != NULL, "%s: %s", rows[i].folder, cpu.model);
  }
  snprintf(root, sizeof root, "%s/arm-A510-A710-A715-X3", machines);
  look(root, "aarch64");
  ck_assert_int_eq(cpu.types, 4);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, machine_that_says_nothing_is_not_known);
  tcase_add_test(tests, threads_of_a_core_are_told_from_cores);
  tcase_add_test(tests, types_of_core_are_counted);
  tcase_add_test(tests, model_is_what_the_machine_calls_it);
  tcase_add_test(tests, file_of_another_architecture_tells_of_an_emulator);
  tcase_add_test(tests, board_names_what_cpuinfo_does_not);
  tcase_add_test(tests, containers_of_known_makers_are_named);
  tcase_add_test(tests, state_that_endangers_a_measurement_is_warned_of);
  tcase_add_test(tests, counter_that_does_not_deliver_what_is_stated_is_warned_of);
  tcase_add_test(tests, clock_in_use_is_warned_of);
  tcase_add_test(tests, core_is_warned_of_where_its_rate_is_not_what_is_counted);
  tcase_add_test(tests, recorded_machines_are_described);
}

int main(void)
{
  return suite_main("report", add);
}
