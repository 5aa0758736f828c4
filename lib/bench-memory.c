/* SPDX-License-Identifier: 0BSD OR MIT */
/* Memory of runs. A run that ends early gives its memory back, too: an exception runs the cleanup
   functions of the run, and the exit of a thread, also a canceled one, frees what its runs have
   left. A longjmp() leaves the memory until the thread exits. */

#include "config.h"

#include "lib/bench.h"
#include "lib/process.h"

#include <stdlib.h>

enum { SAMPLES_PER_SECOND = 100000, LEAST = 20000, MOST = 1000000 };

#ifdef CPUCYCLES_POSIX

#include <pthread.h>

static pthread_key_t key; /* the newest memory of the thread */
static int has_key;

static void free_all(void *newest)
{
  void *older;

  for (; newest; newest = older) {
    older = *(void **)newest;
    free(newest);
  }
}

static void create_key(struct cpuc_selection *unused)
{
  (void)unused;
  has_key = pthread_key_create(&key, free_all) == 0;
}

static void *newest_of_thread(void)
{
  static struct cpuc_process_result creation = { create_key, 0, 0 };

  return cpuc_process_once(&creation) && has_key ? pthread_getspecific(key) : NULL;
}

static void set_newest(void *newest)
{
  if (has_key)
    (void)pthread_setspecific(key, newest);
}

#else /* Windows: without exceptions of C++, a thread that ends keeps the memory of its run */

static void *newest_of_thread(void)
{
  return NULL;
}

static void set_newest(void *newest)
{
  (void)newest;
}

#endif

int cpuc_bench_memory_take(struct cpuc_bench *bench, double seconds)
{
  void *older = newest_of_thread();
  double wanted = seconds * SAMPLES_PER_SECOND, *next;
  int i;

  bench->most = wanted < LEAST ? LEAST : wanted < MOST ? (int)wanted : MOST;
  bench->memory
    = malloc((1 + (size_t)bench->most * (2 + 4 * (size_t)bench->count)) * sizeof *next);
  if (!bench->memory)
    return -1;
  *(void **)bench->memory = older;
  set_newest(bench->memory);
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
  set_newest(*(void **)bench->memory);
  free(bench->memory);
}
