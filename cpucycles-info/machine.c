/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fills the sections on the system, the CPU, and settings that affect measurements. Copies nothing
   into the report that identifies a person or a host, such as a host name, user, path or serial
   number. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "sys/file.h"
#include "sys/machine.h"
#include "sys/parse.h"
#include "sys/perf/pmu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CPUCYCLES_POSIX
#include <sys/utsname.h>
#endif
#ifdef HAVE_GNU_LIBC_VERSION_H
#include <gnu/libc-version.h>
#endif
#ifdef HAVE_SCHED_SETAFFINITY
#include <sched.h>
#endif
#ifdef HAVE_SYSCTLBYNAME
#include <sys/types.h>

#include <sys/sysctl.h>
#endif

#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"
#define CPUS "/sys/devices/system/cpu/"

/* Copies the first line of `from` without surrounding spaces, cut to size. Control characters
   become '?'. NULL is an empty line. */
static void copy_line(char *to, size_t size, const char *from)
{
  size_t length = 0;

  from = from ? from : "";
  while (*from == ' ' || *from == '\t')
    from++;
  for (; *from && *from != '\n' && length < size - 1; from++)
    to[length++] = (unsigned char)*from < ' ' || *from == 127 ? '?' : *from;
  while (length > 0 && to[length - 1] == ' ')
    length--;
  to[length] = 0;
}

/* Copies the first line of a file like copy_line(). Does not change `to` if the file is empty or
   unreadable. */
static void copy_line_of_file(char *to, size_t size, const char *path)
{
  char text[256];

  if (cpuc_file_read_start(path, text, sizeof text) > 0)
    copy_line(to, size, text);
}

static void fill_kernel(struct system_info *system)
{
#ifdef CPUCYCLES_POSIX
  struct utsname name;

  if (uname(&name) < 0)
    return;
  copy_line(system->kernel, sizeof system->kernel, name.sysname);
  copy_line(system->release, sizeof system->release, name.release);
  copy_line(system->architecture, sizeof system->architecture, name.machine);
#else
  copy_line(system->kernel, sizeof system->kernel, getenv("OS"));
  copy_line(system->architecture, sizeof system->architecture, getenv("PROCESSOR_ARCHITECTURE"));
#endif
}

/* Elsewhere, the C library belongs to the release of the system. */
static void fill_libc(struct system_info *system)
{
#if defined(HAVE_GNU_LIBC_VERSION_H) && defined(__GLIBC__)
  snprintf(system->libc, sizeof system->libc, "glibc %s", gnu_get_libc_version());
#elif defined(__BIONIC__)
  strcpy(system->libc, "bionic");
#elif defined(__UCLIBC__)
  strcpy(system->libc, "uClibc");
#elif defined(_UCRT)
  strcpy(system->libc, "UCRT");
#elif defined(__MINGW32__)
  strcpy(system->libc, "MSVCRT");
#elif defined(__APPLE__)
  strcpy(system->libc, "libSystem");
#elif defined(__linux__)
  strcpy(system->libc, "musl or another"); /* musl has no macro */
#else
  (void)system;
#endif
}

void fill_system(struct system_info *system)
{
  struct cpuc_machine machine = { .is_found = 0 };
  const unsigned int one = 1;

  cpuc_machine_find(&machine);
  fill_kernel(system);
  fill_libc(system);
  system->pointer_bits = (int)sizeof(void *) * 8;
  system->little_endian = *(const unsigned char *)&one == 1;
  copy_line(system->hypervisor, sizeof system->hypervisor, machine.hypervisor);
  copy_line(system->container, sizeof system->container,
    machine.container ? machine.container->name : NULL);
  copy_line(system->emulator, sizeof system->emulator, machine.emulator);
}

/* Calls visit(CPU, subject), unless visit is NULL, for each CPU of the list in a file, such as
   "0-3,8". Returns the number of CPUs. */
static int visit_cpus(const char *path, void (*visit)(int cpu, void *subject), void *subject)
{
  static char text[MAX_CPUS * 4]; /* enough for the longest list: "0-1,3-4,6-7"... */
  const char *list = text;
  int count = 0, cpu, last;

  if (cpuc_file_read_start(path, text, sizeof text) <= 0)
    return 0;
  while ((list = cpuc_parse_next_cpu_range(list, &cpu, &last)) != NULL)
    for (; cpu <= last && cpu < MAX_CPUS; cpu++, count++)
      if (visit)
        visit(cpu, subject);
  return count;
}

