/* SPDX-License-Identifier: 0BSD OR MIT */
/* Times functions in core cycles per call, also where no counter counts core cycles, and compares
   two functions. For C89 and C++98. The code is in the library; the functions here only print.
   All functions are thread-safe. No member is negative. Full text: cpucycles-bench(3). */

#ifndef LIBCPUCYCLES_BENCH_H
#define LIBCPUCYCLES_BENCH_H

#include <stdio.h>

#include "../cpucycles.h"

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#pragma GCC visibility push(default)
#define CPUCYCLES_BENCH_HERE static __inline__ __attribute__((__unused__))
/* cpucycles_bench_keep(x) keeps the value of x alive, any scalar expression, so that the compiler
   cannot remove the code that computes it. The conditional gives a bit-field the type of its
   value. */
#define cpucycles_bench_keep(x) \
  do { \
    __typeof__(1 ? (x) : (x)) cpucycles_bench_kept = (x); \
    __asm__ volatile("" : : "r,m"(cpucycles_bench_kept) : "memory"); \
  } while (0)
#else
#define CPUCYCLES_BENCH_HERE static __inline
#define cpucycles_bench_keep(x) \
  do { \
    volatile int cpucycles_bench_kept = (x) ? 1 : 0; \
    (void)cpucycles_bench_kept; \
  } while (0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What to time. Members that are not needed are 0: begin with
     struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;
   Since: 20261121. */
struct cpucycles_bench_setup {
  void (*function)(void *argument);
  void (*prepare)(void *argument); /* runs before each call, not timed; 0: nothing to prepare */
  void *argument;
  const char *name; /* for output */
  double seconds;   /* time for samples; 0: 20 ms, and up to 0.2 s on a busy machine */
  double bytes;     /* that one call processes, for cycles per byte; 0: not asked for */
  double *samples;  /* stores here the first `capacity` samples in order, in core cycles per call,
                       or in counts if core cycles are not known */
  int capacity;
  int reserved_number;
  void (*nothing)(void *argument); /* an empty function of the program, for `empty` */
  void *reserved[5];
};

/* Numbers are per call, and 0 where they are not known. */
struct cpucycles_bench_result {
  double cycles;                  /* core cycles */
  double cycles_low, cycles_high; /* their interval of 97.9 % */
  double minimum, lower_quartile, median, upper_quartile, maximum, mean; /* counts of `unit` */
  double nanoseconds;                   /* of the median */
  double core_ratio;                    /* core cycles per count at that time */
  double frequency_low, frequency_high; /* of the core in Hz: 5th and 95th percentile */
  double empty;                         /* core cycles of an empty call, never subtracted */
  double kept;                          /* share of the samples that was used, 0 to 1 */
  double bytes;                         /* of the setup */
  long long calls;                      /* in each sample */
  long long time;                       /* at the end, in seconds since 1970 */
  const char *name;                     /* of the setup */
  const char *unit;                     /* `count_unit` of cpucycles_selected() */
  const char *note; /* a sentence on what is wrong or unusual, and what to do; 0 if nothing is */
  const char *mark; /* a word for `note` in the printed line, or "" */
  int samples;      /* 0 if there are none; the numbers are then 0, too */
  int reserved_number;
  double reserved[8];
};

/* Calls setup->function for about 30 ms and stores what a call takes.
   Returns: 0, or -1 if there are no samples; `note` then tells why.
   Since: 20261121. */
extern int cpucycles_bench_run(struct cpucycles_bench_result *result,
  const struct cpucycles_bench_setup *setup);

struct cpucycles_bench_comparison {
  double ratio;        /* time of g over time of f; 0 if there are no samples */
  double low, high;    /* interval of 99.3 % in this process; 0 if there are too few rounds */
  const char *verdict; /* "differ" by more than 0.25 %, "same", or "unclear" */
  int rounds;          /* that were used */
  int reserved_number;
  double reserved[8];
  struct cpucycles_bench_result f, g;
};

/* Runs two functions in turn for about 0.2 s, and compares their times.
   Returns: 0, or -1 if there are no samples; `note` of `f` and `g` then tells why.
   Since: 20261121. */
extern int cpucycles_bench_compare(struct cpucycles_bench_comparison *comparison,
  const struct cpucycles_bench_setup *f, const struct cpucycles_bench_setup *g);

/* Format a line, of text or one JSON object, with its newline, in every locale alike. Store in
   `part` at most size - 1 bytes of the line, which begin at byte `from` of it. If `name` is null,
   the name is that of the setup.
   Returns: the number of these bytes; 0 past the end of the line.
   Since: 20261121. */
extern int cpucycles_bench_text(char *part, int size, int from, const char *name,
  const struct cpucycles_bench_result *result);
extern int cpucycles_bench_json(char *part, int size, int from, const char *name,
  const struct cpucycles_bench_result *result);
extern int cpucycles_bench_comparison_text(char *part, int size, int from,
  const struct cpucycles_bench_comparison *comparison);

#ifdef __cplusplus
}
#endif

