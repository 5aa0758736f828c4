/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the first call of a process under adverse conditions: many threads, signals, forks,
   seccomp filters, no files, descriptors or stack left. Each case runs in processes that have
   not called the library yet. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/select.h"
#include "lib/table.h"

#include "tests/suites/first-call.h"
#include "tests/suites/fresh.h"
#include "tests/suites/host.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/* Threads. */

enum { THREADS = 16 };

static pthread_barrier_t all_threads_ready;

static void *call_together(void *name)
{
  pthread_barrier_wait(&all_threads_ready);
  if (cpucycles() < 0)
    return NULL;
  *(const char **)name = cpucycles_implementation();
  return name;
}

static int call_from_16_threads(void)
{
  pthread_t threads[THREADS];
  const char *names[THREADS];
  void *result;
  int i, bad = 0;

  if (pthread_barrier_init(&all_threads_ready, NULL, THREADS) != 0)
    return 2;
  for (i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, call_together, &names[i]) != 0)
      return 3;
  for (i = 0; i < THREADS; i++) {
    pthread_join(threads[i], &result);
    bad |= result == NULL || names[i] != names[0];
  }
  return bad || !count_increases();
}

START_TEST(sixteen_threads_make_the_first_call_together)
{
  struct suite_repeat repeat = suite_repeat(1000);

  while (suite_again(&repeat))
    in_fresh_process(call_from_16_threads);
}
END_TEST

/* Signals. */

static const int faults[] = { SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS };

/* Written by the raising thread alone, which jumps out of handlers. */
static volatile int handled, raised, fault_missed;
static int finished, started;
static volatile char *forbidden;
static sigjmp_buf escape;

static void count_and_escape(int signal, siginfo_t *info, void *context)
{
  (void)signal;
  if (context)
    handled++;
  if (info->si_addr == (void *)forbidden)
    siglongjmp(escape, 1);
}

/* Raises without pause: faults, and signals that it sends to itself. */
static void *raise_signals(void *unused)
{
  while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE) || raised < 100) {
    raised++;
    if (raised % 2)
      pthread_kill(pthread_self(), suite_fault_to_send(faults[raised / 2 % 5]));
    else if (sigsetjmp(escape, 1) == 0) {
      (void)*forbidden;
      fault_missed = 1; /* not reached */
    }
    __atomic_store_n(&started, raised > 10, __ATOMIC_RELEASE);
  }
  return unused;
}

static int call_while_another_thread_raises(void)
{
  struct sigaction set;
  pthread_t thread;
  int i;

  forbidden = suite_forbidden_page();
  memset(&set, 0, sizeof set);
  set.sa_sigaction = count_and_escape;
  set.sa_flags = SA_SIGINFO;
  sigemptyset(&set.sa_mask);
  for (i = 0; i < 5; i++)
    sigaction(faults[i], &set, NULL);
  if (pthread_create(&thread, NULL, raise_signals, NULL) != 0)
    return 3;
  while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
    sched_yield();
  cpucycles();
  __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  return fault_missed || handled != raised || !count_increases();
}

START_TEST(signals_of_another_thread_all_reach_the_application)
{
  struct suite_repeat repeat = suite_repeat(1000);

  if (skip_under("valgrind", "signals_of_another_thread_all_reach_the_application",
        "valgrind merges queued signals"))
    return;
  while (suite_again(&repeat))
    in_fresh_process(call_while_another_thread_raises);
}
END_TEST

static volatile long long count_in_signal;

static void count_in_handler(int signal)
{
  (void)signal;
  count_in_signal = cpucycles();
}

/* A signal to the selecting thread, with a handler that reads: the read must not wait for its
   own thread. */
static int call_while_being_sent_faults(void)
{
  pid_t self = getpid(), sender;
  int status;

  signal(suite_fault_to_send(SIGSEGV), count_in_handler);
  sender = fork();
  if (sender == 0) {
    alarm(60);
    /* getppid() changes when the receiver ends, and so the loop ends, too */
    while (getppid() == self && kill(self, suite_fault_to_send(SIGSEGV)) == 0)
      ;
    suite_exit(0);
  }
  cpucycles(); /* selects here or in the handler, whichever comes first */
  while (!count_in_signal)
    ;
  status = !count_increases();
  kill(sender, SIGKILL);
  waitpid(sender, NULL, 0);
  return status;
}

