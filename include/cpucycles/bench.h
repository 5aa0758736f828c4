/* SPDX-License-Identifier: 0BSD OR MIT */
/* Times a function with inline reads: cpucycles_bench() calls it many times and finds the quartiles
   of the cycles per call. For C99 and C++11. Compiled into the program, so not part of the binary
   interface of the library. Full text: cpucycles-bench(3). */

#ifndef LIBCPUCYCLES_BENCH_H
#define LIBCPUCYCLES_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "inline.h"

/* cpucycles_bench_keep(x) keeps the scalar x alive, so that the compiler cannot remove the code
   that computes it. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#define CPUCYCLES_BENCH_NONNULL(arguments) __attribute__((__nonnull__ arguments))
#define cpucycles_bench_keep(x) __asm__ volatile("" : : "r,m"(x) : "memory")
#else
#define CPUCYCLES_BENCH_NONNULL(arguments)
#define cpucycles_bench_keep(x) do { volatile int kept = (x) ? 1 : 0; (void)kept; } while (0)
#endif

struct cpucycles_bench_result {
  double minimum, lower_quartile, median, upper_quartile; /* cycles per call; never negative */
  double nanoseconds; /* of the median; 0 if cpucycles_rate() is not known */
  double core_ratio;  /* core cycles per counted cycle at that time; 0 if not known */
  long long calls;    /* calls per sample */
  int samples;        /* 0 if the counter failed; the numbers above are then 0, too */
  const char *unit;   /* `count_unit` of cpucycles_selected() */
  const char *note;   /* a sentence on what is wrong or unusual; 0 if nothing is */
  const char *mark;   /* a word for `note` in the printed line, or "" */
};

/* Returns a time in microseconds. A counter may count only while the thread runs. */
static inline long long cpucycles_bench_time(void)
{
  struct timeval now;

  return gettimeofday(&now, 0) == 0 ? now.tv_sec * 1000000LL + now.tv_usec : 0;
}

/* Returns the smallest of several positive differences of adjacent reads; 0 if there are none. */
static inline long long cpucycles_bench_step(int wanted)
{
  long long smallest = 0, last = cpucycles_inline(), now;
  long tries, found = 0;

  for (tries = 0; tries < 10000000 && found < wanted; tries++) {
    now = cpucycles_inline();
    if (now > last && (!found++ || now - last < smallest))
      smallest = now - last;
    last = now;
  }
  return smallest;
}

/* Returns the cycles of one sample, with the overhead; -1 if the counter failed. Takes the pointer
   from a volatile variable, so that the compiler can neither inline nor remove the calls. */
static inline long long cpucycles_bench_sample(struct cpucycles_bench_result *result,
  void (*function)(void *), void *argument)
{
  void (*volatile hidden)(void *) = function;
  void (*call)(void *) = hidden;
  long long i = result->calls, begin = cpucycles_inline_section_begin(), end;

  while (i-- > 0)
    call(argument);
  end = cpucycles_inline_section_end();
  if (end > begin || (end == begin && cpucycles_bench_step(1) > 0))
    return (long long)((unsigned long long)end - (unsigned long long)begin);
  result->note = end < begin ? "The counter stepped back." : "The counter is stopped.";
  return -1;
}

/* Returns a quartile (0 to 4) of sorted numbers, interpolated. */
static inline double cpucycles_bench_quartile(const long long *sorted, int count, int quartile)
{
  int position = (count - 1) * quartile, i = position / 4, next = (position + 3) / 4;

  return (double)sorted[i] + ((double)sorted[next] - (double)sorted[i]) * (position % 4) / 4;
}

static inline int cpucycles_bench_compare(const void *left, const void *right)
{
  const long long *a = (const long long *)left, *b = (const long long *)right;

  return (*a > *b) - (*a < *b);
}

static inline void cpucycles_bench_nothing(void *unused)
{
  (void)unused;
}

/* Completes a result with n sorted samples. `call` is the time of an empty call. */
static inline void cpucycles_bench_evaluate(struct cpucycles_bench_result *result,
  const long long *samples, long long overhead, double call)
{
  double *const quartiles[] = { &result->minimum, &result->lower_quartile, &result->median,
    &result->upper_quartile };
  double spread, cycles, rate = (double)cpucycles_rate();
  int i, tries;

  for (i = 0; i < 4; i++) {
    cycles = cpucycles_bench_quartile(samples, result->samples, i) - (double)overhead;
    *quartiles[i] = cycles > 0 ? cycles / (double)result->calls : 0;
  }
  spread = result->upper_quartile - result->lower_quartile;
  if (!result->note && spread > 2 && spread > result->median / 10) {
    result->note = "The quartiles differ by more than 10 % of the median.";
    result->mark = "unstable";
  } else if (!result->note && call > 10 && call > result->median / 10) {
    result->note = "A call through a pointer takes more than 10 % of the median.";
    result->mark = "slow calls";
  }
  result->core_ratio = strcmp(result->unit, "core cycles") == 0;
  for (tries = 0; rate > 0 && tries < 10 && !(result->core_ratio > 0); tries++)
    result->core_ratio = (double)cpucycles_core_persecond() / rate;
  result->nanoseconds = rate > 0 ? result->median * 1e9 / rate : 0;
}

/* Times function(argument): 1001 samples, or fewer if 0.2 s end first, but at least 3. A sample has
   so many calls that the grain and the overhead are small beside it. If the counter stops or steps
   back, there are no samples, and `note` tells why. */
