/* SPDX-License-Identifier: 0BSD OR MIT */
/* Parses texts and bytes in which the system states a frequency: pure functions, safe for any
   input, independent of the locale. frequency.c reads the files. */

#include "config.h"

#include "lib/frequency.h"

#include "backends/common/cpuinfo-rate.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MHZ = 1000000, GHZ = 1000000000 };

static int is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static int is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *text)
{
  while (is_blank(*text))
    text++;
  return text;
}

/* Returns 1 if only white space is left. */
static int is_end(const char *text)
{
  return text[strspn(text, " \t\r\n")] == 0;
}

/* Parses a decimal number, with a point in every locale, times unit (a power of ten). Returns the
   rest of the text, or NULL if there is no number or it is above the limit. */
static const char *parse_decimal(const char *text, long long unit, long long *hz)
{
  long long value = 0;

  if (!is_digit(*text))
    return NULL;
  for (; is_digit(*text); text++) {
    value = value * 10 + (*text - '0') * unit;
    if (value > CPUCYCLES_FREQUENCY_HIGHEST)
      return NULL;
  }
  if (*text == '.') {
    if (!is_digit(text[1]))
      return NULL;
    for (text++; is_digit(*text); text++) {
      unit /= 10;
      value += (*text - '0') * unit;
    }
  }
  *hz = value;
  return text;
}

static const char *parse_mhz(const char *text, long long *hz)
{
  return parse_decimal(text, MHZ, hz);
}

/* "3550.000000MHz" */
static const char *parse_named_mhz(const char *text, long long *hz)
{
  text = parse_decimal(text, MHZ, hz);
  return text && strncmp(text, "MHz", 3) == 0 ? text + 3 : NULL;
}

/* "100.00 Mhz" */
static const char *parse_spaced_mhz(const char *text, long long *hz)
{
  text = parse_decimal(text, MHZ, hz);
  return text && strncmp(text, " Mhz", 4) == 0 ? text + 4 : NULL;
}

/* "2.80GHz" or "800MHz" */
static const char *parse_with_unit(const char *text, long long *hz)
{
  const char *unit = parse_decimal(text, GHZ, hz);

  if (unit && strncmp(unit, "GHz", 3) == 0)
    return unit + 3;
  unit = parse_decimal(text, MHZ, hz);
  return unit && strncmp(unit, "MHz", 3) == 0 ? unit + 3 : NULL;
}

/* "Model @ 2.80GHz", in older ones "Model CPU 2.80GHz": the CPU's nominal frequency, a word by
   itself. The rest of the name is ignored. */
static const char *parse_model_name(const char *text, long long *hz)
{
  for (; text; text = strchr(text, ' ')) {
    const char *rest;

    text += strspn(text, " ");
    rest = parse_with_unit(text, hz);
    if (rest && (is_end(rest) || is_blank(*rest)))
      return "";
  }
  return NULL;
}

long long cpucycles_parse_number(const char *text, long long unit)
{
  long long hz;

  text = parse_decimal(skip_blanks(text), unit, &hz);
  return text && is_end(text) ? plausible_rate((unsigned long long)hz) : 0;
}

const char *cpucycles_parse_complaint(const char *text)
{
  if (is_end(text))
    return "is empty";
  text = skip_blanks(text);
  if (is_digit(*text)) {
    text += strspn(text, "0123456789");
    if (*text == '.' && is_digit(text[1]))
      text += 1 + strspn(text + 1, "0123456789");
    if (is_end(text))
      return "is below 1000 or above 1000000000000";
  }
  return "is no decimal number";
}

int cpucycles_parse_first_cpu(const char *text)
{
  int cpu = is_digit(*text) ? 0 : -1;

  for (; is_digit(*text); text++) {
    cpu = cpu * 10 + (*text - '0');
    if (cpu > 1000000)
      return -1;
  }
  return cpu;
}

static const char *parse_cpu(const char *text, int *cpu)
{
  *cpu = cpucycles_parse_first_cpu(text);
  return *cpu < 0 ? NULL : text + strspn(text, "0123456789");
}

const char *cpucycles_parse_cpus(const char *text, int *first, int *last)
{
  text = parse_cpu(text + strspn(text, ", "), first);
  *last = *first;
  if (text && *text == '-')
    text = parse_cpu(text + 1, last);
  return text;
}

long long cpucycles_parse_integer(const void *bytes, int length, long long unit)
{
  int64_t number = 0;
  int32_t narrow;

  if (length == (int)sizeof number) {
    memcpy(&number, bytes, sizeof number);
  } else if (length == (int)sizeof narrow) {
    memcpy(&narrow, bytes, sizeof narrow);
    number = narrow;
  }
  if (number <= 0 || number > CPUCYCLES_FREQUENCY_HIGHEST / unit)
    return 0;
  return plausible_rate((unsigned long long)(number * unit));
}

