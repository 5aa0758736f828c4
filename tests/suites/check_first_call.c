/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the first call of a process under adverse conditions: signals, seccomp filters, no memory,
   descriptors or files, floating-point arithmetic that traps or rounds in another direction than to
   the nearest. A test that needs several processes, or changes what its process can do, runs in
   children. check_inline has the first call of many threads, and check_process forks. Also tests
   what the first calls measure on this CPU; check_simulated_clock tests the accuracy against
   simulated clocks. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/bench.h"
#include "include/cpucycles/inline.h"
#ifdef HAVE_PERF_EVENTS
#include "backends/perf/thread.h"
#endif
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/scale.h"
#include "sys/cpuid.h"
#include "sys/dependent-add.h"
#include "sys/os-clock.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"

#include <fenv.h>
#include <setjmp.h>

extern char **environ;

static void in_children(int count, int (*body)(void))
{
  struct suite_repeat repeat = suite_repeat(count);

  while (suite_again(&repeat))
    in_child_process(body);
}

/* Returns NULL if the counter is not built. */
static const struct cpucycles_counter_info *find_counter(const char *name)
{
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (strcmp(counter->name, name) == 0)
      break;
  return counter;
}

/* Signals. */

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

/* Raises signals without pause, alternately by faults and by sending signals to itself. */
static void *raise_signals(void *unused)
{
  while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE) || raised < 100) {
    int fault = cpuc_os_thread_fault_signals[raised / 2 % CPUC_OS_THREAD_FAULT_SIGNALS];

    raised++;
    if (raised % 2)
      pthread_kill(pthread_self(), suite_fault_to_send(fault));
    else if (sigsetjmp(escape, 1) == 0) {
      (void)suite_read(forbidden);
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
  for (i = 0; i < CPUC_OS_THREAD_FAULT_SIGNALS; i++)
    sigaction(cpuc_os_thread_fault_signals[i], &set, NULL);
  if (pthread_create(&thread, NULL, raise_signals, NULL) != 0)
    return 3;
  wait_for(&started);
  cpucycles();
  set_flag(&finished);
  pthread_join(thread, NULL);
  return fault_missed || handled != raised || !count_increases();
}

TEST(signals_of_another_thread_all_reach_the_program)
{
  SKIP_IF(suite_under("valgrind"), "valgrind merges queued signals");
  in_children(1000, call_while_another_thread_raises);
}

static void *cancel_and_call(void *has_returned)
{
  pthread_cancel(pthread_self());
  cpucycles();
  *(int *)has_returned = 1;
  pthread_testcancel();
  return NULL; /* not reached */
}

TEST(canceled_thread_finishes_its_first_call)
{
  int has_returned = 0;

  result_in_thread(cancel_and_call, &has_returned);
  ck_assert_int_eq(has_returned, 1);
  ck_assert_int_eq(count_increases(), 1);
}

static volatile int alarms;
static volatile long long count_in_handler;

static const struct itimerval never, often = { { 0, 10 }, { 0, 10 } };

/* Where a signal takes as long as the timer's period, the program would make no progress. So the
   handler stops the timer after 1000 signals. */
static void read_at_the_timer(int signal)
{
  (void)signal;
  count_in_handler = cpucycles();
  if (++alarms == 1000)
    setitimer(ITIMER_REAL, &never, NULL);
}

/* Calls every function that check_every_answer() calls. System calls are not restarted. */
static int call_all_under_a_fast_timer(void)
{
  struct sigaction action = { .sa_handler = read_at_the_timer };
  int failed_step, i = 0;

  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  do
    failed_step = check_every_answer();
  while (!failed_step && alarms == 0 && ++i < 1000);
  setitimer(ITIMER_REAL, &never, NULL);
  return failed_step ? failed_step : alarms == 0 ? 20 : 0;
}

TEST(every_function_but_tracesetup_survives_a_timer_of_10_us)
{
  skip_unless_handlers_are_aligned();
  in_children(20, call_all_under_a_fast_timer);
}

/* Resources that the first call gives back. */

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

/* Returns the number of perf events of this thread. Each needs a descriptor or a page, or both. */
static int event_count(void)
{
#ifdef HAVE_PERF_EVENTS
  return cpuc_perf_self.event_count;
#else
  return 0;
#endif
}

/* A thread would have a mapping for its stack. */
static int call_and_compare_resources(void)
{
  int descriptors = open_descriptors();
  int mapped = mapping_count(); /* opens the first stream, whose memory stays mapped */

  mapped = mapping_count();
  cpucycles();
  if (open_descriptors() - descriptors > event_count())
    return 1;
  if (suite_under("valgrind")) /* it maps memory for the code that it translates */
    return 0;
  return mapping_count() - mapped > event_count() ? 2 : 0;
}

TEST(first_call_leaks_no_resource)
{
  SKIP_IF(mapping_count() < 0, "there is no /proc/self to look at");
  in_child_process(call_and_compare_resources);
}

/* Resources. A function that refuses one returns 0, or another number if it cannot. */

static int refuse_descriptors(void)
{
  int i;

  for (i = 0; i < 3; i++)
    if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
      return 1;
  return set_descriptor_limit(3) != 0 || open("/dev/null", O_RDWR) >= 0 || errno != EMFILE;
}

#ifndef RLIMIT_AS /* OpenBSD */
#define RLIMIT_AS RLIMIT_DATA
#endif

/* Volatile, because a compiler may leave out an unused allocation. */
static void *volatile allocated;

/* Exhausts the C library's free memory, so that malloc() fails from then on. */
static int refuse_memory(void)
{
  struct rlimit none = { 0, 0 };
  size_t size;

  if (setrlimit(RLIMIT_AS, &none) != 0)
    return 1;
  for (size = 65536; size > 0; size /= 2)
    do
      allocated = malloc(size);
    while (allocated);
  return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static char empty_directory[] = "cpucycles-empty-XXXXXX";

static int refuse_files(void)
{
#ifdef CLONE_NEWUSER
  if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
    return 1;
#endif
  return chroot(empty_directory) != 0 || chdir("/") != 0;
}

static int refuse_an_environment(void)
{
  environ = NULL;
  return 0;
}

enum { DESCRIPTORS, MEMORY, FILES, ENVIRONMENT, RESOURCES, IMPOSSIBLE = 100 };

static int (*const refuse[RESOURCES])(void)
  = { refuse_descriptors, refuse_memory, refuse_files, refuse_an_environment };

static int refused;

static int call_without_the_resource(void)
{
  int result = refuse[refused]() != 0 ? IMPOSSIBLE : check_every_answer();

  if (refused == MEMORY)
    _exit(result); /* exit() may need memory */
  return result;
}

TEST_LOOP(first_call_works_without_descriptors_memory_files_or_an_environment, RESOURCES)
{
  int result;

  SKIP_IF((_i == DESCRIPTORS || _i == MEMORY) && suite_under("valgrind"),
    "valgrind needs descriptors and memory of its own");
  SKIP_IF(_i == MEMORY && (SUITE_SANITIZED || suite_under("qemu")),
    "the sanitizer or qemu needs memory of its own");
  ck_assert_ptr_nonnull(mkdtemp(empty_directory));
  refused = _i;
  result = result_in_child(call_without_the_resource);
  rmdir(empty_directory);
  SKIP_IF(result == IMPOSSIBLE, "this system or user cannot limit %s",
    _i == DESCRIPTORS ? "descriptors" : _i == MEMORY ? "memory" : "the root");
  ck_assert_int_eq(result, 0);
}

static void *call_every_function(void *failed_step)
{
  *(int *)failed_step = check_every_answer();
  cpucycles_tracesetup();
  return NULL;
}

TEST(every_function_fits_on_the_smallest_stack)
{
  int failed_step = -1;

  ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout)); /* for cpucycles_tracesetup() */
  ck_assert_int_eq(call_on_a_small_stack(call_every_function, &failed_step), 0);
  ck_assert_int_eq(failed_step, 0);
}

