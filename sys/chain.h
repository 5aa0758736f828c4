/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads a counter or clock around chains of dependent adds. */

#ifndef CPUCYCLES_CHAIN_H
#define CPUCYCLES_CHAIN_H

#pragma GCC visibility push(hidden)

/* Calls read(counter) around a chain of `passes` passes (sys/dependent-add.h) and around one of
   twice the length, in turn, in `windows` windows each. Stores in *advance the smallest advance of
   the longer chains less that of the shorter ones: the count of `passes` passes, free of the cost
   of a read. Stores the smallest advance of the longer chains in *longer, unless it is NULL.
   Returns 1; 0 in code without optimization; and 0 with `parts` above 0, if the three smallest
   windows of a length differ by more than one of so many parts, because at least three windows must
   not have been interrupted. */
int cpuc_chain_measure(long long (*read)(const void *counter), const void *counter, long passes,
  int windows, int parts, long long *advance, long long *longer);

#pragma GCC visibility pop

#endif