/* Architectures whose kernels state a frequency in /proc/cpuinfo. BogoMIPS is none. */
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

/* The first letters of the architectures' names in uname(2). */
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

/* The lines that state a frequency, "key : value". */
static const struct dialect {
  unsigned int families;
  int is_current; /* the value is the current frequency */
  const char *key;
  const char *(*parse)(const char *value, long long *hz); /* returns the rest, or 0 */
} dialects[] = {
  { X86, 1, "cpu MHz", parse_mhz },
  { IA64 | PARISC | XTENSA, 0, "cpu MHz", parse_mhz },
  { X86, 0, "model name", parse_model_name },
  { LOONGARCH, 0, "CPU MHz", parse_mhz },
  { POWER, 0, "clock", parse_named_mhz },
  { S390, 0, "cpu MHz static", parse_mhz },
  { ARC, 0, "CPU speed", parse_spaced_mhz },
};

enum { DIALECTS = sizeof dialects / sizeof dialects[0] };

/* Lines that state the rate of a counter too. */
static const struct {
  unsigned int families;
  long long (*rate_of)(const char *line);
} counters[] = {
  { ALPHA, cpucycles_alpha_cycle_frequency },
  { SPARC, cpucycles_sparc_clock_tick },
};

enum { COUNTERS = sizeof counters / sizeof counters[0] };

/* Returns the text after the key and its colon, or NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
  if (strncmp(line, key, strlen(key)) != 0)
    return NULL;
  line = skip_blanks(line + strlen(key));
  return *line == ':' ? skip_blanks(line + 1) : NULL;
}

/* Returns the frequency that a line states; 0 if none. */
static long long parse_line(const char *line, unsigned int families, int *is_current)
{
  int i;

  for (i = 0; i < COUNTERS; i++) {
    long long hz = counters[i].families & families ? counters[i].rate_of(line) : 0;

    if (hz > 0)
      return hz;
  }
  for (i = 0; i < DIALECTS; i++) {
    const char *value = dialects[i].families & families ? value_of(line, dialects[i].key) : NULL;
    long long hz;

    if (!value)
      continue;
    *is_current = dialects[i].is_current;
    value = dialects[i].parse(value, &hz);
    return value && is_end(value) ? plausible_rate((unsigned long long)hz) : 0;
  }
  return 0;
}

void cpucycles_cpuinfo_begin(struct cpucycles_cpuinfo *cpuinfo, const char *machine)
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

/* Linux on x86 shows the current frequency if the CPU can count it, as the flag aperfmperf says;
   else one that it has found once: arch/x86/kernel/cpu/aperfmperf.c, arch_freq_get_on_cpu(). The
   line of flags is longer than the buffer for a line, so the flag is searched for in the file's
   characters. */
static int is_flags(const struct cpucycles_cpuinfo *cpuinfo)
{
  return strncmp(cpuinfo->line.text, "flags", 5) == 0;
}

static void find_aperfmperf(struct cpucycles_cpuinfo *cpuinfo, char next)
{
  static const char flag[] = " aperfmperf";

  if (next != flag[cpuinfo->matched])
    cpuinfo->matched = next == flag[0];
  else if (++cpuinfo->matched == (int)sizeof flag - 1) {
    cpuinfo->has_aperfmperf = 1;
    cpuinfo->matched = 0;
  }
}

static void end_line(struct cpucycles_cpuinfo *cpuinfo)
{
  int is_current = 0;
  long long hz, *highest;

  if (is_flags(cpuinfo))
    cpuinfo->has_flags = 1;
  if (cpucycles_kernel_line_is_cut(&cpuinfo->line))
    return;
  hz = parse_line(cpuinfo->line.text, cpuinfo->families, &is_current);
  highest = is_current ? &cpuinfo->current : &cpuinfo->constant;
  if (hz > *highest)
    *highest = hz;
}

void cpucycles_cpuinfo_feed(struct cpucycles_cpuinfo *cpuinfo, const char *text, int length)
{
  int i;

  for (i = 0; i < length; i++) {
    find_aperfmperf(cpuinfo, text[i]);
    if (cpucycles_kernel_line_add(&cpuinfo->line, text[i]))
      end_line(cpuinfo);
  }
}

int cpucycles_cpuinfo_is_decided(const struct cpucycles_cpuinfo *cpuinfo)
{
  return cpuinfo->has_flags && !cpuinfo->has_aperfmperf && cpuinfo->current > 0;
}

long long cpucycles_cpuinfo_constant(const struct cpucycles_cpuinfo *cpuinfo)
{
  if (cpucycles_cpuinfo_is_decided(cpuinfo) && cpuinfo->current > cpuinfo->constant)
    return cpuinfo->current;
  return cpuinfo->constant;
}