/* The floating-point environment. */

/* Some systems do not define all of these macros, because a macro is missing where its rounding
   does not exist. */
static const int environments[] = {
  -1, /* to the nearest, and traps */
#ifdef FE_UPWARD
  FE_UPWARD,
#endif
#ifdef FE_DOWNWARD
  FE_DOWNWARD,
#endif
#ifdef FE_TOWARDZERO
  FE_TOWARDZERO,
#endif
};

static int tried;

/* Enters the environment that is tried. Returns 0 if this CPU and system have it. */
static int enter(void)
{
  if (tried >= 0)
    return fesetround(tried);
#ifdef __GLIBC__
  return feenableexcept(FE_ALL_EXCEPT) < 0;
#else
  return 1;
#endif
}

/* 0 if the rounding changes a result. If the inexact operations trap, SIGFPE ends the child. */
static int change_results(void)
{
  volatile double one = 1, part = 0x1p-60, above, below;

  if (enter() != 0)
    return 1;
  above = one + part;
  below = one - part;
  return above == 1 && below == 1;
}

enum { RATES = 7 };

/* The only floating-point arithmetic of the library. */
static void compute(double factors[RATES][RATES])
{
  static const long long rates[RATES] = { 1000, 999983, 24000000, 346153847, 2399987654,
    61234567891, 1000000000000 };
  int i, j;

  for (i = 0; i < RATES; i++)
    for (j = 0; j < RATES; j++)
      factors[i][j] = cpuc_scale_factor(cpuc_scale_from_to(rates[i], rates[j]));
}

