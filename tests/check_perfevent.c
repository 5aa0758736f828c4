/* SPDX-License-Identifier: 0BSD OR MIT */
/* The perf event that is read by read(2), with a software event in the place of the PMU's cycles: the
   thread's own CPU time in nanoseconds, which every Linux counts. So everything but the hardware is real. */

#include "config.h"

#include "lib/library.h"

#include "tests/suite.h"

#if defined(__linux__) && HAVE_BACKEND_default_perfevent

#define CPUCYCLES_PERF_TYPE PERF_TYPE_SOFTWARE
#define CPUCYCLES_PERF_CONFIG PERF_COUNT_SW_TASK_CLOCK
#define cpucycles_backend_default_perfevent counter_under_test
#include "backends/default-perfevent.c"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static int entries(const char *folder)
{
  DIR *stream = opendir(folder);
  int n = 0;

  if (!stream) /* no /proc: the comparison is between nothing and nothing */
    return -1;
  while (readdir(stream))
    n++;
  closedir(stream);
  return n;
}

/* Opens the counter as the library would have; 0: not possible here, said so. */
static int opened(const char *test)
{
  struct cpucycles_why why = { NULL, NULL, NULL };
  int error;

  cpucycles_implementation(); /* from now on, the clock is there to fall back to */
  error = counter_under_test.open(&why);
  if (error)
    skip(test, "this kernel or emulator has no perf events");
  return error == 0;
}

/* Uses this much CPU time. */
static void work(long long nanoseconds)
{
  struct timespec now;
  long long end = 0;

  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    if (!end)
      end = now.tv_sec * 1000000000LL + now.tv_nsec + nanoseconds;
  } while (now.tv_sec * 1000000000LL + now.tv_nsec < end);
}

/* Half to double: the machine may be busy. */
static void expect_about(long long got, long long wanted)
{
  ck_assert_int_ge(got, wanted / 2);
  ck_assert_int_le(got, wanted * 2);
}

static void *measure_work(void *nanoseconds)
{
  long long begin = counter_under_test.read();

  work(20000000);
  *(long long *)nanoseconds = counter_under_test.read() - begin;
  return NULL;
}

START_TEST(each_thread_counts_itself)
{
  pthread_t threads[4];
  long long counted[4], mine;
  int i;

  if (skip_under("valgrind", "each_thread_counts_itself",
        "valgrind's own work counts as the thread's"))
    return;
  if (!opened("each_thread_counts_itself"))
    return;
  mine = counter_under_test.read();
  for (i = 0; i < 4; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, measure_work, &counted[i]), 0);
  for (i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    expect_about(counted[i], 20000000);
  }
  /* this one slept */
  ck_assert_int_lt(counter_under_test.read() - mine, 20000000);
}
END_TEST

static void *read_once(void *unused)
{
  (void)unused;
  counter_under_test.read();
  return NULL;
}

START_TEST(thread_that_exits_leaves_no_descriptor)
{
  int before, i;

  if (!opened("thread_that_exits_leaves_no_descriptor"))
    return;
  before = entries("/proc/self/fd");
  for (i = 0; i < suite_runs(1000); i++) {
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, read_once, NULL), 0);
    pthread_join(thread, NULL);
  }
  ck_assert_int_eq(entries("/proc/self/fd"), before);
}
END_TEST

START_TEST(closed_counter_leaves_no_descriptor)
{
  int before = entries("/proc/self/fd");

  if (!opened("closed_counter_leaves_no_descriptor"))
    return;
  counter_under_test.close();
  ck_assert_int_eq(entries("/proc/self/fd"), before);
}
END_TEST

START_TEST(forked_child_counts_itself_and_goes_on_upward)
{
  long long before;
  pid_t child;
  int status;

  if (!opened("forked_child_counts_itself_and_goes_on_upward"))
    return;
  work(5000000);
  before = counter_under_test.read();
  child = fork();
  if (child == 0) {
    long long begin = counter_under_test.read(), end;

    work(20000000);
    end = counter_under_test.read();
    _exit(begin < before ? 1 : end - begin < 10000000 ? 2 : end - begin > 40000000 ? 3 : own.state != EVENT);
  }
  waitpid(child, &status, 0);
  ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(lost_descriptor_goes_on_with_the_clock)
{
  long long before, after;

  if (!opened("lost_descriptor_goes_on_with_the_clock"))
    return;
  before = counter_under_test.read();
  close(own.event);
  after = counter_under_test.read();
  ck_assert_int_ge(after, before);
  ck_assert_int_eq(own.state, CLOCK);
  work(10000000);
  before = counter_under_test.read();
  ck_assert_int_gt(before, after); /* now in cycles of the clock */
  ck_assert_int_ge(before - after, cpucycles_persecond() / 100 / 2);
}
END_TEST

static void *read_twice(void *step)
{
  long long begin = counter_under_test.read();

  work(10000000);
  *(long long *)step = counter_under_test.read() - begin;
  return own.state == CLOCK ? step : NULL;
}

START_TEST(thread_without_a_descriptor_left_counts_by_the_clock)
{
  struct rlimit usual, none;
  pthread_t thread;
  long long step;
  void *result;

  if (!opened("thread_without_a_descriptor_left_counts_by_the_clock"))
    return;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
  none = usual;
  none.rlim_cur = 0;
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, read_twice, &step), 0);
  pthread_join(thread, &result);
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
  ck_assert_ptr_nonnull(result);
  ck_assert_int_ge(step, cpucycles_persecond() / 100 / 2);
}
END_TEST

START_TEST(errno_is_left_alone)
{
  if (!opened("errno_is_left_alone"))
    return;
  errno = 4711;
  counter_under_test.read();
  close(own.event);
  counter_under_test.read();
  ck_assert_int_eq(errno, 4711);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, each_thread_counts_itself);
  tcase_add_test(tests, thread_that_exits_leaves_no_descriptor);
  tcase_add_test(tests, closed_counter_leaves_no_descriptor);
  tcase_add_test(tests, forked_child_counts_itself_and_goes_on_upward);
  tcase_add_test(tests, lost_descriptor_goes_on_with_the_clock);
  tcase_add_test(tests, thread_without_a_descriptor_left_counts_by_the_clock);
  tcase_add_test(tests, errno_is_left_alone);
}

#else

START_TEST(perf_events)
{
  skip("perf_events", "default-perfevent is not built here");
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, perf_events);
}

#endif

int main(void)
{
  return suite_main("perf event", add);
}
