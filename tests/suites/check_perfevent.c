/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the perf event counters. A software event stands in for the PMU's cycles: the thread's
   own CPU time in nanoseconds, which every Linux counts. Tests that read through an mmap page
   fill the page themselves, and a function replaces the instruction. Everything else is the real
   kernel. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "sys/os-thread.h"
#include "sys/trial.h"

#include "tests/suites/suite.h"

#if defined(__linux__) && HAVE_BACKEND_default_perfevent

#include <linux/perf_event.h>

/* The suite compiles a second copy of the code, in which it replaces the system calls below. */
#define CPUCYCLES_PERF_DEVICES devices
#define CPUCYCLES_PERF_KERNEL
#define cpucycles_perf_no_page tested_no_page
#define cpucycles_perf_self tested_self
#define cpucycles_perf_process tested_process
#define cpucycles_perf_read_descriptors tested_read_descriptors
#define cpucycles_perf_has_descriptor tested_has_descriptor
#define cpucycles_perf_pages_show_count tested_pages_show_count
#define cpucycles_perf_is_page tested_is_page
#define cpucycles_perf_replace_page tested_replace_page
#define cpucycles_perf_with_signals_blocked tested_with_signals_blocked
#define cpucycles_perf_begin_thread tested_begin_thread
#define cpucycles_perf_leave_pages tested_leave_pages
#define cpucycles_perf_use_next_best tested_use_next_best
#define cpucycles_perf_slow tested_slow
#define cpucycles_perf_open tested_open
#define cpucycles_perf_close tested_close
#define cpucycles_perf_prepare tested_prepare
#define cpucycles_perf_explain tested_explain
#define cpucycles_perf_is_guarded tested_is_guarded
#define cpucycles_perf_rescue_instruction tested_rescue_instruction
#define cpucycles_perf_rescue_page tested_rescue_page
#define cpucycles_perf_rescue_filtered tested_rescue_filtered
#define cpucycles_perf_rescued tested_rescued
#define cpucycles_perf_rescued_filtered tested_rescued_filtered
#define cpucycles_note_fallback note_of_test
#define cpucycles_backend_default_perfevent by_read
#define cpucycles_backend_amd64_pmc by_rdpmc

#include <stdint.h>
#include <sys/types.h>

static const char *devices = "/nonexistent/";
struct reading;
static int kernel_open(struct perf_event_attr *wanted);
static int kernel_identify(int descriptor, uint64_t *id);
static ssize_t kernel_read(int descriptor, struct reading *reading);
static struct perf_event_mmap_page *kernel_map(int descriptor);
static void kernel_unmap(void *page);
static void kernel_close(int descriptor);
void note_of_test(const char *code);

#include "backends/common/perf-cycles.c"
#include "backends/common/perf-open.c"

/* default-perfevent reads by that copy. Its static names are renamed, because amd64-pmc.c, which is
   included below, has the same ones. */
#define method read_method
#define open_counter read_open_counter
#define read_cycles read_read_cycles
#define refused read_refused
#define explain_refusal explain_read_refusal
#include "backends/default-perfevent.c"
#undef method
#undef open_counter
#undef read_cycles
#undef refused
#undef explain_refusal

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sched.h>
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
#define HAVE_MALLINFO2 1
#endif
#endif
#include <spawn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#ifdef HAVE_LINUX_SECCOMP_H
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif

/* The test's kernel: the real one, except for mmap pages and for readings that a test prepares.
   Where there are no perf events, as under qemu-user, the events of tests that have recorded a
   page are simulated too. */

enum { PAGES = 2 };

static struct perf_event_mmap_page *recorded[PAGES]; /* mmap pages of the next events */
static int pages_given;
static int every_event_has_a_page; /* a copy of the first */
static _Thread_local struct perf_event_attr requests[16];
static _Thread_local int request_count;
static int refuses_exclusion;  /* like a PMU that cannot exclude the kernel */
static uint32_t refused_type; /* PMU type in the upper half of config */
static struct reading prepared_reading; /* returned if its enabled time is not 0 */
static int events_are_simulated;

static int kernel_open(struct perf_event_attr *wanted)
{
  struct perf_event_attr real = *wanted;
  int event;

  if (request_count < 16)
    requests[request_count++] = *wanted;
  if (refused_type && wanted->config >> 32 == refused_type) {
    errno = ENOENT;
    return -1;
  }
  if (refuses_exclusion && wanted->exclude_kernel) {
    errno = EOPNOTSUPP;
    return -1;
  }
  real.exclude_kernel = real.exclude_hv = 1; /* an event that any user may open */
  if (real.type == PERF_TYPE_HARDWARE) {
    real.type = PERF_TYPE_SOFTWARE;
    real.config = PERF_COUNT_SW_TASK_CLOCK;
  }
  real.config1 = 0;
  event = events_are_simulated ? -1 : (int)syscall(SYS_perf_event_open, &real, 0, -1, -1,
    PERF_FLAG_FD_CLOEXEC);
  if (event < 0 && recorded[0]
    && (events_are_simulated || errno == ENOSYS || errno == EPERM || errno == EACCES)) {
    events_are_simulated = 1;
    event = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  return event;
}

static int kernel_identify(int descriptor, uint64_t *id)
{
  if (!events_are_simulated)
    return ioctl(descriptor, PERF_EVENT_IOC_ID, id);
  *id = 1000;
  return fcntl(descriptor, F_GETFD) < 0 ? -1 : 0;
}

/* This thread's CPU time in nanoseconds, the quantity that the event counts. */
static uint64_t time_counted(void)
{
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static ssize_t kernel_read(int descriptor, struct reading *reading)
{
  ssize_t length = events_are_simulated ? (ssize_t)sizeof *reading
    : syscall(SYS_read, descriptor, reading, sizeof *reading);

  if (events_are_simulated) {
    reading->value = time_counted();
    reading->enabled = reading->running = 1;
    reading->id = 1000;
  }
  if (length > 0 && prepared_reading.enabled) {
    uint64_t id = reading->id;

    *reading = prepared_reading;
    reading->id = id;
  }
  return length;
}

static struct perf_event_mmap_page *new_page(uint32_t index, int width, long long offset);

static struct perf_event_mmap_page *kernel_map(int descriptor)
{
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *page;

  if (every_event_has_a_page)
    return new_page(recorded[0]->index, recorded[0]->pmc_width, recorded[0]->offset);
  if (pages_given < PAGES && recorded[pages_given])
    return recorded[pages_given++];
  page = mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0);
  return page == MAP_FAILED ? NULL : page;
}

static void kernel_unmap(void *page)
{
  munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

static void kernel_close(int descriptor)
{
  syscall(SYS_close, descriptor);
}

static const char *volatile noted;

void note_of_test(const char *code)
{
  __atomic_store_n(&noted, code, __ATOMIC_RELAXED); /* several threads may call it */
}

/* The test's instruction: returns a counter of hardware[], and runs a hook during the read. */

static uint64_t hardware[64]; /* counters by index less 1 */
static void (*during_instruction)(void);
static int executed;

static inline CPUCYCLES_PERF_INSTRUCTION uint64_t fake_instruction(uint32_t index)
{
  uint64_t count = hardware[index - 1];

  __atomic_add_fetch(&executed, 1, __ATOMIC_RELAXED);
  if (during_instruction)
    during_instruction();
  return count;
}

static struct cpucycles_perf_refusal fake_refusal;

static void explain_hidden_fake(struct cpucycles_why *why)
{
  why->remedy = "show it";
}

static const struct cpucycles_perf_method fake_method = {
  .instruction = fake_instruction,
  .refusal = &fake_refusal,
  .explain_hidden = explain_hidden_fake,
};

static CPUCYCLES_PERF_GUARDED long long read_by_fake(void)
{
  return cpucycles_perf_read(&fake_method, fake_instruction, self.index, self.shift);
}

static int rescue_fake(int signal, const void *info, void *context)
{
  (void)context;
  return signal == SIGSEGV && tested_rescue_page(info);
}

/* A page as the kernel fills it, in memory that can be unmapped. */
static struct perf_event_mmap_page *new_page(uint32_t index, int width, long long offset)
{
  struct perf_event_mmap_page *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE),
    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  ck_assert_ptr_ne(page, MAP_FAILED);
  madvise(page, (size_t)sysconf(_SC_PAGESIZE), MADV_DONTFORK); /* like the kernel's */
  page->cap_user_rdpmc = 1;
  page->data_offset = (uint64_t)sysconf(_SC_PAGESIZE);
  page->lock = 6;
  page->index = index;
  page->pmc_width = (uint16_t)width;
  page->offset = offset;
  page->time_enabled = page->time_running = 1000000;
  return page;
}

static struct perf_event_mmap_page *record(int which, uint32_t index, int width, long long offset)
{
  return recorded[which] = new_page(index, width, offset);
}

static void skip_no_events(const char *test)
{
  skip(test, "this kernel or emulator has no perf events");
}

/* Opens the counter as the library would. Returns 0 and reports a skip if that is impossible
   here. */
static int opened(const char *test)
{
  struct cpucycles_why why = { 0 };
  int error;

  cpucycles_implementation(); /* so that the next best counter exists */
  error = by_read.open(&why);
  if (error)
    skip_no_events(test);
  return error == 0;
}

static void open_by_fake(void)
{
  struct cpucycles_why why = { 0 };

  cpucycles_implementation();
  ck_assert_int_eq(cpucycles_perf_open(&fake_method, &why), 0);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_PAGES);
}

