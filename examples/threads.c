/* SPDX-License-Identifier: 0BSD OR MIT */
/* Counts the cycles of each thread. A count has a meaning only in the thread that reads it, because
   some counters count for each thread separately. So each thread subtracts its own counts, and
   only the differences leave it.

   cc -O2 -pthread -o threads threads.c $(pkg-config --cflags --libs cpucycles) */

#include <cpucycles.h>

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4 };

struct work {
  pthread_t thread;
  unsigned int steps, result;
  long long cycles;
};

static void *run(void *argument)
{
  struct work *work = (struct work *)argument;
  long long begin = cpucycles_section_begin(), end;
  unsigned int i, x = 1;

  for (i = 0; i < work->steps; i++)
    x = x * 3 + i;
  work->result = x; /* in memory, so the compiler computes it before the end of the section */
  end = cpucycles_section_end();
  work->cycles = end - begin - cpucycles_section_overhead();
  return NULL;
}

int main(void)
{
  struct work works[THREADS];
  long long sum = 0;
  unsigned int i, started;

  for (started = 0; started < THREADS; started++) {
    works[started].steps = 100000 * (started + 1);
    if (pthread_create(&works[started].thread, NULL, run, &works[started]) != 0)
      break;
  }
  for (i = 0; i < started; i++) {
    pthread_join(works[i].thread, NULL);
    printf("thread %u: %u steps, %lld cycles\n", i, works[i].steps, works[i].cycles);
    sum += works[i].cycles;
  }
  printf("all: %lld cycles, read by %s\n", sum, cpucycles_implementation());
  return started < THREADS;
}
