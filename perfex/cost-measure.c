/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the times of a cycle, of loads from each cache, and of a mispredicted branch, in at most
   20 ms of CPU time. Reads the sizes of the caches from /sys. Contains no code for particular
   architectures.

   Loads form a chain: the address of each load depends on the value of the load before. For a
   cache, the loads are spread over a part of it. */

#include "config.h"

#include "include/cpucycles.h"
#include "perfex/cost-clock.h"
#include "perfex/cost-measure.h"
#include "sys/file.h"
#include "sys/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Nanoseconds of CPU time after which no cache is measured. The rest of the 20 ms is for the round
   or chunk in progress and for the measurement of the cycle. CPU time is limited, because with a
   limit of elapsed time alone one preemption would leave costs unknown forever. The limit of
   elapsed time is ELAPSED_FACTOR times as long. */
#define CPU_TIME_LIMIT 12000000LL
#define ELAPSED_FACTOR 5

enum {
  ROUNDS = 7,
  LOADS = 1024,       /* per round */
  BRANCHES = 2048,    /* per round */
  CHUNK = 1 << 20,    /* bytes touched between two clock reads, in 0.3 ms */
  LARGEST = 16 << 20, /* bytes mapped at most */
  LINE = 64
};

/* A linear congruential generator. Only its upper bits are random enough. */
static inline unsigned next_state(unsigned state)
{
  return state * 1664525u + 1013904223u;
}

/* Memory to load from: 2^bits lines of zeros. */
struct working_set {
  const char *memory;
  int bits;
};

/* Returns the nanoseconds of a chain of loads from random lines. */
static __attribute__((noinline)) long long time_loads(struct working_set set, unsigned *seed)
{
  unsigned state = *seed, mask = (1u << set.bits) - 1;
  int shift = set.bits ? 32 - set.bits : 0, i;
  long long begin = pfx_cost_clock_elapsed();

  for (i = 0; i < LOADS; i++)
    state = next_state(state
      + *(const volatile unsigned *)(set.memory + (size_t)(state >> shift & mask) * LINE));
  *seed = state;
  return pfx_cost_clock_elapsed() - begin;
}

/* Returns the nanoseconds of a chain of loads without a generator, from a pointer that contains its
   own address. */
static __attribute__((noinline)) long long time_l1_loads(void)
{
  void *volatile self = (void *)&self, *at = self;
  long long begin = pfx_cost_clock_elapsed();
  int i;

  for (i = 0; i < LOADS; i++)
    at = *(void *volatile *)at;
  return pfx_cost_clock_elapsed() - begin;
}

/* Returns the nanoseconds of branches on a random bit. If mask is 0, the bit is always 0. */
static __attribute__((noinline)) long long time_branches(unsigned mask, unsigned *seed)
{
  unsigned state = *seed;
  long long begin = pfx_cost_clock_elapsed();
  int i;

  for (i = 0; i < BRANCHES; i++) {
    state = next_state(state);
    if (state >> 24 & mask)
      __asm__ volatile("" : "+r"(state)); /* keeps the compiler from removing the branch */
  }
  *seed = state;
  return pfx_cost_clock_elapsed() - begin;
}

static int compare(const void *a, const void *b)
{
  long long x = *(const long long *)a, y = *(const long long *)b;

  return (x > y) - (x < y);
}

/* Returns the cost of one of `count` operations: the minimum, median and maximum of ROUNDS times,
   minus an overhead in picoseconds. Sorts the times. */
static struct pfx_cost cost_of_times(long long *times, int count, long long overhead)
{
  long long costs[3];
  int i;

  qsort(times, ROUNDS, sizeof *times, compare);
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
  long long begin, thread_begin; /* elapsed and CPU time */
  long long loop_overhead;       /* of time_loads(), picoseconds per load */
  unsigned seed;
};

static int is_late(const struct run *run)
{
  return pfx_cost_clock_thread() - run->thread_begin >= CPU_TIME_LIMIT
    || pfx_cost_clock_elapsed() - run->begin >= ELAPSED_FACTOR * CPU_TIME_LIMIT;
}

/* Measures the core cycle, which event 0 counts. If that is impossible, uses the frequency
   estimate. */
