/* SPDX-License-Identifier: 0BSD OR MIT */
/* The parts of bench/cycles: functions whose core cycles are known, and programs that disturb. */

#ifndef BENCH_CYCLES_H
#define BENCH_CYCLES_H

#include <sys/types.h>

/* A function to be timed. */
struct bench_known {
  const char *name;
  void (*function)(void *argument);
  double cycles; /* core cycles per call; 0: not a constant */
};

/* Chains from call to call through a register; `function` is NULL on CPUs without such code. */
extern const struct bench_known bench_add_50, bench_add_1000, bench_add_10000, bench_add_10050,
  bench_add_1e6, bench_add_3e6, bench_add_3e7, bench_multiply_1000;

/* Chains through *argument. */
extern const struct bench_known bench_add_10000_memory, bench_multiply_1000_memory;

/* Copies of the code of another function, at other addresses. */
extern const struct bench_known bench_add_10000_copy, bench_fnv, bench_fnv_copy;

extern const struct bench_known bench_empty, bench_slow_first, bench_sleep, bench_sort;

/* Functions that prepare a call. */
void bench_prepare_nothing(void *unused);
void bench_prepare_10_us(void *unused);
void bench_prepare_1_mib(void *argument);
void bench_prepare_numbers(void *unused); /* fills what bench_sort sorts */

/* The argument of each function. */
extern void *const bench_argument;

/* What runs at the same time. */
enum bench_load {
  BENCH_IDLE,
  BENCH_BUSY, /* two processes that compute all the time */
  BENCH_STORM /* a process that wakes each 100 us on one CPU, and computes for 40 us */
};

/* Pins the calling process to the first CPU that it may use. Returns 0, or -1. */
int bench_load_pin(void);

/* Ends the load that runs, and starts another one. It also ends when this process ends. Returns 0,
   or -1 if the system cannot do this. */
int bench_load_start(enum bench_load load);

/* fork() for a measurement, which ends if this process is interrupted. There is one at a time. */
pid_t bench_load_fork(void);

/* Waits for it. Returns its status, as waitpid() does; -1 if that fails. */
int bench_load_wait(void);

#endif
