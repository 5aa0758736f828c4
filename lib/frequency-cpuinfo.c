/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads /proc/cpuinfo in pieces, until the frequency is decided. Safe for any contents. */

#include "config.h"

#include "backends/common/cpuinfo-rate.h"
#include "lib/frequency-query.h"
#include "sys/architecture.h"
#include "sys/parse.h"

#include <string.h>

enum { MHZ = 1000000 };

static const char *parse_mhz(const char *text, long long *hz)
{
  return cpuc_parse_decimal(text, MHZ, hz);
}

/* "3550.000000MHz" */
static const char *parse_named_mhz(const char *text, long long *hz)
{
  text = cpuc_parse_decimal(text, MHZ, hz);
  return text && strncmp(text, "MHz", 3) == 0 ? text + 3 : NULL;
}

/* "100.00 Mhz" */
static const char *parse_spaced_mhz(const char *text, long long *hz)
{
  text = cpuc_parse_decimal(text, MHZ, hz);
  return text && strncmp(text, " Mhz", 4) == 0 ? text + 4 : NULL;
}

/* Architectures whose kernels report a frequency in /proc/cpuinfo. BogoMIPS is not a frequency. */
enum {
  ALPHA = 1,
  IA64 = 2,
  LOONGARCH = 4,
  PARISC = 8,
  POWER = 16,
  S390 = 32,
  SPARC = 64,
  X86 = 128,
  ARC = 256,
  XTENSA = 512,
  ALL = 1023
};

/* Architectures by the beginning of their name in uname(2). */
static const struct {
  const char *machine;
  unsigned int family;
} machines[] = {
  { "alpha", ALPHA },
  { "amd64", X86 },
  { "arc", ARC },
  { "i386", X86 },
  { "i486", X86 },
  { "i586", X86 },
  { "i686", X86 },
  { "ia64", IA64 },
  { "loongarch", LOONGARCH },
  { "parisc", PARISC },
  { "powerpc", POWER },
  { "ppc", POWER },
  { "s390", S390 },
  { "sparc", SPARC },
  { "x86_64", X86 },
  { "xtensa", XTENSA },
};

enum { MACHINES = sizeof machines / sizeof machines[0] };

/* Lines that contain a frequency, of the form "key : value". */
static const struct cpuinfo_format {
  unsigned int families;
  int is_current; /* the value is the current frequency */
  const char *key;
  const char *(*parse)(const char *value, long long *hz); /* returns the rest, or NULL */
} cpuinfo_formats[] = {
  { X86, 1, "cpu MHz", parse_mhz },
  { IA64 | PARISC | XTENSA, 0, "cpu MHz", parse_mhz },
  { X86, 0, "model name", cpuc_parse_model_name },
  { LOONGARCH, 0, "CPU MHz", parse_mhz },
  { POWER, 0, "clock", parse_named_mhz },
  { S390, 0, "cpu MHz static", parse_mhz },
  { ARC, 0, "CPU speed", parse_spaced_mhz },
};

enum { CPUINFO_FORMATS = sizeof cpuinfo_formats / sizeof cpuinfo_formats[0] };

/* Lines that also contain the rate of a counter. */
static const struct {
  unsigned int families;
  long long (*rate_of)(const char *line);
} counters[] = {
  { ALPHA, cpuc_cpuinfo_rate_alpha_cycle_frequency },
  { SPARC, cpuc_cpuinfo_rate_sparc_clock_tick },
};

enum { COUNTERS = sizeof counters / sizeof counters[0] };

/* Returns the text after the key and its colon, or NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
  if (strncmp(line, key, strlen(key)) != 0)
    return NULL;
  line = cpuc_parse_skip_blanks(line + strlen(key));
  return *line == ':' ? cpuc_parse_skip_blanks(line + 1) : NULL;
}

/* Returns the frequency in a line in Hz, or 0. Sets *is_current for a line "key : value". */
static long long parse_line(const char *line, unsigned int families, int *is_current)
{
  int i;

  for (i = 0; i < COUNTERS; i++) {
    long long hz = counters[i].families & families ? counters[i].rate_of(line) : 0;

    if (hz > 0)
      return hz;
  }
  for (i = 0; i < CPUINFO_FORMATS; i++) {
    const char *value = NULL;
    long long hz;

    if (cpuinfo_formats[i].families & families)
      value = value_of(line, cpuinfo_formats[i].key);
    if (!value)
      continue;
    *is_current = cpuinfo_formats[i].is_current;
    value = cpuinfo_formats[i].parse(value, &hz);
    return value && cpuc_parse_is_rest_blank(value) ? cpuc_rate_plausible((unsigned long long)hz)
                                                    : 0;
  }
  return 0;
}

