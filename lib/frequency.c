/* SPDX-License-Identifier: 0BSD OR MIT */
/* Estimates the CPU's frequency: asks a table of sources, in order, until one answers. Starts no
   process, ignores the locale, reads a bounded number of bytes, and skips malformed input. */

#include "config.h"

#include "lib/frequency.h"
#include "lib/rate.h"
#include "sys/environment.h"
#include "sys/kernel-file.h"
#include "sys/trial.h"

#ifdef CPUCYCLES_HAVE_TSC
#include "backends/common/x86-tsc.h"
#endif

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#ifdef HAVE_SYS_UTSNAME_H
#include <sys/utsname.h>
#endif
#include <unistd.h>

enum {
  CHUNK_SIZE = 1024,         /* small enough for small stacks, and for one CPU's part of cpuinfo */
  CPUINFO_LIMIT = 32 * 1024, /* tens of CPUs state the same as hundreds */
  NODES_LIMIT = 256,         /* of a device tree, likewise */
  CPUS_LIMIT = 32,           /* whose files are read; there are fewer kinds of core */
  CPU_NUMBERS = 1024,
  REFERENCE_TRIES = 2,       /* of a measurement, which can be interrupted */
  SILENT_LIMIT = 4,          /* CPUs without the file, before the search for it ends */
  KHZ = 1000,
  MHZ = 1000000
};

/* Reasons why a file states nothing. */
enum file_error {
  ABSENT = -1,
  REFUSED = -2,
  NO_FILE = -3,
  UNREADABLE = -4,
  TOO_LONG = -5,
  NO_TEXT = -6
};

static const char *const file_errors[] = {
  [-REFUSED] = "cannot be opened",
  [-NO_FILE] = "is no regular file",
  [-UNREADABLE] = "cannot be read",
  [-TOO_LONG] = "is too long for a number",
  [-NO_TEXT] = "is no text",
};

struct search;

struct source {
  const char *name; /* of a file: its path */
  long long (*ask)(struct search *search, const struct source *source); /* Hz, or 0: no answer */
  long long unit; /* of an answer that is one number, in Hz */
};

struct search {
  const struct cpucycles_host *host;
  const struct source *source;
  struct cpucycles_frequency *found;
  int cpus; /* number of CPUs whose files are read: see list_cpus(); -1: not listed yet */
  int cpu[CPUS_LIMIT];
  int has_policy[CPUS_LIMIT]; /* its folder has a folder cpufreq */
  /* in use, or -1 and NULL: released by release() if a signal cuts the source short */
  int file;
  DIR *folder;
  const struct cpucycles_backend *reference;
  long long current; /* frequency in /proc/cpuinfo, once that was read */
  long long answer;
  const char *name; /* of the source of the answer */
};

/* Adds the reason why a setting is ignored. */
static void report(struct search *search, const char *setting, const char *why)
{
  char *skipped = search->found->skipped;
  size_t size = sizeof search->found->skipped, used = strlen(skipped);

  snprintf(skipped + used, size - used, "%s%s %s", used ? "; " : "", setting, why);
}

/* Opens a regular file below the root. Others, such as FIFOs, could make a read wait. Returns 0 or
   a file_error. */
static int open_file(struct search *search, const char *path)
{
  struct stat status;

  search->file = cpucycles_open_kernel_file(search->host->root, path);
  if (search->file < 0)
    return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? ABSENT : REFUSED;
  if (fstat(search->file, &status) == 0 && S_ISREG(status.st_mode))
    return 0;
  close(search->file);
  search->file = -1;
  return NO_FILE;
}

static void close_file(struct search *search)
{
  if (search->file >= 0)
    close(search->file);
  search->file = -1;
}

/* Reads a file of fewer than size bytes whole. Returns their number, or a file_error. */
static int read_bytes(struct search *search, const char *path, char *bytes, int size)
{
  int length, error = open_file(search, path);

  if (error != 0)
    return error;
  length = cpucycles_read_rest(search->file, bytes, (size_t)size);
  close_file(search);
  if (length < 0)
    return UNREADABLE;
  return length < size ? length : TOO_LONG;
}