START_TEST(handler_in_the_selecting_thread_may_read)
{
  struct suite_repeat repeat = suite_repeat(50);

  if (skip_under("valgrind", "handler_in_the_selecting_thread_may_read",
        "valgrind takes a SIGSEGV that is sent for one of its own")
    || skip_unless_handlers_are_aligned("handler_in_the_selecting_thread_may_read"))
    return;
  while (suite_again(&repeat))
    in_fresh_process(call_while_being_sent_faults);
}
END_TEST

static void *call_from_thread(void *unused)
{
  (void)unused;
  cpucycles();
  return NULL;
}

/* A handler that never returns, for a signal that arrives during the selection. It jumps once:
   siglongjmp restores the mask before the stack, and faster signals would pile up their frames
   until the stack is full. */
static void jump_out(int signal)
{
  (void)signal;
  __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
  siglongjmp(escape, 1);
}

static void *send_until_handled(void *selecting)
{
  const struct timespec pause = { 0, suite_under("qemu") ? 1000000 : 0 };

  while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
    ;
  while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE)) {
    pthread_kill(*(pthread_t *)selecting, suite_fault_to_send(SIGSEGV));
    if (pause.tv_nsec)
      nanosleep(&pause, NULL); /* emulated, many are sent before one is handled */
  }
  return NULL;
}

static int call_and_jump_out_of_a_handler(void)
{
  pthread_t self = pthread_self(), sender, other;

  signal(suite_fault_to_send(SIGSEGV), jump_out);
  if (pthread_create(&sender, NULL, send_until_handled, &self) != 0)
    return 2;
  if (sigsetjmp(escape, 1) == 0) {
    __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    cpucycles();
    for (;;)
      sched_yield(); /* until one arrives */
  }
  signal(suite_fault_to_send(SIGSEGV), SIG_IGN);
  pthread_join(sender, NULL);
  /* The jump may have left the first call unfinished: neither another thread nor this one may
     block. */
  if (pthread_create(&other, NULL, call_from_thread, NULL) != 0)
    return 3;
  pthread_join(other, NULL);
  return !count_increases();
}

START_TEST(jump_out_of_the_first_call_blocks_no_thread)
{
  struct suite_repeat repeat = suite_repeat(200);

  if (skip_under("valgrind", "jump_out_of_the_first_call_blocks_no_thread",
        "valgrind takes a SIGSEGV that is sent for one of its own")
    || skip_where_handlers_find_another_thread(
      "jump_out_of_the_first_call_blocks_no_thread"))
    return;
  while (suite_again(&repeat))
    in_fresh_process(call_and_jump_out_of_a_handler);
}
END_TEST

static int fork_while_another_thread_calls(void)
{
  pthread_t thread;
  pid_t child;
  int status;

  pthread_create(&thread, NULL, call_from_thread, NULL);
  child = fork();
  if (child == 0) {
    alarm(20);
    suite_exit(!count_increases());
  }
  waitpid(child, &status, 0);
  pthread_join(thread, NULL);
  return status != 0 || !count_increases();
}

START_TEST(fork_during_the_first_call_leaves_a_child_that_counts)
{
  struct suite_repeat repeat = suite_repeat(300);

  if (skip_where_fork_may_deadlock("fork_during_the_first_call_leaves_a_child_that_counts"))
    return;
  while (suite_again(&repeat))
    in_fresh_process(fork_while_another_thread_calls);
}
END_TEST

static void *cancel_and_call(void *unused)
{
  (void)unused;
  pthread_cancel(pthread_self());
  cpucycles();
  pthread_testcancel();
  return unused; /* not reached */
}

static int cancel_the_first_caller(void)
{
  pthread_t thread;

  pthread_create(&thread, NULL, cancel_and_call, NULL);
  pthread_join(thread, NULL);
  return !count_increases();
}

START_TEST(cancelled_thread_finishes_its_first_call)
{
  in_fresh_process(cancel_the_first_caller);
}
END_TEST

/* Exhausted or forbidden resources. */

static char empty_folder[] = "cpucycles-empty-XXXXXX";

static int call_in_an_empty_root(void)
{
  if (chroot(empty_folder) != 0 || chdir("/") != 0)
    return 2;
  return !count_increases() || cpucycles_persecond() < 1000;
}

START_TEST(first_call_works_in_an_empty_root)
{
  if (geteuid() != 0) {
    skip("first_call_works_in_an_empty_root", "only root may chroot");
    return;
  }
  ck_assert_ptr_nonnull(mkdtemp(empty_folder));
  in_fresh_process(call_in_an_empty_root);
  rmdir(empty_folder);
}
END_TEST

