/* SPDX-License-Identifier: 0BSD OR MIT */
/* The first call where the system refuses what it usually grants: memory, descriptors, files, an
   environment that makes sense. Each case runs in processes that have not called the library yet;
   what else a first call may meet, threads, signals, forks and filters, is in check_first_call.c.
   */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/table.h"

#include "tests/suites/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#ifdef HAVE_LINUX_SECCOMP_H
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

extern char **environ;

enum { NOT_HERE = 77 };

/* For a test that takes away what the sanitizer or the emulator needs too: then it is skipped. */
static int skip_where_memory_is_not_ours(const char *test)
{
  if (SUITE_SANITIZED)
    skip(test, "the sanitizer needs memory of its own");
  return SUITE_SANITIZED || skip_under("valgrind", test, "valgrind needs memory of its own")
    || skip_under("qemu", test, "qemu needs memory of its own");
}

/* Does each function answer, as its comment in the header says? Returns 0, or the number of the
   one that does not. */
static int nothing_fails(void)
{
  const struct cpucycles_counter_info *counter;
  const struct cpucycles_timer_info *timer;
  int i, selected = 0;

  if (!counts())
    return 1;
  if (cpucycles_persecond() < CPUCYCLES_FREQUENCY_LOWEST
    || cpucycles_persecond() > CPUCYCLES_FREQUENCY_HIGHEST)
    return 2;
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++) {
    if (counter->state == CPUCYCLES_DROPPED && (!counter->reason || !counter->explanation))
      return 3;
    selected += counter->state == CPUCYCLES_SELECTED
      && strcmp(counter->name, cpucycles_implementation()) == 0;
  }
  if (i != CPUCYCLES_TABLE_LENGTH || selected != 1)
    return 4;
  timer = cpucycles_timer();
  if (!timer || cpucycles_rate() < 0)
    return 5;
  if (cpucycles_overhead() < 0 || !*cpucycles_frequency_source())
    return 6;
  return counts() ? 0 : 7;
}

/* The same as in_fresh_process() where possible() returns 0 in a process of its own; else says why
   not. */
static void expect_in_fresh_process(const char *test, int (*body)(void), int (*possible)(void),
  const char *why)
{
  int status = 0;
  pid_t child = fork();

  ck_assert_int_ge(child, 0);
  if (child == 0)
    _exit(possible());
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    in_fresh_process(body);
  else
    skip(test, why);
}

/* Descriptors. */

static int call_with_three_descriptors(void)
{
  struct rlimit three = { 3, 3 };
  int i;

  for (i = 0; i < 3; i++)
    if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
      return 20;
  if (setrlimit(RLIMIT_NOFILE, &three) != 0 || open("/dev/null", O_RDWR) >= 0 || errno != EMFILE)
    return 21;
  return nothing_fails();
}

START_TEST(no_descriptor_beyond_the_three_of_every_program)
{
  if (skip_under("valgrind", "no_descriptor_beyond_the_three_of_every_program",
        "valgrind keeps descriptors for itself"))
    return;
  in_fresh_process(call_with_three_descriptors);
}
END_TEST

/* Descriptor 0 is as good as any other, and is given back. */
static int call_with_closed_streams(void)
{
  const struct cpucycles_counter_info *counter;
  int i, fault, open = 0, events = 0;

  for (i = 0; i < 3; i++)
    close(i);
  fault = nothing_fails();
  for (i = 0; i < 3; i++)
    open += fcntl(i, F_GETFD) >= 0;
  /* a thread's own counter, if that is what was selected, keeps its event for each kind of core */
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (counter->state == CPUCYCLES_SELECTED && strcmp(counter->scope, "thread") == 0)
      events = 3;
  return fault ? fault : open > events ? 20 : 0;
}

START_TEST(closed_standard_streams_stay_closed)
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

/* Memory that is asked for to be kept; a compiler may leave out an allocation that nobody uses. */
#ifndef RLIMIT_AS /* OpenBSD */
#define RLIMIT_AS RLIMIT_DATA
#endif

static void *volatile taken;

static int take(size_t size)
{
  taken = malloc(size);
  return taken != NULL;
}

