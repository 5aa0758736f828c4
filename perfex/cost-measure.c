/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the times of a cycle, of loads from each cache, and of a mispredicted branch, in some
   milliseconds. Reads the sizes of the caches from /sys. Contains no code for particular
   architectures.

   Loads form a chain: the address of each load depends on the value of the load before. For a
   cache, the loads are spread over a part of it. */

#include "config.h"

#include "include/cpucycles.h"
#include "perfex/cost.h"
#include "sys/file.h"
#include "sys/os-clock.h"
#include "sys/parse.h"
#include "sys/quantile.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  ROUNDS = 7,
  LOADS = 1024,       /* per round */
  BRANCHES = 2048,    /* per round */
  LARGEST = 16 << 20, /* bytes mapped at most, because to touch a MiB takes 0.3 ms */
  LINE = 64
};

/* A linear congruential generator. Only its upper bits are random enough. */
static inline unsigned next_state(unsigned state)
{
  return state * 1664525u + 1013904223u;
}

/* Returns the nanoseconds of a chain of loads from random ones of 2^bits lines of zeros. */
static __attribute__((noinline)) long long time_loads(const char *memory, int bits, unsigned *seed)
{
  unsigned state = *seed, mask = (1u << bits) - 1;
  int shift = bits ? 32 - bits : 0, i;
  long long begin = cpuc_os_clock_monotonic();

  for (i = 0; i < LOADS; i++)
    state = next_state(state
      + *(const volatile unsigned *)(memory + (size_t)(state >> shift & mask) * LINE));
  *seed = state;
  return cpuc_os_clock_monotonic() - begin;
}

/* Returns the nanoseconds of a chain of loads without a generator, from a pointer that contains its
   own address. */
static __attribute__((noinline)) long long time_l1_loads(void)
{
  void *volatile self = (void *)&self, *at = self;
  long long begin = cpuc_os_clock_monotonic();
  int i;

  for (i = 0; i < LOADS; i++)
    at = *(void *volatile *)at;
  return cpuc_os_clock_monotonic() - begin;
}

/* Returns the nanoseconds of branches on a random bit. If mask is 0, the bit is always 0. */
static __attribute__((noinline)) long long time_branches(unsigned mask, unsigned *seed)
{
  unsigned state = *seed;
  long long begin = cpuc_os_clock_monotonic();
  int i;

  for (i = 0; i < BRANCHES; i++) {
    state = next_state(state);
    if (state >> 24 & mask)
      __asm__ volatile("" : "+r"(state)); /* keeps the compiler from removing the branch */
  }
  *seed = state;
  return cpuc_os_clock_monotonic() - begin;
}

/* Returns the cost of one of `count` operations: the minimum, median and maximum of ROUNDS times,
   minus an overhead in picoseconds. Sorts the times. */
static struct pfx_cost cost_of_times(long long *times, int count, long long overhead)
{
  long long costs[3];
  int i;

  cpuc_quantile_sort_counts(times, ROUNDS);
  for (i = 0; i < 3; i++) {
    costs[i] = times[i * (ROUNDS - 1) / 2] * 1000 / count - overhead;
    if (costs[i] < 0)
      costs[i] = 0;
    if (costs[i] > PFX_COST_LIMIT)
      costs[i] = PFX_COST_LIMIT;
  }
  return (struct pfx_cost) { costs[0], costs[1], costs[2] };
}

/* A measurement in progress. */
struct run {
  struct pfx_cost_measured *measured;
  long long loop_overhead; /* of time_loads(), picoseconds per load */
  unsigned seed;
};

static void measure_branch_miss(struct run *run)
{
  long long unpredictable[ROUNDS], predictable[ROUNDS];
  int i;

  for (i = 0; i < ROUNDS; i++) {
    predictable[i] = time_branches(0, &run->seed);
    unpredictable[i] = time_branches(1, &run->seed);
  }
  /* Half of the unpredictable branches are mispredicted. */
  run->measured->branch_miss = cost_of_times(unpredictable, BRANCHES / 2,
    2 * cost_of_times(predictable, BRANCHES, 0).typical);
}

static void add_level(struct run *run, long bytes, struct pfx_cost load)
{
  struct pfx_cost_measured *measured = run->measured;

  measured->level[measured->levels].bytes = bytes;
  measured->level[measured->levels].load = load;
  measured->levels++;
}

