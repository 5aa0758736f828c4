/* SPDX-License-Identifier: 0BSD OR MIT */
/* Load, use, unload: nothing keeps pointing into what is gone; and what else only the real
   kernel shows. */

#include "config.h"

#include "tests/suites/suite.h"

#if defined(__linux__) && HAVE_BACKEND_default_perfevent

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static const char module[] = "tests/.libs/perf-module.so";

static void *loaded;
static int (*module_open)(void);
static long long (*module_read)(void);

/* 0: not possible here, said so. */
static int load(const char *test)
{
  const char *error;

  if (access(module, R_OK) != 0) {
    skip(test, "configured without shared libraries");
    return 0;
  }
  loaded = dlopen(module, RTLD_NOW);
  error = loaded ? "" : dlerror();
  if (skip_where_nothing_loads(test, error))
    return 0;
  ck_assert_msg(loaded != NULL, "%s", error);
  *(void **)&module_open = dlsym(loaded, "module_open");
  *(void **)&module_read = dlsym(loaded, "module_read");
  ck_assert_ptr_nonnull(*(void **)&module_open);
  ck_assert_ptr_nonnull(*(void **)&module_read);
  if (module_open() != 0) {
    skip(test, "this kernel or emulator has no perf events");
    dlclose(loaded);
    return 0;
  }
  return 1;
}

static int is_mapped(void)
{
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[1000];
  int found = 0;

  if (!maps)
    return 0;
  while (fgets(line, sizeof line, maps))
    found |= strstr(line, "perf-module") != NULL;
  fclose(maps);
  return found;
}

/* To load it and see it go. musl's dlclose() leaves all where it is; glibc has no such excuse. */
static int load_for_a_while(const char *test)
{
#ifndef __GLIBC__
  void *unused = dlopen(module, RTLD_NOW);

  if (unused) {
    dlclose(unused);
    if (is_mapped()) {
      skip(test, "this C library never unloads");
      return 0;
    }
  }
#endif
  return load(test);
}

static pthread_barrier_t have_read, unloaded;

static void *read_and_outlive(void *unused)
{
  (void)unused;
  module_read();
  pthread_barrier_wait(&have_read);
  pthread_barrier_wait(&unloaded);
  return NULL;
}

enum { THREADS = 4 };

START_TEST(threads_outlive_it)
{
  pthread_t threads[THREADS];
  int i, round;

  for (round = 0; round < 10; round++) {
    if (!load_for_a_while("threads_outlive_it"))
      return;
    ck_assert_int_gt(module_read(), -1);
    pthread_barrier_init(&have_read, NULL, THREADS + 1);
    pthread_barrier_init(&unloaded, NULL, THREADS + 1);
    for (i = 0; i < THREADS; i++)
      ck_assert_int_eq(pthread_create(&threads[i], NULL, read_and_outlive, NULL), 0);
    pthread_barrier_wait(&have_read);
    ck_assert_int_eq(dlclose(loaded), 0);
    ck_assert_int_eq(is_mapped(), 0);
    pthread_barrier_wait(&unloaded);
    for (i = 0; i < THREADS; i++)
      ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
  }
}
END_TEST

START_TEST(fork_and_signals_do_not_lead_into_it)
{
  static const int faults[] = { SIGILL, SIGBUS, SIGSEGV };
  struct sigaction before[3], action;
  int i, status;
  pid_t child;

  for (i = 0; i < 3; i++)
    sigaction(faults[i], NULL, &before[i]);
  if (!load_for_a_while("fork_and_signals_do_not_lead_into_it"))
    return;
  module_read();
  for (i = 0; i < 3; i++) {
    sigaction(faults[i], NULL, &action);
    ck_assert_ptr_ne(action.sa_handler, before[i].sa_handler); /* they do as long as it is there */
  }
  ck_assert_int_eq(dlclose(loaded), 0);
  ck_assert_int_eq(is_mapped(), 0);
  for (i = 0; i < 3; i++) {
    sigaction(faults[i], NULL, &action);
    ck_assert_ptr_eq(action.sa_handler, before[i].sa_handler);
    ck_assert_int_eq(action.sa_flags & SA_SIGINFO, before[i].sa_flags & SA_SIGINFO);
  }
  child = fork();
  if (child == 0)
    suite_exit(0);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(it_leaves_no_descriptor)
{
  int before = suite_entries("/proc/self/fd"), during;

  if (!load_for_a_while("it_leaves_no_descriptor"))
    return;
  during = suite_entries("/proc/self/fd");
  ck_assert_int_gt(during, before);
  dlclose(loaded);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
}
END_TEST

static volatile int went_on;

static void *read_when_cancelled(void *unused)
{
  module_read();
  pthread_cancel(pthread_self());
  module_read();
  went_on = 1;
  return unused;
}

START_TEST(read_is_no_cancellation_point)
{
  pthread_t thread;

  if (!load("read_is_no_cancellation_point"))
    return;
  ck_assert_int_eq(pthread_create(&thread, NULL, read_when_cancelled, NULL), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(went_on, 1);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, read_is_no_cancellation_point);
  tcase_add_test(tests, threads_outlive_it);
  tcase_add_test(tests, fork_and_signals_do_not_lead_into_it);
  tcase_add_test(tests, it_leaves_no_descriptor);
}

#else

SUITE_WITHOUT(perf_events, "default-perfevent is not built here")

#endif

int main(void)
{
  return suite_main("unload", add);
}