static int call_and_compute(void)
{
  double usual[RATES][RATES], factors[RATES][RATES];

  compute(usual);
  if (enter() != 0)
    return 20;
  compute(factors);
  if (memcmp(factors, usual, sizeof factors) != 0)
    return 21;
  cpucycles_tracesetup();
  return check_every_integer();
}

TEST_LOOP(traps_and_rounding_change_no_result, sizeof environments / sizeof environments[0])
{
  tried = environments[_i];
  skip_unless(change_results, tried < 0 ? -SIGFPE : 0,
    "floating-point exceptions are not trapped, or the rounding cannot be changed");
  in_child_process(call_and_compute);
}

/* Seccomp filters. */

#if defined(HAVE_LINUX_SECCOMP_H) && defined(SYS_perf_event_open)

/* Answers to perf_event_open(), and the reason for which default-perfevent is dropped after each
   answer. */
static const struct {
  unsigned int action;
  const char *reason;
  int answer; /* an errno, or minus the number of a signal */
} filters[] = {
  { SECCOMP_RET_ERRNO | EPERM, "refused", EPERM },
  { SECCOMP_RET_ERRNO | ENOSYS, "absent", ENOSYS },
  { SECCOMP_RET_TRAP, "signal", -SIGSYS },
};

enum { FILTERS = sizeof filters / sizeof filters[0] };

static int filter; /* the row that is tested */

/* The answer of the filter to a harmless call. */
static int filter_answers(void)
{
  return call_under_filter(filters[filter].action);
}

/* Returns 0 if default-perfevent is dropped for the reason in the row, or as "absent", because
   there may be no PMU. */
static int call_with_perf_filtered(void)
{
  static const int calls[] = { SYS_perf_event_open };
  const struct cpucycles_counter_info *counter;

  if (filter_calls(calls, 1, filters[filter].action) != 0)
    return FILTER_IMPOSSIBLE;
  if (!count_increases())
    return 1;
  counter = find_counter("default-perfevent");
  return counter->state != CPUCYCLES_DROPPED
    || counter->error_number - counter->signal_number != filters[filter].answer
    || (strcmp(counter->reason, filters[filter].reason) != 0
      && strcmp(counter->reason, "absent") != 0);
}

/* Returns a number that stands for the source of the frequency estimate, where neither a file nor a
   perf event can be opened. */
static int number_of_source_without_opens(void)
{
  static const int calls[] = {
    SYS_openat,
    SYS_perf_event_open,
#ifdef SYS_open
    SYS_open,
#endif
  };
  const char *source;
  int sum = 0;

  if (filter_calls(calls, sizeof calls / sizeof calls[0], filters[filter].action) != 0)
    return FILTER_IMPOSSIBLE;
  if (!count_increases() || cpucycles_persecond() < 1000)
    return 1;
  for (source = cpucycles_frequency_source(); *source; source++)
    sum = (31 * sum + *source) % 100;
  return 100 + sum;
}

/* Skips the test if the filter of this row does not work here. */
static void skip_unless_the_filter_works(void)
{
  SKIP_IF(suite_under("valgrind"), "valgrind makes the system calls in its own code");
  skip_unless(filter_answers, filters[filter].answer,
    "seccomp filters are missing, or do not answer as requested");
}