/* Pages of memory that the process has mapped. */
static long mapped_pages(void)
{
  FILE *file = fopen("/proc/self/statm", "r");
  long pages = -1;

  if (!file)
    return -1;
  if (fscanf(file, "%ld", &pages) != 1)
    pages = -1;
  fclose(file);
  return pages;
}

/* Spends this much CPU time. */
static void spend_cpu_time(long long nanoseconds)
{
  struct timespec now;
  long long end = 0;

  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    if (!end)
      end = now.tv_sec * 1000000000LL + now.tv_nsec + nanoseconds;
  } while (now.tv_sec * 1000000000LL + now.tv_nsec < end);
}

/* From half to double: the machine may be busy. */
static void expect_about(long long got, long long wanted)
{
  ck_assert_int_ge(got, wanted / 2);
  ck_assert_int_le(got, wanted * 2);
}

static int status_of(pid_t child)
{
  int status = -1;

  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Threads. */

static void *measure_cpu_time(void *nanoseconds)
{
  long long begin = by_read.read();

  spend_cpu_time(20000000);
  *(long long *)nanoseconds = by_read.read() - begin;
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
  mine = by_read.read();
  for (i = 0; i < 4; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, measure_cpu_time, &counted[i]), 0);
  for (i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    expect_about(counted[i], 20000000);
  }
  /* this thread slept */
  ck_assert_int_lt(by_read.read() - mine, 20000000);
}
END_TEST

static void *read_twice(void *read)
{
  long long (*read_counter)(void) = *(long long (**)(void))read;
  long long begin = read_counter();

  return read_counter() >= begin ? read : NULL;
}

static void run_threads(long long (*read_counter)(void), int count)
{
  int i;

  for (i = 0; i < count; i++) {
    pthread_t thread;
    void *result;

    ck_assert_int_eq(pthread_create(&thread, NULL, read_twice, &read_counter), 0);
    pthread_join(thread, &result);
    ck_assert_ptr_nonnull(result);
  }
}

/* Only this thread has the recorded page. The other threads map the pages of their software
   events, which have no index. */
START_TEST(short_lived_threads_leak_nothing)
{
  int descriptors, i;
  long pages;

  record(0, 1, 48, 0);
  open_by_fake();
  for (i = 0; i < 2; i++) {
    long long (*read_counter)(void) = i == 0 ? by_read.read : read_by_fake;

    run_threads(read_counter, 10); /* allocates what the C library caches for threads */
    descriptors = suite_entries("/proc/self/fd");
    pages = mapped_pages();
    run_threads(read_counter, suite_runs(10000));
    ck_assert_int_eq(suite_entries("/proc/self/fd"), descriptors);
    /* the tools' own memory grows */
    if (!suite_under("valgrind") && !suite_under("asan") && !suite_under("qemu"))
      ck_assert_int_le(mapped_pages(), pages);
  }
}
END_TEST

START_TEST(unit_says_whether_the_kernel_is_excluded)
{
  struct cpucycles_why why = { 0 };

  if (!opened("unit_says_whether_the_kernel_is_excluded"))
    return;
  ck_assert_str_eq(by_read.unit, "core cycles in user mode");
  ck_assert_int_eq((int)requests[request_count - 1].exclude_kernel, 1);
  by_read.close();
  refuses_exclusion = 1;
  ck_assert_int_eq(by_read.open(&why), 0);
  ck_assert_str_eq(why.unit, "core cycles in user mode and kernel");
  ck_assert_int_eq((int)requests[request_count - 1].exclude_kernel, 0);
}
END_TEST

/* Descriptors and memory that threads cost the program. */

enum { MANY = 1100, READERS = 100, LIMIT = 1024 };

static pthread_barrier_t all_have_read, readers_may_exit;

static void *read_and_wait(void *read)
{
  void *result = read_twice(read);

  pthread_barrier_wait(&all_have_read);
  pthread_barrier_wait(&readers_may_exit);
  return result;
}

/* Starts count threads that read and then wait. */
static void start_readers(pthread_t *threads, int count, long long (**read_counter)(void))
{
  pthread_attr_t small;
  int i;

  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  pthread_barrier_init(&all_have_read, NULL, (unsigned)count + 1);
  pthread_barrier_init(&readers_may_exit, NULL, (unsigned)count + 1);
  for (i = 0; i < count; i++)
    ck_assert_int_eq(pthread_create(&threads[i], &small, read_and_wait, read_counter), 0);
  pthread_barrier_wait(&all_have_read);
}

static void end_readers(pthread_t *threads, int count)
{
  void *result;
  int i;

  pthread_barrier_wait(&readers_may_exit);
  for (i = 0; i < count; i++) {
    pthread_join(threads[i], &result);
    ck_assert_ptr_nonnull(result);
  }
}

START_TEST(threads_reading_through_pages_hold_no_descriptor)
{
  long long (*read_counter)(void) = read_by_fake;
  pthread_t threads[READERS];
  int before = suite_entries("/proc/self/fd");

  record(0, 1, 48, 0);
  every_event_has_a_page = 1;
  prepared_reading.enabled = prepared_reading.running = 1; /* read(2) returns the page's count, 0 */
  open_by_fake();
  start_readers(threads, READERS, &read_counter);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
  end_readers(threads, READERS);
  ck_assert_int_ge(executed, 2 * READERS);
}
END_TEST

