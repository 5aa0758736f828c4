/* SPDX-License-Identifier: 0BSD OR MIT */
/* The grain of a counter. */

#ifndef CPUCYCLES_GRAIN_H
#define CPUCYCLES_GRAIN_H

#include "cpucycles-info/report.h"

enum { GRAIN_SAMPLES = 4096 };

/* Reads cpucycles() at intervals of many different lengths, and stores the differences of adjacent
   reads. */
void read_at_varied_intervals(long long differences[GRAIN_SAMPLES]);

/* Finds the grain in differences of adjacent reads, which are in the order of the reads. Changes
   and sorts the differences. */
struct grain find_grain(long long *differences, int count);

#endif