/* Reads a file of fewer than size bytes as a string, likewise. */
static int read_text(struct search *search, const char *path, char *text, int size)
{
  int length = read_bytes(search, path, text, size);

  if (length < 0)
    return length;
  text[length] = 0;
  return strlen(text) == (size_t)length ? length : NO_TEXT;
}

/* Parses a setting; reports it if it is no number. */
static long long parse_setting(struct search *search, const char *setting, const char *text)
{
  long long hz = cpucycles_parse_number(text, 1);

  if (hz == 0)
    report(search, setting, cpucycles_parse_complaint(text));
  return hz;
}

/* Reads the administrator's file, of one number. */
static long long from_setting(struct search *search, const struct source *source)
{
  char text[64];
  int length = read_text(search, source->name, text, sizeof text);

  if (length >= 0)
    return parse_setting(search, source->name, text);
  if (length != ABSENT)
    report(search, source->name, file_errors[-length]);
  return 0;
}

/* Opens a folder below the root. Returns 0, or -1. */
static int open_folder(struct search *search, const char *path)
{
  char whole[CPUCYCLES_PATH_SIZE];

  if (cpucycles_join_path(whole, search->host->root, path) != 0)
    return -1;
  search->folder = opendir(whole);
  return search->folder ? 0 : -1;
}

static void close_folder(struct search *search)
{
  DIR *folder = search->folder;

  search->folder = NULL;
  if (folder)
    closedir(folder);
}

#define CPUS "/sys/devices/system/cpu"

/* A set of CPU numbers. */
struct cpu_set {
  unsigned char has[CPU_NUMBERS / 8];
};

static void add_cpu(struct cpu_set *set, int cpu)
{
  if (cpu < CPU_NUMBERS)
    set->has[cpu / 8] |= (unsigned char)(1 << cpu % 8);
}

static int has_cpu(const struct cpu_set *set, int cpu)
{
  return set->has[cpu / 8] >> cpu % 8 & 1;
}

/* Makes the path of a file in a CPU's folder, without snprintf() as in cpucycles_join_path(). The
   name must fit. */
static void make_cpu_path(char *path, int cpu, const char *name)
{
  static const char folder[] = CPUS "/cpu";
  char digits[8];
  int i = 0;

  memcpy(path, folder, sizeof folder - 1);
  path += sizeof folder - 1;
  do
    digits[i++] = (char)('0' + cpu % 10);
  while ((cpu /= 10) > 0);
  while (i > 0)
    *path++ = digits[--i];
  *path++ = '/';
  memcpy(path, name, strlen(name) + 1);
}

/* Reads a kernel's list of CPUs. Returns their number; 0 for a list without a newline, which is
   incomplete. */
static int read_cpus(struct search *search, const char *path, struct cpu_set *set)
{
  char text[256];
  const char *rest = text;
  int first, last, count = 0, length = read_text(search, path, text, sizeof text);

  memset(set, 0, sizeof *set);
  if (length <= 0 || text[length - 1] != '\n')
    return 0;
  while ((rest = cpucycles_parse_cpus(rest, &first, &last)) != NULL)
    for (; first <= last && first < CPU_NUMBERS; first++) {
      add_cpu(set, first);
      count++;
    }
  return count;
}

/* Finds the CPUs by their folders, where there is no list. */
static void find_cpu_folders(struct search *search, struct cpu_set *set)
{
  struct dirent *entry;
  int cpu, i;

  if (open_folder(search, CPUS) != 0)
    return;
  for (i = 0; i < NODES_LIMIT && (entry = readdir(search->folder)) != NULL; i++) {
    cpu = strncmp(entry->d_name, "cpu", 3) == 0 ? cpucycles_parse_first_cpu(entry->d_name + 3) : -1;
    if (cpu >= 0)
      add_cpu(set, cpu);
  }
  close_folder(search);
}

