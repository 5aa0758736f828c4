/* SPDX-License-Identifier: 0BSD OR MIT */
/* The interface of other benchmarks, for bench/cycles. Each file time-NAME.cc becomes a module that
   bench/cycles loads. bench/contenders.sh builds the modules. */

#ifndef BENCH_TIME_H
#define BENCH_TIME_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the nanoseconds that a call of `function` takes, with the other benchmark's defaults. */
extern double bench_time(void (*function)(void *argument), void *argument);

#ifdef __cplusplus
}
#endif

#endif