/* Number of descriptors that the program can still open. */
static int free_descriptors(void)
{
  static int opened_here[LIMIT];
  int count = 0, i;

  while (count < LIMIT && (opened_here[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
    count++;
  for (i = 0; i < count; i++)
    close(opened_here[i]);
  return count;
}

START_TEST(many_threads_leave_half_of_the_descriptors_free)
{
  static pthread_t threads[MANY];
  long long (*read_counter)(void) = by_read.read;
  struct rlimit limit;
  int before;

  if (skip_under("valgrind", "many_threads_leave_half_of_the_descriptors_free",
        "valgrind takes at most 500 threads"))
    return;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = LIMIT;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    skip("many_threads_leave_half_of_the_descriptors_free", "the limit of descriptors is less");
    return;
  }
  if (!opened("many_threads_leave_half_of_the_descriptors_free"))
    return;
  before = suite_entries("/proc/self/fd");
  start_readers(threads, MANY, &read_counter);
  ck_assert_int_le(suite_entries("/proc/self/fd") - before, LIMIT / 2);
  ck_assert_int_ge(free_descriptors(), LIMIT / 2 - before);
  ck_assert_str_eq(noted, "by-next-best");
  end_readers(threads, MANY);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
}
END_TEST

START_TEST(threads_open_no_descriptors_above_half_of_the_range)
{
  long long (*read_counter)(void) = by_read.read;
  struct rlimit limit;
  pthread_t thread;
  int i;

  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 3000;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    skip("threads_open_no_descriptors_above_half_of_the_range",
      "the limit of descriptors is less");
    return;
  }
  if (!opened("threads_open_no_descriptors_above_half_of_the_range"))
    return;
  for (i = self.events[0].descriptor + 1; i < 1024 + 1500; i++)
    ck_assert_int_eq(dup2(0, i), i);
  noted = NULL;
  ck_assert_int_eq(pthread_create(&thread, NULL, read_twice, &read_counter), 0);
  pthread_join(thread, NULL);
  ck_assert_str_eq(noted, "by-next-best");
  close(1024 + 1499);
  noted = NULL;
  ck_assert_int_eq(pthread_create(&thread, NULL, read_twice, &read_counter), 0);
  pthread_join(thread, NULL);
  ck_assert_ptr_null(noted);
}
END_TEST

START_TEST(event_descriptor_avoids_the_standard_streams)
{
  struct rlimit limit;
  int saved[3], i, descriptor;

  if (!opened("event_descriptor_avoids_the_standard_streams"))
    return;
  by_read.close();
  for (i = 0; i < 3; i++) {
    saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
    close(i);
  }
  opened("event_descriptor_avoids_the_standard_streams");
  descriptor = self.events[0].descriptor;
  ck_assert_int_eq(fcntl(0, F_GETFD), -1);
  for (i = 0; i < 3; i++)
    dup2(saved[i], i);
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  ck_assert_int_ge(descriptor, limit.rlim_cur < 2048 ? (int)limit.rlim_cur / 2 : 1024);
}
END_TEST

#ifdef HAVE_MALLINFO2
static void *count_allocations(void *bytes)
{
  size_t before = mallinfo2().uordblks;

  by_read.read();
  *(size_t *)bytes = mallinfo2().uordblks - before;
  return NULL;
}

START_TEST(first_read_in_a_thread_allocates_nothing)
{
  pthread_key_t keys[100];
  pthread_t thread;
  size_t bytes = 1;
  int i;

  for (i = 0; i < 100; i++) /* the program's own keys, before its first call */
    ck_assert_int_eq(pthread_key_create(&keys[i], NULL), 0);
  if (!opened("first_read_in_a_thread_allocates_nothing"))
    return;
  ck_assert_int_eq(pthread_create(&thread, NULL, count_allocations, &bytes), 0);
  pthread_join(thread, NULL);
  ck_assert_uint_eq(bytes, 0);
}
END_TEST
#else
START_TEST(first_read_in_a_thread_allocates_nothing)
{
  skip("first_read_in_a_thread_allocates_nothing",
    "this C library does not count what is allocated");
}
END_TEST
#endif

static pthread_key_t late_key; /* its destructor runs after ours */
static long long late_before, late_after;
static int late_rounds;

static void read_late(void *value)
{
  late_after = read_by_fake();
  /* some tools do not see that the join comes later */
  if (__atomic_add_fetch(&late_rounds, 1, __ATOMIC_ACQ_REL) < 4)
    pthread_setspecific(late_key, value);
}

static void *exit_reading(void *value)
{
  read_by_fake();
  hardware[2] = 1000000000000LL;
  prepared_reading.value = 1000000000005ULL; /* read(2) returns the page's count */
  prepared_reading.enabled = prepared_reading.running = 1;
  late_before = read_by_fake();
  pthread_setspecific(late_key, &late_key);
  return value;
}

START_TEST(read_in_a_later_destructor_goes_upward_and_leaks_nothing)
{
  pthread_t thread;
  int descriptors;

  record(0, 2, 48, 0);
  open_by_fake();
  ck_assert_int_eq(pthread_key_create(&late_key, read_late), 0);
  record(1, 3, 48, 5);
  descriptors = suite_entries("/proc/self/fd");
  noted = NULL;
  ck_assert_int_eq(pthread_create(&thread, NULL, exit_reading, NULL), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(__atomic_load_n(&late_rounds, __ATOMIC_ACQUIRE), 4);
  ck_assert_int_gt(late_before, 900000000000LL);
  ck_assert_int_ge(late_after, late_before);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), descriptors);
  ck_assert_ptr_null(noted); /* no thread fell back */
}
END_TEST

START_TEST(closed_counter_leaks_nothing)
{
  int before = suite_entries("/proc/self/fd");

  if (!opened("closed_counter_leaks_nothing"))
    return;
  by_read.close();
  ck_assert_int_eq(suite_entries("/proc/self/fd"), before);
  ck_assert_ptr_eq((const void *)self.only_page, &cpucycles_perf_no_page);
}
END_TEST

static void *read_and_wait_for_close(void *unused)
{
  by_read.read();
  pthread_barrier_wait(&all_have_read);
  pthread_barrier_wait(&readers_may_exit);
  return unused;
}

START_TEST(thread_exit_after_the_close_is_harmless)
{
  int descriptors = suite_entries("/proc/self/fd");
  pthread_t thread;

  if (!opened("thread_exit_after_the_close_is_harmless"))
    return;
  pthread_barrier_init(&all_have_read, NULL, 2);
  pthread_barrier_init(&readers_may_exit, NULL, 2);
  ck_assert_int_eq(pthread_create(&thread, NULL, read_and_wait_for_close, NULL), 0);
  pthread_barrier_wait(&all_have_read);
  by_read.close();
  pthread_barrier_wait(&readers_may_exit);
  pthread_join(thread, NULL);
  ck_assert_int_eq(suite_entries("/proc/self/fd"), descriptors);
}
END_TEST

/* Child processes. */

/* In a child: 0 if it counts its own time, starting from its parent's count. */
static int child_is_right(long long before, long long (*read_counter)(void))
{
  long long begin = read_counter(), end;

  spend_cpu_time(20000000);
  end = read_counter();
  return begin < before ? 1 : end - begin < 10000000 ? 2 : end - begin > 40000000 ? 3
    : self.state != CPUCYCLES_PERF_BY_DESCRIPTORS ? 4 : self.process != getpid() ? 5 : 0;
}

START_TEST(forked_child_counts_itself_upward_from_its_parents_count)
{
  long long before, after;
  int descriptors;
  pid_t child;

  if (!opened("forked_child_counts_itself_upward_from_its_parents_count"))
    return;
  spend_cpu_time(5000000);
  descriptors = suite_entries("/proc/self/fd");
  before = by_read.read();
  child = fork();
  if (child == 0) {
    int wrong = child_is_right(before, by_read.read);

    suite_exit(wrong ? wrong : suite_entries("/proc/self/fd") == descriptors ? 0 : 6);
  }
  ck_assert_int_eq(status_of(child), 0);
  after = by_read.read();
  ck_assert_int_ge(after, before);
  ck_assert_int_lt(after - before, 20000000); /* without the child's 20 ms */
}
END_TEST

START_TEST(forked_child_touches_no_page_of_its_parent)
{
  long long before;
  pid_t child;

  record(0, 3, 64, 1000);
  hardware[2] = 500;
  prepared_reading.value = 1500; /* read(2) returns the page's count */
  prepared_reading.enabled = prepared_reading.running = 1;
  open_by_fake();
  before = read_by_fake();
  hardware[2] += 1000000000000ULL; /* before the fork */
  child = fork();
  if (child == 0) {
    long long after;
    int executed_by_parent = executed;

    recorded[0] = NULL; /* the child's own event has a page without an index */
    prepared_reading.enabled = 0;
    after = read_by_fake();
    suite_exit(after < before + 1000000000000LL ? 1 : self.process != getpid() ? 2
      : self.state == CPUCYCLES_PERF_BY_PAGES ? 3 : executed != executed_by_parent);
  }
  ck_assert_int_eq(status_of(child), 0);
  ck_assert_int_eq(read_by_fake(), before + 1000000000000LL);
}
END_TEST

