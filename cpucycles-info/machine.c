/* SPDX-License-Identifier: 0BSD OR MIT */
/* The CPU that the report is about, and the state that it is in. Nothing that identifies a
   person or a host is read: no serial number. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "cpucycles-info/take.h"

#include <ctype.h>
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

enum { CPUS = 8192 };

/* How many numbers are in a list such as "0-3,8"; with `marks`, marks them. */
static int count_cpus(const char *list, unsigned char *marks)
{
  int count = 0;

  while (isdigit((unsigned char)*list)) {
    char *end;
    long first = strtol(list, &end, 10), last = first;

    if (*end == '-')
      last = strtol(end + 1, &end, 10);
    for (; first <= last && first < CPUS; first++, count++)
      if (marks)
        marks[first] = 1;
    list = *end == ',' ? end + 1 : "";
  }
  return count;
}

static int read_cpus(const char *root, const char *path, unsigned char *marks)
{
  char text[1024];

  return read_kernel_text(root, path, text, sizeof text) > 0 ? count_cpus(text, marks) : 0;
}

/* Of CPUs that share a core, the first counts. */
static int count_cores(const char *root, const unsigned char *online)
{
  int cpu, cores = 0;

  for (cpu = 0; cpu < CPUS; cpu++) {
    char path[96], text[64];

    if (!online[cpu])
      continue;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (read_kernel_text(root, path, text, sizeof text) > 0)
      cores += strtol(text, NULL, 10) == cpu;
  }
  return cores;
}

static void add_type(struct cpu_info *cpu, const char *name, int count)
{
  int i;

  for (i = 0; i < cpu->types; i++)
    if (strcmp(cpu->type[i].name, name) == 0) {
      cpu->type[i].count += count;
      return;
    }
  if (cpu->types == TYPES)
    return;
  take(cpu->type[i].name, sizeof cpu->type[i].name, name);
  cpu->type[i].count = count;
  cpu->types++;
}

/* Two kinds of core have a PMU each. */
static void look_at_hybrid(struct cpu_info *cpu, const char *root)
{
  static const char *const kinds[] = { "cpu_core", "cpu_atom", "cpu_lowpower" };
  size_t i;

  for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    char path[64];
    int count;

    snprintf(path, sizeof path, "/sys/devices/%s/cpus", kinds[i]);
    count = read_cpus(root, path, NULL);
    if (count > 0)
      add_type(cpu, kinds[i], count);
  }
}

static int is_x86(const char *architecture)
{
  return strcmp(architecture, "x86_64") == 0 || strcmp(architecture, "amd64") == 0
    || strcmp(architecture, "AMD64") == 0 || strcmp(architecture, "x86") == 0
    || (architecture[0] == 'i' && strcmp(architecture + 2, "86") == 0);
}

/* One line of /proc/cpuinfo: what it calls the model, in the order of how much that says. */
static int rank_of_key(const char *key)
{
  static const char *const keys[] = { "model name", "Model Name", "cpu model", "cpu", "uarch",
    "Processor", "Hardware", "cpu-model" };
  int i;

  for (i = 0; i < (int)(sizeof keys / sizeof keys[0]); i++)
    if (strcmp(key, keys[i]) == 0)
      return i;
  return 1000;
}

struct cpuinfo {
  struct cpu_info *cpu;
  int rank;               /* of what is the model yet */
  char implementer[16]; /* of the Arm core at hand */
};

static void take_arm_core(struct cpuinfo *cpuinfo, const char *key, const char *value)
{
  char name[64];

  if (strcmp(key, "CPU implementer") == 0)
    take(cpuinfo->implementer, sizeof cpuinfo->implementer, value);
  if (strcmp(key, "CPU part") != 0)
    return;
  snprintf(name, sizeof name, "implementer %s part %.16s", cpuinfo->implementer, value);
  add_type(cpuinfo->cpu, name, 1);
}

static void take_cpuinfo_line(struct cpuinfo *cpuinfo, char *line, const char *architecture)
{
  char *colon = strchr(line, ':'), *end;
  const char *machine;
  int rank;

  if (!colon)
    return;
  for (end = colon; end > line && isspace((unsigned char)end[-1]); end--)
    ;
  *end = 0;
  for (colon++; *colon == ' ' || *colon == '\t'; colon++)
    ;
  colon[strcspn(colon, "\n")] = 0;
  if (strcmp(line, "vendor_id") == 0 && !is_x86(architecture)
    && (strstr(colon, "Intel") || strstr(colon, "AMD")))
    cpuinfo->cpu->foreign = 1;
  rank = rank_of_key(line);
  if (rank < cpuinfo->rank) {
    cpuinfo->rank = rank;
    take(cpuinfo->cpu->model, sizeof cpuinfo->cpu->model, colon);
  }
  /* s390x: the number of the machine's kind, and never its serial number beside it */
  machine = strncmp(line, "processor ", 10) == 0 ? strstr(colon, "machine = ") : NULL;
  if (machine && cpuinfo->rank == 1000) {
    snprintf(cpuinfo->cpu->model, sizeof cpuinfo->cpu->model, "machine %.8s", machine + 10);
    cpuinfo->rank = 999;
  }
  take_arm_core(cpuinfo, line, colon);
}