/* Returns 1 if the CPU has a folder cpufreq. Most virtual machines have none, and each access to a
   missing file takes a microsecond or more. */
static int has_policy(struct search *search, int cpu)
{
  char path[64], whole[CPUCYCLES_PATH_SIZE];

  make_cpu_path(path, cpu, "cpufreq");
  return cpucycles_join_path(whole, search->host->root, path) == 0 && access(whole, F_OK) == 0;
}

/* Lists the CPUs whose files are read: the first online CPU of each frequency policy, and every
   online CPU without a policy. */
static void list_cpus(struct search *search)
{
  struct cpu_set online, policy, asked;
  char path[128];
  int cpu, other, policies = 0, alone = 0;

  memset(&asked, 0, sizeof asked);
  search->cpus = 0;
  if (read_cpus(search, CPUS "/online", &online) == 0
    && read_cpus(search, CPUS "/present", &online) == 0)
    find_cpu_folders(search, &online);
  for (cpu = 0; cpu < CPU_NUMBERS && search->cpus < CPUS_LIMIT; cpu++) {
    if (!has_cpu(&online, cpu) || has_cpu(&asked, cpu))
      continue;
    search->cpu[search->cpus] = cpu;
    search->has_policy[search->cpus]
      = (policies > 0 || search->cpus < SILENT_LIMIT) && has_policy(search, cpu);
    if (!search->has_policy[search->cpus++])
      continue;
    if (++policies > 1 && alone)
      continue; /* each CPU has its own policy, as on x86 */
    make_cpu_path(path, cpu, "cpufreq/affected_cpus");
    alone = read_cpus(search, path, &policy) == 1;
    for (other = 0; other < CPU_NUMBERS; other++)
      if (has_cpu(&policy, other))
        add_cpu(&asked, other);
  }
}

/* Reads one number from a file in a CPU's folder. Without a newline the number may be
   incomplete. */
static long long from_cpu(struct search *search, const struct source *source, int cpu)
{
  char text[64], path[128];
  int length;

  make_cpu_path(path, cpu, source->name);
  length = read_text(search, path, text, sizeof text);
  if (length <= 0 || text[length - 1] != '\n')
    return 0;
  return cpucycles_parse_number(text, source->unit);
}

/* Returns the highest frequency of all kinds of core. An emulator may show its host's files: they
   are right, since the host's CPU does the work. */
static long long from_sysfs(struct search *search, const struct source *source)
{
  int is_of_policy = strncmp(source->name, "cpufreq/", 8) == 0, i;
  long long highest = 0, hz;

  if (search->cpus < 0)
    list_cpus(search);
  for (i = 0; i < search->cpus && (highest > 0 || i < SILENT_LIMIT); i++) {
    hz = is_of_policy && !search->has_policy[i] ? 0 : from_cpu(search, source, search->cpu[i]);
    if (hz > highest)
      highest = hz;
  }
  return highest;
}

/* An emulator names the emulated machine, and may show its host's /proc/cpuinfo. */
static void begin_cpuinfo(struct search *search, struct cpucycles_cpuinfo *cpuinfo)
{
  char machine[32] = "";

  if (search->host->machine)
    search->host->machine(machine, sizeof machine);
  cpucycles_cpuinfo_begin(cpuinfo, machine);
}

#define CPUINFO "/proc/cpuinfo"

static long long from_cpuinfo(struct search *search, const struct source *source)
{
  struct cpucycles_cpuinfo cpuinfo;
  char chunk[CHUNK_SIZE];
  int length, total = 0;

  if (open_file(search, source->name) != 0)
    return 0;
  begin_cpuinfo(search, &cpuinfo);
  while (total < CPUINFO_LIMIT && !cpucycles_cpuinfo_is_decided(&cpuinfo)
    && (length = cpucycles_read_some(search->file, chunk, sizeof chunk)) > 0) {
    cpucycles_cpuinfo_feed(&cpuinfo, chunk, length);
    total += length;
  }
  close_file(search);
  search->current = cpuinfo.current;
  return cpucycles_cpuinfo_constant(&cpuinfo);
}