/* What the C library has in stock is used up first: from then on, it has nothing either. */
static int call_without_memory(void)
{
  struct rlimit none = { 0, 0 };
  size_t size;

  if (setrlimit(RLIMIT_AS, &none) != 0)
    return 20;
  for (size = 65536; size > 0; size /= 2)
    while (take(size))
      ;
  if (!page_is_refused() || take(1))
    return 21;
  /* without what the end of a process may want memory for */
  _exit(nothing_fails());
}

static int memory_can_be_refused(void)
{
  struct rlimit none = { 0, 0 };
  void *page;

  if (setrlimit(RLIMIT_AS, &none) != 0)
    return 1;
  page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page != MAP_FAILED;
}

START_TEST(no_memory_left_at_all)
{
  if (!skip_where_memory_is_not_ours("no_memory_left_at_all"))
    expect_in_fresh_process("no_memory_left_at_all", call_without_memory, memory_can_be_refused,
      "this system does not limit the memory of a process");
}
END_TEST

#if defined(HAVE_LINUX_SECCOMP_H) && defined(SYS_mmap)

/* From now on, mmap answers ENOMEM. */
static int refuse_mmap(void)
{
  struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_mmap2
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap2, 1, 0),
#endif
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog whole = { sizeof program / sizeof program[0], program };

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return 1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) != 0;
}

static int call_without_mmap(void)
{
  if (refuse_mmap() != 0 || !page_is_refused())
    return 20;
  return nothing_fails();
}

#else

static int refuse_mmap(void)
{
  return 1;
}

#define call_without_mmap NULL

#endif

START_TEST(mmap_that_answers_enomem)
{
  if (!skip_where_memory_is_not_ours("mmap_that_answers_enomem"))
    expect_in_fresh_process("mmap_that_answers_enomem", call_without_mmap, refuse_mmap,
      "this kernel takes no seccomp filter");
}
END_TEST

/* An allocator in the place of the C library's. */

static char module[] = "tests/.libs/malloc-module.so", survivor[] = "tests/programs/survive";

/* Runs the program survive with it, in a place that go() leads to, if anywhere. Returns its status, or -1
   if it ends by a signal; *asked is how many allocations it asked for. */
static int survives(const char *how, int (*go)(void), long *asked)
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
    if (go && go() != 0)
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
  if (asked)
    *asked = length > 0 ? atol(text) : -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Can it be had? Else says why not. */
static int have_allocator(const char *test)
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
  if (survives("none", NULL, NULL) == NOT_HERE) {
    skip(test, "this system does not preload an allocator");
    return 0;
  }
  return 1;
}

/* Refuses each allocation alone, then all. */
static void refuse_each(int (*go)(void))
{
  long asked, number;

  ck_assert_int_eq(survives("none", go, &asked), 0);
  ck_assert_int_ge(asked, 0);
  for (number = 1; number <= asked; number++) {
    char how[32];

    snprintf(how, sizeof how, "%ld", number);
    ck_assert_msg(survives(how, go, NULL) == 0, "allocation %ld of %ld", number, asked);
  }
  ck_assert_int_eq(survives("all", go, NULL), 0);
  /* folders that are listed, one at a time */
  ck_assert_msg(asked <= 4, "%ld allocations", asked);
}

START_TEST(each_allocation_may_fail)
{
  if (have_allocator("each_allocation_may_fail"))
    refuse_each(NULL);
}
END_TEST

/* Where there is a file that states the frequency. Only listing a folder takes memory. */
START_TEST(first_call_allocates_nothing)
{
  const char *source = cpucycles_frequency_source();
  long asked;

  if (!have_allocator("first_call_allocates_nothing"))
    return;
  if (strncmp(source, "cpufreq/", 8) != 0 && strcmp(source, "/proc/cpuinfo") != 0) {
    skip("first_call_allocates_nothing", "no file states the frequency here");
    return;
  }
  ck_assert_int_eq(survives("first", NULL, &asked), 0);
  ck_assert_int_eq(asked, 0);
}
END_TEST

/* Places: what is mounted, in a namespace of the process's own. */

#ifdef CLONE_NEWNS

static int leave_mounts(void)
{
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return 1;
  return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0;
}

/* What another user mounted can only be covered. */
static int take_away(const char *folder)
{
  return umount2(folder, MNT_DETACH) != 0 && mount("none", folder, "tmpfs", 0, NULL) != 0;
}

