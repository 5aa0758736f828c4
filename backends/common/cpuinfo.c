/* SPDX-License-Identifier: 0BSD OR MIT */
/* The table of lines of /proc/cpuinfo that contain a frequency. */

#include "config.h"

#include "backends/common/cpuinfo.h"
#include "sys/architecture.h"
#include "sys/file.h"
#include "sys/parse.h"

#include <string.h>

enum { MHZ = 1000000 };

/* The parsers of values store a frequency in Hz and return the rest of the text, or NULL. */

/* "600000000 " or "462962962 est." */
static const char *parse_hz(const char *text, long long *hz)
{
  text = cpuc_parse_decimal(text, 1, hz);
  return text && strcmp(text, " est.") == 0 ? "" : text;
}

static const char *parse_hexadecimal_hz(const char *text, long long *hz)
{
  unsigned long long number;

  text = cpuc_parse_hexadecimal(text, &number);
  *hz = cpuc_rate_if_plausible(number);
  return text;
}

/* "2445.430", or with a unit */
static const char *parse_mhz(const char *text, long long *hz)
{
  const char *rest = cpuc_parse_decimal(text, MHZ, hz);

  return rest && cpuc_parse_is_rest_blank(rest) ? rest : cpuc_parse_frequency(text, hz);
}

/* "552.000000": with six decimals, because the line of x86 has three. */
static const char *parse_exact_mhz(const char *text, long long *hz)
{
  const char *rest = cpuc_parse_decimal(text, MHZ, hz);

  return rest && rest - text > 7 && rest[-7] == '.' ? rest : NULL;
}

/* The lines have the form "key : value"; "#" in a key stands for a number. Blanks at the end of a
   key must be there. Sources: show_cpuinfo() of arch/x86/kernel/cpu/proc.c, ia64/kernel/setup.c,
   loongarch/kernel/proc.c, powerpc/kernel/setup-common.c (before Linux 2.6.27, also of boards in
   arch/ppc: "core clock"), s390/kernel/processor.c, alpha/kernel/setup.c,
   parisc/kernel/processor.c, sparc/kernel/cpu.c and smp_64.c ("CPU0ClkTck" of 32 bits is decimal);
   for MIPS, kernels for Loongson, and arch/mips/tangox of Sigma Designs' kernels.
   These lines are not read: "cpu MHz dynamic" of s390x, the current frequency; "Clocking" of m68k
   (m68k/kernel/setup_mm.c, setup_no.c), computed from BogoMIPS; BogoMIPS of CPUs other
   than x86, the speed of a loop;
   "bus clock" of PowerPC; "cpu MHz" of few boards in arch/ppc, because x86 has this key, too.
   No line of arm/kernel/setup.c, arm64/kernel/cpuinfo.c, riscv/kernel/cpu.c, sh/kernel/cpu/proc.c
   or, without the kernels above, mips/kernel/proc.c contains a frequency. */
static const struct {
  unsigned int architectures;
  unsigned int roles;
  const char *key;
  const char *(*parse)(const char *value, long long *hz);
} rows[] = {
  { CPUC_ARCHITECTURE_X86, CPUC_CPUINFO_CURRENT, "cpu MHz", parse_mhz },
  { CPUC_ARCHITECTURE_X86 | CPUC_ARCHITECTURE_MIPS, CPUC_CPUINFO_CORE, "model name",
    cpuc_parse_nominal_frequency },
  { CPUC_ARCHITECTURE_X86, CPUC_CPUINFO_TWICE_TSC, "bogomips", parse_mhz },
  { CPUC_ARCHITECTURE_LOONGARCH | CPUC_ARCHITECTURE_MIPS, CPUC_CPUINFO_CORE, "CPU MHz", parse_mhz },
  { CPUC_ARCHITECTURE_MIPS, CPUC_CPUINFO_CORE, "CPU clock", cpuc_parse_frequency },
  { CPUC_ARCHITECTURE_POWER, CPUC_CPUINFO_CORE, "clock", cpuc_parse_frequency },
  { CPUC_ARCHITECTURE_POWER, CPUC_CPUINFO_CORE, "core clock", cpuc_parse_frequency },
  { CPUC_ARCHITECTURE_POWER, CPUC_CPUINFO_RATE, "timebase", parse_hz },
  { CPUC_ARCHITECTURE_S390, CPUC_CPUINFO_CORE, "cpu MHz static", parse_mhz },
  { CPUC_ARCHITECTURE_ALPHA, CPUC_CPUINFO_CORE | CPUC_CPUINFO_RATE, "cycle frequency [Hz]",
    parse_hz },
  /* the firmware counts CR16 for 10 ms */
  { CPUC_ARCHITECTURE_PARISC, CPUC_CPUINFO_CORE | CPUC_CPUINFO_RATE, "cpu MHz", parse_exact_mhz },
  { CPUC_ARCHITECTURE_SPARC, CPUC_CPUINFO_CORE | CPUC_CPUINFO_RATE, "Cpu#ClkTck",
    parse_hexadecimal_hz },
  { CPUC_ARCHITECTURE_SPARC, CPUC_CPUINFO_CORE | CPUC_CPUINFO_RATE, "CPU#ClkTck", parse_hz },
  { CPUC_ARCHITECTURE_IA64, CPUC_CPUINFO_CORE, "cpu MHz    ", parse_mhz }, /* x86 has tabs there */
  { CPUC_ARCHITECTURE_IA64, CPUC_CPUINFO_RATE, "itc MHz    ", parse_mhz },
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* Returns the text after the key and its colon, or NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
  int number;

  for (; *key; key++)
    if (*key == '#')
      line = cpuc_parse_integer(line, &number);
    else if (!line || *line++ != *key)
      return NULL;
  line = line ? cpuc_parse_skip_blanks(line) : "";
  return *line == ':' ? cpuc_parse_skip_blanks(line + 1) : NULL;
}

long long cpuc_cpuinfo_parse(const char *line, unsigned int *roles)
{
  unsigned int architectures = cpuc_architecture();
  int i;

  for (i = 0; i < ROWS; i++) {
    const char *value = NULL;
    long long hz = 0;

    if (rows[i].architectures & architectures)
      value = value_of(line, rows[i].key);
    if (value)
      value = rows[i].parse(value, &hz);
    if (!value || !cpuc_parse_is_rest_blank(value))
      continue;
    *roles = rows[i].roles;
    return cpuc_rate_if_plausible((unsigned long long)hz);
  }
  return 0;
}

static int find_rate(const struct cpuc_file_line *line, void *argument)
{
  long long *hz = argument;
  unsigned int roles = 0;

  *hz = line->is_cut ? 0 : cpuc_cpuinfo_parse(line->text, &roles);
  if (!(roles & CPUC_CPUINFO_RATE))
    *hz = 0;
  return *hz > 0;
}

struct cpuc_rate cpuc_cpuinfo_rate(void)
{
  /* bytes, enough for thousands of CPUs, because on PowerPC 120 bytes per CPU come before the line
     "timebase" */
  enum { LIMIT = 1 << 20 };
  long long hz = 0;

  cpuc_file_read_lines(CPUC_CPUINFO, LIMIT, find_rate, &hz);
  return cpuc_rate_exact((unsigned long long)hz);
}