static int mapping_count(void)
{
  FILE *maps = fopen("/proc/self/maps", "r");
  int c, n = 0;

  if (!maps)
    return -1;
  while ((c = getc(maps)) != EOF)
    n += c == '\n';
  fclose(maps);
  return n;
}

static int call_and_compare_resources(void)
{
  int descriptors = suite_entries("/proc/self/fd"), threads = suite_entries("/proc/self/task");
  int mapped = mapping_count(); /* of a first stream, whose memory stays mapped */
  const struct cpucycles_counter_info *counter;
  int i, selected_per_thread = 0;

  mapped = mapping_count();
  cpucycles();
  /* a selected counter of scope thread needs one of each for its event */
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (counter->state == CPUCYCLES_SELECTED && strcmp(counter->scope, "thread") == 0)
      selected_per_thread = 1;
  if (suite_entries("/proc/self/fd") - descriptors > selected_per_thread)
    return 1;
  if (mapping_count() - mapped > selected_per_thread)
    return 2;
  return suite_entries("/proc/self/task") != threads;
}

START_TEST(first_call_leaks_no_resource)
{
  if (suite_entries("/proc/self/fd") < 0 || mapping_count() < 0)
    skip("first_call_leaks_no_resource", "there is no /proc/self to look at");
  else
    in_fresh_process(call_and_compare_resources);
}
END_TEST

/* Seccomp filters. */

#if defined(HAVE_LINUX_SECCOMP_H) && defined(SYS_perf_event_open)

/* The reason is that of the answer, unless there is no PMU anyway. */
static int call_with_perf_answered(unsigned int action, const char *reason, int error, int signal)
{
  static const int calls[] = { SYS_perf_event_open };
  const struct cpucycles_counter_info *counter;
  int i;

  if (set_filter(calls, 1, action) != 0)
    return NO_FILTERS;
  if (!count_increases())
    return 1;
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (strcmp(counter->name, "default-perfevent") == 0)
      return counter->state != CPUCYCLES_DROPPED || counter->error_number != error
        || counter->signal_number != signal
        || (strcmp(counter->reason, reason) != 0 && strcmp(counter->reason, "absent") != 0);
  return 0;
}

static int perf_answers_eperm(void)
{
  return call_with_perf_answered(SECCOMP_RET_ERRNO | EPERM, "refused", EPERM, 0);
}

static int perf_answers_enosys(void)
{
  return call_with_perf_answered(SECCOMP_RET_ERRNO | ENOSYS, "absent", ENOSYS, 0);
}

static int perf_answers_sigsys(void)
{
  return call_with_perf_answered(SECCOMP_RET_TRAP, "signal", 0, SIGSYS);
}

/* Opening any file raises SIGSYS: no source of the frequency that reads a file can answer. */
static int files_answer_sigsys(void)
{
  static const int calls[] = {
    SYS_openat,
#ifdef SYS_open
    SYS_open,
#endif
  };

  if (set_filter(calls, sizeof calls / sizeof calls[0], SECCOMP_RET_TRAP) != 0)
    return NO_FILTERS;
  /* exit() may write files */
  _exit(!count_increases() || cpucycles_persecond() < 1000);
}

static int forbid_new_processes(void)
{
  static const int calls[] = {
    SYS_clone, SYS_execve,
#ifdef SYS_clone3
    SYS_clone3,
#endif
#ifdef SYS_fork
    SYS_fork,
#endif
#ifdef SYS_vfork
    SYS_vfork,
#endif
#ifdef SYS_execveat
    SYS_execveat,
#endif
  };

  if (set_filter(calls, sizeof calls / sizeof calls[0], SECCOMP_RET_KILL) != 0)
    return NO_FILTERS;
  return !count_increases();
}

static int can_filter(void)
{
  return set_filter(NULL, 0, SECCOMP_RET_ALLOW) != 0;
}

/* Expects 0 of body, in a process that may set a filter. */
static void in_filterable_process(const char *test, int (*body)(void))
{
  int status;
  pid_t child = fork();

  if (child == 0)
    suite_exit(can_filter());
  waitpid(child, &status, 0);
  if (status != 0)
    skip(test, "this kernel or emulator takes no seccomp filter");
  else
    in_fresh_process(body);
}

#else

static void in_filterable_process(const char *test, int (*body)(void))
{
  (void)body;
  skip(test, "this system has no seccomp filters");
}

#define perf_answers_eperm NULL
#define perf_answers_enosys NULL
#define perf_answers_sigsys NULL
#define files_answer_sigsys NULL
#define forbid_new_processes NULL

