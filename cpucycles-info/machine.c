/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fills the sections on the CPU and on settings that affect measurements. Copies nothing
   into the report that identifies a person or a host, such as a serial number. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "cpucycles-info/copy-line.h"
#include "sys/file.h"
#include "sys/parse.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_SCHED_SETAFFINITY
#include <sched.h>
#endif
#ifdef HAVE_SYSCTLBYNAME
#include <sys/types.h>

#include <sys/sysctl.h>
#endif

/* Returns the number of CPUs in a list such as "0-3,8". Sets is_listed[CPU] to 1, unless is_listed
   is NULL. */
static int count_cpus(const char *list, unsigned char *is_listed)
{
  int count = 0, first, last;

  while ((list = cpuc_parse_next_cpu_range(list, &first, &last)) != NULL)
    for (; first <= last && first < MAX_CPUS; first++, count++)
      if (is_listed)
        is_listed[first] = 1;
  return count;
}

static int read_cpus(const char *path, unsigned char *is_listed)
{
  static char text[MAX_CPUS * 4]; /* enough for the longest list: "0-1,3-4,6-7"... */

  if (cpuc_file_read_start(path, text, sizeof text) <= 0)
    return 0;
  return count_cpus(text, is_listed);
}

/* Returns the number of cores: counts the first CPU of each core. */
static int count_cores(const unsigned char *online)
{
  int cpu, cores = 0;

  for (cpu = 0; cpu < MAX_CPUS; cpu++) {
    char path[96], text[64];
    int first;

    if (!online[cpu])
      continue;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (cpuc_file_read_start(path, text, sizeof text) > 0)
      cores += cpuc_parse_integer(text, &first) && first == cpu;
  }
  return cores;
}

static void add_type(struct cpu_info *cpu, const char *name, int count)
{
  int i;

  for (i = 0; i < cpu->type_count; i++)
    if (strcmp(cpu->types[i].name, name) == 0) {
      cpu->types[i].count += count;
      return;
    }
  if (cpu->type_count == TYPES)
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
    count = read_cpus(path, NULL);
    if (count > 0)
      add_type(cpu, pmus[i], count);
  }
}

static int is_x86(const char *architecture)
{
  return strcmp(architecture, "x86_64") == 0 || strcmp(architecture, "amd64") == 0
    || strcmp(architecture, "AMD64") == 0 || strcmp(architecture, "x86") == 0
    || (architecture[0] == 'i' && strcmp(architecture + 2, "86") == 0);
}

/* Ranks of names of a CPU model. A lower rank is more informative. */
enum {
  RANK_OF_NO_MODEL = 1000,
  RANK_OF_MACHINE_TYPE = 999 /* s390x */
};

/* Returns the rank of a key of /proc/cpuinfo. */
static int rank_of_key(const char *key)
{
  static const char *const keys[] = { "model name", "Model Name", "cpu model", "cpu", "uarch",
    "Processor", "Hardware", "cpu-model" };
  int i;

  for (i = 0; i < (int)(sizeof keys / sizeof keys[0]); i++)
    if (strcmp(key, keys[i]) == 0)
      return i;
  return RANK_OF_NO_MODEL;
}

/* State of the parser of /proc/cpuinfo. */
struct parser {
  struct cpu_info *cpu;
  const char *architecture;
  int model_rank;       /* rank of the line that cpu->model comes from */
  char implementer[16]; /* of the Arm core whose lines are parsed */
};

/* Splits "key<blanks>: value". Returns the value, or NULL if there is no colon. */
static char *split_line(char *line)
{
  char *colon = strchr(line, ':'), *end;

  if (!colon)
    return NULL;
  for (end = colon; end > line && isspace((unsigned char)end[-1]); end--)
    ;
  *end = 0;
  for (colon++; *colon == ' ' || *colon == '\t'; colon++)
    ;
  return colon;
}

static void find_model(struct parser *parser, const char *key, const char *value)
{
  struct cpu_info *cpu = parser->cpu;
  const char *machine;
  int rank = rank_of_key(key);

  if (rank < parser->model_rank) {
    parser->model_rank = rank;
    copy_line(cpu->model, sizeof cpu->model, value);
  }
  /* s390x: the type number of the machine, without the serial number in this line */
  machine = strncmp(key, "processor ", 10) == 0 ? strstr(value, "machine = ") : NULL;
  if (machine && parser->model_rank == RANK_OF_NO_MODEL) {
    snprintf(cpu->model, sizeof cpu->model, "machine %.8s", machine + 10);
    parser->model_rank = RANK_OF_MACHINE_TYPE;
  }
}