static int go_without_proc(void)
{
  return leave_mounts() || take_away("/proc") || access("/proc/self", F_OK) == 0;
}

static int go_without_sys(void)
{
  return leave_mounts() || take_away("/sys") || access("/sys/devices", F_OK) == 0;
}

static int go_without_either(void)
{
  return go_without_proc() || take_away("/sys") || access("/sys/devices", F_OK) == 0;
}

static int go_where_sys_is_read_only(void)
{
  const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;

  if (leave_mounts())
    return 1;
  if (mount("none", "/sys", "none", flags, NULL) != 0)
    return 1;
  return access("/sys/kernel", W_OK) == 0;
}

/* Folders in which nothing can be found but by listing them, which allocates. */
static int go_where_folders_must_be_listed(void)
{
  if (leave_mounts() || mount("none", "/proc", "tmpfs", 0, NULL) != 0
    || mount("none", "/sys", "tmpfs", 0, NULL) != 0)
    return 1;
  return mkdir("/proc/device-tree", 0777) != 0 || mkdir("/proc/device-tree/cpus", 0777) != 0
    || mkdir("/proc/device-tree/cpus/cpu@0", 0777) != 0 || mkdir("/sys/devices", 0777) != 0
    || mkdir("/sys/devices/system", 0777) != 0 || mkdir("/sys/devices/system/cpu", 0777) != 0
    || mkdir("/sys/devices/system/cpu/cpu0", 0777) != 0;
}

#else

static int go_without_proc(void)
{
  return 1;
}

#define go_without_sys go_without_proc
#define go_without_either go_without_proc
#define go_where_sys_is_read_only go_without_proc
#define go_where_folders_must_be_listed go_without_proc

#endif

static const char no_namespace[] = "no such mount namespace can be had here";

static int call_without_proc(void)
{
  return go_without_proc() ? 20 : nothing_fails();
}

static int call_without_sys(void)
{
  return go_without_sys() ? 20 : nothing_fails();
}

static int call_without_either(void)
{
  return go_without_either() ? 20 : nothing_fails();
}

static int call_where_sys_is_read_only(void)
{
  return go_where_sys_is_read_only() ? 20 : nothing_fails();
}

START_TEST(proc_is_not_mounted)
{
  expect_in_fresh_process("proc_is_not_mounted", call_without_proc, go_without_proc, no_namespace);
}
END_TEST

START_TEST(sys_is_not_mounted)
{
  expect_in_fresh_process("sys_is_not_mounted", call_without_sys, go_without_sys, no_namespace);
}
END_TEST

START_TEST(neither_proc_nor_sys_is_mounted)
{
  expect_in_fresh_process("neither_proc_nor_sys_is_mounted", call_without_either, go_without_either,
    no_namespace);
}
END_TEST

START_TEST(sys_is_read_only)
{
  expect_in_fresh_process("sys_is_read_only", call_where_sys_is_read_only,
    go_where_sys_is_read_only, no_namespace);
}
END_TEST

START_TEST(each_allocation_may_fail_where_folders_must_be_listed)
{
  const char *test = "each_allocation_may_fail_where_folders_must_be_listed";
  long asked;

  if (!have_allocator(test))
    return;
  if (survives("none", go_where_folders_must_be_listed, &asked) == NOT_HERE) {
    skip(test, no_namespace);
    return;
  }
  ck_assert_int_gt(asked, 0);
  refuse_each(go_where_folders_must_be_listed);
}
END_TEST

/* The first call is then one from within itself. */
START_TEST(allocator_may_count_cycles_itself)
{
  const char *test = "allocator_may_count_cycles_itself";
  int status;

  if (!have_allocator(test))
    return;
  ck_assert_int_eq(survives("call", NULL, NULL), 0);
  status = survives("call", go_where_folders_must_be_listed, NULL);
  if (status == NOT_HERE)
    skip(test, no_namespace);
  else
    ck_assert_int_eq(status, 0);
}
END_TEST

/* The environment. */

enum { HUGE_SIZE = 1 << 24 };