/* The highest current frequency, as some cores may be idle. */
static long long from_current(struct search *search, const struct source *source)
{
  (void)source;
  search->name = CPUINFO;
  return search->current;
}

/* Reads a property of a node. Returns its length, or a file_error. */
static int read_property(struct search *search, const char *folder, const char *node,
  const char *property, char *bytes, int size)
{
  char path[CPUCYCLES_PATH_SIZE];
  int length = snprintf(path, sizeof path, "%s/%s/%s", folder, node, property);

  if (length < 0 || length >= CPUCYCLES_PATH_SIZE)
    return ABSENT;
  return read_bytes(search, path, bytes, size);
}

/* Reads the frequency of a CPU's node in the device tree: "cpu@0", "PowerPC,POWER9@20". Returns 0
   for other nodes, such as those of caches. */
static long long from_node(struct search *search, const char *folder, const char *node)
{
  char bytes[16];
  int length;

  if (!strchr(node, '@'))
    return 0;
  length = read_property(search, folder, node, "device_type", bytes, sizeof bytes);
  if (length != ABSENT && !(length == 4 && memcmp(bytes, "cpu", 4) == 0))
    return 0;
  length = read_property(search, folder, node, "clock-frequency", bytes, sizeof bytes);
  return rate_of_cells(bytes, length);
}

#define NODES "/proc/device-tree/cpus"

/* The nodes' names differ between machines, so the folder must be listed. That allocates memory,
   but only on machines where no file above answered. */
static long long from_device_tree(struct search *search, const struct source *source)
{
  struct dirent *entry;
  long long highest = 0;
  int i;

  (void)source;
  if (open_folder(search, NODES) != 0)
    return 0;
  for (i = 0; i < NODES_LIMIT && (entry = readdir(search->folder)) != NULL; i++) {
    long long hz = from_node(search, NODES, entry->d_name);

    if (hz > highest)
      highest = hz;
  }
  close_folder(search);
  return highest;
}

static long long from_system(struct search *search, const struct source *source)
{
  struct cpucycles_statement statement = { 0, NULL };

  (void)source;
  if (search->host->system)
    statement = search->host->system();
  search->name = statement.source;
  return statement.hz;
}

static void close_reference(struct search *search)
{
  const struct cpucycles_backend *reference = search->reference;

  search->reference = NULL;
  if (reference && reference->close)
    reference->close();
}

/* Returns the counter's rate: stated and confirmed, or measured if it is constant. */
static long long ask_reference(struct search *search, const struct cpucycles_backend *reference)
{
  const char *origin = NULL;
  long long hz;

  search->reference = reference;
  if (reference->prepare)
    reference->prepare();
  hz = cpucycles_stated_rate(reference);
  if (hz > 0 && reference->rate_source)
    search->name = reference->rate_source();
  if (hz == 0 && reference->invariant && reference->invariant(&origin) == 1)
    hz = cpucycles_measured_rate(reference->read);
  close_reference(search);
  return hz;
}

/* This source comes after the files, as CPUID can cause exits to a hypervisor. An interrupted
   measurement can contradict a true statement: hence the second try. */
static long long from_reference(struct search *search, const struct source *source)
{
  const struct cpucycles_backend *reference = search->host->reference;
  long long hz = 0;
  int i;

  (void)source;
  for (i = 0; reference && i < REFERENCE_TRIES && hz == 0; i++)
    hz = ask_reference(search, reference);
  return plausible_rate((unsigned long long)hz);
}

static long long from_environment(struct search *search, const struct source *source)
{
  const char *value = search->host->environment(source->name);

  return value ? parse_setting(search, source->name, value) : 0;
}

