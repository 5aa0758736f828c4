/* SPDX-License-Identifier: 0BSD OR MIT */
/* The report of the benchmark: bench.c measures and compares with bounds, print.c prints. */

#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "bench/contender.h"

/* The number of rounds is 1 more than a multiple of 4, so that one of the sorted rounds is exactly
   at each quartile and at the median. */
enum {
  BENCH_ROUNDS = 2001, /* so many short rounds that most, and thus the median, are undisturbed */
  BENCH_RUN_NANOSECONDS = 20000 /* long enough to make the clock's resolution negligible */
};

/* The median and the quartiles. A mean is not used, because one interrupt would move it. */
struct bench_spread {
  double lower, median, upper;
};

struct result {
  const struct bench_contender *contender;
  const char *module;
  int index;                     /* of the contender in its module */
  const struct result *baseline; /* the first contender of its kind, for comparison */
  long reads;                    /* per round; BENCH_FENCED: sections */
  double times[BENCH_ROUNDS];    /* nanoseconds per read or section, sorted */
  struct bench_spread time;      /* of times[] */
  struct bench_spread ratio;     /* of the ratios to the baseline's times in the same rounds */
  long long step;                /* smallest positive difference of adjacent reads, in counts */
  double equal;                  /* share of adjacent reads that are equal */
  struct bench_spread first;     /* microseconds of the first use */
  double resident, size;         /* KiB and bytes that the contender and its first use add */
};

/* A measured ratio and its bound. */
struct bound_check {
  const char *what;
  double ratio, bound;
};

struct bench_report {
  const char *version, *counter;
  int is_pinned;         /* to one CPU */
  int read_is_instruction; /* a read of the counter is the instruction of the first contender */
  struct result *results;
  int result_count;
  struct bound_check *checks;
  int check_count;
};

static inline int bench_missed(const struct bound_check *check)
{
  return check->ratio > check->bound;
}

#endif