/* Every byte but 0, in entries without a name, without a value, twice, and with much of both. */
static int call_in_a_hostile_environment(void)
{
  static char *hostile[1024], bytes[256], setting[2][HUGE_SIZE];
  const char *names[] = { "cpucyclespersecond=", "CPUCYCLES_IMPLEMENTATION=" }, *skipped;
  int i, n = 0;

  for (i = 0; i < 255; i++)
    bytes[i] = (char)(i + 1);
  for (i = 0; i < 2; i++) {
    memset(setting[i], 0x80 + i, HUGE_SIZE - 1);
    memcpy(setting[i], names[i], strlen(names[i]));
    hostile[n++] = setting[i];
    memcpy(setting[i] + strlen(names[i]), bytes, 255);
  }
  for (; n < 1000; n++)
    hostile[n] = bytes + n % 256;
  hostile[n++] = (char *)"=";
  hostile[n++] = (char *)"";
  hostile[n++] = (char *)"cpucyclespersecond";
  hostile[n++] = (char *)"CPUCYCLES_IMPLEMENTATION";
  environ = hostile;
  i = nothing_fails();
  if (i != 0)
    return i;
  for (i = 0; i < 2; i++) {
    skipped = i == 0 ? cpucycles_frequency_skipped() : cpucycles_implementation_skipped();
    if (!skipped || strlen(skipped) >= 320)
      return 20 + i;
    for (; *skipped; skipped++)
      if (*skipped < ' ' || *skipped > '~')
        return 22 + i;
  }
  return 0;
}

START_TEST(huge_and_binary_environment_is_reported_in_print)
{
  in_fresh_process(call_in_a_hostile_environment);
}
END_TEST

static int call_without_an_environment(void)
{
  environ = NULL;
  return nothing_fails();
}

START_TEST(no_environment_at_all)
{
  in_fresh_process(call_without_an_environment);
}
END_TEST

/* Signals. */

static volatile int alarms;

static void note_alarm(int signal)
{
  const struct itimerval never = { { 0, 0 }, { 0, 0 } };

  (void)signal;
  if (++alarms == 10000)
    setitimer(ITIMER_REAL, &never, NULL);
}

/* Every call, not only cpucycles(), with system calls that are not restarted. */
static int call_all_under_a_fast_timer(void)
{
  struct itimerval often = { { 0, 10 }, { 0, 10 } }, never = { { 0, 0 }, { 0, 0 } };
  struct sigaction action;
  int fault;

  memset(&action, 0, sizeof action);
  action.sa_handler = note_alarm;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  fault = nothing_fails();
  setitimer(ITIMER_REAL, &never, NULL);
  return fault ? fault : alarms == 0 ? 20 : 0;
}

START_TEST(timer_of_10_us_interrupts_whatever_it_will)
{
  int i, runs = suite_runs(20);

  for (i = 0; i < runs; i++)
    in_fresh_process(call_all_under_a_fast_timer);
}
END_TEST

/* The stack. */

static void *call_all(void *fault)
{
  *(int *)fault = nothing_fails();
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

START_TEST(smallest_stack_is_enough_for_every_call)
{
  in_fresh_process(call_all_on_a_small_stack);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, no_descriptor_beyond_the_three_of_every_program);
  tcase_add_test(tests, closed_standard_streams_stay_closed);
  tcase_add_test(tests, no_memory_left_at_all);
  tcase_add_test(tests, mmap_that_answers_enomem);
  tcase_add_test(tests, first_call_allocates_nothing);
  tcase_add_test(tests, each_allocation_may_fail);
  tcase_add_test(tests, each_allocation_may_fail_where_folders_must_be_listed);
  tcase_add_test(tests, allocator_may_count_cycles_itself);
  tcase_add_test(tests, proc_is_not_mounted);
  tcase_add_test(tests, sys_is_not_mounted);
  tcase_add_test(tests, neither_proc_nor_sys_is_mounted);
  tcase_add_test(tests, sys_is_read_only);
  tcase_add_test(tests, huge_and_binary_environment_is_reported_in_print);
  tcase_add_test(tests, no_environment_at_all);
  tcase_add_test(tests, timer_of_10_us_interrupts_whatever_it_will);
  tcase_add_test(tests, smallest_stack_is_enough_for_every_call);
}

int main(void)
{
  return suite_main("faults", add);
}
