/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the first 32 KiB of /proc/cpuinfo in pieces. On x86, stops as soon as "cpu MHz" is known to
   be constant. Safe for any contents. */

#include "config.h"

#include "backends/common/cpuinfo-rate.h"
#include "lib/frequency-query.h"
#include "sys/architecture.h"
#include "sys/parse.h"

#include <string.h>
#include <unistd.h>

enum { MHZ = 1000000 };

static const char *parse_mhz(const char *text, long long *hz)
{
  return cpuc_parse_decimal(text, MHZ, hz);
}

/* Parses a value such as "3550.000000MHz". */
static const char *parse_mhz_with_unit(const char *text, long long *hz)
{
  text = cpuc_parse_decimal(text, MHZ, hz);
  return text && strncmp(text, "MHz", 3) == 0 ? text + 3 : NULL;
}

/* Lines that contain a frequency, of the form "key : value". Those of MIPS are in the kernels for
   Loongson. BogoMIPS is not a frequency, and "Clocking" of m68k is computed from BogoMIPS:
   arch/m68k/kernel/setup_mm.c. Arm, RISC-V and SuperH have no line with a frequency. */
static const struct cpuinfo_format {
  unsigned int architectures;
  int may_be_current; /* 1: the value is current if the flags contain aperfmperf, else constant */
  const char *key;
  const char *(*parse)(const char *value, long long *hz); /* returns the rest, or NULL */
} cpuinfo_formats[] = {
  { CPUC_ARCHITECTURE_X86, 1, "cpu MHz", parse_mhz },
  { CPUC_ARCHITECTURE_IA64, 0, "cpu MHz    ", parse_mhz }, /* x86 has tabs in place of blanks */
  { CPUC_ARCHITECTURE_X86 | CPUC_ARCHITECTURE_MIPS, 0, "model name", cpuc_parse_nominal_frequency },
  { CPUC_ARCHITECTURE_LOONGARCH | CPUC_ARCHITECTURE_MIPS, 0, "CPU MHz", parse_mhz },
  { CPUC_ARCHITECTURE_POWER, 0, "clock", parse_mhz_with_unit },
  { CPUC_ARCHITECTURE_S390, 0, "cpu MHz static", parse_mhz },
};

enum { CPUINFO_FORMATS = sizeof cpuinfo_formats / sizeof cpuinfo_formats[0] };

/* Lines that cpuinfo-rate.h parses, because their frequency is also the rate of a counter. */
static const struct {
  unsigned int architectures;
  long long (*rate_of)(const char *line);
} counter_lines[] = {
  { CPUC_ARCHITECTURE_ALPHA, cpuc_cpuinfo_rate_alpha_cycle_frequency },
  { CPUC_ARCHITECTURE_PARISC, cpuc_cpuinfo_rate_parisc_cr16 },
  { CPUC_ARCHITECTURE_SPARC, cpuc_cpuinfo_rate_sparc_clock_tick },
};

enum { COUNTER_LINES = sizeof counter_lines / sizeof counter_lines[0] };

/* Returns the text after the key and its colon, or NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
  if (strncmp(line, key, strlen(key)) != 0)
    return NULL;
  line = cpuc_parse_skip_blanks(line + strlen(key));
  return *line == ':' ? cpuc_parse_skip_blanks(line + 1) : NULL;
}

/* Returns the frequency in a line in Hz, or 0. If cpuinfo_formats contains the key of the line,
   stores in *may_be_current whether the frequency may be the current one. */
static long long parse_line(const struct cpuc_frequency_cpuinfo *cpuinfo, int *may_be_current)
{
  const char *line = cpuinfo->line.text;
  int i;

  for (i = 0; i < COUNTER_LINES; i++) {
    long long hz = 0;

    if (counter_lines[i].architectures & cpuinfo->architectures)
      hz = counter_lines[i].rate_of(line);
    if (hz > 0)
      return hz;
  }
  for (i = 0; i < CPUINFO_FORMATS; i++) {
    const char *value = NULL;
    long long hz;

    if (cpuinfo_formats[i].architectures & cpuinfo->architectures)
      value = value_of(line, cpuinfo_formats[i].key);
    if (!value)
      continue;
    *may_be_current = cpuinfo_formats[i].may_be_current;
    value = cpuinfo_formats[i].parse(value, &hz);
    return value && cpuc_parse_is_rest_blank(value) ? cpuc_rate_if_plausible((unsigned long long)hz)
                                                    : 0;
  }
  return 0;
}