static void measure_cycle(struct run *run)
{
  long long rate = pfx_cost_clock_core_frequency(), cost;

  if (rate <= 0)
    rate = cpucycles_persecond();
  cost = (PFX_COST_PICOSECONDS_PER_SECOND + rate / 2) / rate;
  run->measured->cycle = (struct pfx_cost) { cost, cost, cost };
}

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
static void measure_l1(struct run *run, long bytes)
{
  static const unsigned zero;
  struct working_set one = { (const char *)&zero, 0 };
  long long times[ROUNDS];
  struct pfx_cost load;
  int i;

  for (i = 0; i < ROUNDS; i++)
    times[i] = time_l1_loads();
  load = cost_of_times(times, LOADS, 0);
  add_level(run, bytes, load);
  for (i = 0; i < ROUNDS; i++)
    times[i] = time_loads(one, &run->seed);
  run->loop_overhead = cost_of_times(times, LOADS, 0).typical - load.typical;
}

/* Measures loads from a working set. Returns 0 if time runs out. */
static int measure_loads(struct run *run, struct working_set set, struct pfx_cost *load)
{
  long long times[ROUNDS];
  int i;

  for (i = 0; i < ROUNDS; i++) {
    if (is_late(run))
      return 0;
    times[i] = time_loads(set, &run->seed);
  }
  *load = cost_of_times(times, LOADS, run->loop_overhead);
  return 1;
}

/* Writes to each page, so that the kernel maps a zeroed page there. Returns 0 if time runs out. */
static int touch_pages(const struct run *run, char *memory, long bytes)
{
  long page = sysconf(_SC_PAGESIZE), at;

  for (at = 0; at < bytes; at += page) {
    if (at % CHUNK == 0 && is_late(run))
      return 0;
    *(volatile char *)(memory + at) = 0;
  }
  return 1;
}

/* Reads each line once. Returns 0 if time runs out. */
static int read_lines(const struct run *run, const char *memory, long bytes)
{
  long at;

  for (at = 0; at < bytes; at += LINE) {
    if (at % CHUNK == 0 && is_late(run))
      return 0;
    (void)*(const volatile char *)(memory + at);
  }
  return 1;
}

/* Returns the largest n for which 2^n lines fit into `bytes`; at least 0. */
static int line_bits(long bytes)
{
  int bits = 0;

  while ((2L * LINE << bits) <= bytes)
    bits++;
  return bits;
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
   most four times the size of the cache before it. Returns 0 if time or memory runs out. */
static int measure_cache(struct run *run, long size, long nearer_size)
{
  const long limit = size / 2 < 4 * nearer_size ? size / 2 : 4 * nearer_size;
  struct working_set set = { NULL, line_bits(limit) };
  long bytes = (long)LINE << set.bits;
  struct pfx_cost load;
  int is_measured;
  char *memory;

  memory = bytes <= LARGEST && !is_late(run) ? map_memory(bytes) : NULL;
  if (!memory)
    return 0;
  set.memory = memory;
  is_measured = touch_pages(run, memory, bytes) && read_lines(run, memory, bytes)
    && measure_loads(run, set, &load);
  if (is_measured)
    add_level(run, bytes, load);
  munmap(memory, (size_t)bytes);
  return is_measured;
}

/* Parses the size of a cache from the kernel, such as "32K". Returns bytes, or 0 for any other
   text. */
static long parse_size(const char *text)
{
  int size;
  const char *unit = cpuc_parse_integer(text, &size);

  return unit && *unit == 'K' ? (long)size << 10 : 0;
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

    for (i = 0; i < 3; i++) {
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, files[i]);
      if (cpuc_file_read_start(path, text[i], sizeof text[i]) <= 0)
        return count;
    }
    if (strncmp(text[1], "Instruction", 11) == 0)
      continue;
    caches[count] = parse_size(text[2]);
    if (text[0][0] != '1' + count || caches[count] < (count ? 4 * caches[count - 1] : 4096))
      return count;
    count++;
  }
  return count;
}

void pfx_cost_measure(struct pfx_cost_measured *measured)
{
  struct run run = { measured, pfx_cost_clock_elapsed(), pfx_cost_clock_thread(), 0, 0 };
  /* Usual sizes, for kernels that report none. */
  long caches[PFX_COST_LEVELS] = { 32 << 10, 512 << 10, 8 << 20 };
  long found[PFX_COST_LEVELS] = { 0 };
  int count, i;

  /* The seed differs each time, because a CPU may remember the branches of an earlier
     measurement. */
  run.seed = (unsigned)run.begin;
  memset(measured, 0, sizeof *measured);
  count = find_caches(found);
  if (count > 0)
    memcpy(caches, found, sizeof found);
  else
    count = 3;
  measure_branch_miss(&run);
  measure_l1(&run, LINE);
  for (i = 1; i < count && measure_cache(&run, caches[i], caches[i - 1]); i++)
    ;
  measure_cycle(&run); /* last, because it can take several milliseconds */
  measured->nanoseconds = pfx_cost_clock_elapsed() - run.begin;
}