static void *fork_here(void *status)
{
  long long before = by_read.read();
  pid_t child = fork();

  if (child == 0)
    suite_exit(child_is_right(before, by_read.read));
  *(int *)status = status_of(child);
  return NULL;
}

START_TEST(child_forked_by_another_thread_counts_itself)
{
  pthread_t thread;
  int status = -1;

  if (!opened("child_forked_by_another_thread_counts_itself"))
    return;
  ck_assert_int_eq(pthread_create(&thread, NULL, fork_here, &status), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(child_of_a_raw_clone_counts_itself)
{
  long long before;
  pid_t child;

  if (!opened("child_of_a_raw_clone_counts_itself"))
    return;
  if (skip_under("valgrind", "child_of_a_raw_clone_counts_itself", "valgrind knows fork alone"))
    return;
  before = by_read.read();
#ifdef __s390x__
  child = (pid_t)syscall(SYS_clone, NULL, SIGCHLD, NULL, NULL, NULL);
#else
  child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
#endif
  if (child == 0)
    _exit(child_is_right(before, by_read.read));
  ck_assert_int_eq(status_of(child), 0);
}
END_TEST

/* A separate function, because vfork() returns into it twice: few locals can be clobbered. */
static __attribute__((noinline)) pid_t read_in_vfork_child(const long long *before)
{
  pid_t child = vfork();

  if (child == 0) {
    (void)by_read.read();
    (void)by_read.read(); /* it stands still */
    _exit(by_read.read() < *before);
  }
  return child;
}

START_TEST(vfork_child_disturbs_nothing)
{
  long long before, after;
  uint64_t id;
  pid_t child;

  if (skip_under("asan", "vfork_child_disturbs_nothing",
    "the sanitizer takes vfork for something else"))
    return;
  if (!opened("vfork_child_disturbs_nothing"))
    return;
  before = by_read.read();
  id = self.events[0].id;
  child = read_in_vfork_child(&before);
  ck_assert_int_eq(status_of(child), 0);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_DESCRIPTORS);
  ck_assert(self.events[0].id == id);
  spend_cpu_time(10000000);
  after = by_read.read();
  expect_about(after - before, 10000000);
}
END_TEST

static struct perf_event_mmap_page *page;

static __attribute__((noinline)) pid_t read_page_in_vfork_child(const long long *before)
{
  pid_t child = vfork();

  if (child == 0) {
    page->lock += 2;
    page->index = 0; /* the parent's event has left the hardware */
    _exit(read_by_fake() != *before);
  }
  return child;
}

START_TEST(vfork_child_leaves_the_page)
{
  long long before;
  pid_t child;

  if (skip_under("asan", "vfork_child_leaves_the_page",
    "the sanitizer takes vfork for something else")
    || skip_under("tsan", "vfork_child_leaves_the_page", "the sanitizer makes vfork a fork")
    || skip_under("valgrind", "vfork_child_leaves_the_page", "valgrind makes vfork a fork")
    || skip_under("qemu", "vfork_child_leaves_the_page", "qemu takes vfork for fork"))
    return;
  page = record(0, 2, 48, 0);
  open_by_fake();
  self.base = self.last = 0;
  hardware[1] = 1000;
  before = read_by_fake();
  child = read_page_in_vfork_child(&before);
  ck_assert_int_eq(status_of(child), 0);
  page->lock += 2;
  page->index = 2;
  hardware[1] = 2000;
  ck_assert_int_eq(read_by_fake(), 2000);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_PAGES);
}
END_TEST

extern char **environ;

START_TEST(forked_child_that_never_read_unmaps_nothing_at_exit)
{
  struct perf_event_mmap_page *at = record(0, 2, 48, 0);
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  pid_t child;

  if (skip_under("qemu", "forked_child_that_never_read_unmaps_nothing_at_exit",
        "qemu says that it wipes memory in a forked child, and does not"))
    return;
  open_by_fake();
  read_by_fake();
  child = fork();
  if (child == 0) {
    /* The parent's page is not inherited, so the child's own memory can come to lie at its
       address. */
    volatile struct perf_event_mmap_page *mine = mmap(at, size, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

    mine->data_offset = size; /* content that looks like a page of an event */
    mine->lock = 7;
    unload(); /* like exit() */
    suite_exit(mine->lock == 7 ? 0 : 1);
  }
  ck_assert_int_eq(status_of(child), 0);
}
END_TEST

START_TEST(count_goes_upward_in_a_child_that_closes_the_descriptor)
{
  long long before;
  pid_t child;

  record(0, 2, 48, 0);
  open_by_fake();
  if (skip_under("qemu", "count_goes_upward_in_a_child_that_closes_the_descriptor",
        "qemu says that it wipes memory in a forked child, and does not"))
    return;
  self.base = self.last = 0;
  spend_cpu_time(1000000);
  hardware[1] = 2000000; /* two cycles a nanosecond */
  before = read_by_fake();
  ck_assert_int_gt(before, 0);
  child = fork();
  if (child == 0) {
    close(self.events[0].descriptor);
    recorded[0] = NULL;
    suite_exit(read_by_fake() < before);
  }
  ck_assert_int_eq(status_of(child), 0);
}
END_TEST

START_TEST(spawned_program_disturbs_nothing)
{
  char *arguments[] = { (char *)"true", NULL };
  long long before;
  uint64_t id;
  pid_t child;

  if (!opened("spawned_program_disturbs_nothing"))
    return;
  before = by_read.read();
  id = self.events[0].id;
  ck_assert_int_eq(posix_spawnp(&child, "true", NULL, NULL, arguments, environ), 0);
  ck_assert_int_eq(status_of(child), 0);
  ck_assert_int_ge(by_read.read(), before);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_DESCRIPTORS);
  ck_assert(self.events[0].id == id);
}
END_TEST

START_TEST(no_descriptor_is_inherited_across_exec)
{
  if (!opened("no_descriptor_is_inherited_across_exec"))
    return;
  ck_assert_int_eq(fcntl(self.events[0].descriptor, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}
END_TEST

/* Lost descriptors, events and pages. */

START_TEST(closed_descriptor_leads_to_the_next_best_counter)
{
  long long before, after;

  if (!opened("closed_descriptor_leads_to_the_next_best_counter"))
    return;
  before = by_read.read();
  close(self.events[0].descriptor);
  after = by_read.read();
  ck_assert_int_ge(after, before);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_NEXT_BEST);
  ck_assert_str_eq(noted, "by-next-best");
  spend_cpu_time(10000000);
  before = by_read.read();
  ck_assert_int_gt(before, after); /* in cycles from here */
  ck_assert_int_ge(before - after, cpucycles_persecond() / 100 / 2);
}
END_TEST

/* One read is needed to recognise a foreign file. */
START_TEST(file_on_our_descriptor_is_read_once_and_stays_open)
{
  char bytes[100] = { 0 };
  int pipe_ends[2], number;

  if (!opened("file_on_our_descriptor_is_read_once_and_stays_open"))
    return;
  number = self.events[0].descriptor;
  ck_assert_int_eq(pipe(pipe_ends), 0);
  ck_assert_int_eq((int)write(pipe_ends[1], bytes, sizeof bytes), (int)sizeof bytes);
  ck_assert_int_eq(dup2(pipe_ends[0], number), number);
  by_read.read();
  by_read.read();
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_NEXT_BEST);
  by_read.close();
  ck_assert_int_eq((int)read(number, bytes, sizeof bytes),
    (int)(sizeof bytes - sizeof(struct reading)));
}
END_TEST