TEST_LOOP(filter_at_perf_event_open_drops_perf, FILTERS)
{
  SKIP_IF(!HAVE_BACKEND_default_perfevent, "default-perfevent is not built");
  filter = _i;
  skip_unless_the_filter_works();
  in_child_process(call_with_perf_filtered);
}

/* SIGSYS and an errno hide the same sources. */
TEST(first_call_survives_sigsys_at_every_open)
{
  int numbers[FILTERS];

  for (; filter < FILTERS; filter++) {
    skip_unless_the_filter_works();
    numbers[filter] = result_in_child(number_of_source_without_opens);
    ck_assert_int_ge(numbers[filter], 100);
    ck_assert_int_eq(numbers[filter], numbers[0]);
  }
}

#endif

#ifdef __linux__
static volatile int is_after_2038;

/* Replaces the function of the C library, which fails from 2038 on if its time_t has 32 bits. */
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
  struct timespec time = { 0, 0 };
  int result = is_after_2038 ? -1 : clock_gettime(CLOCK_REALTIME, &time);

  (void)zone;
  *now = (struct timeval) { .tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000 };
  return result;
}

TEST(wall_clock_is_read_after_2038)
{
  const struct cpucycles_counter_info *wall_clock;

  is_after_2038 = 1;
  wall_clock = find_counter("default-gettimeofday");
  SKIP_IF(!wall_clock, "default-gettimeofday is not built");
  ck_assert_int_ne(wall_clock->state, CPUCYCLES_DROPPED);
}

#endif

/* The TSC is forbidden, and thus the clocks of the vDSO, which read the TSC. */

#if defined(PR_SET_TSC) && (defined(__x86_64__) || defined(__i386__))

/* -SIGSEGV if PR_SET_TSC makes RDTSC fault; 0 if RDTSC still works; 1 if PR_SET_TSC fails. */
static int forbidden_tsc_faults(void)
{
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
    return 1;
  __builtin_ia32_rdtsc();
  return 0;
}

static int call_without_tsc(void)
{
  const char *clock = HAVE_BACKEND_default_monotonic ? "default-monotonic" : "default-gettimeofday";
  const struct cpucycles_counter_info *counter;
  int i;

  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0 || !count_increases())
    return 2;
  prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (strstr(counter->name, "tsc")
      && (counter->signal_number != SIGSEGV || !counter->remedy
        || !strstr(counter->remedy, "PR_TSC_ENABLE")))
      return 3;
  /* With a PMU, a perf event or RDPMC, which PR_SET_TSC does not forbid, replaces a clock. */
  counter = find_counter("default-perfevent");
  return !(counter && counter->state != CPUCYCLES_DROPPED)
    && strcmp(cpucycles_implementation(), clock) != 0
    && strcmp(cpucycles_implementation(), "amd64-pmcff") != 0;
}

static void skip_unless_the_tsc_can_be_forbidden(void)
{
  SKIP_IF(suite_under("asan"), "AddressSanitizer itself reads the TSC");
  SKIP_IF(suite_under("valgrind"), "valgrind itself reads the TSC");
  skip_unless(forbidden_tsc_faults, -SIGSEGV, "RDTSC still works after PR_SET_TSC");
}

/* What cpucycles-info and libperfex do, which have no guard. */
static int read_clock_without_tsc_or_guard(void)
{
  long long begin;

  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
    return 2;
  cpuc_os_clock_fall_back_if_forbidden();
  begin = cpuc_os_clock_raw();
  return begin <= 0 || cpuc_os_clock_raw() <= begin || cpuc_os_clock_monotonic() <= 0;
}

/* _i: whether there is no guard. */
TEST_LOOP(forbidden_tsc_leads_to_a_clock_by_system_call, 2)
{
  skip_unless_the_tsc_can_be_forbidden();
  in_child_process(_i ? read_clock_without_tsc_or_guard : call_without_tsc);
}

#if defined(HAVE_LINUX_SECCOMP_H) && defined(SYS_arch_prctl)
/* The filter lets arch_prctl(2) return 0, as if the process had forbidden CPUID. */
static int ask_for_forbidden_cpuid(void)
{
  static const int call[] = { SYS_arch_prctl };

  const int arch_get_cpuid = 0x1011; /* Linux, arch/x86/include/uapi/asm/prctl.h */

  if (filter_calls(call, 1, SECCOMP_RET_ERRNO) != 0
    || syscall(SYS_arch_prctl, arch_get_cpuid, 0) != 0) /* valgrind answers itself */
    return FILTER_IMPOSSIBLE;
  return cpuc_cpuid_read(0).a != 0 || cpuc_cpuid_read(1).c != 0;
}

