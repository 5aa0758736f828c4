/* SPDX-License-Identifier: 0BSD OR MIT */
/* clang's builtin function for the cycle counter. */

#include "bench/contender.h"

BENCH_READS(builtin, __builtin_readcyclecounter())

const struct bench_contender bench_contenders[] = {
  { "__builtin_readcyclecounter()", "units", BENCH_READ, 0, run_builtin, sample_builtin },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