START_TEST(foreign_event_on_our_descriptor_is_rejected)
{
  struct perf_event_attr wanted;
  int other;

  memset(&wanted, 0, sizeof wanted);
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_CPU_CYCLES;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
    | PERF_FORMAT_ID;
  wanted.exclude_kernel = 1;
  other = kernel_open(&wanted);
  spend_cpu_time(1000000); /* puts it ahead of ours */
  if (!opened("foreign_event_on_our_descriptor_is_rejected"))
    return;
  ck_assert_int_ge(other, 0);
  ck_assert_int_eq(dup2(other, self.events[0].descriptor), self.events[0].descriptor);
  by_read.read();
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_NEXT_BEST);
}
END_TEST

START_TEST(count_of_a_multiplexed_event_is_rejected)
{
  long long before;

  if (!opened("count_of_a_multiplexed_event_is_rejected"))
    return;
  before = by_read.read();
  prepared_reading.value = (uint64_t)before + 1000000000000ULL;
  prepared_reading.enabled = 1000;
  prepared_reading.running = 999;
  ck_assert_int_ge(by_read.read(), before);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_NEXT_BEST);
}
END_TEST

START_TEST(count_goes_upward_after_the_program_closes_all_descriptors)
{
  pid_t child;

  if (!opened("count_goes_upward_after_the_program_closes_all_descriptors"))
    return;
  child = fork();
  if (child == 0) {
    long long before = by_read.read(), after;
    int i, reads;

    for (i = 3; i < 4096; i++) /* like closefrom() */
      close(i);
    after = by_read.read();
    for (reads = 0; reads < 100 && after >= before; reads++) {
      before = after;
      after = by_read.read();
    }
    suite_exit(after < before ? 1 : self.state != CPUCYCLES_PERF_BY_NEXT_BEST ? 2
      : noted && strcmp(noted, "by-next-best") == 0 ? 0 : 3);
  }
  ck_assert_int_eq(status_of(child), 0);
}
END_TEST

START_TEST(disabled_event_leads_to_the_next_best_counter)
{
  long long before, after;

  if (!opened("disabled_event_leads_to_the_next_best_counter"))
    return;
  if (events_are_simulated || prctl(PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0) != 0) {
    skip("disabled_event_leads_to_the_next_best_counter", "perf events cannot be disabled here");
    return;
  }
  before = by_read.read(); /* includes the time until the event was disabled */
  after = by_read.read();
  ck_assert_int_ge(after, before);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_NEXT_BEST);
  ck_assert_str_eq(noted, "by-next-best");
  spend_cpu_time(10000000);
  ck_assert_int_ge(by_read.read() - after, cpucycles_persecond() / 100 / 2);
}
END_TEST

START_TEST(multiplexed_event_is_not_opened)
{
  struct cpucycles_why why = { 0 };

  record(0, 2, 48, 1000);
  prepared_reading.value = 1000;
  prepared_reading.enabled = 1000000;
  prepared_reading.running = 500000;
  ck_assert_int_eq(cpucycles_perf_open(&fake_method, &why), EIO);
  cpucycles_perf_close();
  ck_assert_int_eq(executed, 0);
}
END_TEST

START_TEST(page_whose_event_ran_part_of_the_time_is_abandoned)
{
  page = record(0, 2, 48, 1000);
  hardware[1] = 500;
  open_by_fake();
  read_by_fake();
  page->lock += 2;
  page->index = 3; /* on its core again, after another core type */
  page->time_enabled += 2000000;
  page->time_running += 1000000;
  read_by_fake();
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_DESCRIPTORS);
}
END_TEST

static void *count_by_next_best(void *step)
{
  long long begin = by_read.read();

  spend_cpu_time(10000000);
  *(long long *)step = by_read.read() - begin;
  return self.state == CPUCYCLES_PERF_BY_NEXT_BEST ? step : NULL;
}

START_TEST(thread_without_a_free_descriptor_uses_the_next_best_counter)
{
  struct rlimit usual, none;
  pthread_t thread;
  long long step;
  void *result;

  if (!opened("thread_without_a_free_descriptor_uses_the_next_best_counter"))
    return;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
  none = usual;
  none.rlim_cur = 0;
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, count_by_next_best, &step), 0);
  pthread_join(thread, &result);
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
  ck_assert_ptr_nonnull(result);
  ck_assert_int_ge(step, cpucycles_persecond() / 100 / 2);
}
END_TEST

static void install_handlers(int (*rescue)(int, const void *, void *));

/* _i selects the filter: 0 answers EPERM, 1 raises SIGSYS. */
START_TEST(thread_under_a_later_seccomp_filter_uses_the_next_best_counter)
{
#ifdef HAVE_LINUX_SECCOMP_H
  const unsigned answers[] = { SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_TRAP };
  struct sock_filter instructions[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, answers[_i]),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = { sizeof instructions / sizeof instructions[0], instructions };
  pthread_t thread;
  long long step;
  void *result;

  if (_i == 1 && skip_under("valgrind",
    "thread_under_a_later_seccomp_filter_uses_the_next_best_counter (SIGSYS)",
        "valgrind 3.19 itself ends when a filter raises SIGSYS"))
    return;
  if (!opened("thread_under_a_later_seccomp_filter_uses_the_next_best_counter"))
    return;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
    || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    skip("thread_under_a_later_seccomp_filter_uses_the_next_best_counter",
      "no seccomp filters here");
    return;
  }
  install_handlers(by_read.rescue);
  by_read.read();
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_DESCRIPTORS); /* open events stay */
  ck_assert_int_eq(pthread_create(&thread, NULL, count_by_next_best, &step), 0);
  pthread_join(thread, &result);
  ck_assert_ptr_nonnull(result);
  ck_assert_int_ge(step, cpucycles_persecond() / 100 / 2);
#else
  skip("thread_under_a_later_seccomp_filter_uses_the_next_best_counter",
    "built without linux/seccomp.h");
#endif
}
END_TEST

START_TEST(read_preserves_errno)
{
  if (!opened("read_preserves_errno"))
    return;
  errno = 4711;
  by_read.read();
  close(self.events[0].descriptor);
  by_read.read();
  ck_assert_int_eq(errno, 4711);
}
END_TEST

/* Signal handlers. */

static long long (*read_in_signal)(void);
static volatile long long last_in_handler;
static volatile int handled, backward;

static void read_in_handler(int signal)
{
  long long count = read_in_signal();

  (void)signal;
  if (count < last_in_handler)
    backward = 1;
  last_in_handler = count;
  handled++;
}

static void interrupt_reads(long long (*read_counter)(void))
{
  struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
  struct sigaction action;
  long long last = 0;
  int wanted = suite_runs(2000), i;

  read_in_signal = read_counter;
  memset(&action, 0, sizeof action);
  action.sa_handler = read_in_handler;
  ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
  ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
  for (i = 0; handled < wanted && i < 100000000; i++) {
    long long count = read_counter();

    ck_assert_int_ge(count, last);
    last = count;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  ck_assert_int_ge(handled, wanted);
  ck_assert_int_eq(backward, 0);
}

START_TEST(read_in_a_handler_that_interrupts_a_read_goes_upward)
{
  if (!opened("read_in_a_handler_that_interrupts_a_read_goes_upward"))
    return;
  interrupt_reads(by_read.read);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_DESCRIPTORS);
}
END_TEST

static void advance_counter(void)
{
  hardware[4]++;
}

START_TEST(instruction_read_in_a_handler_that_interrupts_one_goes_upward)
{
  record(0, 5, 48, 7);
  open_by_fake();
  self.base = 0;
  during_instruction = advance_counter;
  interrupt_reads(read_by_fake);
}
END_TEST

/* Recorded mmap pages. */

