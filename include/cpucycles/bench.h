/* SPDX-License-Identifier: 0BSD OR MIT */
/* Times functions in core cycles per call, also where no counter counts core cycles, and compares
   two functions. For C89 and C++98. The code is in the library; the functions here only print.
   All functions are thread-safe, and exist since 20261121. Full text: cpucycles-bench(3). */

#ifndef LIBCPUCYCLES_BENCH_H
#define LIBCPUCYCLES_BENCH_H

#include <stdio.h>
#include "../cpucycles.h"

/* cpucycles_bench_keep(x) keeps the value of a number or pointer x alive, so that the compiler does
   not remove the code that computes it; without GNU's extensions, the value of x != 0. In C, the
   conditional gives a bit-field a type. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#pragma GCC visibility push(default)
#define cpucycles_bench_keep(x) \
  do { \
    __typeof__(1 ? (x) : (x)) cpucycles_bench_kept = (x); \
    __asm__ volatile("" : : "r,m"(cpucycles_bench_kept) : "memory"); \
  } while (0)
#else
#define cpucycles_bench_keep(x) \
  do { volatile int cpucycles_bench_kept = (x) ? 1 : 0; (void)cpucycles_bench_kept; } while (0)
#endif

/* What to time. Members that are not needed are 0: begin with
     struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP; */
struct cpucycles_bench_setup {
  void (*function)(void *argument);
  void (*prepare)(void *argument); /* runs before each call, not timed; 0: nothing to prepare */
  void *argument;
  const char *name; /* for output */
  double seconds;   /* time for samples; 0: 20 ms, and up to 0.2 s on a busy machine */
  double bytes;     /* that one call processes, for cycles per byte; 0: not asked for */
  double *samples;  /* 0, or gets the first `capacity` samples in order: core cycles or counts */
  int capacity, reserved_number;
  void (*nothing)(void *argument); /* an empty function of the program, for `empty` */
  void *reserved[5];
};

/* Numbers are per call, never negative, and 0 where they are not known. */
struct cpucycles_bench_result {
  double cycles, cycles_low, cycles_high; /* core cycles, and their interval of 97.9 % */
  double minimum, lower_quartile, median, upper_quartile, maximum, mean; /* counts of `unit` */
  double nanoseconds;                   /* of the median */
  double core_ratio;                    /* core cycles per count at that time */
  double frequency_low, frequency_high; /* of the core in Hz: 5th and 95th percentile */
  double empty;                         /* core cycles of an empty call, never subtracted */
  double kept;                          /* share of the samples that nothing disturbed, 0 to 1 */
  double bytes;                         /* of the setup */
  long long calls, time;                /* in each sample; seconds since 1970 */
  const char *name, *unit;              /* of the setup; `count_unit` of cpucycles_selected() */
  const char *note; /* a sentence on what is wrong or unusual, and what to do; 0 if nothing is */
  const char *mark; /* a word for `note` in the printed line, or "" */
  int samples, reserved_number; /* without samples, all numbers are 0 */
  double reserved[8];
};

struct cpucycles_bench_comparison {
  double ratio;        /* time of g over time of f; 0 if there are no samples */
  double low, high;    /* interval of 99.3 % in this process; 0 if there are too few rounds */
  const char *verdict; /* "differ" by more than 0.25 %, "same", or "unclear" */
  int rounds, reserved_number; /* rounds that were used */
  double reserved[8];
  struct cpucycles_bench_result f, g;
};

static __inline void cpucycles_bench_nothing(void *unused)
{
  (void)unused;
}

#ifdef __cplusplus
static __inline cpucycles_bench_setup cpucycles_bench_setup_begin()
{
  cpucycles_bench_setup setup = cpucycles_bench_setup();

  setup.nothing = cpucycles_bench_nothing;
  return setup;
}
#define CPUCYCLES_BENCH_SETUP cpucycles_bench_setup_begin()
extern "C" {
#else
#define CPUCYCLES_BENCH_SETUP \
  { NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0, cpucycles_bench_nothing, { NULL } }
#endif

/* The first function times one function for about 30 ms, the second two in turn for about 0.2 s.
   Return: 0, or -1 if there are no samples; `note` then tells why. */
extern int cpucycles_bench_run(struct cpucycles_bench_result *result,
  const struct cpucycles_bench_setup *setup);
extern int cpucycles_bench_compare(struct cpucycles_bench_comparison *comparison,
  const struct cpucycles_bench_setup *f, const struct cpucycles_bench_setup *g);

/* Format a line, of text or one JSON object, with its newline, in every locale alike. Store in
   `part` at most size - 1 bytes of the line, which begin at byte `from` of it, and a null byte. If
   `name` is null, the name is that of the setup.
   Return: the number of these bytes; 0 past the end of the line. */
extern int cpucycles_bench_text(char *part, int size, int from, const char *name,
  const struct cpucycles_bench_result *result);
extern int cpucycles_bench_json(char *part, int size, int from, const char *name,
  const struct cpucycles_bench_result *result);
extern int cpucycles_bench_comparison_text(char *part, int size, int from,
  const struct cpucycles_bench_comparison *comparison);

/* Calls cpucycles_bench_run() with a setup of `function` and `argument` alone. */
static __inline void cpucycles_bench(struct cpucycles_bench_result *result,
  void (*function)(void *argument), void *argument)
{
  struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;

  setup.function = function;
  setup.argument = argument;
  (void)cpucycles_bench_run(result, &setup);
}

/* Print these lines, in one piece if a line has at most 2047 bytes. */
static __inline void cpucycles_bench_print(FILE *file, const char *name,
  const struct cpucycles_bench_result *result)
{
  char part[2048];
  int from;

  for (from = 0; cpucycles_bench_text(part, 2048, from, name, result) > 0; from += 2047)
    (void)fputs(part, file);
}
static __inline void cpucycles_bench_print_json(FILE *file, const char *name,
  const struct cpucycles_bench_result *result)
{
  char part[2048];
  int from;

  for (from = 0; cpucycles_bench_json(part, 2048, from, name, result) > 0; from += 2047)
    (void)fputs(part, file);
}
static __inline void cpucycles_bench_print_comparison(FILE *file,
  const struct cpucycles_bench_comparison *comparison)
{
  char part[2048];
  int from;

  for (from = 0; cpucycles_bench_comparison_text(part, 2048, from, comparison) > 0; from += 2047)
    (void)fputs(part, file);
}

#ifdef __cplusplus
}
#if __cplusplus >= 201103L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201103L)
/* Calls anything that C++11 can call without an argument. */
template <class Callable>
inline void cpucycles_bench(cpucycles_bench_result *result, Callable &&callable)
{
  struct caller {
    Callable &called;
    static void call(void *self) { static_cast<void>(static_cast<caller *>(self)->called()); }
  } wrapped = { callable };

  cpucycles_bench(result, wrapped.call, &wrapped);
}
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#pragma GCC diagnostic pop
#endif
#endif
