/* SPDX-License-Identifier: 0BSD OR MIT */
/* An estimate of the CPU's frequency: a table of sources, asked in order until one answers.
   Starts no process, follows no locale, reads a bounded number of bytes, and skips whatever is
   malformed. */

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
  CPUINFO_LIMIT = 32 * 1024, /* tens of CPUs say what hundreds would */
  NODES_LIMIT = 256,         /* of a device tree; the same */
  CPUS_LIMIT = 32,           /* asked for their files; there are not so many kinds of core */
  CPU_NUMBERS = 1024,
  REFERENCE_TRIES = 2,
  SILENT_LIMIT = 4,          /* where so many do not answer, no other is asked */
  KHZ = 1000,
  MHZ = 1000000
};

/* Why a file has nothing to say. */
enum trouble {
  ABSENT = -1,
  REFUSED = -2,
  NO_FILE = -3,
  UNREADABLE = -4,
  TOO_LONG = -5,
  NO_TEXT = -6
};

static const char *const troubles[] = {
  [-REFUSED] = "cannot be opened",
  [-NO_FILE] = "is no regular file",
  [-UNREADABLE] = "cannot be read",
  [-TOO_LONG] = "is too long for a number",
  [-NO_TEXT] = "is no text",
};

struct search;

struct source {
  const char *name; /* of a file: where it is, too */
  long long (*ask)(struct search *search, const struct source *source); /* Hz, or 0: no answer */
  long long unit; /* of an answer that is one number, in Hz */
};

struct search {
  const struct cpucycles_host *host;
  const struct source *source;
  struct cpucycles_frequency *found;
  int cpus; /* to be asked, one a policy; or -1: not listed yet */
  int cpu[CPUS_LIMIT];
  int has_policy[CPUS_LIMIT]; /* its folder has a folder cpufreq */
  int file; /* open, or -1: closed by the caller if a signal cut the source short */
  DIR *folder;                             /* the same; or 0 */
  const struct cpucycles_backend *reference; /* the same; or 0 */
  long long momentary; /* what cpuinfo's lines of this moment said, once read */
  long long answer;
  const char *name; /* who gave it, where that is not the source's own name */
};

/* Says that a setting was not obeyed, and why. */
static void report(struct search *search, const char *setting, const char *why)
{
  char *skipped = search->found->skipped;
  size_t size = sizeof search->found->skipped, used = strlen(skipped);

  snprintf(skipped + used, size - used, "%s%s %s", used ? "; " : "", setting, why);
}

/* Opens a regular file below the root: nothing else answers, or answers without waiting. Returns
   0 or the trouble. */
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

/* Reads a file of fewer than size bytes whole. Returns their number, or the trouble. */
static int read_bytes(struct search *search, const char *path, char *bytes, int size)
{
  int length, trouble = open_file(search, path);

  if (trouble != 0)
    return trouble;
  length = cpucycles_read_rest(search->file, bytes, (size_t)size);
  close_file(search);
  if (length < 0)
    return UNREADABLE;
  return length < size ? length : TOO_LONG;
}

/* The same, as a string. */
static int read_text(struct search *search, const char *path, char *text, int size)
{
  int length = read_bytes(search, path, text, size);

  if (length < 0)
    return length;
  text[length] = 0;
  return strlen(text) == (size_t)length ? length : NO_TEXT;
}

/* A setting is a number, or is reported. */
static long long obey(struct search *search, const char *setting, const char *text)
{
  long long hz = cpucycles_parse_number(text, 1);

  if (hz == 0)
    report(search, setting, cpucycles_parse_complaint(text));
  return hz;
}

/* One number in a file of the administrator's. */
static long long from_setting(struct search *search, const struct source *source)
{
  char text[64];
  int length = read_text(search, source->name, text, sizeof text);

  if (length >= 0)
    return obey(search, source->name, text);
  if (length != ABSENT)
    report(search, source->name, troubles[-length]);
  return 0;
}

/* Lists a folder below the root. Returns 0, or -1 if it cannot. */
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

/* Numbers of CPUs. */
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

/* The path of a file below a CPU's folder, of which the name is short. */
static void below_cpu(char *path, int cpu, const char *name)
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

/* A kernel's list of CPUs. Without a line's end it was cut short, and 0. Returns how many it
   names. */
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

/* By the folders, where no list says which CPUs there are. */
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

/* Each access to a file costs a microsecond or more, and in most virtual machines none is there. */
static int has_policy(struct search *search, int cpu)
{
  char path[64], whole[CPUCYCLES_PATH_SIZE];

  below_cpu(path, cpu, "cpufreq");
  return cpucycles_join_path(whole, search->host->root, path) == 0 && access(whole, F_OK) == 0;
}