CPUCYCLES_BENCH_NONNULL((1, 2))
static inline void cpucycles_bench(struct cpucycles_bench_result *result,
  void (*function)(void *argument), void *argument)
{
  const struct cpucycles_bench_result none = { 0, 0, 0, 0, 0, 0, 100, 0, "counts", 0, "" };
  long long samples[1001], overhead = cpucycles_inline_section_overhead(), begin, began, now;
  long long enough = cpucycles_bench_step(16) * 100 + overhead * 20, call = enough;
  int n, found = 0;

  *result = none;
  if (cpucycles_selected())
    result->unit = cpucycles_selected()->count_unit;
  for (n = 20; n > 0; n--) {
    now = cpucycles_bench_sample(result, cpucycles_bench_nothing, 0);
    if (now < 0)
      return;
    call = now < call ? now : call;
  }
  result->calls = 1;
  began = begin = cpucycles_bench_time();
  do { /* warms up for 0.01 s, or 10000 samples; doubles the calls until three are long enough */
    samples[0] = cpucycles_bench_sample(result, function, argument);
    if (samples[0] < 0)
      return;
    now = cpucycles_bench_time();
    /* a sample of 0 is shorter than the grain; the search for a step took most of its time */
    if (samples[0] - overhead < enough && (now - begin < 10000 || samples[0] == 0)
      && result->calls < 1 << 24) {
      result->calls *= 2;
      found = 0;
    } else if (++found == 1 && result->calls == 1 && now - began >= 200000) {
      result->note = "A call takes more than 0.2 s, so the function was run three times.";
      result->mark = "3 runs";
      n = 1;
    }
    begin = now;
  } while (n == 0 && (found < 3 || (found < 10000 && now - began < 10000)));
  for (began = now; n < 3 || (n < 1001 && now - began < 200000); now = cpucycles_bench_time()) {
    samples[n] = cpucycles_bench_sample(result, function, argument);
    if (samples[n++] < 0)
      return;
  }
  result->samples = n;
  qsort(samples, (size_t)n, sizeof *samples, cpucycles_bench_compare);
  cpucycles_bench_evaluate(result, samples, overhead, (double)(call - overhead) / 100);
}

/* Formats a number in at most 11 characters, in every locale alike. M is for millions. */
static inline const char *cpucycles_bench_number(char *text, size_t size, double number)
{
  long long tenths = number < 1e15 ? (long long)(number * 10 + 0.5) : 10000000000000000;

  if (tenths < 1000000)
    (void)snprintf(text, size, "%lld.%d", tenths / 10, (int)(tenths % 10));
  else if (tenths < 100000000000)
    (void)snprintf(text, size, "%lld", tenths / 10);
  else
    (void)snprintf(text, size, "%lldM", tenths / 10000000);
  return text;
}

/* Prints one line of at most 80 columns: name, median and unit, nanoseconds, the difference of the
   quartiles in percent of the median, and a word if this is not to be trusted. */
CPUCYCLES_BENCH_NONNULL((1, 2, 3))
static inline void cpucycles_bench_print(FILE *file, const char *name,
  const struct cpucycles_bench_result *result)
{
  double median = result->median, spread = result->upper_quartile - result->lower_quartile;
  char cycles[24], nanoseconds[24], percent[24];

  if (result->samples == 0) {
    (void)fprintf(file, "%-16.16s %s\n", name, result->note);
    return;
  }
  spread = spread < 99 * median ? spread / median * 100 : median > 0 ? 9900 : 0;
  (void)fprintf(file, "%-16.16s %11s %-16.16s %11s ns %6s %%%s%s\n", name,
    cpucycles_bench_number(cycles, sizeof cycles, result->median), result->unit,
    cpucycles_bench_number(nanoseconds, sizeof nanoseconds, result->nanoseconds),
    cpucycles_bench_number(percent, sizeof percent, spread),
    result->mark[0] ? " " : "", result->mark);
}

/* Prints a result as one JSON object in one line. The name must be UTF-8. */
CPUCYCLES_BENCH_NONNULL((1, 2, 3))
static inline void cpucycles_bench_print_json(FILE *file, const char *name,
  const struct cpucycles_bench_result *result)
{
  static const char *const names[] = { "minimum", "lower_quartile", "median", "upper_quartile",
    "nanoseconds", "core_ratio" };
  const double numbers[] = { result->minimum, result->lower_quartile, result->median,
    result->upper_quartile, result->nanoseconds, result->core_ratio };
  const char *quote = result->note ? "\"" : "", *note = result->note ? result->note : "null";
  long long thousandths;
  int i;

  (void)fputs("{\"name\":\"", file);
  for (; *name; name++)
    if ((unsigned char)*name < ' ' || *name == '"' || *name == '\\')
      (void)fprintf(file, "\\u%04x", (unsigned int)(unsigned char)*name);
    else
      (void)fputc(*name, file);
  (void)fprintf(file, "\",\"unit\":\"%s\",\"samples\":%d,\"calls\":%lld", result->unit,
    result->samples, result->calls);
  for (i = 0; i < 6; i++) {
    thousandths = numbers[i] < 1e15 ? (long long)(numbers[i] * 1000 + 0.5) : 1000000000000000000;
    (void)fprintf(file, ",\"%s\":%lld.%03d", names[i], thousandths / 1000,
      (int)(thousandths % 1000));
  }
  (void)fprintf(file, ",\"note\":%s%s%s}\n", quote, note, quote);
}

#undef CPUCYCLES_BENCH_NONNULL

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
