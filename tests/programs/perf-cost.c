/* SPDX-License-Identifier: 0BSD OR MIT */
/* perf-cost why-not: prints why the bound in perf-cost.sh does not apply to this build, or nothing.
   perf-cost bare|ours READS: reads a perf event's page READS times, with the bare sequence or with
   the sequence of the library. Memory replaces the counter that the instruction would read.
   perf-cost nothing READS: calls an empty function READS times.
   perf-cost.sh counts the instructions that this program executes. */

#include "config.h"

#include "backends/perf/hot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct perf_event_mmap_page recorded
  = { .lock = 2, .index = 1, .offset = 1000, .pmc_width = 48 };
static volatile uint32_t low[2] = { 5, 5 };
static volatile uint32_t high;

/* Reads the count in two halves, like RDPMC. */
static inline uint64_t instruction(uint32_t index)
{
  return (uint64_t)high << 32 | low[index - 1];
}

static const struct cpuc_perf_counter counter = { .instruction = instruction };

static long long ours(void)
{
  return cpuc_perf_read(&counter, instruction, cpuc_perf_self.index, cpuc_perf_self.shift);
}

/* The sequence in the kernel's header, for a program with one event and one thread. */
static const volatile struct perf_event_mmap_page *volatile page = &recorded;

static long long bare(void)
{
  const volatile struct perf_event_mmap_page *here = page;
  uint32_t lock, index;
  int64_t offset, count;
  int shift;

  do {
    lock = here->lock;
    index = here->index;
    offset = here->offset;
    if (__builtin_expect(index == 0, 0))
      return 0;
    count = (int64_t)instruction(index);
    shift = 64 - here->pmc_width;
    count = (int64_t)((uint64_t)count << shift) >> shift;
  } while (__builtin_expect(here->lock != lock, 0));
  return offset + count;
}

/* Costs only the call and the loop around the call. */
static __attribute__((noinline)) long long nothing(void)
{
  return 1005;
}

/* clang 14 saves two more registers in position-independent code than the sequence needs. Shared
   libraries of musl find thread-local variables with a call (sys/thread-local.h). */
#ifdef __clang__
static const char why_not[] = "the bound is for code that GCC compiles";
#elif !defined __GLIBC__
static const char why_not[] = "the C library finds thread-local variables with a call";
#else
static const char why_not[] = "";
#endif

int main(int count, char **arguments)
{
  long long (*volatile read)(void);
  long reads, i;

  if (count == 2 && strcmp(arguments[1], "why-not") == 0) {
    printf("%s", why_not);
    return 0;
  }
  if (count != 3)
    return 2;
  read = strcmp(arguments[1], "bare") == 0 ? bare : strcmp(arguments[1], "ours") == 0 ? ours
    : nothing;
  reads = atol(arguments[2]);
  cpuc_perf_self.only_page = &recorded;
  cpuc_perf_self.index = recorded.index;
  cpuc_perf_self.shift = 64 - recorded.pmc_width;
  if (read() != 1005) {
    printf("perf-cost: %lld is not the count\n", read());
    return 1;
  }
  for (i = 0; i < reads; i++)
    read();
  return 0;
}