/* The CPUs to ask: those that are online, and of those that share a frequency policy the first. */
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
      continue; /* each has its own, as on x86 */
    below_cpu(path, cpu, "cpufreq/affected_cpus");
    alone = read_cpus(search, path, &policy) == 1;
    for (other = 0; other < CPU_NUMBERS; other++)
      if (has_cpu(&policy, other))
        add_cpu(&asked, other);
  }
}

/* One number in a file of the kernel's, below a CPU's folder. Without a line's end it was cut
   short, and could be any number's beginning. */
static long long from_cpu(struct search *search, const struct source *source, int cpu)
{
  char text[64], path[128];
  int length;

  below_cpu(path, cpu, source->name);
  length = read_text(search, path, text, sizeof text);
  if (length <= 0 || text[length - 1] != '\n')
    return 0;
  return cpucycles_parse_number(text, source->unit);
}

/* The highest of all kinds of core. An emulator that shows its host's files shows what is true of
   the CPU that does the work. */
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

/* Which machine's cpuinfo is it? An emulator names the emulated machine, and may show its host's
   file. */
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
  search->momentary = cpuinfo.momentary;
  return cpucycles_cpuinfo_constant(&cpuinfo);
}

/* The values of this moment, of cores that may be idle: the highest counts. */
static long long from_momentary(struct search *search, const struct source *source)
{
  (void)source;
  search->name = CPUINFO;
  return search->momentary;
}

/* What a property of a node holds. Returns how many bytes, or the trouble. */
static int read_property(struct search *search, const char *folder, const char *node,
  const char *property, char *bytes, int size)
{
  char path[CPUCYCLES_PATH_SIZE];
  int length = snprintf(path, sizeof path, "%s/%s/%s", folder, node, property);

  if (length < 0 || length >= CPUCYCLES_PATH_SIZE)
    return ABSENT;
  return read_bytes(search, path, bytes, size);
}

/* A node of the device tree: "cpu@0", "PowerPC,POWER9@20". Caches may stand beside the CPUs. */
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

/* The names of the nodes are the machine's own, so that the folder must be listed. That allocates
   memory, but no machine whose files answered gets here. */
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

/* The counter's rate, as stated, or measured if it is constant. */
static long long ask_reference(struct search *search, const struct cpucycles_backend *reference)
{
  const char *who = NULL;
  long long hz;

  search->reference = reference;
  if (reference->prepare)
    reference->prepare();
  hz = cpucycles_stated_rate(reference);
  if (hz > 0 && reference->rate_source)
    search->name = reference->rate_source();
  if (hz == 0 && reference->invariant && reference->invariant(&who) == 1)
    hz = cpucycles_measured_rate(reference->read);
  close_reference(search);
  return hz;
}

/* Asking can take exits to a hypervisor: files come first. The measurement can be interrupted, so
   that it contradicts a true statement: one repetition. */
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

  return value ? obey(search, source->name, value) : 0;
}

/* As long as others speak, it is not listened to; whoever set it should know. */
static void mention_environment(struct search *search, const struct source *source)
{
  const char *value = search->host->environment(source->name);

  if (value && obey(search, source->name, value) != 0)
    report(search, source->name, "is not needed");
}

static long long from_measurement(struct search *search, const struct source *source)
{
  (void)source;
  return search->host->measure ? search->host->measure() : 0;
}

/* Names that begin with a slash, and those of from_sysfs(), are of files. */
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
  { CPUINFO " cpu MHz", from_momentary, 1 },
  { "cpucyclespersecond", from_environment, 1 },
  { "measurement", from_measurement, 1 },
};

enum { SOURCES = sizeof sources / sizeof sources[0] };

static void ask(void *argument)
{
  struct search *search = argument;

  search->answer = search->source->ask(search, search->source);
}

static void tidy(void *argument)
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

/* What one source answers. One that raises a signal does not answer. */
static long long answer_of(struct search *search, const struct source *source)
{
  search->source = source;
  search->answer = 0;
  search->name = source->name;
  if (cpucycles_trial(ask, search) == 0)
    return search->answer;
  cpucycles_trial(tidy, search);
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
      mention_environment(&search, &sources[i]);
  return found;
}

static void machine(char *name, int size)
{
#ifdef HAVE_SYS_UTSNAME_H
  struct utsname system;

  if (uname(&system) >= 0) {
    strncpy(name, system.machine, (size_t)size - 1);
    name[size - 1] = 0;
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
