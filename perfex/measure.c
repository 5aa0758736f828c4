/* SPDX-License-Identifier: 0BSD OR MIT */
/* What a cycle, a load and a mispredicted branch cost on this machine, measured in at most 20 ms.
   Loads depend on each other: each one's address is made of what the last one loaded. They are
   spread over a part of each cache, of which the kernel says the size; and then over memory that
   the kernel has just zeroed and nobody has read, or that so much was touched since that no cache
   holds it. That it is in none is known by its time. No manual is asked and no architecture known.
   */

#include "config.h"

#include "sys/kernel-file.h"
#include "include/cpucycles.h"
#include "perfex/library.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Nanoseconds. What is not begun any more after that leaves enough of the 20 ms for what is. They
   are those of the thread: that others had the CPU once is no reason to know less for ever. But
   after so many times as much, the program has waited long enough. */
#define TIME 12000000LL
#define PATIENCE 5
#define ROOM (64L << 20) /* bytes of memory that are taken at most, and given back */

enum {
  ROUNDS = 7,
  LOADS = 1024, /* a round */
  FAR_LOADS = 256, /* a round that may reach memory; so few that most of its lines are read once */
  BRANCHES = 2048,
  CHUNK = 1 << 20, /* bytes that are touched at once; 0.3 ms */
  FRESH = 2 << 20, /* bytes in which lines are looked for that no cache holds */
  LINE = 64,
  CACHES = PERFEX_LEVELS - 1
};

static long long time_of(clockid_t clock)
{
  struct timespec time;

  return clock_gettime(clock, &time) == 0 ? time.tv_sec * 1000000000LL + time.tv_nsec : 0;
}

static long long now(void)
{
  return time_of(CLOCK_MONOTONIC);
}

/* The time that the thread has had the CPU; all time where the kernel does not tell. */
static long long now_of_thread(void)
{
  long long time = time_of(CLOCK_THREAD_CPUTIME_ID);

  return time > 0 ? time : now();
}

/* Of a linear congruential generator, whose upper bits are in disorder enough. */
static inline unsigned next_state(unsigned state)
{
  return state * 1664525u + 1013904223u;
}

/* What is gone over: 2^bits lines that are all 0. */
struct lines {
  const char *memory;
  int bits, loads; /* a round */
};

/* Nanoseconds for loads of which each one's address is made of what the one before it loaded. */
static __attribute__((noinline)) long long time_loads(struct lines lines, unsigned *place)
{
  unsigned state = *place, mask = (1u << lines.bits) - 1;
  int shift = lines.bits ? 32 - lines.bits : 0, i;
  long long begin = now();

  for (i = 0; i < lines.loads; i++)
    state = next_state(state
      + *(const volatile unsigned *)(lines.memory + (size_t)(state >> shift & mask) * LINE));
  *place = state;
  return now() - begin;
}

/* The same for loads alone, of one place, which holds its own address. */
static __attribute__((noinline)) long long time_nearest(void)
{
  void *volatile self = (void *)&self, *at = self;
  long long begin = now();
  int i;

  for (i = 0; i < LOADS; i++)
    at = *(void *volatile *)at;
  return now() - begin;
}

/* And for branches by a bit that nobody foresees; with mask 0, by one that is always 0. */
static __attribute__((noinline)) long long time_branches(unsigned mask, unsigned *place)
{
  unsigned state = *place;
  long long begin = now();
  int i;

  for (i = 0; i < BRANCHES; i++) {
    state = next_state(state);
    if (state >> 24 & mask)
      __asm__ volatile("" : "+r"(state)); /* which needs a branch around it */
  }
  *place = state;
  return now() - begin;
}

static int compare(const void *a, const void *b)
{
  long long x = *(const long long *)a, y = *(const long long *)b;

  return (x > y) - (x < y);
}

/* What one of `count` things takes: the least, the median and the greatest of ROUNDS times, without
   so many picoseconds that are not its own. */
static struct perfex_cost spread(long long *times, int count, long long less)
{
  long long costs[3];
  int i;

  qsort(times, ROUNDS, sizeof *times, compare);
  for (i = 0; i < 3; i++) {
    costs[i] = times[i * (ROUNDS - 1) / 2] * 1000 / count - less;
    if (costs[i] < 0)
      costs[i] = 0;
    if (costs[i] > PERFEX_COST_LIMIT)
      costs[i] = PERFEX_COST_LIMIT;
  }
  return (struct perfex_cost) { costs[0], costs[1], costs[2] };
}

