/* SPDX-License-Identifier: 0BSD OR MIT */
/* survive HOW: makes the first call and most others, in two threads, while allocations fail.
   HOW: "none" refuses none; "first" refuses none and calls only cpucycles(); "call" makes each
   allocation count cycles; "all" refuses all; N refuses the N-th. Exits with 0 if each call is
   answered, with 77 if the allocator of malloc-module.c is not loaded; prints the number of
   allocations. */

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

/* Does each function that is called here answer? */
static int every_function_answers(void)
{
  const struct cpucycles_timer_info *timer;

  if (!count_increases() || cpucycles_persecond() < 1000 || !cpucycles_implementation())
    return 0;
  if (!cpucycles_frequency_source() || !cpucycles_counter(0) || cpucycles_overhead() < 0)
    return 0;
  timer = cpucycles_timer();
  return timer && cpucycles_rate() >= 0;
}

static int (*test)(void) = every_function_answers;

static void *test_in_thread(void *succeeded)
{
  pthread_barrier_wait(&ready);
  pthread_barrier_wait(&called);
  *(int *)succeeded = test();
  return NULL;
}

static long long count_cycles(void)
{
  return cpucycles();
}

static int tests_first_call_only(const char *how)
{
  return strcmp(how, "first") == 0;
}

static void set_up_allocator(struct malloc_settings *settings, const char *how)
{
  if (strcmp(how, "all") == 0) {
    settings->first = 1;
    settings->last = LONG_MAX;
  } else if (strcmp(how, "call") == 0)
    settings->call = count_cycles;
  else if (strcmp(how, "none") != 0 && !tests_first_call_only(how))
    settings->first = settings->last = atol(how);
}

int main(int argc, char **argv)
{
  struct malloc_settings *settings
    = (struct malloc_settings *)dlsym(RTLD_DEFAULT, "malloc_settings");
  int succeeded = 0, thread_succeeded = 0;
  pthread_t thread;

  if (argc != 2 || !settings)
    return 77;
  if (tests_first_call_only(argv[1]))
    test = count_increases;
  if (pthread_barrier_init(&ready, NULL, 2) != 0 || pthread_barrier_init(&called, NULL, 2) != 0
    || pthread_create(&thread, NULL, test_in_thread, &thread_succeeded) != 0)
    return 2;
  pthread_barrier_wait(&ready);
  set_up_allocator(settings, argv[1]);
  __atomic_store_n(&settings->active, 1, __ATOMIC_RELEASE);
  succeeded = test();
  pthread_barrier_wait(&called);
  pthread_join(thread, NULL);
  __atomic_store_n(&settings->active, 0, __ATOMIC_RELEASE);
  printf("%ld\n", settings->allocations);
  return fclose(stdout) == 0 && succeeded && thread_succeeded ? 0 : 1;
}