START_TEST(count_is_offset_plus_sign_extended_counter_at_every_width)
{
  static const struct {
    int width;
    long long offset;
    uint64_t counter;
    long long count;
  } cases[] = {
    { 32, 0, 5, 5 },
    { 32, 0x100000000LL, 0x7fffffff, 0x17fffffffLL },
    { 32, 0x100000000LL, 0x80000000, 0x80000000LL }, /* past the middle: negative */
    { 32, 1000, 0xdeadbeef00000010ULL, 1016 },        /* bits above the width are ignored */
    { 40, 1LL << 39, 0xffffffffffULL, (1LL << 39) - 1 },
    { 40, 1LL << 39, 0x8000000000ULL, 0 },
    { 48, 1LL << 47, 0x800000000000ULL, 0 }, /* where Linux starts its counters on Intel */
    { 48, 1LL << 47, 0x7fffffffffffULL, (1LL << 48) - 1 },
    { 48, -1000, 3000, 2000 }, /* a negative offset */
    { 64, INT64_MIN, 0x8000000000000000ULL, 0 }, /* where Linux starts them on Arm */
    { 64, INT64_MIN, 0x8000000000001234ULL, 0x1234 },
    { 64, 0, 0x7fffffffffffffffULL, INT64_MAX },
  };
  unsigned i;

  page = record(0, 1, 64, 0);
  open_by_fake();
  self.base = 0; /* undoes the opening, which subtracts the event's count so far */
  for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    page->pmc_width = (uint16_t)cases[i].width;
    self.shift = 64 - cases[i].width; /* as set at the opening */
    page->offset = (int64_t)((uint64_t)cases[i].offset);
    hardware[0] = cases[i].counter;
    ck_assert_msg(read_by_fake() == cases[i].count, "case %u: %lld, not %lld", i, read_by_fake(),
      cases[i].count);
  }
}
END_TEST

START_TEST(count_continues_across_a_wraparound_of_the_counter)
{
  static const int widths[] = { 32, 40, 48 };
  unsigned i;

  page = record(0, 1, 48, 0);
  open_by_fake();
  for (i = 0; i < sizeof widths / sizeof widths[0]; i++) {
    uint64_t half = 1ULL << (widths[i] - 1);
    long long before;

    /* Linux starts it half its range back, so that it overflows at 0, and then moves the offset. */
    page->pmc_width = (uint16_t)widths[i];
    self.shift = 64 - widths[i];
    page->offset = (int64_t)half;
    hardware[0] = 2 * half - 10;
    before = read_by_fake();
    hardware[0] = 10; /* it wraps, and the interrupt is pending */
    ck_assert_int_eq(read_by_fake() - before, 20);
    page->lock += 2; /* the interrupt has run */
    page->offset = (int64_t)(half + 10 + half);
    hardware[0] = half;
    ck_assert_int_eq(read_by_fake() - before, 20);
    hardware[0] = half + 5;
    ck_assert_int_eq(read_by_fake() - before, 25);
  }
}
END_TEST

START_TEST(page_without_an_index_is_read_by_a_system_call)
{
  long long before, after;

  page = record(0, 2, 48, 0);
  open_by_fake();
  read_by_fake();
  page->index = 0;
  noted = NULL;
  before = read_by_fake(); /* from the real event */
  executed = 0;
  spend_cpu_time(10000000);
  after = read_by_fake();
  ck_assert_int_eq(executed, 0);
  expect_about(after - before, 10000000);
  ck_assert_str_eq(noted, "by-read");
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_DESCRIPTORS);
}
END_TEST

/* The kernel moves the event to another counter between the reads of the index and of the
   counter. */
static void move_once(void)
{
  if (executed > 1)
    return;
  page->lock += 2;
  page->index = 7;
  page->offset = 5000;
  hardware[6] = 42;
}

START_TEST(seqlock_change_during_a_read_repeats_the_read)
{
  page = record(0, 2, 48, 100);
  hardware[1] = 77;
  open_by_fake();
  self.base = 0;
  ck_assert_int_eq(read_by_fake(), 177);
  executed = 0;
  during_instruction = move_once;
  ck_assert_int_eq(read_by_fake(), 5042);
  ck_assert_int_eq(executed, 2);
}
END_TEST

static void lose_index(void)
{
  page->lock += 2;
  page->index = 0;
}

START_TEST(index_cleared_during_a_read_stops_the_instruction)
{
  page = record(0, 2, 48, 100);
  open_by_fake();
  during_instruction = lose_index;
  executed = 0;
  read_by_fake();
  read_by_fake();
  ck_assert_int_eq(executed, 1);
}
END_TEST

START_TEST(counter_hidden_by_the_kernel_is_not_opened)
{
  static const struct {
    uint32_t index;
    int width, shown;
  } cases[] = { { 0, 48, 1 }, { 1, 48, 0 }, { 1, 0, 1 }, { 1, 65, 1 } };
  unsigned i;

  for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct cpucycles_why why = { 0 };
    int error, descriptors = suite_entries("/proc/self/fd");

    page = record(0, cases[i].index, cases[i].width, 0);
    page->cap_user_rdpmc = (unsigned)cases[i].shown & 1;
    pages_given = 0;
    error = cpucycles_perf_open(&fake_method, &why);
    ck_assert_int_eq(error, EACCES);
    ck_assert_ptr_nonnull(why.explanation);
    ck_assert_int_eq(fake_refusal.is_hidden, 1);
    cpucycles_perf_close();
    ck_assert_int_eq(suite_entries("/proc/self/fd"), descriptors);
  }
  ck_assert_int_eq(executed, 0);
}
END_TEST

START_TEST(opening_another_counter_preserves_a_hidden_counters_reason)
{
  struct cpucycles_why why = { 0 }, other = { 0 }, later = { 0 };

  record(0, 0, 48, 0);
  ck_assert_int_eq(cpucycles_perf_open(&fake_method, &why), EACCES);
  cpucycles_perf_close();
  by_read.open(&other);
  by_read.close();
  cpucycles_perf_explain(&fake_method, EACCES, 0, &later);
  ck_assert_str_eq(later.remedy, "show it");
}
END_TEST

START_TEST(count_continues_after_the_page_loses_its_index)
{
  long long before, after;

  page = record(0, 2, 48, 1000);
  hardware[1] = 500;
  open_by_fake();
  self.base = self.last = 0;
  before = read_by_fake();
  page->lock += 2;
  page->index = 0;
  page->offset = 1000 + 500 + 1000000000000LL; /* it has counted on */
  after = read_by_fake();
  ck_assert_int_ge(after, before + 1000000000000LL);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_DESCRIPTORS);
  spend_cpu_time(10000000);
  expect_about(read_by_fake() - after, 10000000);
}
END_TEST

START_TEST(count_goes_upward_without_page_and_descriptor)
{
  struct rlimit usual, none;
  long long before, after;

  page = record(0, 2, 48, 1000);
  hardware[1] = 0;
  open_by_fake();
  hardware[1] = 2000000;
  before = read_by_fake();
  page->index = 0;
  page->offset = 0;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
  none = usual;
  none.rlim_cur = 0;
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  after = read_by_fake();
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
  ck_assert_int_ge(after, before);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_NEXT_BEST);
  ck_assert_int_ge(read_by_fake(), after);
}
END_TEST

/* Rescues by the library's own handlers. */

static void install_handlers(int (*rescue)(int, const void *, void *))
{
  struct cpucycles_signal_state saved;

  cpucycles_block_signals(&saved);
  cpucycles_trial_begin(&saved);
  cpucycles_trial_keep_handlers(rescue, tested_rescued);
  cpucycles_trial_end();
  cpucycles_restore_signals(&saved);
}