/* Measures the L1 cache and the overhead of time_loads(). */
static void measure_l1(struct run *run)
{
  static const unsigned zero;
  long long times[ROUNDS];
  struct pfx_cost load;
  int i;

  for (i = 0; i < ROUNDS; i++)
    times[i] = time_l1_loads();
  load = cost_of_times(times, LOADS, 0);
  add_level(run, LINE, load);
  for (i = 0; i < ROUNDS; i++)
    times[i] = time_loads((const char *)&zero, 0, &run->seed);
  run->loop_overhead = cost_of_times(times, LOADS, 0).typical - load.typical;
}

/* Maps memory for the loads. Huge pages are not used, because programs usually have small pages,
   and the kernel can need milliseconds for a huge one. */
static char *map_memory(long bytes)
{
  void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (memory == MAP_FAILED)
    return NULL;
#ifdef MADV_NOHUGEPAGE /* uClibc does not have it */
  madvise(memory, (size_t)bytes, MADV_NOHUGEPAGE);
#endif
  return memory;
}

/* Measures a cache beyond the L1, with a working set of at most half the size of this cache and at
   most four times the size of the cache before it. Writes each line first, so that the kernel maps
   the page and the caches have the line. Returns 0 if the working set is too large. */
static int measure_cache(struct run *run, long size, long nearer_size)
{
  const long limit = size / 2 < 4 * nearer_size ? size / 2 : 4 * nearer_size;
  long long times[ROUNDS];
  long bytes, at;
  char *memory;
  int bits = 0, i;

  while ((2L * LINE << bits) <= limit)
    bits++;
  bytes = (long)LINE << bits;
  memory = bytes <= LARGEST ? map_memory(bytes) : NULL;
  if (!memory)
    return 0;
  for (at = 0; at < bytes; at += LINE)
    *(volatile char *)(memory + at) = 0;
  for (i = 0; i < ROUNDS; i++)
    times[i] = time_loads(memory, bits, &run->seed);
  add_level(run, bytes, cost_of_times(times, LOADS, run->loop_overhead));
  munmap(memory, (size_t)bytes);
  return 1;
}

/* Stores the sizes of the data caches, L1 first. Returns their number. The list ends before a cache
   that has an unexpected level, no size (Linux omits a size that it does not know), or less than
   four times the size of the cache before it. */
static int find_caches(long *caches)
{
  static const char *const files[] = { "level", "type", "size" };
  int count = 0, index, i;

  for (index = 0; index < 8 && count < PFX_COST_LEVELS; index++) {
    char path[128], text[3][32];
    const char *unit;
    int kibibytes;

    for (i = 0; i < 3; i++) {
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, files[i]);
      if (cpuc_file_read_start(path, text[i], sizeof text[i]) <= 0)
        return count;
    }
    if (strncmp(text[1], "Instruction", 11) == 0)
      continue;
    unit = cpuc_parse_integer(text[2], &kibibytes); /* "32K" */
    caches[count] = unit && *unit == 'K' ? (long)kibibytes << 10 : 0;
    if (text[0][0] != '1' + count || caches[count] < (count ? 4 * caches[count - 1] : 4096))
      return count;
    count++;
  }
  return count;
}

void pfx_cost_measure(struct pfx_cost_measured *measured)
{
  /* for kernels that report no sizes */
  static const long usual[PFX_COST_LEVELS] = { 32 << 10, 512 << 10, 8 << 20 };
  const long long begin = cpuc_os_clock_monotonic();
  /* The seed differs each time, because a CPU may remember the branches of an earlier
     measurement. */
  struct run run = { measured, 0, (unsigned)begin };
  long found[PFX_COST_LEVELS];
  int count = find_caches(found), i;
  const long *caches = count ? found : usual;
  long long rate, cycle;

  memset(measured, 0, sizeof *measured);
  measure_branch_miss(&run);
  measure_l1(&run);
  for (i = 1; i < (count ? count : 3) && measure_cache(&run, caches[i], caches[i - 1]); i++)
    ;
  /* event 0 counts core cycles; if their rate cannot be measured, it is estimated */
  rate = cpucycles_core_persecond();
  if (rate <= 0)
    rate = cpucycles_persecond();
  cycle = (PFX_COST_PICOSECONDS_PER_SECOND + rate / 2) / rate;
  measured->cycle = (struct pfx_cost) { cycle, cycle, cycle };
  measured->nanoseconds = cpuc_os_clock_monotonic() - begin;
}
