/* SPDX-License-Identifier: 0BSD OR MIT */
/* Counting, with software events in the place of the PMU's, which every Linux counts: page faults,
   so that counts are known exactly, and the thread's own time. Everything else is the kernel's, but
   for what a test makes it say. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/events.h"
#include "sys/perf-event.h"

#include "tests/suites/perfex-said.h"

#include <dlfcn.h>
#include <fcntl.h>
#ifdef HAVE_LINUX_SECCOMP_H
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Event 15 is page faults, 24 minor ones, which here are the same; 0 is time. */
static const struct perfex_event_row *row_of_test(int event)
{
  static const struct perfex_event_row time
    = { "time", "time", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK };
  static const struct perfex_event_row faults
    = { "faults", "faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS };
  static const struct perfex_event_row minor
    = { "minor", "minor", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN };

  return event == 0 ? &time : event == 15 ? &faults : event == 24 ? &minor : NULL;
}

/* What a test makes the kernel say. */
static int refused_alone, refused_together; /* configs that it does not open so; or 0 */
static int refused_without_kernel;          /* all where the kernel is left out */
static int refusing;                        /* with that errno */
static void (*alter)(void *reading, ssize_t *length);
static _Thread_local struct perf_event_attr asked[4];
static _Thread_local int asked_group[4], asks;
static void (*when_an_event_is_opened)(void);

static int open_of_test(struct perf_event_attr *wanted, int group)
{
  if (asks < 4) {
    asked[asks] = *wanted;
    asked_group[asks++] = group;
  }
  if (when_an_event_is_opened)
    when_an_event_is_opened();
  if ((refused_without_kernel && wanted->exclude_kernel)
    || (refused_alone && (int)wanted->config == refused_alone)
    || (refused_together && (int)wanted->config == refused_together && group >= 0)) {
    errno = refusing;
    return -1;
  }
  return perf_event_open_in(wanted, group);
}

static ssize_t read_of_test(int descriptor, void *reading, size_t size)
{
  ssize_t length = perf_event_read(descriptor, reading, size);

  if (alter)
    alter(reading, &length);
  return length;
}

static void (*when_a_key_is_made)(void);

static int key_create_of_test(pthread_key_t *key, void (*destructor)(void *value))
{
  if (when_a_key_is_made)
    when_a_key_is_made();
  return pthread_key_create(key, destructor);
}

/* A second copy of the code, beside the library's. */
#define PERFEX_ROW row_of_test
#define perf_event_open_in open_of_test
#define perf_event_read read_of_test
#define pthread_key_create key_create_of_test
#include "perfex/count.c"
#undef pthread_key_create
#undef perf_event_read
#undef perf_event_open_in

/* Can the kernel count that here? Says so if not. */
static int can_count(const char *test)
{
  int started = start_counters(15, 24), error = errno;
  long long c0, c1;

  if (started > 0) {
    read_counters(15, &c0, 24, &c1);
    asks = 0;
    return 1;
  }
  ck_assert_msg(error == ENOSYS || error == EACCES || error == EPERM, "errno %d", error);
  skip(test, "this kernel or emulator has no perf events");
  return 0;
}

enum { PAGES = 64 };

static volatile char *fresh;

/* Pages that nobody has touched. */
static void make_fresh(void)
{
  size_t size = 2 * PAGES * (size_t)sysconf(_SC_PAGESIZE);
  void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  ck_assert_ptr_ne(pages, MAP_FAILED);
#ifdef MADV_NOHUGEPAGE
  madvise(pages, size, MADV_NOHUGEPAGE);
#endif
  fresh = pages;
}

/* Sanitizers would touch pages of their counters. */
static __attribute__((noinline, no_sanitize("address", "thread"))) void touch(int pages)
{
  long size = sysconf(_SC_PAGESIZE);
  int i;

  for (i = 0; i < pages; i++)
    fresh[i * size] = 1;
}

/* What is counted of touching so many pages; fails the test if the count is not whole. */
static long long count_faults(int pages)
{
  long long c0 = -1, c1 = -1;
  int start, read;

  make_fresh();
  start = start_counters(15, 24);
  touch(pages);
  read = read_counters(15, &c0, 24, &c1);
  ck_assert_int_gt(start, 0);
  ck_assert_int_eq(read, start);
  ck_assert_int_eq(c0, c1);
  return c0;
}

START_TEST(section_is_counted_exactly_and_twice_is_twice)
{
  const char test[] = "section_is_counted_exactly_and_twice_is_twice";

  if (skip_under("valgrind", test, "valgrind touches pages of its own") || !can_count(test))
    return;
  count_faults(PAGES); /* code that is run for the first time has faults of its own */
  ck_assert_int_eq(count_faults(0), 0);
  ck_assert_int_eq(count_faults(PAGES), PAGES);
  ck_assert_int_eq(count_faults(2 * PAGES), 2 * PAGES);
}
END_TEST

START_TEST(what_the_kernel_does_is_not_counted)
{
  const char test[] = "what_the_kernel_does_is_not_counted";
  long size = sysconf(_SC_PAGESIZE);
  int zero = open("/dev/zero", O_RDONLY), i, round, start;
  long long c0 = 0, c1;

  if (skip_under("valgrind", test, "valgrind touches pages of its own") || !can_count(test))
    return;
  for (round = 0; round < 2; round++) {
    make_fresh();
    start = start_counters(15, 24);
    for (i = 0; i < PAGES; i++)
      if (syscall(SYS_read, zero, fresh + i * size, 1) != 1)
        break;
    ck_assert_int_eq(read_counters(15, &c0, 24, &c1), start);
    ck_assert_int_eq(i, PAGES);
  }
  ck_assert_int_eq(c0, 0);
}
END_TEST

START_TEST(generation_is_larger_by_one_for_each_start_and_stop)
{
  long long c0, c1;
  int i, first, start;

  if (!can_count("generation_is_larger_by_one_for_each_start_and_stop"))
    return;
  first = start_counters(0, 15);
  ck_assert_int_gt(first, 0);
  ck_assert_int_eq(read_counters(0, &c0, 15, &c1), first);
  ck_assert_int_eq(read_counters(0, &c0, 15, &c1), first + 1); /* as they were stopped */
  for (i = 1; i < 10; i++) {
    start = start_counters(0, 15);
    ck_assert_int_eq(start, first + 2 * i);
    ck_assert_int_eq(read_counters(0, &c0, 15, &c1), start);
  }
  counters.generation = INT_MAX - 1;
  ck_assert_int_eq(start_counters(0, 15), INT_MAX);
  ck_assert_int_eq(read_counters(0, &c0, 15, &c1), INT_MAX);
  ck_assert_int_eq(start_counters(0, 15), 2);
}
END_TEST

START_TEST(start_zeroes)
{
  long long c0, c1;

  if (!can_count("start_zeroes"))
    return;
  count_faults(PAGES);
  make_fresh();
  start_counters(15, 24);
  touch(PAGES);
  start_counters(15, 24);
  read_counters(15, &c0, 24, &c1);
  ck_assert_int_lt(c0, PAGES);
}
END_TEST

START_TEST(start_that_fails_stops_what_was_running)
{
  long long c0 = -1, c1 = -1;
  int before, start;

  if (!can_count("start_that_fails_stops_what_was_running"))
    return;
  before = suite_entries("/proc/self/fd");
  start = start_counters(15, 24);
  capture_begin(stderr);
  ck_assert_int_eq(start_counters(15, 12), -1);
  ck_assert_ptr_nonnull(strstr(capture_end(), "event 12 "));
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
  errno = 0;
  ck_assert_int_eq(read_counters(15, &c0, 24, &c1), -1);
  ck_assert_int_eq(errno, ENOTSUP);
  ck_assert(c0 == -1 && c1 == -1);
  ck_assert_int_eq(start_counters(15, 24), start + 2);
}
END_TEST

START_TEST(events_are_one_group_of_user_mode_that_is_pinned)
{
  if (!can_count("events_are_one_group_of_user_mode_that_is_pinned"))
    return;
  ck_assert_int_gt(start_counters(15, 24), 0);
  ck_assert_int_eq(asks, 2);
  ck_assert_int_eq(asked_group[0], -1);
  ck_assert_int_eq(asked_group[1], counters.descriptor[0]);
  ck_assert(asked[0].pinned && asked[0].disabled && !asked[1].pinned && !asked[1].disabled);
  ck_assert(asked[0].exclude_kernel && asked[0].exclude_hv);
  ck_assert(asked[1].exclude_kernel && asked[1].exclude_hv);
  ck_assert_int_eq(fcntl(counters.descriptor[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  ck_assert_int_eq(fcntl(counters.descriptor[1], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}
END_TEST

START_TEST(counts_go_where_their_events_point)
{
  long long faults = -1, time = -1;
  int start;

  if (!can_count("counts_go_where_their_events_point"))
    return;
  make_fresh();
  start = start_counters(15, 0);
  touch(PAGES);
  ck_assert_int_eq(read_counters(0, &time, 15, &faults), start);
  ck_assert_int_ge(faults, PAGES);
  ck_assert_int_gt(time, faults); /* in nanoseconds */
}
END_TEST

START_TEST(events_that_were_not_started_are_EINVAL_and_the_others_go_on)
{
  long long c0 = -1, c1 = -1;
  int start;

  if (!can_count("events_that_were_not_started_are_EINVAL_and_the_others_go_on"))
    return;
  make_fresh();
  start = start_counters(15, 24);
  errno = 0;
  ck_assert_int_eq(read_counters(15, &c0, 0, &c1), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert(c0 == -1 && c1 == -1);
  touch(PAGES);
  ck_assert_int_eq(read_counters(15, &c0, 24, &c1), start);
  ck_assert_int_ge(c0, PAGES);
}
END_TEST

START_TEST(what_the_environment_asks_for_goes_where_the_event_in_its_place_points)
{
  long long time = -1, faults = -1;
  int start;

  if (!can_count("what_the_environment_asks_for_goes_where_the_event_in_its_place_points"))
    return;
  setenv("T5_EVENT1", "minor", 1); /* no name of a true event */
  capture_begin(stderr);
  ck_assert_int_eq(start_counters(0, 15), -1);
  capture_end();
  setenv("T5_EVENT1", "24", 1);
  make_fresh();
  start = start_counters(0, 12); /* which nobody counts */
  ck_assert_int_gt(start, 0);
  touch(PAGES);
  setenv("T5_EVENT0", "99", 1); /* too late */
  ck_assert_int_eq(read_counters(24, &faults, 0, &time), -1);
  ck_assert_int_eq(errno, EINVAL);
  ck_assert_int_eq(read_counters(12, &faults, 0, &time), start);
  ck_assert_int_ge(faults, PAGES);
  ck_assert_int_gt(time, faults);
}
END_TEST

START_TEST(errno_is_left_alone)
{
  long long c0, c1;

  if (!can_count("errno_is_left_alone"))
    return;
  errno = ERANGE;
  start_counters(15, 24);
  ck_assert_int_eq(errno, ERANGE);
  read_counters(15, &c0, 24, &c1);
  ck_assert_int_eq(errno, ERANGE);
}
END_TEST

/* What the kernel says when other events had the hardware for a part of the time. */
static void multiplexed(void *reading, ssize_t *length)
{
  ((struct reading *)reading)->running = ((struct reading *)reading)->enabled / 2;
  (void)length;
}

static void given_up(void *reading, ssize_t *length)
{
  memset(reading, 0, sizeof(struct reading));
  *length = 0;
}

static void of_another(void *reading, ssize_t *length)
{
  ((struct reading *)reading)->event[1].id++;
  (void)length;
}

static void cut_off(void *reading, ssize_t *length)
{
  (void)reading;
  *length = 16;
}

static void by_closing(void)
{
  close(counters.descriptor[1]);
}

static void by_replacing(void)
{
  int null = open("/dev/null", O_RDONLY);

  dup2(null, counters.descriptor[0]);
  close(null);
}

static void by_starting_again(void)
{
  start_counters(0, 15);
}

static void handle(int signal)
{
  long long c0, c1;

  (void)signal;
  start_counters(0, 15);
  read_counters(0, &c0, 15, &c1);
}

static void by_handler(void)
{
  signal(SIGUSR1, handle);
  raise(SIGUSR1);
}

static volatile sig_atomic_t delivered;

static void deliver(int signal)
{
  (void)signal;
  delivered++;
}

START_TEST(signals_that_the_program_has_blocked_stay_pending)
{
  static const int signals[] = { SIGSEGV, SIGBUS, SIGUSR1, SIGSYS };
  sigset_t blocked, before, pending;
  int i, count = 4;
  long long c0, c1;

  if (skip_under("valgrind", "signals_that_the_program_has_blocked_stay_pending",
        "valgrind delivers signals of faults though they are blocked"))
    return;
  sigemptyset(&blocked);
  for (i = 0; i < 4; i++) {
    ck_assert(signal(signals[i], deliver) != SIG_ERR);
    sigaddset(&blocked, signals[i]);
  }
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  raise(SIGSYS);
  sigpending(&pending);
  if (sigismember(&pending, SIGSYS) != 1) {
    skip("SIGSYS_that_is_blocked_stays_pending", "this emulator does not tell what is pending");
    count = 3;
  }
  for (i = 0; i < 3; i++)
    raise(signals[i]);
  start_counters(15, 24);
  read_counters(15, &c0, 24, &c1);
  ck_assert_int_le(delivered, 4 - count);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  ck_assert_int_eq(delivered, 4);
}
END_TEST

/* As some sandboxes do. */
START_TEST(filter_that_raises_SIGSYS_does_not_end_a_thread_that_blocks_all_signals)
{
  const char test[] = "filter_that_raises_SIGSYS_does_not_end_a_thread_that_blocks_all_signals";
#ifdef HAVE_LINUX_SECCOMP_H
  struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { sizeof code / sizeof code[0], code };
  sigset_t all, after;

  if (skip_under("qemu", test, "qemu passes no filter on")
    || skip_under("valgrind", test, "valgrind would be filtered itself"))
    return;
  signal(SIGSYS, deliver);
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
    || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    skip(test, "this kernel has no filters");
    return;
  }
  start_counters(15, 24);
  ck_assert_int_ge(delivered, 1);
  pthread_sigmask(SIG_BLOCK, NULL, &after);
  ck_assert_int_eq(sigismember(&after, SIGSYS), 1);
#else
  skip(test, "this system has no seccomp filters");
#endif
}
END_TEST

static void raise_one(void)
{
  raise(SIGUSR1);
}

START_TEST(handler_may_start_counters_during_the_first_start)
{
  /* It passes there alone; behind other tests, the handler's code raises SIGSEGV, of si_code
     SI_KERNEL, which happens nowhere else. */
  if (skip_under("qemu", "handler_may_start_counters_during_the_first_start",
        "behind other tests, qemu ends the process in the handler"))
    return;
  signal(SIGUSR1, handle);
  when_a_key_is_made = raise_one;
  alarm(20);
  start_counters(0, 15);
  alarm(0);
  ck_assert_int_eq(exit_key_is_created, 1);
}
END_TEST

static volatile int handlers_start;

static void count_in_handler(int signal)
{
  long long c0, c1;

  (void)signal;
  when_an_event_is_opened = NULL;
  handlers_start = start_counters(0, 15);
  read_counters(0, &c0, 15, &c1);
}

/* The signal is pending until start_counters() lets signals through again. */
START_TEST(handler_that_counts_before_start_returns_leaves_no_count_that_matches)
{
  long long c0, c1;
  int start;

  if (!can_count("handler_that_counts_before_start_returns_leaves_no_count_that_matches"))
    return;
  signal(SIGUSR1, count_in_handler);
  when_an_event_is_opened = raise_one;
  start = start_counters(0, 15);
  ck_assert_int_gt(start, 0);
  ck_assert_int_ne(read_counters(0, &c0, 15, &c1), start);
  ck_assert_int_eq(handlers_start, start + 2);
}
END_TEST

static const struct {
  const char *name;
  void (*alter)(void *reading, ssize_t *length);
  void (*between)(void);
} disturbances[] = {
  { "multiplexed", multiplexed, NULL },
  { "given up", given_up, NULL },
  { "of another", of_another, NULL },
  { "cut off", cut_off, NULL },
  { "closed", NULL, by_closing },
  { "replaced", NULL, by_replacing },
  { "started again", NULL, by_starting_again },
  { "a handler's", NULL, by_handler },
};

START_TEST(disturbed_count_shows_as_a_generation_that_does_not_match)
{
  long long c0, c1;
  size_t i;

  if (!can_count("disturbed_count_shows_as_a_generation_that_does_not_match"))
    return;
  for (i = 0; i < sizeof disturbances / sizeof disturbances[0]; i++) {
    int start = start_counters(0, 15), read;

    ck_assert_int_gt(start, 0);
    if (disturbances[i].between)
      disturbances[i].between();
    alter = disturbances[i].alter;
    read = read_counters(0, &c0, 15, &c1);
    alter = NULL;
    ck_assert_msg(read > 0 && read != start, "%s: %d, %d", disturbances[i].name, start, read);
    /* and the next one is whole again */
    start = start_counters(0, 15);
    ck_assert_int_gt(start, read);
    ck_assert_int_eq(read_counters(0, &c0, 15, &c1), start);
  }
}
END_TEST

START_TEST(descriptor_that_is_another_by_now_is_not_read_and_not_closed)
{
  char bytes[sizeof(struct reading)] = "";
  int ends[2], i, start, descriptor;
  long long c0, c1;

  if (!can_count("descriptor_that_is_another_by_now_is_not_read_and_not_closed"))
    return;
  for (i = 0; i < 2; i++) {
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], bytes, sizeof bytes), sizeof bytes);
    start = start_counters(0, 15);
    descriptor = counters.descriptor[i];
    ck_assert_int_eq(dup2(ends[0], descriptor), descriptor);
    ck_assert_int_ne(read_counters(0, &c0, 15, &c1), start);
    ck_assert_int_eq(read(descriptor, bytes, sizeof bytes), sizeof bytes);
    close(descriptor);
  }
}
END_TEST

START_TEST(forked_child_does_not_have_the_count_nor_disturb_it)
{
  const char test[] = "forked_child_does_not_have_the_count_nor_disturb_it";
  long long c0, c1;
  int start, status = -1;
  pid_t child;

  if (!can_count(test))
    return;
  make_fresh();
  start = start_counters(15, 24);
  child = fork();
  if (child == 0) {
    int read = read_counters(15, &c0, 24, &c1), again;

    if (read <= 0 || read == start || c0 != 0 || c1 != 0)
      _exit(1);
    again = start_counters(15, 24);
    touch(PAGES);
    _exit(again > 0 && read_counters(15, &c0, 24, &c1) == again && c0 >= PAGES ? 0 : 2);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  touch(PAGES);
  ck_assert_int_eq(read_counters(15, &c0, 24, &c1), start);
  ck_assert_int_ge(c0, PAGES);
}
END_TEST

/* The child waits until the parent has read, and has touched other pages after that. */
START_TEST(count_that_was_read_stands_still_where_a_forked_child_has_copies)
{
  long long counts[2];
  int start, ends[2], status = -1;
  pid_t child;

  if (!can_count("count_that_was_read_stands_still_where_a_forked_child_has_copies"))
    return;
  make_fresh();
  ck_assert_int_eq(pipe(ends), 0);
  start = start_counters(15, 24);
  child = fork();
  if (child == 0) {
    struct reading last;

    if (read(ends[0], counts, sizeof counts) != (ssize_t)sizeof counts
      || read(counters.descriptor[0], &last, sizeof last) != (ssize_t)sizeof last)
      _exit(1);
    _exit((long long)last.event[0].value < counts[0] + 2 * PAGES ? 0 : 2);
  }
  ck_assert_int_eq(read_counters(15, &counts[0], 24, &counts[1]), start);
  touch(2 * PAGES);
  ck_assert_int_eq(write(ends[1], counts, sizeof counts), sizeof counts);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}
END_TEST

static void *read_elsewhere(void *read)
{
  long long c0 = -1, c1 = -1;

  *(int *)read = read_counters(15, &c0, 24, &c1);
  return c0 == 0 && c1 == 0 ? read : NULL;
}

START_TEST(another_thread_does_not_have_the_count_nor_disturb_it)
{
  long long c0, c1;
  int start, read = 0;
  pthread_t thread;
  void *is_right;

  if (!can_count("another_thread_does_not_have_the_count_nor_disturb_it"))
    return;
  start = start_counters(15, 24);
  ck_assert_int_eq(pthread_create(&thread, NULL, read_elsewhere, &read), 0);
  pthread_join(thread, &is_right);
  ck_assert_int_gt(read, 0);
  ck_assert_int_ne(read, start);
  ck_assert_ptr_nonnull(is_right);
  ck_assert_int_eq(read_counters(15, &c0, 24, &c1), start);
}
END_TEST

enum { THREADS = 8, SECTIONS = 50 };

struct runner {
  pthread_t thread;
  int first, last, wrong;
};

static void *run_sections(void *argument)
{
  struct runner *runner = argument;
  long long c0, c1;
  int i;

  for (i = 0; i < suite_runs(SECTIONS); i++) {
    int start = start_counters(0, 15);
    int read = read_counters(15, &c1, 0, &c0);

    runner->wrong += start <= 0 || read != start || c0 <= 0;
    runner->wrong += i > 0 && start != runner->last + 2;
    runner->last = start;
    if (i == 0)
      runner->first = start;
  }
  return NULL;
}

START_TEST(threads_count_at_once_each_with_numbers_of_its_own)
{
  struct runner runners[THREADS] = { { 0, 0, 0, 0 } };
  int i, j;

  if (!can_count("threads_count_at_once_each_with_numbers_of_its_own"))
    return;
  for (i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&runners[i].thread, NULL, run_sections, &runners[i]), 0);
  for (i = 0; i < THREADS; i++)
    pthread_join(runners[i].thread, NULL);
  for (i = 0; i < THREADS; i++) {
    ck_assert_int_eq(runners[i].wrong, 0);
    for (j = 0; j < i; j++) /* far from each other */
      ck_assert_int_gt(abs(runners[i].first - runners[j].first), 1000000);
  }
}
END_TEST

static void *start_and_exit(void *started)
{
  *(int *)started = start_counters(0, 15);
  return NULL;
}

START_TEST(nothing_is_left_of_threads_that_exit_and_of_counts_that_are_read)
{
  int i, before, started = 0;
  long long c0, c1;
  pthread_t thread;

  if (!can_count("nothing_is_left_of_threads_that_exit_and_of_counts_that_are_read"))
    return;
  before = suite_entries("/proc/self/fd");
  for (i = 0; i < 10; i++) {
    ck_assert_int_eq(pthread_create(&thread, NULL, start_and_exit, &started), 0);
    pthread_join(thread, NULL);
    ck_assert_int_gt(started, 0);
  }
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
  start_counters(0, 15);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before + 2);
  start_counters(15, 24);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before + 2);
  read_counters(15, &c0, 24, &c1);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
  refused_together = PERF_COUNT_SW_PAGE_FAULTS;
  refusing = EMFILE;
  ck_assert_int_eq(start_counters(0, 15), -1);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
}
END_TEST

START_TEST(refusal_of_one_event_is_told_from_that_of_all)
{
  static const int errors[] = { ENOENT, EINVAL, EOPNOTSUPP };
  size_t i;

  if (!can_count("refusal_of_one_event_is_told_from_that_of_all"))
    return;
  for (i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    refusing = errors[i];
    refused_alone = PERF_COUNT_SW_PAGE_FAULTS;
    ck_assert_int_eq(start_counters(0, 15), -1);
    ck_assert_int_eq(errno, ENOTSUP);
    ck_assert_int_eq(start_counters(15, 0), -1);
    ck_assert_int_eq(errno, ENOTSUP);
    refused_alone = 0;
    refused_together = PERF_COUNT_SW_PAGE_FAULTS;
    ck_assert_int_eq(start_counters(0, 15), -1);
    ck_assert_int_eq(errno, EINVAL);
    refused_together = 0;
    refused_alone = PERF_COUNT_SW_TASK_CLOCK; /* what stands for cycles */
    ck_assert_int_eq(start_counters(0, 15), -1);
    ck_assert_int_eq(errno, errors[i] == EOPNOTSUPP ? EINVAL : errors[i]);
    refused_alone = 0;
  }
  refusing = EACCES;
  refused_alone = PERF_COUNT_SW_PAGE_FAULTS;
  ck_assert_int_eq(start_counters(0, 15), -1);
  ck_assert_int_eq(errno, EACCES);
}
END_TEST

START_TEST(kernel_is_not_counted_where_the_PMU_cannot_leave_it_out)
{
  static const int errors[] = { EINVAL, EOPNOTSUPP };
  int i;

  if (!can_count("kernel_is_not_counted_where_the_PMU_cannot_leave_it_out"))
    return;
  refused_without_kernel = 1;
  for (i = 0; i < 2; i++) {
    refusing = errors[i];
    capture_begin(stderr);
    ck_assert_int_eq(start_counters(0, 15), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_str_eq(capture_end(), ""); /* it is about no event */
  }
}
END_TEST

static pthread_barrier_t have_started, unloaded;
static int (*loaded_start)(int e0, int e1);

static void *start_and_outlive(void *started)
{
  *(int *)started = loaded_start(0, 0);
  pthread_barrier_wait(&have_started);
  pthread_barrier_wait(&unloaded);
  return NULL;
}

START_TEST(threads_outlive_the_library)
{
  const char test[] = "threads_outlive_the_library", module[] = "tests/.libs/perfex-loaded.so";
  pthread_t threads[THREADS];
  int i, started[THREADS];
  void *loaded;

  if (access(module, R_OK) != 0) {
    skip(test, "configured without shared libraries");
    return;
  }
#ifndef __GLIBC__
  loaded = dlopen(module, RTLD_NOW);
  if (!loaded && skip_where_nothing_loads(test, dlerror()))
    return;
  if (loaded && dlclose(loaded) == 0 && dlopen(module, RTLD_NOW | RTLD_NOLOAD)) {
    skip(test, "this C library never unloads");
    return;
  }
#endif
  if (!can_count(test))
    return;
  loaded = dlopen(module, RTLD_NOW);
  ck_assert_msg(loaded != NULL, "%s", loaded ? "" : dlerror());
  *(void **)&loaded_start = dlsym(loaded, "start_counters");
  ck_assert_ptr_nonnull(*(void **)&loaded_start);
  pthread_barrier_init(&have_started, NULL, THREADS + 1);
  pthread_barrier_init(&unloaded, NULL, THREADS + 1);
  for (i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, start_and_outlive, &started[i]), 0);
  pthread_barrier_wait(&have_started);
  ck_assert_int_gt(loaded_start(0, 0), 0);
  ck_assert_int_eq(dlclose(loaded), 0);
  ck_assert_ptr_null(dlopen(module, RTLD_NOW | RTLD_NOLOAD));
  pthread_barrier_wait(&unloaded);
  for (i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_gt(started[i], 0);
  }
}
END_TEST

static volatile int whole_after_cancellation;

static void *count_when_cancelled(void *unused)
{
  long long c0, c1;
  int start;

  pthread_cancel(pthread_self());
  start = start_counters(0, 15);
  whole_after_cancellation = read_counters(0, &c0, 15, &c1) == start;
  return unused;
}

START_TEST(counting_is_no_cancellation_point)
{
  pthread_t thread;

  if (!can_count("counting_is_no_cancellation_point"))
    return;
  ck_assert_int_eq(pthread_create(&thread, NULL, count_when_cancelled, NULL), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(whole_after_cancellation, 1);
}
END_TEST

static void *start_when_cancelled(void *unused)
{
  pthread_cancel(pthread_self());
  start_counters(0, 15);
  return unused;
}

START_TEST(start_that_is_refused_aloud_is_no_cancellation_point_and_leaves_nothing)
{
  pthread_t thread;
  void *result;
  int before;

  if (!can_count("start_that_is_refused_aloud_is_no_cancellation_point_and_leaves_nothing"))
    return;
  before = suite_entries("/proc/self/fd");
  refused_together = PERF_COUNT_SW_PAGE_FAULTS;
  refusing = EINVAL;
  ck_assert_int_eq(pthread_create(&thread, NULL, start_when_cancelled, &before), 0);
  pthread_join(thread, &result);
  ck_assert_ptr_eq(result, &before);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, section_is_counted_exactly_and_twice_is_twice);
  tcase_add_test(tests, what_the_kernel_does_is_not_counted);
  tcase_add_test(tests, generation_is_larger_by_one_for_each_start_and_stop);
  tcase_add_test(tests, start_zeroes);
  tcase_add_test(tests, start_that_fails_stops_what_was_running);
  tcase_add_test(tests, events_are_one_group_of_user_mode_that_is_pinned);
  tcase_add_test(tests, counts_go_where_their_events_point);
  tcase_add_test(tests, events_that_were_not_started_are_EINVAL_and_the_others_go_on);
  tcase_add_test(tests, what_the_environment_asks_for_goes_where_the_event_in_its_place_points);
  tcase_add_test(tests, errno_is_left_alone);
  tcase_add_test(tests, signals_that_the_program_has_blocked_stay_pending);
  tcase_add_test(tests, filter_that_raises_SIGSYS_does_not_end_a_thread_that_blocks_all_signals);
  tcase_add_test(tests, handler_may_start_counters_during_the_first_start);
  tcase_add_test(tests, handler_that_counts_before_start_returns_leaves_no_count_that_matches);
  tcase_add_test(tests, disturbed_count_shows_as_a_generation_that_does_not_match);
  tcase_add_test(tests, descriptor_that_is_another_by_now_is_not_read_and_not_closed);
  tcase_add_test(tests, forked_child_does_not_have_the_count_nor_disturb_it);
  tcase_add_test(tests, count_that_was_read_stands_still_where_a_forked_child_has_copies);
  tcase_add_test(tests, another_thread_does_not_have_the_count_nor_disturb_it);
  tcase_add_test(tests, threads_count_at_once_each_with_numbers_of_its_own);
  tcase_add_test(tests, nothing_is_left_of_threads_that_exit_and_of_counts_that_are_read);
  tcase_add_test(tests, threads_outlive_the_library);
  tcase_add_test(tests, refusal_of_one_event_is_told_from_that_of_all);
  tcase_add_test(tests, kernel_is_not_counted_where_the_PMU_cannot_leave_it_out);
  tcase_add_test(tests, counting_is_no_cancellation_point);
  tcase_add_test(tests, start_that_is_refused_aloud_is_no_cancellation_point_and_leaves_nothing);
}

int main(void)
{
  return suite_main("perfex events", add);
}
