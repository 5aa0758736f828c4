/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the one lock of the process: a result is found once, however many threads, signal handlers
   and forks there are. The table of this suite replaces lib/table.c. All of its rows are the
   same counter. */

#include "config.h"

#include "include/cpucycles.h"
#include "lib/process.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"

#include <pthread.h>

/* Advances on every host, unlike the clock of some hosts. The count has 32 bits, because not every
   CPU adds 64 bits atomically. */
static long long read_count(void)
{
  static unsigned int count;

  return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

static const struct cpuc_backend counter = {
  .kind = CPUC_KIND_REFERENCE, /* not of core cycles, which would have to be proven */
  .unit = "reads",
  .read = read_count,
};

const struct cpuc_table_entry cpuc_table[CPUC_TABLE_LENGTH]
  = { [0 ... CPUC_TABLE_LENGTH - 1] = { "count", "a counter of the test", &counter } };

static void (*finder)(struct cpuc_selection *);
static int searches, is_searching, may_end;

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

static void search_until_allowed(struct cpuc_selection *unused)
{
  (void)unused;
  set_flag(&is_searching);
  wait_for(&may_end);
}

static void *search_in_a_thread(void *unused)
{
  search(search_until_allowed);
  return unused;
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

/* The thread that searches does not exist in the child, where its search would never end. Another
   thread of the parent waits for it. */
TEST(result_is_found_once_and_again_in_a_forked_child_also_in_fork_handlers)
{
  const struct timespec pause = { 0, 20000000 };
  pthread_t threads[2];
  void *found;

  cpucycles();
  ck_assert_int_eq(pthread_create(&threads[0], NULL, search_in_a_thread, NULL), 0);
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
  ck_assert_int_eq(searches, 0);
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

SUITE("process")