TEST(forbidden_cpuid_is_not_executed)
{
  int result = result_in_child(ask_for_forbidden_cpuid);

  ck_assert_uint_gt(cpuc_cpuid_read(0).a, 0);
  SKIP_IF(result == FILTER_IMPOSSIBLE, "no filter is possible here");
  ck_assert_int_eq(result, 0);
}
#endif

#if defined(HAVE_LINUX_SECCOMP_H) && defined(SYS_perf_event_open)
/* Without the TSC, the clocks make system calls, which a filter refuses. Another counter may still
   work. */
static int call_without_clocks(void)
{
  static const int calls[] = {
    SYS_clock_gettime,
    SYS_gettimeofday,
#ifdef SYS_clock_gettime64
    SYS_clock_gettime64,
#endif
  };
  const struct cpucycles_counter_info *counter;
  long long count;
  int i;

  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0
    || filter_calls(calls, sizeof calls / sizeof calls[0], filters[filter].action) != 0)
    return 2;
  count = cpucycles();
  prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (strcmp(counter->kind, "clock") == 0
      && (counter->state != CPUCYCLES_DROPPED || strcmp(counter->reason, "refused") != 0))
      return 3;
  counter = cpucycles_selected();
  return strcmp(counter->name, "default-zero") == 0 && (count != 0 || counter->scaling != 1);
}

TEST_LOOP(unreadable_clock_is_not_the_last_resort, FILTERS)
{
  skip_unless_the_tsc_can_be_forbidden();
  filter = _i;
  skip_unless_the_filter_works();
  in_child_process(call_without_clocks);
}

#endif

#endif

/* Repeatability. An emulated CPU has no frequency. The measurement in its place differs by more
   than a factor of three from process to process, and so does the score of a clock. So the test
   sets the frequency under qemu. */

static int index_of_the_selected_counter(void)
{
  int i = 0;

  while (cpucycles_counter(i) != cpucycles_selected())
    i++;
  return i;
}

/* Under an emulator, whether a counter counts core cycles depends on the host. */
static int has_emulated_core_counter(void)
{
  const struct cpucycles_counter_info *counter;
  int i, found = 0;

  for (i = 0; suite_under("qemu") && (counter = cpucycles_counter(i)) != NULL; i++)
    found |= strcmp(counter->kind, "core") == 0 && counter->state != CPUCYCLES_DROPPED;
  return found;
}

/* Compares up to a hundred processes, within the time limit. */
TEST(selection_is_equal_in_each_process)
{
  struct suite_repeat repeat = suite_repeat(100);
  int first;

  if (suite_under("qemu"))
    setenv("cpucyclespersecond", "3700000000", 1);
  SKIP_IF(result_in_child(has_emulated_core_counter), "the emulator's core cycles vary");
  first = result_in_child(index_of_the_selected_counter);
  while (suite_again(&repeat))
    ck_assert_int_eq(result_in_child(index_of_the_selected_counter), first);
  ck_assert_int_ge(first, 0);
}

#ifdef HAVE_SECURE_GETENV

/* Answers to a signal handler that interrupts the selection, tested without a signal. */

static int wrong_answers;

