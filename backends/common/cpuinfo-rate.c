/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the rates of counters from /proc/cpuinfo. */

#include "config.h"

#include "backends/common/cpuinfo-rate.h"
#include "backends/common/rate.h"
#include "sys/parse.h"

#include <string.h>
#include <unistd.h>

/* Parses a line that consists of the key and a number: Hz without decimals, or MHz with exactly six
   decimals. Returns Hz, or 0 for any other line. */
static long long rate_of_line(const char *line, const char *key, size_t decimals)
{
  const char *number = line + strlen(key), *rest;
  long long hz;

  if (strncmp(line, key, strlen(key)) != 0)
    return 0;
  rest = cpuc_parse_decimal(number, decimals > 0 ? 1000000 : 1, &hz);
  if (!rest || *rest || strlen(number + strcspn(number, ".")) != (decimals > 0 ? decimals + 1 : 0))
    return 0;
  return cpuc_rate_if_plausible((unsigned long long)hz);
}

void cpuc_cpuinfo_rate_search_add(struct cpuc_cpuinfo_rate_search *search, const char *piece,
  int length)
{
  const char *end = piece + length;

  while (!search->hz && (piece = cpuc_file_line_add(&search->line, piece, end)) != NULL)
    if (!search->line.is_cut)
      search->hz = search->rate_of(search->line.text);
}

long long cpuc_cpuinfo_rate_find(long long (*rate_of)(const char *line))
{
  /* bytes, enough for thousands of CPUs, because on PowerPC 120 bytes per CPU come before the line
     "timebase" */
  enum { LIMIT = 1 << 20 };
  struct cpuc_cpuinfo_rate_search search = { .rate_of = rate_of };
  char piece[2048];
  int file = cpuc_file_open("/proc/cpuinfo");
  int length, total = 0;

  if (file < 0)
    return 0;
  while (!search.hz && total < LIMIT
    && (length = cpuc_file_read_some(file, piece, sizeof piece)) > 0) {
    cpuc_cpuinfo_rate_search_add(&search, piece, length);
    total += length;
  }
  close(file);
  return search.hz;
}

long long cpuc_cpuinfo_rate_powerpc_timebase(const char *line)
{
  return rate_of_line(line, "timebase\t: ", 0);
}

long long cpuc_cpuinfo_rate_alpha_cycle_frequency(const char *line)
{
  char number[64];
  size_t length = strlen(line);

  if (length >= 5 && strcmp(line + length - 5, " est.") == 0)
    length -= 5;
  else if (length >= 1 && line[length - 1] == ' ')
    length -= 1;
  if (length >= sizeof number)
    return 0;
  memcpy(number, line, length);
  number[length] = 0;
  return rate_of_line(number, "cycle frequency [Hz]\t: ", 0);
}

long long cpuc_cpuinfo_rate_parisc_cr16(const char *line)
{
  return rate_of_line(line, "cpu MHz\t\t: ", 6);
}

long long cpuc_cpuinfo_rate_ia64_itc(const char *line)
{
  return rate_of_line(line, "itc MHz    : ", 6);
}

long long cpuc_cpuinfo_rate_sparc_clock_tick(const char *line)
{
  static const char key[] = "ClkTck\t: ";
  unsigned long long hz;
  const char *rest;
  int cpu;

  if (strncmp(line, "Cpu", 3) != 0)
    return 0;
  rest = cpuc_parse_integer(line + 3, &cpu);
  if (!rest || strncmp(rest, key, sizeof key - 1) != 0)
    return 0;
  rest += sizeof key - 1;
  return strlen(rest) == 16 && cpuc_parse_hexadecimal(rest, &hz) == rest + 16
    ? cpuc_rate_if_plausible(hz)
    : 0;
}
