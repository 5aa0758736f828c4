/* SPDX-License-Identifier: 0BSD OR MIT */
/* Counts three events of a function at once, and prints its cycles, its instructions per cycle and
   its mispredicted branches.

   cc -O2 -o count-events count-events.c $(pkg-config --cflags --libs perfex) */

#include <perfex.h>
#include <stdio.h>

static unsigned work(void)
{
  unsigned random = 1, sum = 0, i;

  for (i = 0; i < 1000000; i++) {
    random = random * 1664525u + 1013904223u;
    if (random >> 31)
      sum += i % 7;
  }
  return sum;
}

int main(void)
{
  struct perfex_group *group = perfex_open("cycles,instructions,branch-misses", 0);
  long long begin[3], end[3];
  unsigned sum = 0;
  int error = !group || perfex_read(group, begin) != 0;

  if (!error) {
    sum = work();
    error = perfex_read(group, end) != 0;
  }
  if (error) {
    fprintf(stderr, "perfex: %s\n", perfex_why());
    return 1;
  }
  printf("%lld cycles, %.2f instructions per cycle, %lld branch misses; sum %u\n",
    end[0] - begin[0], (double)(end[1] - begin[1]) / (double)(end[0] - begin[0]),
    end[2] - begin[2], sum);
  perfex_close(group);
  return 0;
}
