/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the times of a cycle, of loads from each cache and from memory, and of a mispredicted
   branch, in at most 20 ms of CPU time. Reads the sizes of the caches from /sys. Contains no code
   for particular architectures.

   Loads form a chain: the address of each load depends on the value of the load before. For a
   cache, the loads are spread over a part of it. For memory, the loads are spread over pages that
   the kernel has just zeroed. While the zeros are still in a cache, other pages are touched, until
   the other pages have displaced the zeros from all caches. The time of the loads tells when all
   zeros are displaced. */

#include "config.h"

#include "include/cpucycles.h"
#include "perfex/cost-clock.h"
#include "perfex/cost-measure.h"
#include "sys/file.h"
#include "sys/parse.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Nanoseconds of CPU time after which no cache or memory is measured. The rest of the 20 ms is for
   the round or chunk in progress and for the measurement of the cycle. CPU time is limited, because
   with a limit of elapsed time alone one preemption would leave costs unknown forever. The limit of
   elapsed time is ELAPSED_FACTOR times as long. */
#define CPU_TIME_LIMIT 12000000LL
#define ELAPSED_FACTOR 5

enum {
  ROUNDS = 7,
  LOADS = 1024,          /* per round */
  MEMORY_LOADS = 256,    /* per round for memory; few, so that most lines are read once */
  BRANCHES = 2048,       /* per round */
  CHUNK = 1 << 20,       /* bytes touched between two clock reads, in 0.3 ms */
  MEMORY_STEP = 2 << 20, /* bytes per measurement of memory */
  LINE = 64,
  CACHES = PFX_COST_LEVELS - 1
};

/* A linear congruential generator. Only its upper bits are random enough. */
static inline unsigned next_state(unsigned state)
{
  return state * 1664525u + 1013904223u;
}

/* Memory to load from: 2^bits lines of zeros. */
struct working_set {
  const char *memory;
  int bits, loads; /* loads: per round */
};

/* Returns the nanoseconds of a chain of loads from random lines. */
static __attribute__((noinline)) long long time_loads(struct working_set set, unsigned *seed)
{
  unsigned state = *seed, mask = (1u << set.bits) - 1;
  int shift = set.bits ? 32 - set.bits : 0, i;
  long long begin = pfx_cost_clock_elapsed();

  for (i = 0; i < set.loads; i++)
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
  struct working_set one = { (const char *)&zero, 0, LOADS };
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
  *load = cost_of_times(times, set.loads, run->loop_overhead);
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

/* Measures a cache beyond the L1, with a working set of at most half the size of this cache and at
   most four times the size of the cache before it. Returns the bytes of memory used, or 0 if time
   or memory runs out. */
static long measure_cache(struct run *run, char *memory, long available, long size,
  long nearer_size)
{
  const long limit = size / 2 < 4 * nearer_size ? size / 2 : 4 * nearer_size;
  struct working_set set = { memory, line_bits(limit), LOADS };
  long bytes = (long)LINE << set.bits;
  struct pfx_cost load;

  if (bytes > available || !touch_pages(run, memory, bytes) || !read_lines(run, memory, bytes)
    || !measure_loads(run, set, &load))
    return 0;
  add_level(run, bytes, load);
  return bytes;
}

/* Measures loads from the first MEMORY_STEP bytes, and touches more and more pages behind them. The
   loads are from memory if they take more than 1.5 times as long as loads from the last cache, and
   less than an eighth longer after the next MEMORY_STEP bytes are touched. */
static void measure_memory(struct run *run, char *memory, long available)
{
  struct working_set set = { memory, line_bits(MEMORY_STEP), MEMORY_LOADS };
  struct pfx_cost_measured *measured = run->measured;
  const long long last_cache = measured->level[measured->levels - 1].load.typical;
  struct pfx_cost load = { 0, 0, 0 }, previous;
  long touched;

  for (touched = 0; touched + MEMORY_STEP <= available; touched += MEMORY_STEP) {
    previous = load;
    if (!touch_pages(run, memory + touched, MEMORY_STEP) || !measure_loads(run, set, &load))
      return;
    if (previous.typical > last_cache / 2 * 3 && load.typical < previous.typical / 8 * 9) {
      add_level(run, MEMORY_STEP, previous);
      measured->has_memory = 1;
      return;
    }
  }
}

/* Measures the caches beyond the L1, and then, if the list of caches is not cut, memory. */
static void measure_levels(struct run *run, char *memory, long available, const long *caches,
  int count)
{
  long used = 0;
  int i;

  for (i = 1; i < count; i++) {
    long bytes = measure_cache(run, memory + used, available - used, caches[i], caches[i - 1]);

    if (bytes == 0)
      return;
    used += bytes;
  }
  if (!run->measured->cache_list_is_cut)
    measure_memory(run, memory + used, available - used);
}

/* Parses the size of a cache from the kernel, such as "32K". Returns bytes, or 0 for any other
   text. */
static long parse_size(const char *text)
{
  int size;
  const char *unit = cpuc_parse_integer(text, &size);

  return unit && *unit == 'K' ? (long)size << 10 : 0;
}

/* Stores the sizes of the data caches, L1 first. Returns their number. Sets *cache_list_is_cut if
   at least one size is stored, and the next cache in the list has an unexpected level, no size, or
   less than four times the size of the cache before it. */
static int find_caches(long *caches, int *cache_list_is_cut)
{
  static const char *const files[] = { "level", "type", "size" };
  int count = 0, index, i;

  *cache_list_is_cut = 0;
  for (index = 0; index < 8 && count < CACHES; index++) {
    char path[128], text[3][32];

    for (i = 0; i < 3; i++) {
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, files[i]);
      if (cpuc_file_read_start(path, text[i], sizeof text[i]) <= 0) {
        *cache_list_is_cut = i == 2 && count > 0; /* Linux omits a size that it does not know */
        return count;
      }
    }
    if (strncmp(text[1], "Instruction", 11) == 0)
      continue;
    caches[count] = parse_size(text[2]);
    if (text[0][0] != '1' + count || caches[count] < (count ? 4 * caches[count - 1] : 4096)) {
      *cache_list_is_cut = count > 0;
      return count;
    }
    count++;
  }
  return count;
}

