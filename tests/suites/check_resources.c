/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the first call where the system refuses common resources (memory, descriptors, files) and
   in hostile environments. Each case runs in processes that have not called the library yet.
   check_first_call.c has the other tests of the first call. */

#include "config.h"

#include "include/cpucycles.h"

#include "tests/suites/answers.h"
#include "tests/suites/fresh-process.h"
#include "tests/suites/this-machine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

extern char **environ;

enum { NOT_HERE = 77 };

/* For tests that deny memory which a sanitizer or emulator needs too: they are skipped. */
static int skip_where_tools_need_memory(const char *test)
{
  if (SUITE_SANITIZED)
    skip(test, "the sanitizer needs memory of its own");
  return SUITE_SANITIZED || skip_under("valgrind", test, "valgrind needs memory of its own")
    || skip_under("qemu", test, "qemu needs memory of its own");
}

/* Descriptors. */

static int limit_to_three_descriptors(void)
{
  struct rlimit three = { 3, 3 };
  int i;

  for (i = 0; i < 3; i++)
    if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
      return 1;
  return setrlimit(RLIMIT_NOFILE, &three) != 0 || open("/dev/null", O_RDWR) >= 0
    || errno != EMFILE;
}

static int call_with_three_descriptors(void)
{
  return limit_to_three_descriptors() ? 20 : check_every_answer();
}

START_TEST(first_call_works_without_a_free_descriptor)
{
  if (skip_under("valgrind", "first_call_works_without_a_free_descriptor",
        "valgrind keeps descriptors for itself"))
    return;
  if (!skip_unless("first_call_works_without_a_free_descriptor", limit_to_three_descriptors, 0,
        "this system does not limit the descriptors of a process"))
    in_fresh_process(call_with_three_descriptors);
}
END_TEST

/* The first call may use descriptor 0, and closes it again. */
static int call_with_closed_streams(void)
{
  const struct cpucycles_counter_info *counter;
  int i, fault, open = 0, events = 0;

  for (i = 0; i < 3; i++)
    close(i);
  fault = check_every_answer();
  for (i = 0; i < 3; i++)
    open += fcntl(i, F_GETFD) >= 0;
  /* a selected counter of scope thread has one event per core type */
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (counter->state == CPUCYCLES_SELECTED && strcmp(counter->scope, "thread") == 0)
      events = 3;
  return fault ? fault : open > events ? 20 : 0;
}

START_TEST(first_call_leaves_closed_standard_streams_closed)
{
  in_fresh_process(call_with_closed_streams);
}
END_TEST

/* Memory. */

static int page_is_refused(void)
{
  void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  return page == MAP_FAILED && errno == ENOMEM;
}

#ifndef RLIMIT_AS /* OpenBSD */
#define RLIMIT_AS RLIMIT_DATA
#endif

/* Volatile, because a compiler may leave out an unused allocation. */
static void *volatile allocated;

static int allocate(size_t size)
{
  allocated = malloc(size);
  return allocated != NULL;
}

/* Exhausts the C library's free memory first, so that malloc() fails from then on. */
static int call_without_memory(void)
{
  struct rlimit none = { 0, 0 };
  size_t size;

  if (setrlimit(RLIMIT_AS, &none) != 0)
    return 20;
  for (size = 65536; size > 0; size /= 2)
    while (allocate(size))
      ;
  if (!page_is_refused() || allocate(1))
    return 21;
  /* exit() may need memory */
  _exit(check_every_answer());
}

static int refuse_memory(void)
{
  struct rlimit none = { 0, 0 };
  void *page;

  if (setrlimit(RLIMIT_AS, &none) != 0)
    return 1;
  page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page != MAP_FAILED;
}

START_TEST(first_call_works_without_memory)
{
  if (!skip_where_tools_need_memory("first_call_works_without_memory")
    && !skip_unless("first_call_works_without_memory", refuse_memory, 0,
      "this system does not limit the memory of a process"))
    in_fresh_process(call_without_memory);
}
END_TEST

/* An allocator that replaces the C library's. */

static char module[] = "tests/programs/.libs/malloc-module.so";
static char survivor[] = "tests/programs/survive";

/* Runs tests/programs/survive with that allocator, after enter() if there is one. Returns its
   status, or -1 if a signal ended it. Stores the number of allocations in *allocations. */