/* A measurement: since when, and what is known so far. */
struct work {
  struct perfex_measured *measured;
  long long begin, begin_of_thread;
  long long around; /* picoseconds of time_loads() that are not the load's */
  unsigned place;
};

static int is_late(const struct work *work)
{
  return now_of_thread() - work->begin_of_thread >= TIME || now() - work->begin >= PATIENCE * TIME;
}

/* A cycle of the counter that cpucycles() reads; of a clock that is scaled, one of the CPU's
   frequency. */
static void measure_cycle(struct work *work)
{
  long long rate = cpucycles_rate(), cost;

  if (rate <= 0)
    rate = cpucycles_persecond();
  cost = (PERFEX_COST_LIMIT + rate / 2) / rate;
  work->measured->cycle = (struct perfex_cost) { cost, cost, cost };
}

static void measure_branch_miss(struct work *work)
{
  long long unforeseen[ROUNDS], foreseen[ROUNDS];
  int i;

  for (i = 0; i < ROUNDS; i++) {
    foreseen[i] = time_branches(0, &work->place);
    unforeseen[i] = time_branches(1, &work->place);
  }
  /* of two that nobody foresees, one is mispredicted */
  work->measured->branch_miss = spread(unforeseen, BRANCHES / 2,
    2 * spread(foreseen, BRANCHES, 0).typical);
}

static void add_level(struct work *work, long bytes, struct perfex_cost load)
{
  struct perfex_measured *measured = work->measured;

  measured->level[measured->levels].bytes = bytes;
  measured->level[measured->levels].load = load;
  measured->levels++;
}

/* The nearest cache, and by that, what else there is in time_loads(). */
static void measure_nearest(struct work *work, long bytes)
{
  static const unsigned zero;
  struct lines one = { (const char *)&zero, 0, LOADS };
  long long times[ROUNDS];
  struct perfex_cost load;
  int i;

  for (i = 0; i < ROUNDS; i++)
    times[i] = time_nearest();
  load = spread(times, LOADS, 0);
  add_level(work, bytes, load);
  for (i = 0; i < ROUNDS; i++)
    times[i] = time_loads(one, &work->place);
  work->around = spread(times, LOADS, 0).typical - load.typical;
}

/* Loads that are spread over lines. Returns 0 if there was no time for it. */
static int measure_lines(struct work *work, struct lines lines, struct perfex_cost *load)
{
  long long times[ROUNDS];
  int i;

  for (i = 0; i < ROUNDS; i++) {
    if (is_late(work))
      return 0;
    times[i] = time_loads(lines, &work->place);
  }
  *load = spread(times, lines.loads, work->around);
  return 1;
}

/* Has the kernel put zeros there. Returns 0 if there was no time for it. */
static int touch(const struct work *work, char *memory, long bytes)
{
  long page = sysconf(_SC_PAGESIZE), at;

  for (at = 0; at < bytes; at += page) {
    if (at % CHUNK == 0 && is_late(work))
      return 0;
    *(volatile char *)(memory + at) = 0;
  }
  return 1;
}

/* Reads all lines. Returns 0 if there was no time for it. */
static int read_all(const struct work *work, const char *memory, long bytes)
{
  long at;

  for (at = 0; at < bytes; at += LINE) {
    if (at % CHUNK == 0 && is_late(work))
      return 0;
    (void)*(const volatile char *)(memory + at);
  }
  return 1;
}

/* The most lines, as a power of two, that take so many bytes or less. */
static int bits_of(long bytes)
{
  int bits = 0;

  while ((2L * LINE << bits) <= bytes)
    bits++;
  return bits;
}

/* A cache that is not the nearest: lines of which it holds twice as many, and the one before it a
   quarter. Returns the bytes of memory that are used, or 0 if there was no time or room for it. */
static long measure_cache(struct work *work, char *memory, long room, long cache, long nearer)
{
  const long most = cache / 2 < 4 * nearer ? cache / 2 : 4 * nearer;
  struct lines lines = { memory, bits_of(most), LOADS };
  long bytes = (long)LINE << lines.bits;
  struct perfex_cost load;

  if (bytes > room || !touch(work, memory, bytes) || !read_all(work, memory, bytes)
    || !measure_lines(work, lines, &load))
    return 0;
  add_level(work, bytes, load);
  return bytes;
}

/* Where the zeros that the kernel has just written are still in a cache, more and more is touched.
   Memory is what takes half as long again as the last cache, and then does not take longer still.
   */