static void call_all(void)
{
  struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;
  struct cpucycles_bench_comparison comparison;

  setup.function = cpucycles_bench_nothing;
  wrong_answers |= cpucycles() != 0 || cpucycles_inline() != 0;
  wrong_answers |= strcmp(cpucycles_implementation(), "default-zero") != 0;
  wrong_answers |= cpucycles_implementation_ignored() != NULL;
  wrong_answers |= cpucycles_persecond() != CPUC_FREQUENCY_DEFAULT;
  wrong_answers |= strcmp(cpucycles_frequency_source(), "default") != 0;
  wrong_answers |= cpucycles_frequency_ignored() != NULL;
  wrong_answers |= cpucycles_rate() != 0 || cpucycles_timer() != NULL;
  wrong_answers |= cpucycles_section_overhead() != 0 || cpucycles_read_overhead() != 0;
  wrong_answers |= cpucycles_nanoseconds(1000) != 0;
  wrong_answers |= cpucycles_counter(0) != NULL || cpucycles_selected() != NULL;
  wrong_answers |= cpucycles_core_persecond() != 0;
  wrong_answers |= cpucycles_section_begin() != 0 || cpucycles_section_end() != 0;
  wrong_answers |= cpucycles_inline_section_begin() != 0 || cpucycles_inline_section_end() != 0;
  wrong_answers |= cpucycles_inline_section_overhead() != 0;
  wrong_answers |= strcmp(cpucycles_version(), PACKAGE_VERSION) != 0;
  wrong_answers |= cpucycles_core_ratio() > 0;
  wrong_answers |= cpucycles_bench_run(&comparison.f, &setup) != -1 || comparison.f.samples != 0;
  wrong_answers |= !comparison.f.note || strcmp(comparison.f.mark, "counter") != 0;
  wrong_answers |= cpucycles_bench_compare(&comparison, &setup, &setup) != -1;
  wrong_answers |= comparison.f.samples != 0 || !comparison.g.note;
  wrong_answers |= cpuc_process_has_selected();
}

/* Replaces the C library's secure_getenv(), which the selection calls. */
static int call_is_due; /* 1 until the selection calls secure_getenv() for the first time */
static void (*while_selecting)(void) = call_all;

char *secure_getenv(const char *name)
{
  if (call_is_due) {
    call_is_due = 0;
    while_selecting();
  }
  return getenv(name);
}

TEST(every_function_answers_during_the_selection)
{
  call_is_due = 1;
  setenv("cpucyclespersecond", "2000000000", 1); /* a source on every machine */
  cpucycles();
  ck_assert_int_eq(call_is_due, 0);
  ck_assert_int_eq(wrong_answers, 0);
  ck_assert_int_eq(count_increases(), 1);
  ck_assert_str_ne(cpucycles_frequency_source(), "default");
  ck_assert_ptr_nonnull(cpucycles_counter(0));
  ck_assert_ptr_nonnull(cpucycles_timer());
}

static int signal_to_send; /* to the selecting thread; pending until the selection is over */

static void send_to_self(void)
{
  pthread_kill(pthread_self(), signal_to_send);
}

static void jump_out(int signal)
{
  (void)signal;
  siglongjmp(escape, 1);
}

static void *call_from_thread(void *unused)
{
  (void)unused;
  cpucycles();
  return (void *)cpucycles_counter(0); /* needs the lock that a selection has held */
}

/* The jump may leave the first call unfinished. _i: whether the signal is one that the library
   handles during the selection. */
TEST_LOOP(jump_out_of_the_first_call_blocks_no_thread, 2)
{
  int state;

  SKIP_IF(suite_under("valgrind"), "valgrind delivers sent signals when it sees fit");
  signal_to_send = _i ? suite_fault_to_send(SIGSEGV) : SIGUSR1;
  signal(signal_to_send, jump_out);
  while_selecting = send_to_self;
  call_is_due = 1;
  if (sigsetjmp(escape, 1) == 0) {
    cpucycles();
    ck_abort_msg("the handler has not jumped");
  }
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  ck_assert_int_eq(state, PTHREAD_CANCEL_ENABLE);
  ck_assert_ptr_nonnull(result_in_thread(call_from_thread, NULL));
  ck_assert_int_eq(count_increases(), 1);
}

#endif

static void *print_in_the_first_call(void *unused)
{
  cpucycles_tracesetup();
  cpucycles_section_overhead(); /* the first call, which prints the requested lines */
  return unused;
}

/* This thread holds the lock of standard output. */
TEST(trace_lines_are_printed_without_the_lock_of_the_process)
{
  struct timespec until_it_prints = { 0, 20000000 };
  pthread_t thread;

  ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
  flockfile(stdout);
  ck_assert_int_eq(pthread_create(&thread, NULL, print_in_the_first_call, NULL), 0);
  while (!cpuc_process_has_selected())
    sched_yield();
  nanosleep(&until_it_prints, NULL);
  ck_assert_ptr_nonnull(cpucycles_counter(0));
  funlockfile(stdout);
  pthread_join(thread, NULL);
}

/* Unwinding through the library's frames, by cancellation and by a handler that ends the thread.
   The callers are C functions, with cleanup functions. With other C libraries and on other CPUs, C
   is unwound only if the C library was built for unwinding. */

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))

