/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the one lock of the process: a result is found once, however many threads, signal handlers
   and forks there are. The table of this suite replaces lib/table.c. All of its rows are the
   same counter. Also loads, uses and unloads the shared library, and a module with a static copy of
   the perf counters. */

#include "config.h"

#include "include/cpucycles.h"
#include "lib/process.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"

#ifdef __linux__
#include <dlfcn.h>
#endif
#include <limits.h>
#include <pthread.h>

/* Advances on every host, unlike the clock of some hosts. The count has 32 bits, because not every
   CPU adds 64 bits atomically. */
static long long read_count(void)
{
  static unsigned int count;

  return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

static int waits_in_open, is_searching, may_end;

static void search_until_allowed(struct cpuc_selection *unused)
{
  (void)unused;
  set_flag(&is_searching);
  wait_for(&may_end);
}

static int open_counter(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis)
{
  (void)services, (void)diagnosis;
  if (__atomic_exchange_n(&waits_in_open, 0, __ATOMIC_RELAXED))
    search_until_allowed(NULL);
  return 0;
}

static void close_counter(void)
{
}

static const struct cpuc_backend counter = {
  .kind = CPUC_KIND_REFERENCE, /* not of core cycles, which would have to be proven */
  .unit = "reads",
  .open = open_counter,
  .close = close_counter,
  .read = read_count,
};

const struct cpuc_table_entry cpuc_table[CPUC_TABLE_LENGTH]
  = { [0 ... CPUC_TABLE_LENGTH - 1] = { "count", "a counter of the test", &counter } };

static void (*finder)(struct cpuc_selection *);
static int searches;

static void find_result(struct cpuc_selection *selection)
{
  __atomic_load_n(&finder, __ATOMIC_RELAXED)(selection);
}

static struct cpuc_process_result result = { find_result, 0, 0 };

/* Calls cpuc_process_once(). Returns 0 if there is a result, so that the return value can be a
   child's exit status. */
static int search(void (*find)(struct cpuc_selection *))
{
  __atomic_store_n(&finder, find, __ATOMIC_RELAXED);
  return cpuc_process_once(&result) != 1;
}

static void count_searches(struct cpuc_selection *unused)
{
  (void)unused;
  searches++;
}

/* Calls from within find(), as a fault handler or an allocator of the program would make them,
   which may also fork. */

static pid_t child;

static void ask_everything_and_fork(struct cpuc_selection *unused)
{
  (void)unused;
  child = fork();
  ck_assert_int_ne(search(count_searches), 0);
  ck_assert(cpucycles_rate() == 0 && cpucycles_timer() == NULL && cpucycles_section_overhead() == 0
    && cpucycles_counter(0) == NULL && cpucycles_selected() == NULL && cpucycles() > 0);
}

TEST(nested_search_has_no_result_and_does_not_wait_in_parent_and_child)
{
  int status = 0;

  cpucycles();
  ck_assert_int_eq(search(ask_everything_and_fork), 0);
  ck_assert_int_eq(search(count_searches), 0);
  ck_assert_int_eq(searches, 0);
  ck_assert(cpucycles_timer() && cpucycles_counter(0));
  if (child == 0)
    _exit(0);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}

static volatile char *forbidden, read_value;
static volatile int handled, handled_in_search;

static void handle(int signal)
{
  handled++;
  if (signal == SIGSEGV)
    mprotect((void *)forbidden, (size_t)sysconf(_SC_PAGESIZE), PROT_READ);
}

static void fault_and_send(struct cpuc_selection *unused)
{
  (void)unused;
  read_value = suite_read(forbidden);
  raise(SIGUSR1);
  handled_in_search = handled; /* the signal of the fault, not yet the signal that was sent */
}

TEST(fault_in_a_search_is_handled_and_a_signal_waits)
{
  SKIP_IF(suite_under("valgrind"), "valgrind takes the fault for an error of the program");
  forbidden = suite_forbidden_page();
  cpucycles();
  signal(SIGSEGV, handle);
  signal(SIGUSR1, handle);
  ck_assert_int_eq(search(fault_and_send), 0);
  ck_assert_int_eq(handled_in_search, 1);
  ck_assert_int_eq(handled, 2);
}

/* Forks. */

static void *search_in_a_thread(void *selects)
{
  return selects ? (void *)cpucycles_selected() : (search(search_until_allowed), NULL);
}

static void *search_beside(void *unused)
{
  (void)unused;
  return search(count_searches) == 0 ? &searches : NULL;
}

static int handler_searches, child_has_found;

static void search_in_the_child(void)
{
  child_has_found = search(count_searches) == 0 && searches == 1 && count_increases();
}

static void search_in_a_fork_handler(void)
{
  if (handler_searches)
    search_in_the_child();
}

/* A constructor of the program without a priority, which the linker puts before the files of a
   static library. Its fork handler, too, runs before the handler of a library that installs its own
   later. */
__attribute__((constructor)) static void install_fork_handler(void)
{
  pthread_atfork(NULL, NULL, search_in_a_fork_handler);
}

static int child_has_found_nothing(void)
{
  if (!handler_searches)
    search_in_the_child();
  return !child_has_found;
}

/* The thread that searches, or selects, does not exist in the child, where its search would never
   end. Another thread of the parent waits for it. _i: whether it selects. */
TEST_LOOP(result_is_found_once_and_again_in_a_forked_child_also_in_fork_handlers, 2)
{
  const struct timespec pause = { 0, 20000000 };
  pthread_t threads[2];
  void *found;

  waits_in_open = _i;
  if (!_i)
    cpucycles();
  ck_assert_int_eq(pthread_create(&threads[0], NULL, search_in_a_thread, _i ? threads : NULL), 0);
  wait_for(&is_searching);
  ck_assert_int_eq(pthread_create(&threads[1], NULL, search_beside, NULL), 0);
#ifndef __APPLE__ /* whose constructors have no priorities */
  handler_searches = 1;
#endif
  in_child_process(child_has_found_nothing);
  nanosleep(&pause, NULL);
  set_flag(&may_end);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], &found);
  ck_assert_ptr_nonnull(found);
  ck_assert_int_eq(searches, _i);
  ck_assert(count_increases());
}

/* Signals. */

/* Blocks all signals, like a program that takes signals with sigwait(3). */
TEST(blocked_fault_signal_that_is_sent_stays_pending)
{
  int signal = suite_fault_to_send(SIGFPE);
  sigset_t all, pending;

  SKIP_IF(suite_under("valgrind"), "valgrind delivers sent signals when it sees fit");
  sigfillset(&all);
  ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
  cpucycles();
  raise(signal);
  cpucycles_rate();
  cpucycles_counter(0);
  cpucycles_timer();
  cpucycles_section_overhead();
  sigpending(&pending);
  ck_assert_int_eq(sigismember(&pending, signal), 1);
}

/* Loading and unloading. Also tests that a read is not a cancellation point, which check_perfevent
   cannot test, because it replaces the system calls. */

#if defined(__linux__) && HAVE_BACKEND_default_perfevent

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

#endif

SUITE("process")