#endif

START_TEST(filter_with_eperm_for_perf_event_open_drops_perf)
{
  in_filterable_process("filter_with_eperm_for_perf_event_open_drops_perf",
    perf_answers_eperm);
}
END_TEST

START_TEST(filter_with_enosys_for_perf_event_open_drops_perf)
{
  in_filterable_process("filter_with_enosys_for_perf_event_open_drops_perf",
    perf_answers_enosys);
}
END_TEST

START_TEST(filter_with_sigsys_for_perf_event_open_drops_perf)
{
  if (skip_under("valgrind", "filter_with_sigsys_for_perf_event_open_drops_perf",
        "valgrind makes the system calls in its own code"))
    return;
  in_filterable_process("filter_with_sigsys_for_perf_event_open_drops_perf",
    perf_answers_sigsys);
}
END_TEST

START_TEST(first_call_survives_sigsys_at_every_open)
{
  if (skip_under("valgrind", "first_call_survives_sigsys_at_every_open",
        "valgrind makes the system calls in its own code"))
    return;
  in_filterable_process("first_call_survives_sigsys_at_every_open", files_answer_sigsys);
}
END_TEST

START_TEST(first_call_starts_no_process)
{
  in_filterable_process("first_call_starts_no_process", forbid_new_processes);
}
END_TEST

/* The TSC forbidden, and the clocks of the vDSO with it. */

#ifdef PR_SET_TSC

static int call_without_tsc(void)
{
  const struct cpucycles_counter_info *counter;
  const char *name;
  int i, works;

  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
    return 2;
  works = count_increases();
  name = cpucycles_implementation();
  prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  if (!works)
    return 3;
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++) {
    if (strstr(counter->name, "tsc") && counter->signal_number != SIGSEGV)
      return 4;
    if (strstr(counter->name, "tsc")
      && !(counter->remedy && strstr(counter->remedy, "PR_TSC_ENABLE")))
      return 6;
    /* with a PMU, a perf event is better than a clock; a clock must still work */
    if (strcmp(counter->name, "default-monotonic") == 0 && counter->state == CPUCYCLES_DROPPED)
      return 5;
    if (strcmp(counter->name, "default-perfevent") == 0 && counter->state != CPUCYCLES_DROPPED)
      return 0;
  }
  return strcmp(name, "default-monotonic") != 0;
}

START_TEST(forbidden_tsc_leads_to_a_clock_by_system_call)
{
  const char *test = "forbidden_tsc_leads_to_a_clock_by_system_call";

  if (skip_under("asan", test, "AddressSanitizer itself reads the TSC")
    || skip_under("valgrind", test, "valgrind itself reads the TSC"))
    return;
  if (!skip_unless(test, forbidden_tsc_faults, -SIGSEGV, "RDTSC still works after PR_SET_TSC"))
    in_fresh_process(call_without_tsc);
}
END_TEST

#else

START_TEST(forbidden_tsc_leads_to_a_clock_by_system_call)
{
  skip("forbidden_tsc_leads_to_a_clock_by_system_call", "this system has no PR_SET_TSC");
}
END_TEST

#endif

/* Repeatability. An emulated CPU has no frequency: the measurement in its place differs by more
   than a factor of three from process to process, and a clock's score with it. So the test
   sets the frequency there. */

START_TEST(selection_is_equal_in_a_hundred_processes)
{
  struct suite_repeat repeat = suite_repeat(100);
  int channel[2];

  if (suite_under("qemu"))
    setenv("cpucyclespersecond", "3700000000", 1);
  while (suite_again(&repeat)) {
    static char first[64], name[64];
    pid_t child;
    ssize_t length;

    ck_assert_int_eq(pipe(channel), 0);
    child = fork();
    if (child == 0) {
      const char *mine = cpucycles_implementation();

      suite_exit(write(channel[1], mine, strlen(mine)) < 0);
    }
    length = read(channel[0], name, sizeof name - 1);
    waitpid(child, NULL, 0);
    close(channel[0]);
    close(channel[1]);
    ck_assert_int_gt(length, 0);
    name[length] = 0;
    if (repeat.done == 1)
      strcpy(first, name);
    ck_assert_str_eq(name, first);
  }
}
END_TEST

static const char *requested_name;

