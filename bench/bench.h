/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the parts of the benchmark share: bench.c measures and judges, report.c prints. */

#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "bench/contender.h"

/* Counts that are 1 more than a multiple of 4 have their quartiles and median at whole places. */
enum {
  BENCH_ROUNDS = 2001, /* short ones, so that most are not disturbed and the median is not either */
  BENCH_ROUND_NANOSECONDS = 20000, /* long enough for the clock's resolution not to count */
  BENCH_NAME_SIZE = 64
};

/* Nothing that is measured here is the mean of anything: one interrupt would move it. */
struct spread {
  double least, lower, median, upper;
};

/* A contender, and what was found of it. */
struct entry {
  const struct bench_contender *contender;
  const char *module;
  int index;                  /* in its module */
  const struct entry *base;   /* what it is compared with: the first of its kind */
  long reads;                 /* that make a round */
  double times[BENCH_ROUNDS]; /* nanoseconds a read, sorted */
  struct spread time, ratio;  /* of them; of those to the base's */
  long long step;             /* smallest nonzero difference of adjacent reads, in its unit */
  double step_nanoseconds;
  double equal;               /* share of equal adjacent reads */
  struct spread first;        /* microseconds */
  double resident, size;      /* KiB, bytes: added to a process by the first use */
};

/* A figure beside its bound. */
struct judgement {
  const char *what, *unit;
  int decimals;
  double value, bound;
};

/* A counter that fresh processes selected, and how many of them did. */
struct tally {
  char name[BENCH_NAME_SIZE];
  int count;
};

struct findings {
  const char *version, *counter;
  int pinned;      /* to one CPU */
  int instruction; /* does a read of the counter come down to the first contender's instruction? */
  struct entry *entries;
  int count;
  struct judgement *judgements;
  int judged;
  struct tally *tallies;
  int tallied;
};

int bench_missed(const struct judgement *judgement);

/* report.c */
void bench_print_table(const struct findings *findings);
void bench_print_json(const struct findings *findings);
void bench_print_plot(const struct findings *findings);

#endif
