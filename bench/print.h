/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints the report of the benchmark. */

#ifndef BENCH_PRINT_H
#define BENCH_PRINT_H

#include "bench/bench.h"

void bench_print(const struct bench_report *report);

#endif