enum { RETURNED = 1, UNWOUND = 2 };

static void *(*thread_body)(void *);
static suseconds_t microseconds;
static int unwinding;

static void note_unwound(int *frame)
{
  (void)frame;
  unwinding |= UNWOUND;
}

static void *cancel_at_the_trace(void *unused)
{
  __attribute__((cleanup(note_unwound), unused)) int frame = 0;

  (void)unused;
  cpucycles_tracesetup();
  pthread_cancel(pthread_self());
  cpucycles(); /* prints the requested lines, which is a cancellation point */
  unwinding |= RETURNED;
  return NULL;
}

static void end_thread(int signal)
{
  (void)signal;
  pthread_exit(NULL);
}

/* The signal comes before, during or after the selection. A signal during the selection stays
   pending until the selection ends. */
static void call_until_ended(void)
{
  const struct itimerval soon = { { 0, 0 }, { 0, microseconds } };
  sigset_t none;

  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  cpucycles();
  for (;;)
    pause();
}

/* A pointer, so that the compiler cannot see the called function. */
static void (*volatile call_opaquely)(void) = call_until_ended;

static void *end_by_a_handler(void *unused)
{
  __attribute__((cleanup(note_unwound), unused)) int frame = 0;

  (void)unused;
  call_opaquely();
  return NULL;
}

/* Runs the body in a thread of a child, because its call must be the first. Returns `unwinding`. */
static int run_thread_body(void)
{
  pthread_t thread;
  sigset_t all;

  if (!freopen("/dev/null", "w", stdout) || setvbuf(stdout, NULL, _IONBF, 0) != 0)
    return 99;
  signal(SIGALRM, end_thread);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL); /* so that the other thread gets SIGALRM */
  pthread_create(&thread, NULL, thread_body, NULL);
  pthread_join(thread, NULL);
  return unwinding;
}

TEST(cancellation_at_the_trace_runs_the_callers_cleanup)
{
  thread_body = cancel_at_the_trace;
  ck_assert_int_eq(result_in_child(run_thread_body), UNWOUND);
}

TEST(handler_of_a_signal_at_any_time_may_end_the_thread)
{
  struct suite_repeat repeat = suite_repeat(29);

  SKIP_IF(suite_under("qemu"), "qemu's frame of a signal cannot be unwound");
  SKIP_IF(SUITE_SANITIZED,
    "a sanitizer finds fault with what the C library does to end a thread in a handler");
  thread_body = end_by_a_handler;
  while (suite_again(&repeat)) { /* each seventh below 200, early and late ones mixed */
    microseconds = 1 + repeat.begun * 11 % 29 * 7;
    ck_assert_int_eq(result_in_child(run_thread_body), UNWOUND);
  }
}

#endif

/* Measurements. */

/* Other processes may use the CPU, so tests that expect a result repeat a measurement that
   failed. */

#define ADD x += y; __asm__ volatile("" : "+r"(x));
#define ADD_4 ADD ADD ADD ADD

/* Alternates cpucycles_core_persecond() with another chain of adds, so that both see the same core
   frequencies. Other programs only slow the other chain, so its fastest run is the upper bound. One
   of Intel's families of CPUs adds twice per cycle. */
TEST(core_persecond_is_the_rate_of_dependent_adds)
{
  enum { ADDS = 200000 };
  struct suite_repeat retry = suite_retry(500);
  int takes_one_cycle = cpuc_dependent_add_takes_one_cycle(), known = 0, agree = 0, i;
  double value = 0, rate = 0, fastest = 0;
  unsigned long x = 0, y = 3;

#ifndef __OPTIMIZE__
  SKIP_IF(1, "the library was compiled unoptimized");
#endif
#if defined(__x86_64__) || defined(__i386__)
  ck_assert_int_eq(takes_one_cycle, system("grep -q GenuineIntel /proc/cpuinfo 2>/dev/null"
    " && grep -q '^cpu family.*: 15$' /proc/cpuinfo") != 0);
#endif
  if (!takes_one_cycle)
    ck_assert_int_eq(cpucycles_core_persecond(), 0);
  SKIP_IF(!takes_one_cycle, "a dependent add does not take one cycle on this CPU");
  skip_where_the_clock_steps_are_long();
  __asm__ volatile("" : "+r"(y));
  while (known < 25 && suite_again(&retry)) {
    long long time = -cpuc_os_clock_monotonic();

    for (i = 0; i < ADDS; i += 16) {
      ADD_4 ADD_4 ADD_4 ADD_4
    }
    time += cpuc_os_clock_monotonic();
    rate = ADDS * 1e9 / (double)time;
    value = (double)cpucycles_core_persecond();
    ck_assert(value == 0 || (value >= CPUC_RATE_LOWEST && value <= CPUC_RATE_HIGHEST));
    known += value > 0;
    fastest = rate > fastest ? rate : fastest;
    agree += value > rate * 0.8 && value < fastest * 1.25;
  }
  ck_assert_int_gt(known, 0);
  ck_assert_msg(2 * agree > known, "%g Hz, timed %g: %d of %d agree", value, fastest, agree,
    known);
}