void cpuc_frequency_cpuinfo_begin(struct cpuc_frequency_cpuinfo *cpuinfo)
{
  cpuinfo->architectures = cpuc_architecture();
  cpuinfo->constant_hz = 0;
  cpuinfo->maybe_current_hz = 0;
  cpuinfo->has_flags = cpuinfo->has_aperfmperf = 0;
  cpuc_file_line_begin(&cpuinfo->line);
}

/* With the flag aperfmperf, "cpu MHz" of Linux on x86 is the current frequency, computed from the
   CPU's counters APERF and MPERF. Without the flag, it is the frequency that a cpufreq driver has
   set, or else a constant one: arch/x86/kernel/cpu/aperfmperf.c, arch_freq_get_on_cpu(). Both are
   taken for constant, because where such a driver runs, sysfs has answered before /proc/cpuinfo is
   read. The flag is among the first thousand characters, even if the line is cut:
   arch/x86/include/asm/cpufeatures.h, word 3. */
static void parse_flags(struct cpuc_frequency_cpuinfo *cpuinfo)
{
  if (strncmp(cpuinfo->line.text, "flags", 5) != 0)
    return;
  cpuinfo->has_flags = 1;
  if (strstr(cpuinfo->line.text, " aperfmperf"))
    cpuinfo->has_aperfmperf = 1;
}

static void end_line(struct cpuc_frequency_cpuinfo *cpuinfo)
{
  int may_be_current = 0;
  long long hz, *highest;

  parse_flags(cpuinfo);
  if (cpuinfo->line.is_cut)
    return;
  hz = parse_line(cpuinfo, &may_be_current);
  highest = may_be_current ? &cpuinfo->maybe_current_hz : &cpuinfo->constant_hz;
  if (hz > *highest)
    *highest = hz;
}

void cpuc_frequency_cpuinfo_add(struct cpuc_frequency_cpuinfo *cpuinfo, const char *text,
  int length)
{
  const char *end = text + length;

  while ((text = cpuc_file_line_add(&cpuinfo->line, text, end)) != NULL)
    end_line(cpuinfo);
}

int cpuc_frequency_cpuinfo_is_decided(const struct cpuc_frequency_cpuinfo *cpuinfo)
{
  return cpuinfo->has_flags && !cpuinfo->has_aperfmperf && cpuinfo->maybe_current_hz > 0;
}

long long cpuc_frequency_cpuinfo_constant(const struct cpuc_frequency_cpuinfo *cpuinfo)
{
  if (cpuc_frequency_cpuinfo_is_decided(cpuinfo)
    && cpuinfo->maybe_current_hz > cpuinfo->constant_hz)
    return cpuinfo->maybe_current_hz;
  return cpuinfo->constant_hz;
}

enum {
  READ_SIZE = 1024, /* fits on small stacks, and is less than the lines of one CPU on x86 */
  SHORT_READ_SIZE = 256,
  LIMIT = 32 * 1024 /* bytes: tens of CPUs, enough for all core types */
};

/* Returns the size of the next read. If the first read has not reached the end of the flags of x86,
   small reads follow, until 2 KiB have been read, because a read beyond the lines of the first CPU
   would let the kernel prepare the lines of the next CPU, which takes ten microseconds in a virtual
   machine. */
static size_t size_of_read(const struct cpuc_frequency_cpuinfo *cpuinfo, int total)
{
  int is_x86 = (cpuinfo->architectures & CPUC_ARCHITECTURE_X86) != 0;

  return is_x86 && !cpuinfo->has_flags && total >= READ_SIZE && total < 2 * READ_SIZE
    ? SHORT_READ_SIZE : READ_SIZE;
}

long long cpuc_frequency_from_cpuinfo(struct cpuc_frequency_query *query)
{
  struct cpuc_frequency_cpuinfo cpuinfo;
  char chunk[READ_SIZE];
  int file, length, total = 0;

  cpuc_frequency_cpuinfo_begin(&cpuinfo);
  if (cpuinfo.architectures == 0)
    return 0;
  file = cpuc_file_open(query->source->name);
  if (file < 0)
    return 0;
  while (total < LIMIT && !cpuc_frequency_cpuinfo_is_decided(&cpuinfo)
    && (length = cpuc_file_read_some(file, chunk, size_of_read(&cpuinfo, total))) > 0) {
    cpuc_frequency_cpuinfo_add(&cpuinfo, chunk, length);
    total += length;
  }
  close(file);
  query->cpuinfo_current = cpuinfo.maybe_current_hz;
  return cpuc_frequency_cpuinfo_constant(&cpuinfo);
}

/* Returns the highest current frequency, because some cores may be idle. */
long long cpuc_frequency_from_current_mhz(struct cpuc_frequency_query *query)
{
  return query->cpuinfo_current;
}