static void read_cpuinfo(struct cpu_info *cpu, const char *root, const char *architecture)
{
  struct cpuinfo cpuinfo = { cpu, 1000, "" };
  char path[256], line[512];
  FILE *file;

  snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
  file = fopen(path, "r");
  if (!file)
    return;
  while (fgets(line, sizeof line, file))
    take_cpuinfo_line(&cpuinfo, line, architecture);
  fclose(file);
  if (cpu->types == 1 && !*cpu->model)
    take(cpu->model, sizeof cpu->model, cpu->type[0].name);
  if (cpu->types == 1)
    cpu->types = 0; /* all of one type: nothing to tell apart */
  if (cpu->foreign) {
    *cpu->model = 0;
    cpu->types = 0;
  }
}

static void name_model(struct cpu_info *cpu, const char *root)
{
#ifdef HAVE_SYSCTLBYNAME
  static const char *const names[] = { "machdep.cpu.brand_string", "hw.model" };
  size_t i;

  for (i = 0; i < sizeof names / sizeof names[0] && !*cpu->model && !*root; i++) {
    char text[128] = "";
    size_t size = sizeof text - 1;

    if (sysctlbyname(names[i], text, &size, NULL, 0) == 0)
      take(cpu->model, sizeof cpu->model, text);
  }
#endif
  if (!*cpu->model && !cpu->foreign)
    take_file(cpu->model, sizeof cpu->model, root, "/proc/device-tree/model");
#ifndef CPUCYCLES_POSIX
  if (!*cpu->model && getenv("PROCESSOR_IDENTIFIER"))
    take(cpu->model, sizeof cpu->model, getenv("PROCESSOR_IDENTIFIER"));
#endif
}

static int count_allowed(void)
{
#if defined(HAVE_SCHED_SETAFFINITY) && defined(CPU_ALLOC)
  cpu_set_t *allowed = CPU_ALLOC(CPUS);
  size_t size = CPU_ALLOC_SIZE(CPUS);
  int count = allowed && sched_getaffinity(0, size, allowed) == 0 ? CPU_COUNT_S(size, allowed) : 0;

  CPU_FREE(allowed);
  return count;
#else
  return 0;
#endif
}

void look_at_cpu(struct cpu_info *cpu, const char *root, const char *architecture)
{
  static unsigned char online[CPUS];

  memset(online, 0, sizeof online);
  cpu->cpus = read_cpus(root, "/sys/devices/system/cpu/online", online);
  cpu->cores = count_cores(root, online);
  cpu->allowed = count_allowed();
  read_cpuinfo(cpu, root, architecture);
  name_model(cpu, root);
  look_at_hybrid(cpu, root);
#ifndef CPUCYCLES_POSIX
  if (cpu->cpus == 0 && getenv("NUMBER_OF_PROCESSORS"))
    cpu->cpus = atoi(getenv("NUMBER_OF_PROCESSORS"));
#endif
}

/* Its state. */

/* Of several governors, the one that changes frequencies is the one to name. */
static void count_governor(struct state_info *state, const char *governor)
{
  if (*state->governor && strcmp(governor, state->governor) != 0) {
    state->governors = 2;
    if (strcmp(state->governor, "performance") != 0)
      return;
    state->governed = 0;
  }
  snprintf(state->governor, sizeof state->governor, "%s", governor);
  state->governed++;
  if (state->governors == 0)
    state->governors = 1;
}

static void look_at_governors(struct state_info *state, const char *root)
{
  static unsigned char online[CPUS];
  int cpu;

  memset(online, 0, sizeof online);
  read_cpus(root, "/sys/devices/system/cpu/online", online);
  for (cpu = 0; cpu < CPUS; cpu++) {
    char path[96], governor[32] = "";

    if (!online[cpu])
      continue;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    take_file(governor, sizeof governor, root, path);
    if (*governor)
      count_governor(state, governor);
  }
}

static int look_at_turbo(const char *root)
{
  char text[8] = "";

  take_file(text, sizeof text, root, "/sys/devices/system/cpu/intel_pstate/no_turbo");
  if (*text)
    return strcmp(text, "0") == 0;
  take_file(text, sizeof text, root, "/sys/devices/system/cpu/cpufreq/boost");
  return *text ? strcmp(text, "1") == 0 : -1;
}

void look_at_state(struct state_info *state, const char *root)
{
#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"
  take_file(state->clock_source, sizeof state->clock_source, root, CLOCKS "current_clocksource");
  take_file(state->clock_sources, sizeof state->clock_sources, root,
    CLOCKS "available_clocksource");
  look_at_governors(state, root);
  state->turbo = look_at_turbo(root);
}
