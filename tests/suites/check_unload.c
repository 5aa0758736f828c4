/* SPDX-License-Identifier: 0BSD OR MIT */
/* Loads, uses and unloads a module that contains the perf counters, and tests that nothing points
   into the unloaded code. Also tests that a read is not a cancellation point, which check_perfevent
   cannot test, because it replaces the system calls. */

#include "config.h"

#include "tests/suites/suite.h"
#include "tests/suites/this-machine.h"

#if defined(__linux__) && HAVE_BACKEND_default_perfevent

#include "tests/suites/unloading.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static const char module[] = "tests/programs/.libs/perf-module.so";

static void *module_handle;
static int (*module_open)(void);
static long long (*module_read)(void);

/* Loads the module. Returns 0 and reports a skip if that is impossible here. */
static int load_module(const char *test)
{
  const char *error;

  if (access(module, R_OK) != 0) {
    skip(test, "configured without shared libraries");
    return 0;
  }
  if (skip_without_perf_events(test))
    return 0;
  module_handle = dlopen(module, RTLD_NOW);
  error = module_handle ? "" : dlerror();
  if (skip_without_dlopen(test, error))
    return 0;
  ck_assert_msg(module_handle != NULL, "%s", error);
  *(void **)&module_open = dlsym(module_handle, "module_open");
  *(void **)&module_read = dlsym(module_handle, "module_read");
  ck_assert_ptr_nonnull(*(void **)&module_open);
  ck_assert_ptr_nonnull(*(void **)&module_read);
  ck_assert_int_eq(module_open(), 0);
  return 1;
}

/* Loads the module to unload it later. */
static int load_unloadable_module(const char *test)
{
  return !skip_without_unloading(test, module) && load_module(test);
}

static pthread_barrier_t all_have_read, module_unloaded;

static void *read_and_outlive(void *unused)
{
  (void)unused;
  module_read();
  pthread_barrier_wait(&all_have_read);
  pthread_barrier_wait(&module_unloaded);
  return NULL;
}

enum { THREADS = 4 };

START_TEST(threads_outlive_the_unloaded_module)
{
  struct suite_repeat repeat = suite_repeat(10);
  pthread_t threads[THREADS];
  int i;

  while (suite_again(&repeat)) {
    if (!load_unloadable_module("threads_outlive_the_unloaded_module"))
      return;
    ck_assert_int_gt(module_read(), -1);
    pthread_barrier_init(&all_have_read, NULL, THREADS + 1);
    pthread_barrier_init(&module_unloaded, NULL, THREADS + 1);
    for (i = 0; i < THREADS; i++)
      ck_assert_int_eq(pthread_create(&threads[i], NULL, read_and_outlive, NULL), 0);
    pthread_barrier_wait(&all_have_read);
    ck_assert_int_eq(dlclose(module_handle), 0);
    ck_assert_ptr_null(dlopen(module, RTLD_NOW | RTLD_NOLOAD));
    pthread_barrier_wait(&module_unloaded);
    for (i = 0; i < THREADS; i++)
      ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
  }
}
END_TEST

START_TEST(fork_and_signals_avoid_the_unloaded_module)
{
  struct sigaction before, action;
  int status;
  pid_t child;

  sigaction(SIGSEGV, NULL, &before);
  if (!load_unloadable_module("fork_and_signals_avoid_the_unloaded_module"))
    return;
  module_read();
  ck_assert_int_eq(dlclose(module_handle), 0);
  ck_assert_ptr_null(dlopen(module, RTLD_NOW | RTLD_NOLOAD));
  sigaction(SIGSEGV, NULL, &action);
  ck_assert_ptr_eq(action.sa_handler, before.sa_handler);
  ck_assert_int_eq(action.sa_flags & SA_SIGINFO, before.sa_flags & SA_SIGINFO);
  child = fork();
  if (child == 0)
    suite_exit(0);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(unloaded_module_leaks_no_descriptor)
{
  int before = open_descriptors(), during;

  if (!load_unloadable_module("unloaded_module_leaks_no_descriptor"))
    return;
  during = open_descriptors();
  ck_assert_int_gt(during, before);
  dlclose(module_handle);
  ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

static volatile int returned;

static void *read_when_canceled(void *unused)
{
  module_read();
  pthread_cancel(pthread_self());
  module_read();
  returned = 1;
  return unused;
}

START_TEST(read_is_not_a_cancellation_point)
{
  pthread_t thread;

  if (!load_module("read_is_not_a_cancellation_point"))
    return;
  ck_assert_int_eq(pthread_create(&thread, NULL, read_when_canceled, NULL), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(returned, 1);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, read_is_not_a_cancellation_point);
  tcase_add_test(tests, threads_outlive_the_unloaded_module);
  tcase_add_test(tests, fork_and_signals_avoid_the_unloaded_module);
  tcase_add_test(tests, unloaded_module_leaks_no_descriptor);
}

#else

SUITE_WITHOUT(perf_events, "default-perfevent is not built here")

#endif

int main(void)
{
  return suite_main("unload", add);
}