START_TEST(read_survives_an_unmapped_page)
{
  long long before, after;

  if (skip_under("valgrind", "read_survives_an_unmapped_page",
        "valgrind takes the fault for an error of the program"))
    return;
  page = record(0, 2, 48, 0);
  open_by_fake();
  install_handlers(rescue_fake);
  before = read_by_fake();
  spend_cpu_time(10000000);
  ck_assert_int_eq(munmap(page, (size_t)sysconf(_SC_PAGESIZE)), 0);
  executed = 0;
  noted = NULL;
  after = read_by_fake();
  ck_assert_int_eq(executed, 0);
  ck_assert_int_ge(after, before);
  ck_assert_str_eq(noted, "by-read");
  spend_cpu_time(10000000);
  expect_about(read_by_fake() - after, 10000000);
}
END_TEST

static void unmap_once(void)
{
  if (executed == 1)
    munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

START_TEST(read_survives_a_page_unmapped_during_it)
{
  if (skip_under("valgrind", "read_survives_a_page_unmapped_during_it",
        "valgrind takes the fault for an error of the program"))
    return;
  page = record(0, 2, 48, 0);
  open_by_fake();
  install_handlers(rescue_fake);
  executed = 0;
  hardware[1] = 1LL << 46; /* would look like a count */
  during_instruction = unmap_once;
  ck_assert_int_lt(read_by_fake(), 1LL << 45);
  ck_assert_int_eq(executed, 1);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_DESCRIPTORS);
}
END_TEST

START_TEST(memory_of_the_program_at_the_pages_address_is_not_replaced)
{
  siginfo_t info;
  char *mine;

  page = record(0, 2, 48, 0);
  open_by_fake();
  memset(&info, 0, sizeof info);
  info.si_addr = page; /* mapped memory */
  ck_assert_int_eq(tested_rescue_page(&info), 0);
  ck_assert_int_eq(page->index, 2);
  info.si_addr = &info;
  ck_assert_int_eq(tested_rescue_page(&info), 0);
  mine = (char *)page;
  memset(mine, 7, 4096); /* nothing like a kernel's page */
  ck_assert_int_eq(tested_rescue_instruction(), 0);
  cpucycles_perf_close();
  ck_assert_int_eq(mine[0], 7);
}
END_TEST

#if HAVE_BACKEND_amd64_pmc
/* amd64-pmc reads by the copy, too. Its static names are renamed, like default-perfevent's. */
#define method rdpmc_method
#define open_counter open_rdpmc
#define read_cycles read_by_rdpmc
#define refused rdpmc_refused
#define explain_refusal explain_rdpmc_refusal
#include "backends/amd64-pmc.c"
#undef method
#undef open_counter
#undef read_cycles
#undef refused
#undef explain_refusal

START_TEST(instruction_refused_after_the_opening_leads_to_read)
{
  struct cpucycles_why why = { 0 };
  long long before;

  cpucycles_implementation();
  page = record(0, 1, 48, 0);
  if (by_rdpmc.open(&why) != 0) {
    skip_no_events("instruction_refused_after_the_opening_leads_to_read");
    return;
  }
  if (skip_under("valgrind", "instruction_refused_after_the_opening_leads_to_read",
        "valgrind does not know the instruction"))
    return;
  install_handlers(by_rdpmc.rescue);
  noted = NULL;
  before = by_rdpmc.read();
  if (!noted) {
    skip("instruction_refused_after_the_opening_leads_to_read",
      "this system allows rdpmc always");
    return;
  }
  ck_assert_str_eq(noted, "by-read");
  spend_cpu_time(10000000);
  expect_about(by_rdpmc.read() - before, 10000000);
}
END_TEST
#else
START_TEST(instruction_refused_after_the_opening_leads_to_read)
{
  skip("instruction_refused_after_the_opening_leads_to_read",
    "the tests have no such instruction here");
}
END_TEST
#endif

/* Core types (hybrid CPUs). */

static char folder[] = "/tmp/cpucycles-perf-XXXXXX";

static void put_file(const char *pmu, const char *file, const char *text)
{
  char path[200];
  FILE *stream;

  snprintf(path, sizeof path, "%s/%s", folder, pmu);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/%s/events", folder, pmu);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/%s/%s", folder, pmu, file);
  stream = fopen(path, "w");
  ck_assert_ptr_nonnull(stream);
  fputs(text, stream);
  fclose(stream);
}

static void remove_devices(void)
{
  static const char *const pmus[] = { "cpu_core", "cpu_atom", "armv8_cortex_a53",
    "armv8_cortex_a72", "uncore", "arm_cspmu", "cpu_three", "cpu_four", "cpu_five" };
  static const char *const files[] = { "type", "cpus", "events/cpu_cycles", "events", "" };
  char path[200];
  unsigned i, j;

  for (i = 0; i < sizeof pmus / sizeof pmus[0]; i++)
    for (j = 0; j < sizeof files / sizeof files[0]; j++) {
      snprintf(path, sizeof path, "%s/%s/%s", folder, pmus[i], files[j]);
      remove(path);
    }
  remove(folder);
}

static void begin_devices(void)
{
  static char name[sizeof folder + 1];

  ck_assert_ptr_nonnull(mkdtemp(folder));
  sprintf(name, "%s/", folder);
  devices = name;
}

static void describe_hybrid(void)
{
  begin_devices();
  put_file("cpu_core", "type", "4\n");
  put_file("cpu_core", "cpus", "0-7\n");
  put_file("cpu_atom", "type", "10\n");
  put_file("cpu_atom", "cpus", "8-15\n");
  put_file("uncore", "type", "20\n"); /* belongs to no core */
  put_file("uncore", "cpus", "0\n");
  put_file("arm_cspmu", "type", "21\n"); /* named like a core's PMU, but has no cpus file */
}

static struct perf_event_mmap_page *pages[PAGES];

/* Two events; the thread runs on the core type of the first. */
static void open_hybrid(void)
{
  describe_hybrid();
  pages[0] = record(0, 1, 48, 1000);
  pages[1] = record(1, 0, 48, 200000);
  hardware[0] = 5;
  open_by_fake();
  remove_devices();
  self.base = 0;
  self.last = 0;
}

START_TEST(each_core_type_has_its_event)
{
  int i, seen[2] = { 0, 0 };

  open_hybrid();
  ck_assert_int_eq(self.event_count, 2);
  for (i = 0; i < request_count; i++) {
    seen[0] |= requests[i].config >> 32 == 4;
    seen[1] |= requests[i].config >> 32 == 10;
    ck_assert_int_ne((int)(requests[i].config >> 32), 20);
    ck_assert_int_ne((int)(requests[i].config >> 32), 21);
    ck_assert_int_eq((int)requests[i].pinned, 1);
  }
  ck_assert_int_eq(seen[0] + seen[1], 2);
}
END_TEST

START_TEST(counts_of_core_types_are_added)
{
  open_hybrid();
  ck_assert_int_eq(read_by_fake(), 1000 + 5 + 200000);
  hardware[0] = 25;
  ck_assert_int_eq(read_by_fake(), 1000 + 25 + 200000);
  /* the thread moves to the other core type */
  pages[0]->lock += 2;
  pages[0]->index = 0;
  pages[0]->offset = 1030;
  pages[1]->lock += 2;
  pages[1]->index = 3;
  hardware[2] = 4;
  ck_assert_int_eq(read_by_fake(), 1030 + 200000 + 4);
  ck_assert_int_eq(self.state, CPUCYCLES_PERF_BY_PAGES);
}
END_TEST

/* The thread visits the other core type after the first page was read. */
static void visit_other_core_type(void)
{
  if (executed > 1)
    return;
  pages[1]->lock += 2;
  pages[1]->offset += 300;
}

START_TEST(every_seqlock_is_checked_again)
{
  open_hybrid();
  executed = 0;
  during_instruction = visit_other_core_type;
  ck_assert_int_eq(read_by_fake(), 1000 + 5 + 200300);
  ck_assert_int_eq(executed, 2);
}
END_TEST

static void change_seqlock(void)
{
  pages[0]->lock += 2;
}