static int run_survivor(const char *how, int (*enter)(void), long *allocations)
{
  int channel[2], status = 0;
  char text[32] = "", *preload = realpath(module, NULL), *program = realpath(survivor, NULL);
  ssize_t length;
  pid_t child;

  ck_assert(preload && program);
  ck_assert_int_eq(pipe(channel), 0);
  child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    if (enter && enter() != 0)
      _exit(NOT_HERE);
    setenv("LD_PRELOAD", preload, 1);
    dup2(channel[1], 1);
    alarm(60);
    execl(program, program, how, (char *)NULL);
    _exit(NOT_HERE);
  }
  close(channel[1]);
  length = read(channel[0], text, sizeof text - 1);
  close(channel[0]);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  free(preload);
  free(program);
  if (allocations)
    *allocations = length > 0 ? atol(text) : -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Is the allocator usable here? If not, reports a skip and its reason. */
static int allocator_is_usable(const char *test)
{
  if (SUITE_SANITIZED) {
    skip(test, "the sanitizer has an allocator of its own");
    return 0;
  }
  if (skip_under("qemu", test, "qemu starts no program of the CPU that it emulates"))
    return 0;
  if (access(module, R_OK) != 0) {
    skip(test, "this build has no shared libraries that could be preloaded");
    return 0;
  }
  if (run_survivor("none", NULL, NULL) == NOT_HERE) {
    skip(test, "this system does not preload an allocator");
    return 0;
  }
  return 1;
}

/* Refuses each allocation alone, then all. */
static void refuse_each(int (*enter)(void))
{
  long allocations, number;

  ck_assert_int_eq(run_survivor("none", enter, &allocations), 0);
  ck_assert_int_ge(allocations, 0);
  for (number = 1; number <= allocations; number++) {
    char how[32];

    snprintf(how, sizeof how, "%ld", number);
    ck_assert_msg(run_survivor(how, enter, NULL) == 0, "allocation %ld of %ld", number,
      allocations);
  }
  ck_assert_int_eq(run_survivor("all", enter, NULL), 0);
  /* the only allocations: one for each listed directory, one at a time */
  ck_assert_msg(allocations <= 4, "%ld allocations", allocations);
}

static int file_contains_the_frequency(void)
{
  return access("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", R_OK) != 0
    && cpuinfo_contains_the_tsc_rate() != 0;
}

/* Holds where a file contains the frequency: only listing a directory allocates. */
START_TEST(first_call_allocates_nothing)
{
  const char *test = "first_call_allocates_nothing";
  long allocations;

  if (!allocator_is_usable(test)
    || skip_unless(test, file_contains_the_frequency, 0, "no file contains the frequency"))
    return;
  ck_assert_int_eq(run_survivor("first", NULL, &allocations), 0);
  ck_assert_int_eq(allocations, 0);
}
END_TEST

/* Files. */

static char empty_directory[] = "cpucycles-empty-XXXXXX";

static int enter_empty_root(void)
{
#ifdef CLONE_NEWUSER
  if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
    return 1;
#endif
  return chroot(empty_directory) != 0 || chdir("/") != 0;
}

static int call_in_an_empty_root(void)
{
  return enter_empty_root() ? 20 : check_every_answer();
}

START_TEST(first_call_works_in_an_empty_root)
{
  ck_assert_ptr_nonnull(mkdtemp(empty_directory));
  if (!skip_unless("first_call_works_in_an_empty_root", enter_empty_root, 0,
        "this user may not change the root"))
    in_fresh_process(call_in_an_empty_root);
  rmdir(empty_directory);
}
END_TEST

/* Directories, in a mount namespace of the process's own. */

#ifdef CLONE_NEWNS

/* Stores the name of the mount namespace of this process. Returns its length, or -1. */
static ssize_t mount_namespace(char name[64])
{
  return readlink("/proc/self/ns/mnt", name, 64);
}

/* A sandbox may answer that unshare() succeeded and change nothing. Another mount would then hide
   the machine's own directories. */
static int enter_mount_namespace(void)
{
  char outer[64], inner[64];
  ssize_t length = mount_namespace(outer);

  if (length <= 0 || (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0))
    return 1;
  if (mount_namespace(inner) != length || memcmp(inner, outer, (size_t)length) == 0)
    return 1;
  return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0;
}

/* Directories that must be listed to find anything; listing allocates. */
static int make_directories_to_list(void)
{
  if (enter_mount_namespace() || mount("none", "/proc", "tmpfs", 0, NULL) != 0
    || mount("none", "/sys", "tmpfs", 0, NULL) != 0)
    return 1;
  return mkdir("/proc/device-tree", 0777) != 0 || mkdir("/proc/device-tree/cpus", 0777) != 0
    || mkdir("/proc/device-tree/cpus/cpu@0", 0777) != 0 || mkdir("/sys/devices", 0777) != 0
    || mkdir("/sys/devices/system", 0777) != 0 || mkdir("/sys/devices/system/cpu", 0777) != 0
    || mkdir("/sys/devices/system/cpu/cpu0", 0777) != 0;
}