static int count_by_requested_counter(void)
{
  const char *skipped;

  setenv("CPUCYCLES_IMPLEMENTATION", requested_name, 1);
  if (!count_increases())
    return 1;
  skipped = cpucycles_implementation_skipped();
  if (strcmp(cpucycles_implementation(), requested_name) == 0)
    return skipped != NULL;
  return !skipped || strncmp(skipped, requested_name, strlen(requested_name)) != 0;
}

START_TEST(every_working_counter_can_be_requested)
{
  int i;

  for (i = 0; i < CPUC_TABLE_LENGTH; i++) {
    requested_name = cpuc_table[i].name;
    in_fresh_process(count_by_requested_counter);
  }
}
END_TEST

/* Answers to a signal handler that interrupts the selection, tested without a signal. */

static int wrong_answers;

static void call_all(void)
{
  long long begin = cpucycles();

  wrong_answers |= begin <= 0 || cpucycles() < begin;
  wrong_answers |= strcmp(cpucycles_implementation(), "default-gettimeofday") != 0;
  wrong_answers |= cpucycles_implementation_skipped() != NULL;
  wrong_answers |= cpucycles_persecond() != CPUC_FREQUENCY_DEFAULT;
  wrong_answers |= strcmp(cpucycles_frequency_source(), "default") != 0;
  wrong_answers |= cpucycles_frequency_skipped() != NULL;
  wrong_answers |= cpucycles_rate() != 0 || cpucycles_timer() != NULL || cpucycles_overhead() != 0;
  wrong_answers |= cpucycles_counter(0) != NULL || cpucycles_core_persecond() != 0;
  begin = cpucycles_begin();
  wrong_answers |= cpucycles_end() < begin;
  wrong_answers |= cpuc_process_has_selected();
}

#ifdef HAVE_SECURE_GETENV

/* Replaces the C library's secure_getenv(), which the selection calls. */
static int selecting;
static void (*while_selecting)(void) = call_all;

char *secure_getenv(const char *name)
{
  if (selecting) {
    selecting = 0;
    while_selecting();
  }
  return getenv(name);
}

static int call_all_within_the_selection(void)
{
  selecting = 1;
  cpucycles();
  if (selecting)
    return 3;
  if (wrong_answers)
    return 1;
  /* an emulated clock can be too slow for a measurement */
  if (!count_increases()
    || (strcmp(cpucycles_frequency_source(), "default") == 0 && !suite_under("qemu")))
    return 2;
  return cpucycles_counter(0) == NULL || cpucycles_timer() == NULL;
}

START_TEST(every_function_answers_during_the_selection)
{
  in_fresh_process(call_all_within_the_selection);
}
END_TEST

static void send_usr1(void)
{
  pthread_kill(pthread_self(), SIGUSR1); /* stays pending */
}

static int jump_at_the_end_of_the_selection(void)
{
  int state;

  signal(SIGUSR1, jump_out);
  while_selecting = send_usr1;
  selecting = 1;
  if (sigsetjmp(escape, 1) == 0) {
    cpucycles();
    return 2; /* not reached */
  }
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  return state != PTHREAD_CANCEL_ENABLE || !count_increases();
}

START_TEST(jump_out_of_the_first_call_restores_cancellation)
{
  if (skip_under("valgrind", "jump_out_of_the_first_call_restores_cancellation",
        "valgrind delivers sent signals when it sees fit"))
    return;
  in_fresh_process(jump_at_the_end_of_the_selection);
}
END_TEST

#else

START_TEST(jump_out_of_the_first_call_restores_cancellation)
{
  skip("jump_out_of_the_first_call_restores_cancellation",
    "the library calls nothing here that this program could define");
}
END_TEST

START_TEST(every_function_answers_during_the_selection)
{
  (void)call_all;
  skip("every_function_answers_during_the_selection",
    "the library calls nothing here that this program could define");
}
END_TEST

#endif

/* Signals sent during the selection, and queries after it. */

static pthread_t selecting_thread;
static volatile int received, received_elsewhere;

static void count_received(int signal)
{
  (void)signal;
  received++;
  if (!pthread_equal(pthread_self(), selecting_thread))
    received_elsewhere++;
}

/* Waits until the library's handlers are installed, or the selection is over. */
static void wait_for_the_trial(void)
{
  struct sigaction action;
  int signal = suite_fault_to_send(SIGILL);

  do
    sigaction(signal, NULL, &action);
  while (action.sa_handler == count_received && !cpuc_process_has_selected());
}

static void *send_one(void *unused)
{
  __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
  wait_for_the_trial();
  pthread_kill(selecting_thread, suite_fault_to_send(SIGILL));
  __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
  return unused;
}