/* Returns the amount of memory in bytes that is written in a file of a cgroup; -1 if the file
   contains "max" or is missing. */
static long long read_amount(const char *directory, const char *name)
{
  char path[CPUC_FILE_PATH_SIZE];

  if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
    return -1;
  return cpuc_file_read_number(path, 1);
}

/* Returns how many bytes are still free under the memory limits of the cgroup of this process and
   of all cgroups above it. The kernel kills processes that exceed a limit. A container sees its own
   cgroup as the uppermost one, and the path in /proc/self/cgroup may not exist below its
   /sys/fs/cgroup. Source: cgroups(7); Documentation/admin-guide/cgroup-v2.rst and
   cgroup-v1/memory.rst of Linux. */
static long long find_cgroup_memory(void)
{
  static const struct {
    const char *key; /* before the path in /proc/self/cgroup, whose lines begin with a number */
    const char *top, *limit, *usage;
  } versions[] = {
    { "0::", "/sys/fs/cgroup", "memory.max", "memory.current" },
    { ":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes" },
  };
  char lines[2048], path[CPUC_FILE_PATH_SIZE], *slash;
  long long left = LLONG_MAX;
  int i;

  if (cpuc_file_read_start("/proc/self/cgroup", lines, sizeof lines) < 0)
    lines[0] = 0;
  for (i = 0; i < 2; i++) {
    const char *line = strstr(lines, versions[i].key);
    const char *own = line ? line + strlen(versions[i].key) : "";

    snprintf(path, sizeof path, "%s%.*s", versions[i].top, (int)strcspn(own, "\n"), own);
    do {
      long long limit = read_amount(path, versions[i].limit);
      long long used = read_amount(path, versions[i].usage);

      /* Without a limit, version 1 has a huge number, and version 2 the text "max". */
      if (limit >= 0 && limit <= CPUC_PARSE_DECIMAL_LIMIT && used >= 0 && limit - used < left)
        left = limit > used ? limit - used : 0;
      slash = strrchr(path + strlen(versions[i].top), '/');
      if (slash)
        *slash = 0;
    } while (slash);
  }
  return left;
}

/* Maps at most a quarter of the free memory and of what the cgroups leave. Pages are allocated when
   they are touched, even after mlockall(MCL_FUTURE), because the mapping is unlocked before it
   becomes accessible. Huge pages are not used, because programs usually have small pages, and the
   kernel can need milliseconds for a huge one. */
char *pfx_cost_map_memory(long *size)
{
  const long page = sysconf(_SC_PAGESIZE);
  const long free_pages = sysconf(_SC_AVPHYS_PAGES);
  long long pages = find_cgroup_memory() / page;
  void *memory;

  if (free_pages > 0 && free_pages < pages)
    pages = free_pages;
  *size = PFX_COST_MEMORY_LIMIT;
  if (pages / 4 < PFX_COST_MEMORY_LIMIT / page)
    *size = (long)(pages / 4) * page;
  memory = mmap(NULL, (size_t)*size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  munlock(memory, (size_t)*size);
  if (mprotect(memory, (size_t)*size, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, (size_t)*size);
    return NULL;
  }
#ifdef MADV_NOHUGEPAGE /* uClibc does not have it */
  madvise(memory, (size_t)*size, MADV_NOHUGEPAGE);
#endif
  return memory;
}

void pfx_cost_measure(struct pfx_cost_measured *measured)
{
  struct run run = { measured, pfx_cost_clock_elapsed(), pfx_cost_clock_thread(), 0, 0 };
  /* Usual sizes, for kernels that report none. */
  long caches[CACHES] = { 32 << 10, 512 << 10, 8 << 20 }, found[CACHES] = { 0 }, size;
  char *memory;
  int count;

  /* The seed differs each time, because a CPU may remember the branches of an earlier
     measurement. */
  run.seed = (unsigned)run.begin;
  memset(measured, 0, sizeof *measured);
  count = find_caches(found, &measured->cache_list_is_cut);
  if (count > 0)
    memcpy(caches, found, sizeof found);
  else
    count = 3;
  measure_branch_miss(&run);
  measure_l1(&run, LINE);
  memory = pfx_cost_map_memory(&size);
  if (memory) {
    measure_levels(&run, memory, size, caches, count);
    munmap(memory, (size_t)size);
  }
  measure_cycle(&run); /* last, because it can take several milliseconds */
  measured->nanoseconds = pfx_cost_clock_elapsed() - run.begin;
}
