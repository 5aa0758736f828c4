/* SPDX-License-Identifier: 0BSD OR MIT */
/* Loads, uses and unloads a module with a static copy of the perf counters, and the shared library.
   Also tests that a read is not a cancellation point, which check_perfevent
   cannot test, because it replaces the system calls. */

#include "config.h"

#include "tests/suites/child.h"

#if defined(__linux__) && HAVE_BACKEND_default_perfevent

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

static void *module_handle;
static int (*module_open)(void);
static long long (*module_read)(void);

/* Loads a library. Skips the test if that is impossible here. */
static void *load(const char *library)
{
  void *handle = dlopen(library, RTLD_NOW);
  const char *error = handle ? "" : dlerror();

  SKIP_IF(access(library, R_OK) != 0, "configured without shared libraries");
  SKIP_IF(strcmp(error, "Dynamic loading not supported") == 0,
    "this C library cannot load libraries into a static program");
  ck_assert_msg(handle != NULL, "%s", error);
  return handle;
}

static void load_module(void)
{
  module_handle = load("tests/programs/.libs/perf-module.so");
  skip_without_perf_events();
  *(void **)&module_open = dlsym(module_handle, "module_open");
  *(void **)&module_read = dlsym(module_handle, "module_read");
  ck_assert_int_eq(module_open(), 0);
}

/* Loads the module more often than a process can have keys. */
TEST(module_is_loaded_and_unloaded_in_turn)
{
  int before = open_descriptors(), i;

  SKIP_IF(suite_under("valgrind"), "valgrind takes minutes to load a module so often");
  for (i = 0; i <= PTHREAD_KEYS_MAX; i++) {
    load_module();
    ck_assert_int_gt(module_read(), -1);
    ck_assert_int_eq(dlclose(module_handle), 0);
  }
  ck_assert_int_eq(open_descriptors(), before);
}

TEST(shared_library_stays_loaded)
{
  const char *library = ".libs/libcpucycles.so.1";

  ck_assert_int_eq(dlclose(load(library)), 0);
  ck_assert_ptr_nonnull(dlopen(library, RTLD_NOW | RTLD_NOLOAD));
}

static volatile int returned;

static void *read_when_canceled(void *unused)
{
  module_read();
  pthread_cancel(pthread_self());
  module_read();
  returned = 1;
  return unused;
}

TEST(read_is_not_a_cancellation_point)
{
  load_module();
  result_in_thread(read_when_canceled, NULL);
  ck_assert_int_eq(returned, 1);
}

#else

SUITE_WITHOUT(perf_events, "default-perfevent is not built here")

#endif

SUITE("unload")
