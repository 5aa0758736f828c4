/* SPDX-License-Identifier: 0BSD OR MIT */
/* What ppc64-mftb and ppc32-mftb share: the rate of the time base. No register states it, but Linux
   does, in Hz, by one line at the end of /proc/cpuinfo: "timebase\t: 512000000"
   (arch/powerpc/kernel/setup-common.c, show_cpuinfo). The line is taken as powerpc's kernel writes
   it and in no other form: an emulator may show another architecture's file here. */

#ifndef CPUCYCLES_PPC_TIMEBASE_H
#define CPUCYCLES_PPC_TIMEBASE_H

#include "backends/kernel-file.h"
#include "backends/rate.h"

#include <string.h>

/* What the line says, in Hz; 0: it is another line, or malformed. */
static inline long long timebase_of_line(const char *line)
{
  static const char key[] = "timebase\t: ";
  const char *digit = line + sizeof key - 1;
  unsigned long long hz = 0;

  if (strncmp(line, key, sizeof key - 1) != 0)
    return 0;
  for (; *digit >= '0' && *digit <= '9'; digit++) {
    hz = hz * 10 + (unsigned long long)(*digit - '0');
    if (!plausible_rate(hz) && hz >= 1000)
      return 0;
  }
  return *digit ? 0 : plausible_rate(hz);
}

/* A file as it is read: chunk after chunk, cut into lines. Of a line, more than fits is not looked
   at, and what lacks its line's end is none. */
struct timebase_search {
  char line[64];
  size_t used;
  long long hz;
};

static inline void search_chunk(struct timebase_search *search, const char *chunk, int length)
{
  int i;

  for (i = 0; i < length && !search->hz; i++) {
    if (chunk[i] == '\n') {
      search->line[search->used] = 0;
      search->hz = timebase_of_line(search->line);
      search->used = 0;
    } else if (search->used < sizeof search->line - 1) {
      search->line[search->used++] = chunk[i];
    }
  }
}

static inline long long ppc_timebase(void)
{
  enum { LIMIT = 1 << 20 }; /* some 120 bytes a CPU, before the line: thousands of CPUs */
  struct timebase_search search = { "", 0, 0 };
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

#endif