START_TEST(ever_changing_pages_lead_to_a_system_call)
{
  open_hybrid();
  during_instruction = change_seqlock;
  noted = NULL;
  read_by_fake();
  ck_assert_str_eq(noted, "by-read");
}
END_TEST

START_TEST(core_types_without_an_index_lead_to_a_system_call)
{
  open_hybrid();
  pages[0]->index = 0;
  executed = 0;
  noted = NULL;
  read_by_fake();
  ck_assert_int_eq(executed, 0);
  ck_assert_str_eq(noted, "by-read");
}
END_TEST

static int open_with_devices(struct cpucycles_why *why)
{
  int error;

  memset(why, 0, sizeof *why);
  error = by_read.open(why);
  remove_devices();
  return error;
}

START_TEST(core_type_without_an_event_drops_the_counter)
{
  struct cpucycles_why why;

  if (!opened("core_type_without_an_event_drops_the_counter"))
    return;
  by_read.close();
  describe_hybrid();
  refused_type = 10;
  ck_assert_int_eq(open_with_devices(&why), ENODEV);
  ck_assert_ptr_nonnull(why.explanation);
}
END_TEST

START_TEST(kernel_without_generic_events_by_core_type_gets_the_event_number)
{
  struct cpucycles_why why;

  if (!opened("kernel_without_generic_events_by_core_type_gets_the_event_number"))
    return;
  by_read.close();
  begin_devices();
  put_file("armv8_cortex_a53", "type", "8\n");
  put_file("armv8_cortex_a53", "cpus", "0-3\n");
  put_file("armv8_cortex_a53", "events/cpu_cycles", "event=0x0011\n");
  put_file("armv8_cortex_a72", "type", "9\n");
  put_file("armv8_cortex_a72", "cpus", "4-7\n");
  put_file("armv8_cortex_a72", "events/cpu_cycles", "event=0x0011\n");
  refused_type = 9;
  request_count = 0;
  /* The PMU's number is no event type here, so the test looks at the requests only. */
  open_with_devices(&why);
  ck_assert_int_ge(request_count, 3);
  ck_assert_int_eq((int)requests[request_count - 1].type, 9);
  ck_assert_int_eq((int)requests[request_count - 1].config, 0x11);
}
END_TEST

START_TEST(too_many_or_malformed_core_types_are_rejected)
{
  static const char *const types[] = { "", "x\n", "99999999999999999999\n", "-4\n" };
  struct cpucycles_why why;
  unsigned i;

  if (!opened("too_many_or_malformed_core_types_are_rejected"))
    return;
  by_read.close();
  for (i = 0; i < sizeof types / sizeof types[0]; i++) {
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    describe_hybrid();
    put_file("cpu_atom", "type", types[i]);
    ck_assert_int_eq(open_with_devices(&why), ENODEV);
    by_read.close();
  }
  strcpy(folder + sizeof folder - 7, "XXXXXX");
  describe_hybrid();
  put_file("cpu_three", "type", "11\n");
  put_file("cpu_three", "cpus", "1\n");
  put_file("cpu_four", "type", "12\n");
  put_file("cpu_four", "cpus", "1\n");
  put_file("cpu_five", "type", "13\n");
  put_file("cpu_five", "cpus", "1\n");
  ck_assert_int_eq(open_with_devices(&why), ENODEV);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, each_thread_counts_itself);
  tcase_add_test(tests, short_lived_threads_leak_nothing);
  tcase_add_test(tests, threads_reading_through_pages_hold_no_descriptor);
  tcase_add_test(tests, many_threads_leave_half_of_the_descriptors_free);
  tcase_add_test(tests, threads_open_no_descriptors_above_half_of_the_range);
  tcase_add_test(tests, event_descriptor_avoids_the_standard_streams);
  tcase_add_test(tests, first_read_in_a_thread_allocates_nothing);
  tcase_add_test(tests, unit_says_whether_the_kernel_is_excluded);
  tcase_add_test(tests, read_in_a_later_destructor_goes_upward_and_leaks_nothing);
  tcase_add_test(tests, closed_counter_leaks_nothing);
  tcase_add_test(tests, thread_exit_after_the_close_is_harmless);
  tcase_add_test(tests, forked_child_counts_itself_upward_from_its_parents_count);
  tcase_add_test(tests, forked_child_touches_no_page_of_its_parent);
  tcase_add_test(tests, child_forked_by_another_thread_counts_itself);
  tcase_add_test(tests, child_of_a_raw_clone_counts_itself);
  tcase_add_test(tests, vfork_child_disturbs_nothing);
  tcase_add_test(tests, vfork_child_leaves_the_page);
  tcase_add_test(tests, forked_child_that_never_read_unmaps_nothing_at_exit);
  tcase_add_test(tests, count_goes_upward_in_a_child_that_closes_the_descriptor);
  tcase_add_test(tests, spawned_program_disturbs_nothing);
  tcase_add_test(tests, no_descriptor_is_inherited_across_exec);
  tcase_add_test(tests, closed_descriptor_leads_to_the_next_best_counter);
  tcase_add_test(tests, file_on_our_descriptor_is_read_once_and_stays_open);
  tcase_add_test(tests, foreign_event_on_our_descriptor_is_rejected);
  tcase_add_test(tests, count_of_a_multiplexed_event_is_rejected);
  tcase_add_test(tests, count_goes_upward_after_the_program_closes_all_descriptors);
  tcase_add_test(tests, disabled_event_leads_to_the_next_best_counter);
  tcase_add_test(tests, multiplexed_event_is_not_opened);
  tcase_add_test(tests, page_whose_event_ran_part_of_the_time_is_abandoned);
  tcase_add_test(tests, thread_without_a_free_descriptor_uses_the_next_best_counter);
  tcase_add_loop_test(tests, thread_under_a_later_seccomp_filter_uses_the_next_best_counter, 0, 2);
  tcase_add_test(tests, read_preserves_errno);
  tcase_add_test(tests, read_in_a_handler_that_interrupts_a_read_goes_upward);
  tcase_add_test(tests, instruction_read_in_a_handler_that_interrupts_one_goes_upward);
  tcase_add_test(tests, count_is_offset_plus_sign_extended_counter_at_every_width);
  tcase_add_test(tests, count_continues_across_a_wraparound_of_the_counter);
  tcase_add_test(tests, page_without_an_index_is_read_by_a_system_call);
  tcase_add_test(tests, seqlock_change_during_a_read_repeats_the_read);
  tcase_add_test(tests, index_cleared_during_a_read_stops_the_instruction);
  tcase_add_test(tests, counter_hidden_by_the_kernel_is_not_opened);
  tcase_add_test(tests, opening_another_counter_preserves_a_hidden_counters_reason);
  tcase_add_test(tests, count_goes_upward_without_page_and_descriptor);
  tcase_add_test(tests, count_continues_after_the_page_loses_its_index);
  tcase_add_test(tests, read_survives_an_unmapped_page);
  tcase_add_test(tests, read_survives_a_page_unmapped_during_it);
  tcase_add_test(tests, memory_of_the_program_at_the_pages_address_is_not_replaced);
  tcase_add_test(tests, instruction_refused_after_the_opening_leads_to_read);
  tcase_add_test(tests, each_core_type_has_its_event);
  tcase_add_test(tests, counts_of_core_types_are_added);
  tcase_add_test(tests, every_seqlock_is_checked_again);
  tcase_add_test(tests, ever_changing_pages_lead_to_a_system_call);
  tcase_add_test(tests, core_types_without_an_index_lead_to_a_system_call);
  tcase_add_test(tests, core_type_without_an_event_drops_the_counter);
  tcase_add_test(tests, kernel_without_generic_events_by_core_type_gets_the_event_number);
  tcase_add_test(tests, too_many_or_malformed_core_types_are_rejected);
}

#else

SUITE_WITHOUT(perf_events, "default-perfevent is not built here")

#endif

int main(void)
{
  return suite_main("perf event", add);
}