void cpuc_cpuinfo_begin(struct cpuc_cpuinfo *cpuinfo, const char *machine)
{
  int i;

  cpuinfo->families = *machine ? 0 : ALL;
  for (i = 0; i < MACHINES; i++)
    if (strncmp(machine, machines[i].machine, strlen(machines[i].machine)) == 0)
      cpuinfo->families = machines[i].family;
  cpuinfo->constant = 0;
  cpuinfo->current = 0;
  cpuinfo->has_flags = cpuinfo->has_aperfmperf = cpuinfo->matched = 0;
  memset(&cpuinfo->line, 0, sizeof cpuinfo->line);
}

/* With the flag aperfmperf, Linux on x86 prints the current frequency, which the CPU counts.
   Without the flag, it prints the frequency that a cpufreq driver has set, or else a constant one:
   arch/x86/kernel/cpu/aperfmperf.c, arch_freq_get_on_cpu(). The first is taken for constant, too,
   because few CPUs without the flag have such a driver, and sysfs then answers earlier. The line of
   flags does not fit into the buffer for a line, so find_aperfmperf() searches the characters of
   the file. */
static int is_flags(const struct cpuc_cpuinfo *cpuinfo)
{
  return strncmp(cpuinfo->line.text, "flags", 5) == 0;
}

static void find_aperfmperf(struct cpuc_cpuinfo *cpuinfo, char next)
{
  static const char flag[] = " aperfmperf";

  if (next != flag[cpuinfo->matched])
    cpuinfo->matched = next == flag[0];
  else if (++cpuinfo->matched == (int)sizeof flag - 1) {
    cpuinfo->has_aperfmperf = 1;
    cpuinfo->matched = 0;
  }
}

static void end_line(struct cpuc_cpuinfo *cpuinfo)
{
  int is_current = 0;
  long long hz, *highest;

  if (is_flags(cpuinfo))
    cpuinfo->has_flags = 1;
  if (cpuc_kernel_file_line_is_cut(&cpuinfo->line))
    return;
  hz = parse_line(cpuinfo->line.text, cpuinfo->families, &is_current);
  highest = is_current ? &cpuinfo->current : &cpuinfo->constant;
  if (hz > *highest)
    *highest = hz;
}

void cpuc_cpuinfo_feed(struct cpuc_cpuinfo *cpuinfo, const char *text, int length)
{
  int i;

  for (i = 0; i < length; i++) {
    find_aperfmperf(cpuinfo, text[i]);
    if (cpuc_kernel_file_line_add(&cpuinfo->line, text[i]))
      end_line(cpuinfo);
  }
}

int cpuc_cpuinfo_is_decided(const struct cpuc_cpuinfo *cpuinfo)
{
  return cpuinfo->has_flags && !cpuinfo->has_aperfmperf && cpuinfo->current > 0;
}

long long cpuc_cpuinfo_constant(const struct cpuc_cpuinfo *cpuinfo)
{
  if (cpuc_cpuinfo_is_decided(cpuinfo) && cpuinfo->current > cpuinfo->constant)
    return cpuinfo->current;
  return cpuinfo->constant;
}

enum {
  CHUNK_SIZE = 1024, /* fits on small stacks, and is less than the part of one CPU on x86 */
  PIECE_SIZE = 256,
  LIMIT = 32 * 1024  /* bytes: tens of CPUs, enough for all core types */
};

/* Under an emulator, uname(2) names the emulated machine, but /proc/cpuinfo may be that of the
   host. */
static void begin_cpuinfo(struct cpuc_cpuinfo *cpuinfo)
{
  char machine[32];

  cpuc_architecture_name(machine, sizeof machine);
  cpuc_cpuinfo_begin(cpuinfo, machine);
}

/* Returns the size of the next read. If the first one has not reached the end of the flags of x86,
   small reads follow, up to 2 KiB: one that exceeds the part of the first CPU would let the kernel
   prepare the part of the next CPU, which takes ten microseconds in a virtual machine. */
static size_t size_of_read(const struct cpuc_cpuinfo *cpuinfo, int total)
{
  return cpuinfo->families & X86 && !cpuinfo->has_flags && total >= CHUNK_SIZE
      && total < 2 * CHUNK_SIZE
    ? PIECE_SIZE : CHUNK_SIZE;
}

long long cpuc_frequency_from_cpuinfo(struct cpuc_query *query)
{
  struct cpuc_cpuinfo cpuinfo;
  char chunk[CHUNK_SIZE];
  int length, total = 0;

  begin_cpuinfo(&cpuinfo);
  if (cpuinfo.families == 0 || cpuc_query_open(query, query->source->name) != 0)
    return 0;
  while (total < LIMIT && !cpuc_cpuinfo_is_decided(&cpuinfo)
    && (length = cpuc_kernel_file_read_some(query->file, chunk, size_of_read(&cpuinfo, total)))
      > 0) {
    cpuc_cpuinfo_feed(&cpuinfo, chunk, length);
    total += length;
  }
  cpuc_query_close(query);
  query->current = cpuinfo.current;
  return cpuc_cpuinfo_constant(&cpuinfo);
}

/* Returns the highest current frequency, because some cores may be idle. */
long long cpuc_frequency_from_current(struct cpuc_query *query)
{
  query->name = CPUC_QUERY_CPUINFO;
  return query->current;
}
