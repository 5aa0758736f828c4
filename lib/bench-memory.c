/* SPDX-License-Identifier: 0BSD OR MIT */
/* Memory of runs. A run that ends early gives its memory back, too: an exception runs the cleanup
   functions of the run, and the exit of a thread, also a canceled one, frees what its runs have
   left. A longjmp() leaves the memory until the thread exits. */

#include "config.h"

#include "lib/bench.h"
#include "lib/early.h"

#include <stdlib.h>

enum { SAMPLES_PER_SECOND = 100000, LEAST = 20000, MOST = 1000000 };

int cpuc_bench_memory_take(struct cpuc_bench *bench, double seconds)
{
  void *older = cpuc_early_memory();
  double wanted = seconds * SAMPLES_PER_SECOND, *next;
  int i;

  bench->most = wanted < LEAST ? LEAST : wanted < MOST ? (int)wanted : MOST;
  bench->memory
    = malloc((1 + (size_t)bench->most * (2 + 4 * (size_t)bench->count)) * sizeof *next);
  if (!bench->memory)
    return -1;
  *(void **)bench->memory = older;
  cpuc_early_store_memory(bench->memory);
  bench->scratch = (double *)bench->memory + 1;
  bench->rounds = next = bench->scratch + bench->most;
  for (i = 0; i < bench->count; i++) {
    bench->functions[i].counts = next += bench->most;
    bench->functions[i].chain = next += bench->most;
    bench->functions[i].control = next += bench->most;
    bench->functions[i].ratio = next += bench->most;
  }
  return 0;
}

void cpuc_bench_memory_give(struct cpuc_bench *bench)
{
  if (!bench->memory)
    return;
  cpuc_early_store_memory(*(void **)bench->memory);
  free(bench->memory);
}