static void measure_memory(struct work *work, char *memory, long room)
{
  struct lines lines = { memory, bits_of(FRESH), FAR_LOADS };
  struct perfex_measured *measured = work->measured;
  const long long last = measured->level[measured->levels - 1].load.typical;
  struct perfex_cost load = { 0, 0, 0 }, before;
  long touched;

  for (touched = 0; touched + FRESH <= room; touched += FRESH) {
    before = load;
    if (!touch(work, memory + touched, FRESH) || !measure_lines(work, lines, &load))
      return;
    if (before.typical > last / 2 * 3 && load.typical < before.typical / 8 * 9) {
      add_level(work, FRESH, before);
      measured->has_memory = 1;
      return;
    }
  }
}

/* From cache to cache, and on to memory, unless that might be another cache. */
static void measure_levels(struct work *work, char *memory, long room, const long *caches,
  int count)
{
  long used = 0;
  int i;

  for (i = 1; i < count; i++) {
    long bytes = measure_cache(work, memory + used, room - used, caches[i], caches[i - 1]);

    if (bytes == 0)
      return;
    used += bytes;
  }
  if (!work->measured->is_hidden)
    measure_memory(work, memory + used, room - used);
}

/* The size of a cache as the kernel says it, "32K"; 0: it does not. */
static long size_of(const char *text)
{
  char *end;
  long size = strtol(text, &end, 10);

  if (end == text || size <= 0 || size > (1L << 20))
    return 0;
  return *end == 'K' ? size << 10 : *end == 'M' && size < 1024 ? size << 20 : 0;
}

/* The caches of data, from the nearest on. Returns how many the kernel tells of; *is_hidden: there
   is another behind these, of no size that it could be measured by. */
static int find_caches(const char *root, long *caches, int *is_hidden)
{
  static const char *const files[] = { "level", "type", "size" };
  int count = 0, index, i;

  *is_hidden = 0;
  for (index = 0; index < 8 && count < CACHES; index++) {
    char path[128], text[3][32];

    for (i = 0; i < 3; i++) {
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, files[i]);
      if (read_kernel_text(root, path, text[i], sizeof text[i]) <= 0)
        return count;
    }
    if (strncmp(text[1], "Instruction", 11) == 0)
      continue;
    caches[count] = size_of(text[2]);
    if (text[0][0] != '1' + count || caches[count] < (count ? 4 * caches[count - 1] : 4096)) {
      *is_hidden = 1;
      return count;
    }
    count++;
  }
  return count;
}

/* Room for all that, which costs nothing before it is touched, even where all that is mapped is
   locked, by mlockall(2) and MCL_FUTURE: a quarter of what is free, at most.
   Its pages are small ones, as a program's usually are; the kernel can need milliseconds for a huge
   one. */
static char *take_room(long *room)
{
  long quarter = 0;
  void *memory;

#ifdef _SC_AVPHYS_PAGES
  quarter = sysconf(_SC_AVPHYS_PAGES) / 4;
#endif
  *room = ROOM;
  if (quarter > 0 && quarter < ROOM / sysconf(_SC_PAGESIZE))
    *room = quarter * sysconf(_SC_PAGESIZE);
  memory = mmap(NULL, (size_t)*room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  munlock(memory, (size_t)*room);
  if (mprotect(memory, (size_t)*room, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, (size_t)*room);
    return NULL;
  }
#ifdef MADV_NOHUGEPAGE
  madvise(memory, (size_t)*room, MADV_NOHUGEPAGE);
#endif
  return memory;
}

void perfex_measure(const char *root, struct perfex_measured *measured)
{
  /* begins elsewhere each time: a CPU may remember the branches of the last time */
  struct work work = { measured, now(), now_of_thread(), 0, (unsigned)now() };
  /* as is usual, where the kernel does not say */
  long caches[CACHES] = { 32 << 10, 512 << 10, 8 << 20 }, found[CACHES] = { 0 }, room;
  char *memory;
  int count;

  memset(measured, 0, sizeof *measured);
  count = find_caches(root, found, &measured->is_hidden);
  if (count > 0)
    memcpy(caches, found, sizeof found);
  else
    count = 3;
  measure_cycle(&work);
  measure_branch_miss(&work);
  measure_nearest(&work, LINE);
  memory = take_room(&room);
  if (memory) {
    measure_levels(&work, memory, room, caches, count);
    munmap(memory, (size_t)room);
  }
  measured->nanoseconds = now() - work.begin;
}