#else

static int make_directories_to_list(void)
{
  return 1;
}

#endif

static const char no_namespace[] = "no such mount namespace can be had here";

START_TEST(each_allocation_may_fail)
{
  const char *test = "each_allocation_may_fail";
  long allocations;

  if (!allocator_is_usable(test))
    return;
  refuse_each(NULL);
  if (run_survivor("none", make_directories_to_list, &allocations) == NOT_HERE) {
    skip(test, no_namespace);
    return;
  }
  ck_assert_int_gt(allocations, 0);
  refuse_each(make_directories_to_list);
}
END_TEST

/* The allocator then makes the first call from within the first call. */
START_TEST(allocator_may_count_cycles)
{
  const char *test = "allocator_may_count_cycles";
  int status;

  if (!allocator_is_usable(test))
    return;
  ck_assert_int_eq(run_survivor("call", NULL, NULL), 0);
  status = run_survivor("call", make_directories_to_list, NULL);
  if (status == NOT_HERE)
    skip(test, no_namespace);
  else
    ck_assert_int_eq(status, 0);
}
END_TEST

/* The environment. */

static int call_without_an_environment(void)
{
  environ = NULL;
  return check_every_answer();
}

START_TEST(first_call_works_without_an_environment)
{
  in_fresh_process(call_without_an_environment);
}
END_TEST

/* Signals. */

static volatile int alarms;
static volatile long long count_in_handler;

/* Where a signal takes as long as the timer's period, the program would make no progress: the
   handler stops the timer. */
static void read_at_the_timer(int signal)
{
  const struct itimerval never = { { 0, 0 }, { 0, 0 } };

  (void)signal;
  count_in_handler = cpucycles();
  if (++alarms == 1000)
    setitimer(ITIMER_REAL, &never, NULL);
}

/* Calls every function, with system calls that are not restarted. */
static int call_all_under_a_fast_timer(void)
{
  struct itimerval often = { { 0, 10 }, { 0, 10 } }, never = { { 0, 0 }, { 0, 0 } };
  struct sigaction action;
  int fault, i;

  memset(&action, 0, sizeof action);
  action.sa_handler = read_at_the_timer;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  fault = check_every_answer();
  for (i = 0; i < 1000 && !fault && alarms == 0; i++)
    fault = check_every_answer();
  setitimer(ITIMER_REAL, &never, NULL);
  return fault ? fault : alarms == 0 ? 20 : 0;
}

START_TEST(every_function_survives_a_timer_of_10_us)
{
  struct suite_repeat repeat = suite_repeat(20);

  if (skip_unless_handlers_are_aligned("every_function_survives_a_timer_of_10_us"))
    return;
  while (suite_again(&repeat))
    in_fresh_process(call_all_under_a_fast_timer);
}
END_TEST

/* The stack. */

static void *call_all(void *fault)
{
  *(int *)fault = check_every_answer();
  return NULL;
}

static int call_all_on_a_small_stack(void)
{
  pthread_attr_t attributes;
  pthread_t thread;
  size_t size = 16384;
  int fault = 20;

  pthread_attr_init(&attributes);
  while (pthread_attr_setstacksize(&attributes, size) != 0)
    size *= 2; /* the least that this system grants */
  if (pthread_create(&thread, &attributes, call_all, &fault) != 0)
    return 21;
  pthread_join(thread, NULL);
  return fault;
}

START_TEST(every_function_fits_on_the_smallest_stack)
{
  in_fresh_process(call_all_on_a_small_stack);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, first_call_works_without_a_free_descriptor);
  tcase_add_test(tests, first_call_leaves_closed_standard_streams_closed);
  tcase_add_test(tests, first_call_works_without_memory);
  tcase_add_test(tests, first_call_allocates_nothing);
  tcase_add_test(tests, each_allocation_may_fail);
  tcase_add_test(tests, allocator_may_count_cycles);
  tcase_add_test(tests, first_call_works_in_an_empty_root);
  tcase_add_test(tests, first_call_works_without_an_environment);
  tcase_add_test(tests, every_function_survives_a_timer_of_10_us);
  tcase_add_test(tests, every_function_fits_on_the_smallest_stack);
}

int main(void)
{
  return suite_main("resources", add);
}