/* All functions except cpucycles(), which most suites call first. */
TEST_LOOP(any_function_may_make_the_first_call, 19)
{
  static long long (*const counts[])(void) = { cpucycles_persecond, cpucycles_rate,
    cpucycles_core_persecond, cpucycles_section_begin, cpucycles_section_end,
    cpucycles_section_overhead, cpucycles_read_overhead, cpucycles_inline,
    cpucycles_inline_section_begin, cpucycles_inline_section_end,
    cpucycles_inline_section_overhead };
  static const char *(*const texts[])(void) = { cpucycles_implementation,
    cpucycles_frequency_source, cpucycles_implementation_ignored, cpucycles_frequency_ignored };

  ck_assert(!cpuc_process_has_selected());
  if (_i < 11)
    ck_assert_int_ge(counts[_i](), 0);
  else if (_i < 15)
    (void)texts[_i - 11]();
  else if (_i == 15)
    ck_assert(cpucycles_nanoseconds(1) >= 0);
  else
    ck_assert_ptr_nonnull(_i == 16 ? (const void *)cpucycles_timer()
        : _i == 17 ? cpucycles_selected() : cpucycles_counter(0));
  ck_assert(cpuc_process_has_selected());
}

/* Compares the rate with the count and the clock, over 20 ms. */
static int rate_agrees_with_the_count(long long rate)
{
  long long begin = cpuc_os_clock_raw(), count = cpucycles(), elapsed;

  do
    elapsed = cpuc_os_clock_raw() - begin;
  while (elapsed < 20000000);
  count = cpucycles() - count;
  return cpuc_scale_agree_within_1_percent(rate,
    (long long)((double)count * 1e9 / (double)elapsed));
}

/* A counter of core cycles has no constant rate, so only a lower bound is checked. Other tests
   compare its count with other counts. */
static int rate_differs_from_the_kind(void)
{
  const struct cpucycles_counter_info *counter = cpucycles_selected();
  long long rate = cpucycles_rate();

  if (!counter || cpucycles_rate() != rate) /* the rate is final */
    return 1;
  if (strcmp(counter->kind, "clock") == 0 || strcmp(counter->kind, "scaled") == 0)
    return rate != cpucycles_persecond();
  if (strcmp(counter->kind, "reference") == 0)
    return !rate_agrees_with_the_count(rate);
  return strcmp(counter->kind, "none") == 0 ? rate != 0 : rate <= 1000000;
}

static int rate_differs_from_the_clock(void)
{
  const struct cpucycles_timer_info *timer;

  setenv("CPUCYCLES_IMPLEMENTATION", "default-gettimeofday", 1);
  timer = cpucycles_timer();
  return strcmp(cpucycles_implementation(), "default-gettimeofday") != 0
    || timer->reported_rate != 1000000 || timer->invariant != 1 || !timer->invariant_source
    || rate_differs_from_the_kind();
}

/* Each try is a process, because the measurement of the first call can fail on a busy machine. */
TEST(rate_is_that_of_the_count)
{
  static int (*const checks[])(void) = { rate_differs_from_the_kind, rate_differs_from_the_clock };
  int i, tries;

  skip_where_the_clock_steps_are_long();
  for (i = 0; i < 2; i++) {
    for (tries = 0; tries < 20 && result_in_child(checks[i]) != 0; tries++)
      ;
    ck_assert_int_lt(tries, 20);
  }
}

SUITE("first call")
