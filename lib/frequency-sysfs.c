/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the frequencies that Linux reports per CPU in sysfs, for one CPU of each frequency
   policy. */

#include "config.h"

#include "lib/frequency-query.h"
#include "sys/parse.h"

#include <dirent.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum {
  MAX_CPUS = 1024,
  MAX_DIRECTORY_ENTRIES = 256,
  MISSING_FILES_LIMIT = 4 /* the search for a file ends after so many CPUs without it */
};

#define CPU_DIRECTORY "/sys/devices/system/cpu"

/* A set of CPU numbers. */
struct cpu_set {
  unsigned char has[MAX_CPUS / 8];
};

static void add_cpu(struct cpu_set *set, int cpu)
{
  if (cpu < MAX_CPUS)
    set->has[cpu / 8] |= (unsigned char)(1 << cpu % 8);
}

static int has_cpu(const struct cpu_set *set, int cpu)
{
  return set->has[cpu / 8] >> cpu % 8 & 1;
}

/* Makes the path of a file in the directory of a CPU, which must fit. cpuc_kernel_file_path()
   explains why this does not use snprintf(). */
static void make_cpu_path(char *path, int cpu, const char *name)
{
  static const char directory[] = CPU_DIRECTORY "/cpu";
  char digits[8];
  int i = 0;

  memcpy(path, directory, sizeof directory - 1);
  path += sizeof directory - 1;
  do
    digits[i++] = (char)('0' + cpu % 10);
  while ((cpu /= 10) > 0);
  while (i > 0)
    *path++ = digits[--i];
  *path++ = '/';
  memcpy(path, name, strlen(name) + 1);
}

/* Reads a list of CPUs. Returns their number, or 0 if the list ends without a newline and is thus
   incomplete. */
static int read_cpus(struct cpuc_query *query, const char *path, struct cpu_set *set)
{
  char text[256];
  const char *rest = text;
  int first, last, count = 0, length = cpuc_query_read_text(query, path, text, sizeof text);

  memset(set, 0, sizeof *set);
  if (length <= 0 || text[length - 1] != '\n')
    return 0;
  while ((rest = cpuc_parse_cpus(rest, &first, &last)) != NULL)
    for (; first <= last && first < MAX_CPUS; first++) {
      add_cpu(set, first);
      count++;
    }
  return count;
}

/* Finds the CPUs from their directories, if there is no list. */
static void find_cpu_directories(struct cpuc_query *query, struct cpu_set *set)
{
  struct dirent *entry;
  int cpu, i;

  if (cpuc_query_open_directory(query, CPU_DIRECTORY) != 0)
    return;
  for (i = 0; i < MAX_DIRECTORY_ENTRIES && (entry = readdir(query->directory)) != NULL; i++) {
    if (strncmp(entry->d_name, "cpu", 3) == 0 && cpuc_parse_integer(entry->d_name + 3, &cpu))
      add_cpu(set, cpu);
  }
  cpuc_query_close_directory(query);
}

/* Returns 1 if the CPU has a directory cpufreq. In most virtual machines no CPU has one, and each
   access to a missing file takes a microsecond or more. */
static int has_policy(int cpu)
{
  char path[64], whole[CPUC_KERNEL_FILE_PATH_SIZE];

  make_cpu_path(path, cpu, "cpufreq");
  return cpuc_kernel_file_path(whole, path) == 0 && access(whole, F_OK) == 0;
}

/* Lists the CPUs whose files are read: the first online CPU of each frequency policy, and every
   online CPU without a policy. */
static void list_cpus(struct cpuc_query *query)
{
  struct cpu_set online, policy, covered;
  char path[128];
  int cpu, other, policies = 0, is_single = 0;

  memset(&covered, 0, sizeof covered);
  query->cpus = 0;
  if (read_cpus(query, CPU_DIRECTORY "/online", &online) == 0
    && read_cpus(query, CPU_DIRECTORY "/present", &online) == 0)
    find_cpu_directories(query, &online);
  for (cpu = 0; cpu < MAX_CPUS && query->cpus < CPUC_QUERY_CPUS; cpu++) {
    if (!has_cpu(&online, cpu) || has_cpu(&covered, cpu))
      continue;
    query->cpu[query->cpus] = cpu;
    query->has_policy[query->cpus]
      = (policies > 0 || query->cpus < MISSING_FILES_LIMIT) && has_policy(cpu);
    if (!query->has_policy[query->cpus++])
      continue;
    if (++policies > 1 && is_single)
      continue; /* each CPU has its own policy, as on x86 */
    make_cpu_path(path, cpu, "cpufreq/affected_cpus");
    is_single = read_cpus(query, path, &policy) == 1;
    for (other = 0; other < MAX_CPUS; other++)
      if (has_cpu(&policy, other))
        add_cpu(&covered, other);
  }
}

/* Returns the rate in a file in the directory of a CPU, or 0. */
static long long from_cpu(struct cpuc_query *query, int cpu)
{
  char text[64], path[128];

  make_cpu_path(path, cpu, query->source->name);
  if (cpuc_query_read_text(query, path, text, sizeof text) < 0)
    return 0;
  return cpuc_rate_plausible((unsigned long long)cpuc_parse_number_line(text, query->source->unit));
}

/* Returns the highest frequency of all core types in Hz, or 0. */
long long cpuc_frequency_from_sysfs(struct cpuc_query *query)
{
  int needs_policy = strncmp(query->source->name, "cpufreq/", 8) == 0, i;
  long long highest = 0, hz;

  if (query->cpus < 0)
    list_cpus(query);
  for (i = 0; i < query->cpus && (highest > 0 || i < MISSING_FILES_LIMIT); i++) {
    hz = needs_policy && !query->has_policy[i] ? 0 : from_cpu(query, query->cpu[i]);
    if (hz > highest)
      highest = hz;
  }
  return highest;
}
