/* SPDX-License-Identifier: 0BSD OR MIT */
/* survive HOW: makes the first call, and every other, in two threads, while allocations fail. HOW:
   "none" refuses none, "first" is the same for cpucycles() alone, "call" has each allocation count
   cycles, "all" refuses all, and N the N-th. Exits with 0 if there was an answer each time, with 77
   if the allocator of malloc-module.c is not this process's; says how many allocations were
   asked for. */

#include "config.h"

#include "include/cpucycles.h"
#include "tests/suites/counts.h"
#include "tests/programs/malloc-module.h"
#include "tests/suites/posix.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t ready, called;

/* Is there an answer of each function? */
static int answers(void)
{
  const struct cpucycles_timer_info *timer;

  if (!counts() || cpucycles_persecond() < 1000 || !cpucycles_implementation())
    return 0;
  if (!cpucycles_frequency_source() || !cpucycles_counter(0) || cpucycles_overhead() < 0)
    return 0;
  timer = cpucycles_timer();
  return timer && cpucycles_rate() >= 0;
}

static int (*question)(void) = answers;

static void *answer_later(void *fine)
{
  pthread_barrier_wait(&ready);
  pthread_barrier_wait(&called);
  *(int *)fine = question();
  return NULL;
}

static long long count_cycles(void)
{
  return cpucycles();
}

static int calls_first(const char *how)
{
  return strcmp(how, "first") == 0;
}

static void give_orders(struct malloc_orders *orders, const char *how)
{
  if (strcmp(how, "all") == 0) {
    orders->first = 1;
    orders->last = LONG_MAX;
  } else if (strcmp(how, "call") == 0)
    orders->call = count_cycles;
  else if (strcmp(how, "none") != 0 && !calls_first(how))
    orders->first = orders->last = atol(how);
}

int main(int argc, char **argv)
{
  struct malloc_orders *orders = (struct malloc_orders *)dlsym(RTLD_DEFAULT, "malloc_orders");
  int fine = 0, fine_later = 0;
  pthread_t thread;

  if (argc != 2 || !orders)
    return 77;
  if (calls_first(argv[1]))
    question = counts;
  if (pthread_barrier_init(&ready, NULL, 2) != 0 || pthread_barrier_init(&called, NULL, 2) != 0
    || pthread_create(&thread, NULL, answer_later, &fine_later) != 0)
    return 2;
  pthread_barrier_wait(&ready);
  give_orders(orders, argv[1]);
  __atomic_store_n(&orders->active, 1, __ATOMIC_RELEASE);
  fine = question();
  pthread_barrier_wait(&called);
  pthread_join(thread, NULL);
  __atomic_store_n(&orders->active, 0, __ATOMIC_RELEASE);
  printf("%ld\n", orders->asked);
  return fclose(stdout) == 0 && fine && fine_later ? 0 : 1;
}