/* Copies the first line of a file of this CPU, or an empty line. */
static void copy_line_of_cpu(char *to, size_t size, int cpu, const char *file)
{
  char path[96];

  snprintf(path, sizeof path, CPUS "cpu%d/%s", cpu, file);
  *to = 0;
  copy_line_of_file(to, size, path);
}

/* Counts the first CPU of each core. */
static void count_core(int cpu, void *subject)
{
  struct cpu_info *info = subject;
  char siblings[64];
  int first;

  copy_line_of_cpu(siblings, sizeof siblings, cpu, "topology/thread_siblings_list");
  info->core_count += cpuc_parse_integer(siblings, &first) && first == cpu;
}

static void add_type(struct cpu_info *cpu, const char *name, int count)
{
  int i;

  for (i = 0; i < cpu->type_count; i++)
    if (strcmp(cpu->types[i].name, name) == 0) {
      cpu->types[i].count += count;
      return;
    }
  if (i == TYPES)
    return;
  copy_line(cpu->types[i].name, sizeof cpu->types[i].name, name);
  cpu->types[i].count = count;
  cpu->type_count++;
}

/* Counts the CPUs of each core type of a hybrid x86 CPU. Linux has one PMU per core type. */
static void count_hybrid_types(struct cpu_info *cpu)
{
  static const char *const pmus[] = { "cpu_core", "cpu_atom", "cpu_lowpower" };
  size_t i;

  for (i = 0; i < sizeof pmus / sizeof pmus[0]; i++) {
    char path[64];
    int count;

    snprintf(path, sizeof path, "/sys/devices/%s/cpus", pmus[i]);
    count = visit_cpus(path, NULL, NULL);
    if (count > 0)
      add_type(cpu, pmus[i], count);
  }
}

/* Returns 1 if /proc/cpuinfo has lines of x86 in a program for another CPU, or lines of Arm or
   RISC-V in a program for x86. */
static int is_cpuinfo_foreign(const char *architecture)
{
  static const char path[] = "/proc/cpuinfo";
  char text[64];

  if (!strstr(architecture, "86") && !strstr(architecture, "md64") && !strstr(architecture, "MD64"))
    return cpuc_file_read_line(path, "vendor_id", text, sizeof text) >= 0
      && (strstr(text, "Intel") || strstr(text, "AMD"));
  return cpuc_file_read_line(path, "CPU implementer", text, sizeof text) >= 0
    || (cpuc_file_read_line(path, "isa", text, sizeof text) >= 0 && strstr(text, ": rv"));
}

/* Finds the name of the model: the most informative line, or for s390x the type number of the
   machine, without the serial number in its line. */
static void find_model(struct cpu_info *cpu)
{
  static const char *const keys[] = { "model name", "Model Name", "cpu model", "cpu\t", "uarch",
    "Processor", "Hardware", "cpu-model", "processor 0:" };
  char text[128];
  const char *value;
  size_t i;

  for (i = 0; i < sizeof keys / sizeof keys[0] && !*cpu->model; i++) {
    if (cpuc_file_read_line("/proc/cpuinfo", keys[i], text, sizeof text) < 0)
      continue;
    if ((value = strstr(text, "machine = ")) != NULL)
      snprintf(cpu->model, sizeof cpu->model, "machine %.8s", value + 10);
    else if ((value = strchr(text, ':')) != NULL)
      copy_line(cpu->model, sizeof cpu->model, value + 1);
  }
}

/* The state of the search for Arm cores. */
struct arm_cores {
  struct cpu_info *cpu;
  char implementer[16]; /* of the core whose lines are read */
};

static int find_arm_core(const struct cpuc_file_line *line, void *argument)
{
  struct arm_cores *cores = argument;
  const char *colon = strchr(line->text, ':');
  char name[64], part[16];

  if (colon && strncmp(line->text, "CPU implementer", 15) == 0)
    copy_line(cores->implementer, sizeof cores->implementer, colon + 1);
  if (colon && strncmp(line->text, "CPU part", 8) == 0) {
    copy_line(part, sizeof part, colon + 1);
    snprintf(name, sizeof name, "implementer %s part %s", cores->implementer, part);
    add_type(cores->cpu, name, 1);
  }
  return 0;
}

