/* SPDX-License-Identifier: 0BSD OR MIT */
/* Core cycles of a function on any machine: the count of a sample is divided by the count of a
   chain of dependent adds that runs directly before and after it. "Core cycles" in
   doc/benchmarks.md gives the reasons for the rules and the constants.

     bench-counter.c   the selected counter
     bench-meter.c     its step and its overheads, timed sections, and the chain
     bench-run.c       samples of one function, or of two in turn
     bench-judge.c     what the samples say
     bench-memory.c    where they are
     bench-text.c      output */

#ifndef CPUCYCLES_LIB_BENCH_H
#define CPUCYCLES_LIB_BENCH_H

#include "include/cpucycles/bench.h"

#include <stddef.h>

/* Exceptions of C++ in a function that is timed run the cleanup functions of the library. What they
   need is in a library of C++ programs, which the others do not load, so they are weak. */
#if defined(__ELF__) && defined(__EXCEPTIONS)
__asm__(".weak _Unwind_Resume\n\t.weak __gcc_personality_v0");
#endif

#pragma GCC visibility push(hidden)

struct cpuc_bench_meter {
  const char *unit;
  double rate;           /* counts per second */
  int rate_is_known;     /* 0: `rate` is the estimate of the CPU's frequency */
  int counts_core_cycles;
  int counts_sleep;      /* 0: the count stops while the thread does not run */
  int add_takes_one_cycle;
  double step;           /* the smallest positive difference of adjacent reads */
  int is_coarse;         /* an empty section can take 0 counts */
  double overhead;       /* of an empty section: the smallest, or the mean if is_coarse */
  long passes;           /* of the chain; 0: no chain */
  double base;           /* of a chain, without its adds */
  const char *failure;   /* a sentence, from the failure of the counter on */
};

/* Describes the selected counter: `unit` to add_takes_one_cycle. Returns 0; -1 in a signal handler
   that interrupts the selection. */
int cpuc_bench_counter_describe(struct cpuc_bench_meter *meter);

/* An empty function, whose calls are timed for `empty`. */
void cpuc_bench_counter_nothing(void *unused);

/* Describes and measures the counter, and sets a short chain. Returns 0, or -1 with `failure`. */
int cpuc_bench_meter_begin(struct cpuc_bench_meter *meter);

/* Sets the length of the chain, for samples of up to 100 us or for longer ones, and finds
   `base`. */
void cpuc_bench_meter_set_chain(struct cpuc_bench_meter *meter, int is_long);

/* Returns the counts of a section with `calls` calls, and sets `failure` if the counter fails. */
double cpuc_bench_meter_section(struct cpuc_bench_meter *meter, void (*function)(void *argument),
  void *argument, long long calls);

/* Returns counts per core cycle, by a chain of meter->passes; 1 if there is none. */
double cpuc_bench_meter_chain(struct cpuc_bench_meter *meter);

/* Runs a chain of *passes passes, as a function to be timed. */
void cpuc_bench_meter_adds(void *passes);

/* Returns 1 if two results of the chain agree within 2 %. */
int cpuc_bench_meter_agree(double one, double other);

/* The time since a beginning, by counts and by the OS clock. */
struct cpuc_bench_time {
  long long count, clock, last;
  int clock_failed;
};

struct cpuc_bench_time cpuc_bench_time_begin(void);

/* Returns the larger of both times in seconds, without a clock that has failed or stepped back. */
double cpuc_bench_time_passed(struct cpuc_bench_time *time, const struct cpuc_bench_meter *meter);

/* A function and its samples, in order. */
struct cpuc_bench_function {
  const struct cpucycles_bench_setup *setup;
  long long calls; /* in a sample */
  double sized;    /* counts of the shortest sample when `calls` was found */
  double *counts;  /* per call, less the overhead */
  double *chain;   /* counts per core cycle beside the sample */
  double *control; /* time of a chain as long as the sample over that of the chains beside it */
  double *ratio;   /* core cycles per call, by the judge */
  int used;
  double sum;      /* core cycles per call of all samples */
};

struct cpuc_bench {
  struct cpuc_bench_meter meter;
  struct cpuc_bench_function functions[2];
  int count;       /* of functions */
  int is_single;   /* a sample is one call with two chains of its own: for prepare */
  int is_long;     /* a sample takes 100 us or more */
  int most;        /* samples of each function */
  int tried, steady; /* rounds: of one sample, or of four of two functions */
  long slept;      /* voluntary context switches */
  void *memory;
  double *scratch, *rounds;
};

/* Makes room for the samples of so many seconds. Give back the newest first. Returns 0, or -1
   without memory. */
int cpuc_bench_memory_take(struct cpuc_bench *bench, double seconds);
void cpuc_bench_memory_give(struct cpuc_bench *bench);

/* Stores a result without samples: unit, name, note, and the mark of a counter that fails. Returns
   -1. */
int cpuc_bench_judge_none(struct cpucycles_bench_result *result,
  const struct cpucycles_bench_setup *setup, const struct cpuc_bench_meter *meter,
  const char *note);

/* Fills function->ratio, less a loss, sorts a copy in bench->scratch, and returns the center: the
   middle or, of long samples, the lower quartile. There must be samples. */
double cpuc_bench_judge_center(struct cpuc_bench *bench, struct cpuc_bench_function *function,
  double loss);

/* Stores the result of a function. `empty` is an empty call in core cycles. Returns 0, or -1 if
   there are no samples. */
int cpuc_bench_judge(struct cpucycles_bench_result *result, struct cpuc_bench *bench,
  struct cpuc_bench_function *function, double empty);

/* Stores ratio, interval and verdict. */
void cpuc_bench_judge_rounds(struct cpucycles_bench_comparison *comparison,
  struct cpuc_bench *bench);

#pragma GCC visibility pop

#endif