static void *query_once_sent(void *unused)
{
  while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE))
    sched_yield();
  cpucycles_rate();
  cpucycles_timer();
  cpucycles_counter(0);
  return unused;
}

static int call_while_one_signal_is_sent(void)
{
  pthread_t sender, querying;

  selecting_thread = pthread_self();
  signal(suite_fault_to_send(SIGILL), count_received);
  if (pthread_create(&sender, NULL, send_one, NULL) != 0
    || pthread_create(&querying, NULL, query_once_sent, NULL) != 0)
    return 2;
  while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
    sched_yield();
  cpucycles();
  pthread_join(sender, NULL);
  pthread_join(querying, NULL);
  return received != 1 || received_elsewhere || !count_increases();
}

START_TEST(signal_sent_during_the_selection_is_delivered_once_to_its_thread)
{
  const char *test = "signal_sent_during_the_selection_is_delivered_once_to_its_thread";
  struct suite_repeat repeat = suite_repeat(300);

  if (skip_under("valgrind", test, "valgrind delivers sent signals when it sees fit")
    || skip_where_handlers_find_another_thread(test))
    return;
  while (suite_again(&repeat))
    in_fresh_process(call_while_one_signal_is_sent);
}
END_TEST

/* Notes before the selection have no counter to refer to. */
static int note_a_thread_that_fell_back(void)
{
  const struct cpucycles_counter_info *counter;
  int i;

  cpuc_process_services.note_fallback("by-read");
  if (cpuc_process_services.fallback() != 0)
    return 1;
  cpucycles();
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (counter->state == CPUCYCLES_SELECTED && counter->reason)
      return 2;
  cpuc_process_services.note_fallback("by-next-best");
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (counter->state == CPUCYCLES_SELECTED)
      return !counter->reason || strcmp(counter->reason, "by-next-best") != 0
        || cpuc_process_services.fallback() <= 0;
  return 3;
}

START_TEST(fallback_of_a_thread_is_noted_at_the_selected_counter)
{
  in_fresh_process(note_a_thread_that_fell_back);
}
END_TEST

START_TEST(unscaled_counter_needs_no_wrapper)
{
  const struct cpuc_selection *selected;
  int i;

  cpucycles();
  selected = cpuc_process_selection();
  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (strcmp(cpuc_table[i].name, selected->implementation) == 0) {
      const struct cpuc_backend *backend = cpuc_table[i].backend;

      if (backend->width == 64 && selected->counters[i].scaling == 1)
        ck_assert(cpucycles == backend->read);
      else
        ck_assert(cpucycles != backend->read);
    }
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, sixteen_threads_make_the_first_call_together);
  tcase_add_test(tests, signals_of_another_thread_all_reach_the_application);
  tcase_add_test(tests, handler_in_the_selecting_thread_may_read);
  tcase_add_test(tests, jump_out_of_the_first_call_blocks_no_thread);
  tcase_add_test(tests, fork_during_the_first_call_leaves_a_child_that_counts);
  tcase_add_test(tests, cancelled_thread_finishes_its_first_call);
  tcase_add_test(tests, first_call_works_in_an_empty_root);
  tcase_add_test(tests, first_call_leaks_no_resource);
  tcase_add_test(tests, filter_with_eperm_for_perf_event_open_drops_perf);
  tcase_add_test(tests, filter_with_enosys_for_perf_event_open_drops_perf);
  tcase_add_test(tests, filter_with_sigsys_for_perf_event_open_drops_perf);
  tcase_add_test(tests, first_call_survives_sigsys_at_every_open);
  tcase_add_test(tests, first_call_starts_no_process);
  tcase_add_test(tests, forbidden_tsc_leads_to_a_clock_by_system_call);
  tcase_add_test(tests, selection_is_equal_in_a_hundred_processes);
  tcase_add_test(tests, every_function_may_make_the_first_call);
  tcase_add_test(tests, one_counter_is_selected_and_dropped_ones_have_a_reason);
  tcase_add_test(tests, every_working_counter_can_be_requested);
  tcase_add_test(tests, every_function_answers_during_the_selection);
  tcase_add_test(tests, jump_out_of_the_first_call_restores_cancellation);
  tcase_add_test(tests, signal_sent_during_the_selection_is_delivered_once_to_its_thread);
  tcase_add_test(tests, fallback_of_a_thread_is_noted_at_the_selected_counter);
  tcase_add_test(tests, unscaled_counter_needs_no_wrapper);
}

int main(void)
{
  return suite_main("first call", add);
}