/* Finds the model in other sources than /proc/cpuinfo. */
static void find_other_model(struct cpu_info *cpu)
{
#ifdef HAVE_SYSCTLBYNAME
  static const char *const names[] = { "machdep.cpu.brand_string", "hw.model" };
  size_t i;

  for (i = 0; i < sizeof names / sizeof names[0] && !*cpu->model; i++) {
    char text[128] = "";
    size_t size = sizeof text - 1;

    if (sysctlbyname(names[i], text, &size, NULL, 0) == 0)
      copy_line(cpu->model, sizeof cpu->model, text);
  }
#endif
  if (!*cpu->model && !cpu->foreign)
    copy_line_of_file(cpu->model, sizeof cpu->model, "/proc/device-tree/model");
#ifndef CPUCYCLES_POSIX
  if (!*cpu->model)
    copy_line(cpu->model, sizeof cpu->model, getenv("PROCESSOR_IDENTIFIER"));
#endif
}

static int count_allowed(void)
{
#if defined(HAVE_SCHED_SETAFFINITY) && defined(CPU_ALLOC)
  cpu_set_t *allowed = CPU_ALLOC(MAX_CPUS);
  size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
  int count = allowed && sched_getaffinity(0, size, allowed) == 0 ? CPU_COUNT_S(size, allowed) : 0;

  CPU_FREE(allowed);
  return count;
#else
  return 0;
#endif
}

void fill_cpu(struct cpu_info *cpu, const char *architecture)
{
  struct arm_cores cores = { cpu, "" };

  cpu->cpu_count = visit_cpus(CPUS "online", count_core, cpu);
  cpu->allowed_count = count_allowed();
  cpu->foreign = is_cpuinfo_foreign(architecture);
  if (!cpu->foreign) {
    find_model(cpu);
    cpuc_file_read_lines("/proc/cpuinfo", INT_MAX, find_arm_core, &cores);
  }
  if (cpu->type_count == 1 && !*cpu->model)
    copy_line(cpu->model, sizeof cpu->model, cpu->types[0].name);
  find_other_model(cpu);
  count_hybrid_types(cpu);
  if (cpu->type_count == 1)
    cpu->type_count = 0; /* the report lists core types only if there are several */
#ifndef CPUCYCLES_POSIX
  if (getenv("NUMBER_OF_PROCESSORS")
    && !cpuc_parse_integer(getenv("NUMBER_OF_PROCESSORS"), &cpu->cpu_count))
    cpu->cpu_count = 0;
#endif
}

/* Counts the governor of a CPU. The report contains "performance" only if no CPU has another
   governor, because all other governors can choose a lower frequency. */
static void count_governor(int cpu, void *subject)
{
  struct settings_info *settings = subject;
  char governor[sizeof settings->governor];

  copy_line_of_cpu(governor, sizeof governor, cpu, "cpufreq/scaling_governor");
  if (!*governor)
    return;
  if (*settings->governor && strcmp(governor, settings->governor) != 0) {
    settings->other_governors = 1;
    if (strcmp(settings->governor, "performance") != 0)
      return;
    settings->governor_cpu_count = 0;
  }
  strcpy(settings->governor, governor);
  settings->governor_cpu_count++;
}

void fill_settings(struct settings_info *settings)
{
  long long no_turbo = cpuc_file_read_number(CPUS "intel_pstate/no_turbo", 1);

  copy_line_of_file(settings->clock_source, sizeof settings->clock_source,
    CLOCKS "current_clocksource");
  copy_line_of_file(settings->clock_sources, sizeof settings->clock_sources,
    CLOCKS "available_clocksource");
  visit_cpus(CPUS "online", count_governor, settings);
  settings->turbo = no_turbo >= 0
    ? !no_turbo : (int)cpuc_file_read_number(CPUS "cpufreq/boost", 1);
  settings->nmi_watchdog = cpuc_perf_pmu_watchdog_is_on();
}
