/* SPDX-License-Identifier: 0BSD OR MIT */
/* Functions whose core cycles are known: each instruction of a chain needs the result of the one
   before it, also across calls, because a call would otherwise overlap with the call before it. The
   sources of the latencies are those of sys/dependent-add.h. */

#include "config.h"

#include "bench/cycles.h"
#include "sys/dependent-add.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static uint64_t state[8] = { 1, 3 };
void *const bench_argument = state;

#ifdef __x86_64__

/* Neither the library's loop nor a call through a pointer changes r10 and r11. */
#define CHAIN(count, instruction) \
  __asm__ volatile(".rept " #count "\n\t" instruction " %%r10, %%r11\n\t.endr" : : : "r11")
#define LONG_CHAIN(id, calls, rest) \
  static void id(void *unused) \
  { \
    long i; \
\
    (void)unused; \
    for (i = 0; i < (calls); i++) \
      CHAIN(500, "add"); \
    CHAIN(rest, "add"); \
  }
#define REGISTER(id) id

/* 64-bit multiplications take 3 cycles on Intel's CPUs since Nehalem, and AMD's since Zen. */
static const double multiplication_cycles = 3;

static void add_50(void *unused)
{
  (void)unused;
  CHAIN(50, "add");
}

static void multiply_1000(void *unused)
{
  (void)unused;
  CHAIN(1000, "imul");
}

LONG_CHAIN(add_1000, 2, 0)
LONG_CHAIN(add_10000, 20, 0)
LONG_CHAIN(add_10050, 20, 50)
LONG_CHAIN(add_1e6, 2000, 0)
LONG_CHAIN(add_3e6, 6000, 0)
LONG_CHAIN(add_3e7, 60000, 0)

/* 16 bytes of padding before the function give its loops another place in a line of the cache. */
__attribute__((patchable_function_entry(16, 16))) LONG_CHAIN(add_10000_copy, 20, 0)

static void slow_first(void *unused)
{
  static const struct timespec pause = { 0, 200000000 };
  static int is_later;

  if (!is_later)
    nanosleep(&pause, NULL);
  is_later = 1;
  add_50(unused);
}

#else
#define REGISTER(id) NULL
static const double multiplication_cycles = 0;
#endif

#define ADD_10(x, y) ADD_5(x, y) ADD_5(x, y)
#define ADD_5(x, y) ADD(x, y) ADD(x, y) ADD(x, y) ADD(x, y) ADD(x, y)
#define ADD(x, y) \
  (x) += (y); \
  __asm__ volatile("" : "+r"(x));

static void add_10000_memory(void *argument)
{
  uint64_t x = *(uint64_t *)argument, y = ((uint64_t *)argument)[1];
  int i;

  for (i = 0; i < 100; i++) {
    ADD_10(x, y) ADD_10(x, y) ADD_10(x, y) ADD_10(x, y) ADD_10(x, y)
    ADD_10(x, y) ADD_10(x, y) ADD_10(x, y) ADD_10(x, y) ADD_10(x, y)
  }
  *(uint64_t *)argument = x;
}

static void multiply_1000_memory(void *argument)
{
  uint64_t x = *(uint64_t *)argument, y = ((uint64_t *)argument)[1];
  int i;

  for (i = 0; i < 1000; i++) {
    x *= y;
    __asm__ volatile("" : "+r"(x));
  }
  *(uint64_t *)argument = x;
}

__attribute__((always_inline)) static inline void hash(void *argument)
{
  uint32_t hash = *(uint32_t *)argument, i;

  for (i = 0; i < 1000; i++)
    hash = (hash ^ i) * 16777619;
  *(uint32_t *)argument = hash;
}

static void fnv(void *argument)
{
  hash(argument);
}

__attribute__((patchable_function_entry(16, 16))) static void fnv_copy(void *argument)
{
  hash(argument);
}

static void empty(void *unused)
{
  (void)unused;
}

static void sleep_1000_us(void *unused)
{
  static const struct timespec pause = { 0, 1000000 };

  (void)unused;
  nanosleep(&pause, NULL);
}

static int numbers[1000];

static int compare(const void *a, const void *b)
{
  int x = *(const int *)a, y = *(const int *)b;

  return (x > y) - (x < y);
}

static void sort_numbers(void *unused)
{
  (void)unused;
  qsort(numbers, sizeof numbers / sizeof numbers[0], sizeof numbers[0], compare);
}

const struct bench_known bench_add_50 = { "50 adds", REGISTER(add_50), 50 };
const struct bench_known bench_add_1000 = { "1,000 adds", REGISTER(add_1000), 1000 };
const struct bench_known bench_add_10000 = { "10,000 adds", REGISTER(add_10000), 10000 };
const struct bench_known bench_add_10050 = { "10,050 adds", REGISTER(add_10050), 10050 };
const struct bench_known bench_add_1e6 = { "1e6 adds", REGISTER(add_1e6), 1e6 };
const struct bench_known bench_add_3e6 = { "3e6 adds", REGISTER(add_3e6), 3e6 };
const struct bench_known bench_add_3e7 = { "3e7 adds", REGISTER(add_3e7), 3e7 };
const struct bench_known bench_multiply_1000
  = { "1,000 multiplications", REGISTER(multiply_1000), 1000 * multiplication_cycles };
const struct bench_known bench_add_10000_memory
  = { "10,000 adds, *argument", add_10000_memory, 10000 };
const struct bench_known bench_multiply_1000_memory
  = { "1,000 mult., *argument", multiply_1000_memory, 1000 * multiplication_cycles };
const struct bench_known bench_add_10000_copy
  = { "its copy", REGISTER(add_10000_copy), 10000 };
const struct bench_known bench_fnv = { "FNV", fnv, 0 };
const struct bench_known bench_fnv_copy = { "its copy", fnv_copy, 0 };
const struct bench_known bench_empty = { "an empty function", empty, 0 };
const struct bench_known bench_slow_first
  = { "50 adds, slow first call", REGISTER(slow_first), 50 };
const struct bench_known bench_sleep = { "sleep of 1 ms", sleep_1000_us, 0 };
const struct bench_known bench_sort = { "qsort()", sort_numbers, 0 };

void bench_prepare_nothing(void *unused)
{
  (void)unused;
}

/* 10 to 20 us, by the frequency. */
void bench_prepare_10_us(void *unused)
{
  (void)unused;
  (void)cpuc_dependent_add_run(40000 / CPUC_DEPENDENT_ADD_PASS);
}

/* About 1 ms. It ends with the code of bench_add_10000, because 1 MiB displaces this code from a
   second-level cache of 512 KiB, and a call would be slow. */
void bench_prepare_1_mib(void *argument)
{
  static volatile unsigned char memory[1 << 20];
  int i;

  for (i = 0; i < (int)sizeof memory; i += 64)
    memory[i]++;
  for (i = 0; i < 300; i++)
    bench_add_10000.function(argument);
}

void bench_prepare_numbers(void *unused)
{
  static unsigned int random = 1;
  int i;

  (void)unused;
  for (i = 0; i < (int)(sizeof numbers / sizeof numbers[0]); i++) {
    random = random * 1103515245 + 12345;
    numbers[i] = (int)(random >> 8);
  }
}