static void find_arm_core(struct parser *parser, const char *key, const char *value)
{
  char name[64];

  if (strcmp(key, "CPU implementer") == 0)
    copy_line(parser->implementer, sizeof parser->implementer, value);
  if (strcmp(key, "CPU part") != 0)
    return;
  snprintf(name, sizeof name, "implementer %s part %.16s", parser->implementer, value);
  add_type(parser->cpu, name, 1);
}

/* Finds lines of x86 in a program for another CPU, and lines of Arm (CPU implementer) or RISC-V
   (isa) in a program for x86. */
static void find_foreign_line(struct parser *parser, const char *key, const char *value)
{
  int is_of_x86 = strcmp(key, "vendor_id") == 0 && (strstr(value, "Intel") || strstr(value, "AMD"));
  int is_of_other = strcmp(key, "CPU implementer") == 0
    || (strcmp(key, "isa") == 0 && strncmp(value, "rv", 2) == 0);

  if (is_x86(parser->architecture) ? is_of_other : is_of_x86)
    parser->cpu->foreign = 1;
}

static int parse_line(const struct cpuc_file_line *line, void *argument)
{
  struct parser *parser = argument;
  char key[sizeof line->text];
  const char *value;

  strcpy(key, line->text);
  value = split_line(key);
  if (value) {
    find_foreign_line(parser, key, value);
    find_model(parser, key, value);
    find_arm_core(parser, key, value);
  }
  return 0;
}

static void read_cpuinfo(struct cpu_info *cpu, const char *architecture)
{
  struct parser parser = { cpu, architecture, RANK_OF_NO_MODEL, "" };

  cpuc_file_read_lines("/proc/cpuinfo", INT_MAX, parse_line, &parser);
  if (cpu->type_count == 1 && !*cpu->model)
    copy_line(cpu->model, sizeof cpu->model, cpu->types[0].name);
  if (cpu->foreign) {
    *cpu->model = 0;
    cpu->type_count = 0;
  }
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
  if (!*cpu->model && getenv("PROCESSOR_IDENTIFIER"))
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
  static unsigned char online[MAX_CPUS];

  memset(online, 0, sizeof online);
  cpu->cpu_count = read_cpus("/sys/devices/system/cpu/online", online);
  cpu->core_count = count_cores(online);
  cpu->allowed_count = count_allowed();
  read_cpuinfo(cpu, architecture);
  find_other_model(cpu);
  count_hybrid_types(cpu);
  if (cpu->type_count == 1)
    cpu->type_count = 0; /* the report lists core types only if there are several */
#ifndef CPUCYCLES_POSIX
  if (cpu->cpu_count == 0 && getenv("NUMBER_OF_PROCESSORS")
    && !cpuc_parse_integer(getenv("NUMBER_OF_PROCESSORS"), &cpu->cpu_count))
    cpu->cpu_count = 0;
#endif
}

/* Counts the governor of a CPU. The report contains "performance" only if no CPU has another
   governor, because all other governors can choose a lower frequency. */
static void count_governor(struct settings_info *settings, const char *governor)
{
  if (*settings->governor && strcmp(governor, settings->governor) != 0) {
    settings->other_governors = 1;
    if (strcmp(settings->governor, "performance") != 0)
      return;
    settings->governor_cpu_count = 0;
  }
  snprintf(settings->governor, sizeof settings->governor, "%s", governor);
  settings->governor_cpu_count++;
}

static void count_governors(struct settings_info *settings)
{
  static unsigned char online[MAX_CPUS];
  int cpu;

  memset(online, 0, sizeof online);
  read_cpus("/sys/devices/system/cpu/online", online);
  for (cpu = 0; cpu < MAX_CPUS; cpu++) {
    char path[96], governor[32] = "";

    if (!online[cpu])
      continue;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    copy_line_of_file(governor, sizeof governor, path);
    if (*governor)
      count_governor(settings, governor);
  }
}

static int read_turbo(void)
{
  static const char no_turbo[] = "/sys/devices/system/cpu/intel_pstate/no_turbo";
  long long is_off = cpuc_file_read_number(no_turbo, 1);

  return is_off >= 0
    ? !is_off
    : (int)cpuc_file_read_number("/sys/devices/system/cpu/cpufreq/boost", 1);
}

void fill_settings(struct settings_info *settings)
{
#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"
  copy_line_of_file(settings->clock_source, sizeof settings->clock_source,
    CLOCKS "current_clocksource");
  copy_line_of_file(settings->clock_sources, sizeof settings->clock_sources,
    CLOCKS "available_clocksource");
  count_governors(settings);
  settings->turbo = read_turbo();
  settings->nmi_watchdog = cpuc_file_read_number("/proc/sys/kernel/nmi_watchdog", 1) > 0;
}