/* The environment is used only if no source before it answers. If it is set and ignored, report
   that. */
static void report_environment(struct search *search, const struct source *source)
{
  const char *value = search->host->environment(source->name);

  if (value && parse_setting(search, source->name, value) != 0)
    report(search, source->name, "is not needed");
}

static long long from_measurement(struct search *search, const struct source *source)
{
  (void)source;
  return search->host->measure ? search->host->measure() : 0;
}

/* Sources whose names begin with a slash, and those of from_sysfs(), get their answers from
   files. */
static const struct source sources[] = {
  { "/etc/cpucyclespersecond", from_setting, 1 },
  { "cpufreq/scaling_setspeed", from_sysfs, KHZ },
  { "cpufreq/scaling_max_freq", from_sysfs, KHZ },
  { "cpufreq/base_frequency", from_sysfs, KHZ },
  { "acpi_cppc/nominal_freq", from_sysfs, MHZ },
  { CPUINFO, from_cpuinfo, 1 },
  { "clock_tick", from_sysfs, 1 },
  { "/proc/device-tree", from_device_tree, 1 },
  { "tsc_freq_khz", from_sysfs, KHZ },
  { "system call", from_system, 1 },
  { "reference counter", from_reference, 1 },
  { CPUINFO " cpu MHz", from_current, 1 },
  { "cpucyclespersecond", from_environment, 1 },
  { "measurement", from_measurement, 1 },
};

enum { SOURCES = sizeof sources / sizeof sources[0] };

static void ask_source(void *argument)
{
  struct search *search = argument;

  search->answer = search->source->ask(search, search->source);
}

static void release(void *argument)
{
  struct search *search = argument;

  close_file(search);
  close_folder(search);
  close_reference(search);
}

static int is_setting(const struct source *source)
{
  return source->ask == from_setting || source->ask == from_environment;
}

/* Asks one source. Returns its answer; 0 also if the source raises a signal. */
static long long answer_of(struct search *search, const struct source *source)
{
  search->source = source;
  search->answer = 0;
  search->name = source->name;
  if (cpucycles_trial(ask_source, search) == 0)
    return search->answer;
  cpucycles_trial(release, search);
  search->file = -1;
  search->folder = NULL;
  search->reference = NULL;
  if (source->ask == from_sysfs || source->name[0] == '/')
    search->found->no_files = 1;
  if (is_setting(source))
    report(search, source->name, "raises a signal");
  return 0;
}

struct cpucycles_frequency cpucycles_frequency(const struct cpucycles_host *host)
{
  struct cpucycles_frequency found = { CPUCYCLES_FREQUENCY_DEFAULT, "default", "", 0 };
  struct search search = { host, NULL, &found, -1, { 0 }, { 0 }, -1, NULL, NULL, 0, 0, NULL };
  long long hz = 0;
  int i;

  for (i = 0; i < SOURCES && hz == 0; i++) {
    hz = answer_of(&search, &sources[i]);
    if (hz > 0) {
      found.persecond = hz;
      found.source = search.name;
    }
  }
  for (; i < SOURCES; i++)
    if (sources[i].ask == from_environment)
      report_environment(&search, &sources[i]);
  return found;
}

static void machine(char *name, int size)
{
#ifdef HAVE_SYS_UTSNAME_H
  struct utsname system;
  size_t length;

  if (uname(&system) >= 0) {
    length = strnlen(system.machine, (size_t)size - 1);
    memcpy(name, system.machine, length);
    name[length] = 0;
    return;
  }
#endif
  (void)size;
  *name = 0;
}

#ifdef CPUCYCLES_HAVE_TSC
#define REFERENCE &cpucycles_tsc
#else
#define REFERENCE NULL
#endif

const struct cpucycles_host cpucycles_host = { "", cpucycles_environment, machine,
  cpucycles_system_frequency, REFERENCE, cpucycles_measured_frequency };
