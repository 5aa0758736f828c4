/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the backends share whose rate no register states, but Linux does, by a line of
   /proc/cpuinfo. A line is taken as its own architecture's kernel writes it and in no other
   form: an emulator may show another architecture's file. */

#ifndef CPUCYCLES_CPUINFO_RATE_H
#define CPUCYCLES_CPUINFO_RATE_H

#include "sys/kernel-file.h"
#include "backends/common/rate.h"

#include <string.h>

/* Appends digits to *number, which stays too large once it is. Returns how many there are. */
static inline size_t take_digits(const char *text, unsigned long long *number)
{
  size_t i;

  for (i = 0; text[i] >= '0' && text[i] <= '9'; i++)
    if (plausible_rate(*number) || *number < 1000)
      *number = *number * 10 + (unsigned long long)(text[i] - '0');
  return i;
}

/* What a line says that is key and a number, with so many digits behind a point, which are counted
   in: a millionth of a MHz is a Hz. 0: it is another line, or malformed. */
static inline long long rate_of_line(const char *line, const char *key, size_t decimals)
{
  unsigned long long number = 0;
  const char *rest = line + strlen(key);
  size_t whole, behind = 0;

  if (strncmp(line, key, strlen(key)) != 0)
    return 0;
  whole = take_digits(rest, &number);
  rest += whole;
  if (decimals > 0 && *rest == '.') {
    behind = take_digits(rest + 1, &number);
    rest += 1 + behind;
  }
  return whole > 0 && behind == decimals && !*rest ? plausible_rate(number) : 0;
}

/* A file as it is read: chunk after chunk, cut into lines. Of a line, more than fits is not looked
   at, and what lacks its line's end is none. */
struct rate_search {
  long long (*rate_of)(const char *line);
  char line[64];
  size_t used;
  long long hz;
};

static inline void search_chunk(struct rate_search *search, const char *chunk, int length)
{
  int i;

  for (i = 0; i < length && !search->hz; i++) {
    if (chunk[i] == '\n') {
      search->line[search->used] = 0;
      search->hz = search->rate_of(search->line);
      search->used = 0;
    } else if (search->used < sizeof search->line - 1) {
      search->line[search->used++] = chunk[i];
    }
  }
}

/* The first rate that a line states. */
static inline long long cpuinfo_rate(long long (*rate_of)(const char *line))
{
  enum { LIMIT = 1 << 20 }; /* some 120 bytes a CPU may come before the line: thousands of CPUs */
  struct rate_search search = { rate_of, "", 0, 0 };
  char chunk[2048];
  int file = open_kernel_file("/proc/cpuinfo");
  int length, total = 0;

  if (file < 0)
    return 0;
  while (!search.hz && total < LIMIT && (length = read_some(file, chunk, sizeof chunk)) > 0) {
    search_chunk(&search, chunk, length);
    total += length;
  }
  close(file);
  return search.hz;
}

/* The lines, by architecture. */

/* "timebase\t: 512000000", in Hz: arch/powerpc/kernel/setup-common.c, show_cpuinfo. */
static inline long long powerpc_timebase(const char *line)
{
  return rate_of_line(line, "timebase\t: ", 0);
}

/* "cycle frequency [Hz]\t: 462962962 est.": arch/alpha/kernel/setup.c, show_cpuinfo. What is not an
   estimate ends with a space. */
static inline long long alpha_cycle_frequency(const char *line)
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

/* "cpu MHz\t\t: 552.000000": arch/parisc/kernel/processor.c, show_cpuinfo; from the firmware's
   count of CR16 in 10 ms. The line of x86 has three digits behind the point. */
static inline long long parisc_cr16_rate(const char *line)
{
  return rate_of_line(line, "cpu MHz\t\t: ", 6);
}

/* "itc MHz    : 399.000000": arch/ia64/kernel/setup.c, show_cpuinfo. */
static inline long long ia64_itc_rate(const char *line)
{
  return rate_of_line(line, "itc MHz    : ", 6);
}

/* "Cpu6ClkTck\t: 000000000ec82e00", of the first CPU that is there, hexadecimal in Hz:
   arch/sparc/kernel/smp_64.c, smp_info; cpu.c where there is one CPU. */
static inline long long sparc_clock_tick(const char *line)
{
  static const char digits[] = "0123456789abcdef", key[] = "ClkTck\t: ";
  unsigned long long hz = 0;
  const char *rest = line + 3, *digit;
  int i;

  if (strncmp(line, "Cpu", 3) != 0)
    return 0;
  while (*rest >= '0' && *rest <= '9')
    rest++;
  if (rest == line + 3 || strncmp(rest, key, sizeof key - 1) != 0)
    return 0;
  rest += sizeof key - 1;
  for (i = 0; i < 16; i++) {
    digit = *rest ? strchr(digits, *rest++) : NULL;
    if (!digit)
      return 0;
    hz = hz << 4 | (unsigned long long)(digit - digits);
  }
  return *rest ? 0 : plausible_rate(hz);
}

#endif