CPUCYCLES_BENCH_HERE void cpucycles_bench_nothing(void *unused)
{
  (void)unused;
}

#ifdef __cplusplus
static inline cpucycles_bench_setup cpucycles_bench_setup_begin(void)
{
  cpucycles_bench_setup setup = cpucycles_bench_setup();

  setup.nothing = cpucycles_bench_nothing;
  return setup;
}
#define CPUCYCLES_BENCH_SETUP cpucycles_bench_setup_begin()
#else
#define CPUCYCLES_BENCH_SETUP \
  { 0, 0, 0, 0, 0, 0, 0, 0, 0, cpucycles_bench_nothing, { 0, 0, 0, 0, 0 } }
#endif

/* Calls cpucycles_bench_run() with a setup of `function` and `argument` alone. */
CPUCYCLES_BENCH_HERE void cpucycles_bench(struct cpucycles_bench_result *result,
  void (*function)(void *argument), void *argument)
{
  struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;

  setup.function = function;
  setup.argument = argument;
  (void)cpucycles_bench_run(result, &setup);
}

/* Print these lines. */
CPUCYCLES_BENCH_HERE void cpucycles_bench_print(FILE *file, const char *name,
  const struct cpucycles_bench_result *result)
{
  char part[256];
  int length, from = 0;

  for (; (length = cpucycles_bench_text(part, 256, from, name, result)) > 0; from += length)
    (void)fputs(part, file);
}

CPUCYCLES_BENCH_HERE void cpucycles_bench_print_json(FILE *file, const char *name,
  const struct cpucycles_bench_result *result)
{
  char part[256];
  int length, from = 0;

  for (; (length = cpucycles_bench_json(part, 256, from, name, result)) > 0; from += length)
    (void)fputs(part, file);
}

CPUCYCLES_BENCH_HERE void cpucycles_bench_print_comparison(FILE *file,
  const struct cpucycles_bench_comparison *comparison)
{
  char part[256];
  int length, from = 0;

  for (; (length = cpucycles_bench_comparison_text(part, 256, from, comparison)) > 0; from += length)
    (void)fputs(part, file);
}

#if (defined(__cplusplus) && __cplusplus >= 201103L) \
  || (defined(_MSVC_LANG) && _MSVC_LANG >= 201103L)
/* For any callable of C++11. */
template <class Callable> struct cpucycles_bench_callable {
  Callable &callable;
  static void call(void *self) { static_cast<cpucycles_bench_callable *>(self)->callable(); }
};

template <class Callable>
inline void cpucycles_bench(cpucycles_bench_result *result, Callable &&callable)
{
  cpucycles_bench_callable<Callable> called = { callable };

  cpucycles_bench(result, called.call, &called);
}
#endif

#undef CPUCYCLES_BENCH_HERE

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#pragma GCC diagnostic pop
#endif

#endif
