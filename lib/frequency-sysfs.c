/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the frequencies that Linux reports per CPU in sysfs, for one CPU of each frequency policy.
   All CPUs of a policy have one frequency. */

#include "config.h"

#include "lib/frequency.h"
#include "sys/guard.h"
#include "sys/parse.h"

#include <errno.h>
#include <string.h>

/* The search for a file ends after this many CPUs without the file or without a number in it. */
enum { MISSING_FILES_LIMIT = 4 };

#define CPU_DIRECTORY "/sys/devices/system/cpu"

/* Makes the path of a file in the directory of a CPU. The path must fit. cpuc_file_path()
   explains why this function does not use snprintf(). */
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

static int is_missing(int error)
{
  return error == ENOENT || error == ENOTDIR;
}

/* Stores 0 if no CPU has a frequency policy. In most virtual machines no CPU has one, and listing
   the policies would take ten microseconds. Before Linux 4.4, policies have no directories, and the
   directory of cpufreq can be missing. So CPU 0 is asked if no directory of a policy is found,
   unless this is a guest of x86: one without policies is the usual case. */
static void find_policies(void *argument)
{
  struct cpuc_frequency_query *query = argument;
  int links = cpuc_file_count_links(CPU_DIRECTORY "/cpufreq");
  char path[64];

  if (links < 0 ? !is_missing(errno) : links != 2)
    return;
  make_cpu_path(path, 0, "cpufreq");
  if (cpuc_frequency_read_cpuinfo(query)->is_guest
    || (!cpuc_file_exists(path) && is_missing(errno)))
    query->has_policies = 0;
}

struct listing {
  struct cpuc_frequency_query *query;
  const char *path;
  const char *prefix; /* the names of the directories, before the number of the CPU */
};

/* Adds the CPU whose number is in the name of a directory. Keeps the lowest numbers in ascending
   order, because the kernel lists directories in any order, and the CPUs that can be switched off,
   whose files cannot be read then, are seldom the first. */
static void add_cpu(const char *name, void *argument)
{
  const struct listing *listing = argument;
  struct cpuc_frequency_query *query = listing->query;
  size_t length = strlen(listing->prefix);
  int cpu, i;

  if (strncmp(name, listing->prefix, length) != 0 || !cpuc_parse_integer(name + length, &cpu))
    return;
  i = query->cpu_count;
  if (i < CPUC_FREQUENCY_QUERY_CPUS)
    query->cpu_count++;
  else if (cpu > query->cpus[--i])
    return;
  for (; i > 0 && cpu < query->cpus[i - 1]; i--)
    query->cpus[i] = query->cpus[i - 1];
  query->cpus[i] = cpu;
}

static void list_directories(void *argument)
{
  struct listing *listing = argument;

  cpuc_file_list(listing->path, add_cpu, listing);
}

/* Lists the CPUs whose files are read: one CPU of each policy. Before Linux 4.4, policies have no
   directories, so each CPU is asked. Without policies, only CPU 0 is asked. A filter that raises
   SIGSYS at the calls that list a directory must not hide CPU 0. */
static void list_cpus(struct cpuc_frequency_query *query)
{
  struct listing policies = { query, CPU_DIRECTORY "/cpufreq", "policy" };
  struct listing cpus = { query, CPU_DIRECTORY, "cpu" };

  query->has_policies = 1; /* also if a filter hides this, with an error or with SIGSYS */
  cpuc_guard_run(find_policies, query);
  if (query->has_policies)
    cpuc_guard_run(list_directories, &policies);
  if (query->has_policies && query->cpu_count == 0)
    cpuc_guard_run(list_directories, &cpus);
  if (query->cpu_count == 0)
    query->cpus[query->cpu_count++] = 0;
}

/* Returns the frequency in a file in the directory of a CPU, in Hz, or 0. */
static long long from_cpu(const struct cpuc_frequency_query_source *source, int cpu)
{
  char path[128];

  make_cpu_path(path, cpu, source->name);
  return cpuc_rate_if_plausible((unsigned long long)cpuc_file_read_number(path, source->unit));
}

/* Returns the highest frequency of all core types in Hz, or 0. */
long long cpuc_frequency_from_sysfs(struct cpuc_frequency_query *query)
{
  long long highest = 0, hz;
  int i, missing = 0;

  if (query->cpu_count == 0)
    list_cpus(query);
  if (!query->has_policies && strncmp(query->source->name, "cpufreq/", 8) == 0)
    return 0;
  for (i = 0; i < query->cpu_count && (highest > 0 || missing < MISSING_FILES_LIMIT); i++) {
    errno = 0;
    hz = from_cpu(query->source, query->cpus[i]);
    if (hz > highest)
      highest = hz;
    /* not if the read fails: EBUSY where all CPUs of the policy are off */
    missing += errno == 0 || errno == ENOENT || errno == EACCES;
  }
  return highest;
}
