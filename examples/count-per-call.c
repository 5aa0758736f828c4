/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints the cycles, the instructions, their ratio, the mispredicted branches and the cache misses
   of one call of a function. Without a PMU, prints what is missing and how to get it.

   cc -O2 -o count-per-call count-per-call.c $(pkg-config --cflags --libs perfex) */

#include <perfex.h>

#include <stdio.h>

static volatile unsigned result;

static void work(void *unused)
{
  unsigned random = 1, sum = 0, i;

  (void)unused;
  for (i = 0; i < 1000; i++) {
    random = random * 1664525u + 1013904223u;
    if (random >> 31)
      sum += i % 7;
  }
  result = sum;
}

int main(void)
{
  struct perfex_group *group
    = perfex_open("cycles,instructions,branch-misses,cache-misses", PERFEX_FIRST);
  double counts[4];

  if (perfex_bench(group, counts, work, 0) != 0) {
    fprintf(stderr, "count-per-call: %s\n", perfex_why());
    return 1;
  }
  perfex_print_bench(group, counts);
  if (perfex_group_size(group) < 4)
    fprintf(stderr, "count-per-call: %d of 4 events fit this PMU\n", perfex_group_size(group));
  perfex_close(group);
  return 0;
}
