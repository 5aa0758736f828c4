/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the counters of perf events, with the kernel of perf-kernel.c. default-perfevent is tested
   as the counter that cpucycles() calls. The counters that read through a page are represented by a
   counter that reads memory in place of executing an instruction. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/process.h"
#include "lib/table.h"

#include "tests/suites/suite.h"

#if defined(__linux__) && HAVE_BACKEND_default_perfevent

#include "backends/perf/counter.h"
#include "backends/perf/hot.h"
#include "backends/perf/pmu.h"
#include "backends/perf/read.h"
#include "sys/dependent-add.h"
#include "tests/suites/child.h"
#include "tests/suites/counters.h"
#include "tests/suites/perf-kernel.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Replaces sys/dependent-add.c: adds prove nothing, because these counters count no cycles. */
int cpuc_dependent_add_run(long passes)
{
  (void)passes;
  return -1;
}

/* The counter that reads through a page. Its instruction returns a counter of hardware[], and calls
   a function, like a signal handler, during the read. */

static uint64_t hardware[64]; /* counters by index less 1 */
static void (*during_instruction)(void);
static int executed;

static inline uint64_t fake_instruction(uint32_t index)
{
  uint64_t count = hardware[index - 1];

  __atomic_add_fetch(&executed, 1, __ATOMIC_RELAXED);
  if (during_instruction)
    during_instruction();
  return count;
}

static void diagnose_access(struct cpuc_diagnosis *diagnosis)
{
  diagnosis->remedy = "remedy of the test";
}

static const struct cpuc_perf_counter counter = {
  .instruction = fake_instruction,
  .fixed_index = 1,
  .config1 = 1,
  .findings = &findings,
  .diagnose_access = diagnose_access,
};

static long long read_page(void)
{
  return cpuc_perf_read(&counter, fake_instruction, cpuc_perf_self.index, cpuc_perf_self.shift);
}

static const struct cpuc_backend page_counter = {
  .kind = CPUC_KIND_CORE,
  CPUC_PERF_MEMBERS,
  .read = read_page,
};

extern const struct cpuc_backend cpuc_backend_default_perfevent;

static struct perf_event_mmap_page *page; /* of the first event */

static struct perf_event_mmap_page *add_page(int which, uint32_t index, int width, long long offset)
{
  return perf_kernel.pages[which] = perf_kernel_page(index, width, offset);
}

/* Makes the selection without perf events, so that the services of the process work. Threads then
   fall back to the OS clock. */
static void select_without_events(void)
{
  perf_kernel.has_no_events = 1;
  cpucycles_implementation();
  perf_kernel.has_no_events = 0;
  cpuc_pmu_was_found_absent = 0; /* otherwise no counter would be opened any more */
}

/* Opens the counter as the selection would, with the pages that the test has added. */
static int try_page_counter(struct cpuc_diagnosis *diagnosis)
{
  select_without_events();
  return page_counter.open(&cpuc_select_services, diagnosis);
}

static void open_page_counter(void)
{
  struct cpuc_diagnosis diagnosis = { 0 };

  ck_assert_int_eq(try_page_counter(&diagnosis), 0);
  ck_assert_int_eq(cpuc_perf_self.state, CPUC_PERF_VIA_MMAP);
  pthread_atfork(NULL, NULL, page_counter.forked);
  cpuc_perf_self.base = cpuc_perf_self.last = 0; /* counts from the page's 0 */
}

/* Selects default-perfevent. Skips the test if that is impossible here. */
static void select_perfevent_or_skip(void)
{
  skip_without_perf_events();
  setenv("CPUCYCLES_IMPLEMENTATION", "default-perfevent", 1);
  ck_assert_str_eq(cpucycles_implementation(), "default-perfevent");
}

/* Returns the reason of the selected counter, or an empty string. */
static const char *loss_reason(void)
{
  const char *reason = cpucycles_selected()->reason;

  return reason ? reason : "";
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

static void spend_cpu_time(void)
{
  long long end = perf_kernel_time() + 4000000; /* more than steps of any clock */

  while (perf_kernel_time() < end)
    ;
}

/* Does the count advance by this thread's CPU time, within a factor of two? The hypervisor may take
   time from one of the two measurements, so one of several attempts is enough. */
static int counts_cpu_time(long long (*read)(void))
{
  struct suite_repeat retry = suite_retry(20);

  while (suite_again(&retry)) {
    long long outer = perf_kernel_time(), begin = read(), inner = perf_kernel_time(), counted;

    spend_cpu_time();
    inner = perf_kernel_time() - inner;
    counted = read() - begin;
    outer = perf_kernel_time() - outer;
    if (counted >= inner / 2 && counted <= 2 * outer)
      return 1;
  }
  return 0;
}

/* Does this thread read the fallback counter, and does its count increase? */
static int counts_by_fallback(void)
{
  long long begin = cpucycles();

  spend_cpu_time();
  return cpuc_perf_self.state == CPUC_PERF_VIA_FALLBACK && cpucycles() > begin;
}

/* Threads. */

static void *count_in_thread(void *is_right)
{
  *(int *)is_right = counts_cpu_time(cpucycles);
  return NULL;
}

TEST(each_thread_counts_itself)
{
  pthread_t threads[4];
  int is_right[4], i;

  select_perfevent_or_skip();
  for (i = 0; i < 4; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, count_in_thread, &is_right[i]), 0);
  for (i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    ck_assert_int_eq(is_right[i], 1);
  }
  ck_assert_str_eq(loss_reason(), "");
}

static int busy_rounds;

static void *count_busy_time(void *counts)
{
  long long *count = counts;
  int i;

  count[0] = cpucycles();
  for (i = 0; i < busy_rounds; i++)
    spend_cpu_time();
  count[1] = cpucycles();
  return NULL;
}

/* _i: the counter in the table. This thread creates a busy thread and joins it. A count of scope
   "thread" stops while this thread waits, so it advances by less than the count of a thread that is
   busy long enough. A count of scope "system" is common to all threads, so the two counts of the
   busy thread are between the two counts of this thread. Only registers that count core cycles have
   the scope "core" (cpucycles-internals(7)). */
TEST_LOOP(reported_scope_fits_the_count, CPUC_TABLE_LENGTH)
{
  const char *name = cpuc_table[_i].name, *scope;
  long long begin, end, other[2];
  int is_per_thread;
  pthread_t thread;

  if (strcmp(name, "default-perfevent") == 0)
    select_perfevent_or_skip();
  setenv("CPUCYCLES_IMPLEMENTATION", name, 1);
  SKIP_IF(strcmp(cpucycles_implementation(), name) != 0, "%s does not work here", name);
  scope = cpucycles_selected()->scope;
  is_per_thread = strcmp(scope, "thread") == 0;
  do {
    busy_rounds = 2 * busy_rounds + 1;
    begin = cpucycles();
    ck_assert_int_eq(pthread_create(&thread, NULL, count_busy_time, other), 0);
    pthread_join(thread, NULL);
    end = cpucycles();
  } while (is_per_thread && end - begin >= other[1] - other[0] && busy_rounds < 63);
  if (is_per_thread)
    ck_assert_int_lt(end - begin, other[1] - other[0]);
  else if (strcmp(scope, "system") == 0)
    ck_assert(begin <= other[0] && other[0] < other[1] && other[1] <= end);
  else {
    ck_assert_str_eq(scope, "core"); /* the counts of other cores may differ */
    ck_assert_str_eq(cpucycles_selected()->kind, "core");
  }
}

static void *read_twice(void *unused)
{
  long long begin = read_page();

  (void)unused;
  return read_page() >= begin ? &executed : NULL;
}

static void run_threads(int count)
{
  int i;

  for (i = 0; i < count; i++) {
    pthread_t thread;
    void *result;

    ck_assert_int_eq(pthread_create(&thread, NULL, read_twice, NULL), 0);
    pthread_join(thread, &result);
    ck_assert_ptr_nonnull(result);
  }
}

/* Opens a page of which each thread gets a copy. */
static void open_counter_with_copied_page(void)
{
  add_page(0, 1, 48, 0);
  perf_kernel.copies_page = 1;
  /* read(2) returns 0, which is also the count of the page */
  perf_kernel.reading.enabled = perf_kernel.reading.running = 1;
  open_page_counter();
}

TEST(short_lived_threads_leak_neither_pages_nor_descriptors)
{
  struct suite_repeat repeat = suite_repeat(100);
  int descriptors;
  long pages;

  open_counter_with_copied_page();
  run_threads(10); /* allocates what the C library caches for threads */
  descriptors = open_descriptors();
  pages = mapped_pages();
  while (suite_again(&repeat))
    run_threads(100);
  ck_assert_int_eq(open_descriptors(), descriptors);
  if (pages < 0 || suite_under("valgrind") || suite_under("asan") || suite_under("qemu"))
    skip_part("(pages) the tool maps pages, too, so those of the program cannot be counted");
  else
    ck_assert_int_le(mapped_pages(), pages);
  ck_assert_int_ge(executed, 2 * 100);
}

/* _i: whether the PMU cannot exclude the kernel. */
TEST_LOOP(unit_shows_whether_the_kernel_is_excluded, 2)
{
  perf_kernel.cannot_exclude_kernel = _i;
  select_perfevent_or_skip();
  ck_assert_str_eq(cpucycles_selected()->unit,
    _i ? "core cycles in user mode and kernel" : "core cycles in user mode");
}

/* Descriptors and memory that threads cost the program. */

enum { READERS = 40 };

struct reader {
  pthread_t thread;
  long long (*read)(void);
  int is_upward;
  int descriptor; /* of its event; -1: none */
};

static pthread_barrier_t all_have_read, readers_may_exit;

static void *read_and_wait(void *argument)
{
  struct reader *reader = argument;
  long long begin = reader->read();

  reader->is_upward = reader->read() >= begin;
  reader->descriptor = cpuc_perf_self.events[0].descriptor;
  pthread_barrier_wait(&all_have_read);
  pthread_barrier_wait(&readers_may_exit);
  return NULL;
}

/* Starts threads that read and then wait. */
static void start_readers(struct reader *readers, int count, long long (*read)(void))
{
  int i;

  pthread_barrier_init(&all_have_read, NULL, (unsigned)count + 1);
  pthread_barrier_init(&readers_may_exit, NULL, (unsigned)count + 1);
  for (i = 0; i < count; i++) {
    readers[i].read = read;
    ck_assert_int_eq(pthread_create(&readers[i].thread, NULL, read_and_wait, &readers[i]), 0);
  }
  pthread_barrier_wait(&all_have_read);
}

static void end_readers(struct reader *readers, int count)
{
  int i;

  pthread_barrier_wait(&readers_may_exit);
  for (i = 0; i < count; i++) {
    pthread_join(readers[i].thread, NULL);
    ck_assert_int_eq(readers[i].is_upward, 1);
  }
}

/* _i: 1: the threads read through pages, and those without a descriptor, too. */
TEST_LOOP(events_leave_half_of_the_descriptors_to_the_program, 2)
{
  struct reader readers[READERS];
  int i, with_event = 0, before;

  skip_unless(lower_the_limit, 0, "the limit of descriptors cannot be lowered");
  if (_i)
    open_counter_with_copied_page();
  else
    select_perfevent_or_skip();
  ck_assert_int_eq(set_descriptor_limit(LOW_LIMIT), 0);
  before = open_descriptors();
  start_readers(readers, READERS, _i ? read_page : cpucycles);
  for (i = 0; i < READERS; i++)
    if (readers[i].descriptor >= 0) {
      with_event++;
      ck_assert_int_ge(readers[i].descriptor, LOW_LIMIT / 4);
      ck_assert_int_lt(readers[i].descriptor, LOW_LIMIT / 2);
    }
  ck_assert_int_ge(with_event, LOW_LIMIT / 4 - before);
  ck_assert_int_lt(with_event, READERS);
  ck_assert_str_eq(loss_reason(), _i ? "" : "by-fallback");
  end_readers(readers, READERS);
  ck_assert_int_eq(open_descriptors(), before);
}

/* 0 if 3 or 4 is free. An event can have no other number if the limit is 10. */
static int use_low_number(void)
{
  return fcntl(2, F_DUPFD, 3) < 5 ? 0 : -1;
}

/* _i: 1: the limit of descriptors is 10, so a quarter of it, the lowest number for an event, would
   be the number of a standard stream; 0: the usual limit. */
TEST_LOOP(event_descriptor_is_above_standard_streams_and_closed_by_exec, 2)
{
  int saved[3], i, descriptor;

  skip_without_perf_events();
  if (_i) {
    skip_unless(lower_the_limit, 0, "the limit of descriptors cannot be lowered");
    skip_unless(use_low_number, 0, "the descriptors 3 and 4 are in use");
  }
  for (i = 0; i < 3; i++) {
    saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
    close(i);
  }
  ck_assert_int_eq(_i ? set_descriptor_limit(10) : 0, 0);
  select_perfevent_or_skip();
  ck_assert_int_eq(fcntl(0, F_GETFD), -1);
  for (i = 0; i < 3; i++)
    dup2(saved[i], i);
  descriptor = cpuc_perf_self.events[0].descriptor;
  ck_assert_int_gt(descriptor, 2);
  ck_assert_int_eq(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void read_once(void)
{
  cpucycles();
}

TEST(first_read_in_a_thread_allocates_nothing)
{
  SKIP_IF(heap_bytes() < 0, "this C library does not count what is allocated");
  create_keys();
  select_perfevent_or_skip();
  ck_assert_int_eq(bytes_of_a_thread(read_once), 0);
}

static pthread_key_t late_key; /* its destructor runs after the library's */
static long long late_before, late_after;
static int late_rounds;

static void read_late(void *value)
{
  late_after = read_page();
  /* atomic, because some race detectors do not see that the join comes later */
  if (__atomic_add_fetch(&late_rounds, 1, __ATOMIC_ACQ_REL) < 4)
    pthread_setspecific(late_key, value);
}

static void *exit_reading(void *value)
{
  read_page();
  hardware[2] = 1000000000000LL;
  late_before = read_page();
  pthread_setspecific(late_key, &late_key);
  return value;
}

TEST(read_in_a_later_destructor_does_not_step_back_and_leaks_nothing)
{
  pthread_t thread;
  int descriptors;

  add_page(0, 2, 48, 0);
  open_page_counter();
  ck_assert_int_eq(pthread_key_create(&late_key, read_late), 0);
  add_page(1, 3, 48, 5);
  descriptors = open_descriptors();
  ck_assert_int_eq(pthread_create(&thread, NULL, exit_reading, NULL), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(__atomic_load_n(&late_rounds, __ATOMIC_ACQUIRE), 4);
  ck_assert_int_gt(late_before, 900000000000LL);
  ck_assert_int_ge(late_after, late_before);
  ck_assert_int_eq(open_descriptors(), descriptors);
  ck_assert_str_eq(loss_reason(), "");
}

/* Child processes. */

static int status_of(pid_t child)
{
  int status = -1;

  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Returns 0 if this child process counts its own time with read(2), upward from its parent's
   count. */
static int child_counts_wrong(long long before)
{
  long long first = cpucycles();

  return first < before ? 1 : !counts_cpu_time(cpucycles) ? 2
    : cpuc_perf_self.state != CPUC_PERF_VIA_READ ? 3 : cpucycles() < first ? 4 : 0;
}

static int is_daemon; /* the child closes its files, as many daemons do */

/* The program's next files have the numbers of the events that the child inherited. */
static int daemon_counts_wrong(long long before)
{
  int number = cpuc_perf_self.events[0].descriptor, i, wrong;

  setsid();
  for (i = 3; i < 4096; i++)
    close(i);
  ck_assert_int_eq(dup2(0, number), number);
  wrong = child_counts_wrong(before);
  return wrong ? wrong : fcntl(number, F_GETFD) < 0 ? 6 : 0;
}

static void *fork_here(void *status)
{
  int descriptors;
  long long before;
  pid_t child;

  spend_cpu_time();
  before = cpucycles();
  descriptors = open_descriptors();
  child = fork();
  if (child == 0) {
    int wrong = is_daemon ? daemon_counts_wrong(before) : child_counts_wrong(before);

    suite_exit(wrong ? wrong : !is_daemon && open_descriptors() != descriptors ? 5 : 0);
  }
  *(int *)status = status_of(child);
  ck_assert_int_eq(counts_cpu_time(cpucycles), 1);
  return NULL;
}

/* _i: 1: another thread than the main thread forks; 2: the child is a daemon. */
TEST_LOOP(forked_child_counts_itself_upward_from_its_parents_count, 3)
{
  pthread_t thread;
  int status = -1;

  select_perfevent_or_skip();
  is_daemon = _i == 2;
  /* No assertion runs at the same time as the fork, because valgrind would report the assertion's
     memory in the child. */
  if (_i != 1)
    fork_here(&status);
  else if (pthread_create(&thread, NULL, fork_here, &status) == 0)
    pthread_join(thread, NULL);
  ck_assert_int_eq(status, 0);
}

TEST(forked_child_touches_no_page_of_its_parent)
{
  long long before;
  pid_t child;

  add_page(0, 3, 64, 1000);
  hardware[2] = 500;
  open_page_counter();
  before = read_page();
  hardware[2] += 1000000000000ULL;
  child = fork();
  if (child == 0) {
    int executed_by_parent = executed, wrong;

    /* the child's own event gets the kernel's page, which has no index */
    wrong = read_page() < before ? 1 : cpuc_perf_self.state != CPUC_PERF_VIA_READ;
    suite_exit(wrong ? wrong : executed != executed_by_parent ? 2 : 0);
  }
  ck_assert_int_eq(status_of(child), 0);
  ck_assert_int_eq(read_page(), before + 1000000000000LL);
}

/* fork_once() acts like a signal handler that forks, and returns in the child as well. */
static pid_t child_of_read;

static void fork_once(void)
{
  perf_kernel.during_read = NULL;
  child_of_read = fork();
  if (child_of_read == 0)
    perf_kernel.reading.enabled = 0;
}

static void fork_at_the_next_read(void)
{
  perf_kernel.during_read = fork_once;
}

/* _i: 1, 2: read(2) shows an event that did not count all the time, so the parent reads once more,
   and then uses the fallback counter; 2: the handler runs in the second of these reads. */
TEST_LOOP(child_forked_during_a_read_counts_itself_upward, 3)
{
  long long before, count;

  select_perfevent_or_skip();
  before = cpucycles();
  perf_kernel.reading.enabled = _i > 0;
  perf_kernel.during_read = _i == 2 ? fork_at_the_next_read : fork_once;
  count = cpucycles();
  if (child_of_read == 0)
    suite_exit(count < before ? 10 : child_counts_wrong(count));
  ck_assert_int_ge(count, before);
  ck_assert_int_eq(cpuc_perf_self.state, _i ? CPUC_PERF_VIA_FALLBACK : CPUC_PERF_VIA_READ);
  ck_assert_int_eq(status_of(child_of_read), 0);
}

/* Lost descriptors, events and pages. */

static int calls_of_read;

static void count_call(void)
{
  calls_of_read++;
}

/* The ID of the event, which read(2) returns with the count, shows whether the descriptor is still
   that of the event. */
TEST(read_is_one_system_call)
{
  int i, requests;

  select_perfevent_or_skip();
  cpucycles();
  requests = perf_kernel_request_count;
  perf_kernel_identify_count = 0;
  perf_kernel.during_read = count_call;
  for (i = 0; i < 100; i++)
    cpucycles();
  ck_assert_int_eq(calls_of_read, 100);
  ck_assert_int_eq(perf_kernel_identify_count, 0);
  ck_assert_int_eq(perf_kernel_request_count, requests);
}

/* Losses of the descriptor `number` or of its event. */

static void close_it(int number)
{
  close(number);
}

static void put_a_file_on_it(int number)
{
  char bytes[100] = { 0 };
  int pipe_ends[2];

  ck_assert_int_eq(pipe(pipe_ends), 0);
  ck_assert_int_eq((int)write(pipe_ends[1], bytes, sizeof bytes), (int)sizeof bytes);
  ck_assert_int_eq(dup2(pipe_ends[0], number), number);
}

static void put_another_event_on_it(int number)
{
  struct perf_event_attr wanted = { .size = sizeof wanted, .type = PERF_TYPE_HARDWARE,
    .config = PERF_COUNT_HW_CPU_CYCLES, .read_format = CPUC_PERF_READ_FORMAT };
  int other = cpuc_perf_kernel_open(&wanted);

  ck_assert_int_ge(other, 0);
  perf_kernel.reading = (struct cpuc_perf_reading){ INT64_MAX / 2, 1, 1, 0 }; /* above our count */
  ck_assert_int_eq(dup2(other, number), number);
}

static void multiplex_it(int number)
{
  (void)number;
  perf_kernel.reading = (struct cpuc_perf_reading){ INT64_MAX / 2, 1000, 999, 0 };
}

static void (*const losses[])(int number)
  = { close_it, put_a_file_on_it, put_another_event_on_it, multiplex_it };

TEST_LOOP(lost_event_leads_to_the_fallback_counter, 4)
{
  char bytes[100];
  long long before;
  int number;

  select_perfevent_or_skip();
  before = cpucycles();
  number = cpuc_perf_self.events[0].descriptor;
  losses[_i](number);
  errno = 4711;
  ck_assert_int_ge(cpucycles(), before);
  ck_assert_int_eq(errno, 4711);
  ck_assert_int_lt(cpucycles(), INT64_MAX / 4);
  ck_assert_int_eq(counts_by_fallback(), 1);
  ck_assert_str_eq(loss_reason(), "by-fallback");
  if (losses[_i] == put_a_file_on_it) /* the file is read once */
    ck_assert_int_eq((int)read(number, bytes, sizeof bytes),
      (int)(sizeof bytes - sizeof(struct cpuc_perf_reading)));
  if (losses[_i] == put_another_event_on_it)
    ck_assert_int_ge(fcntl(number, F_GETFD), 0);
}

TEST(counter_of_a_multiplexed_event_is_not_opened)
{
  struct cpuc_diagnosis diagnosis = { 0 };

  add_page(0, 2, 48, 1000);
  perf_kernel.reading = (struct cpuc_perf_reading){ 1000, 1000000, 500000, 0 };
  ck_assert_int_eq(try_page_counter(&diagnosis), EIO);
  ck_assert_ptr_nonnull(diagnosis.explanation);
  ck_assert_int_eq(executed, 0);
}

TEST(page_whose_event_ran_part_of_the_time_is_abandoned)
{
  page = add_page(0, 2, 48, 1000);
  hardware[1] = 500;
  open_page_counter();
  read_page();
  page->lock += 2;
  page->index = 3; /* the thread is back on this core type, after it ran on another one */
  page->time_enabled += 2000000;
  page->time_running += 1000000;
  read_page();
  ck_assert_int_eq(cpuc_perf_self.state, CPUC_PERF_VIA_READ);
}

static void *count_in_thread_by_fallback(void *is_right)
{
  *(int *)is_right = counts_by_fallback();
  return NULL;
}

TEST(thread_without_a_free_descriptor_uses_the_fallback_counter)
{
  int is_right = 0;
  pthread_t thread;

  skip_unless(lower_the_limit, 0, "the limit of descriptors cannot be lowered");
  select_perfevent_or_skip();
  ck_assert_int_eq(set_descriptor_limit(0), 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, count_in_thread_by_fallback, &is_right), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(is_right, 1);
  ck_assert_str_eq(loss_reason(), "by-fallback");
  set_descriptor_limit(LOW_LIMIT); /* LeakSanitizer opens files at the end */
}

/* Signal handlers. */

static void lose_index(void)
{
  page->lock += 2;
  page->index = 0;
}

#ifdef CAN_SINGLE_STEP

/* Reads in a handler after a number of instructions of another read. */

static int steps;
static long long (*read_in_step)(void);
static int has_read_in_step;
static long long count_in_step;

static void read_after_steps(int signal, siginfo_t *info, void *context)
{
  ucontext_t *interrupted = context;

  (void)signal, (void)info;
  if (steps-- > 0)
    return;
  interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
  count_in_step = read_in_step();
  has_read_in_step = 1;
}

enum { RIGHT, WRONG, NOT_REACHED };

/* Returns RIGHT if the counts of the interrupted read, of the handler and of the next read are from
   `least` to `most`, and the count of the next read is at least as high as the other two;
   NOT_REACHED if the handler did not read. */
static int try_reads(long long (*read)(void), long long least, long long most)
{
  struct sigaction action = { .sa_sigaction = read_after_steps, .sa_flags = SA_SIGINFO };
  long long count, next;

  sigaction(SIGTRAP, &action, NULL);
  set_single_step(1);
  count = read();
  set_single_step(0);
  next = read();
  if (!has_read_in_step)
    return NOT_REACHED;
  return count >= least && count < most && count_in_step >= least && count_in_step <= next
      && count <= next && next < most
    ? RIGHT
    : WRONG;
}

/* Repeats the read in a child, with the handler after one instruction more each time, until the
   child ends with this result. */
static void expect_right_reads_until(int end, int (*read_in_steps)(void))
{
  int result = RIGHT, number;

  for (number = 0; result == RIGHT; number++) {
    steps = number;
    result = result_in_child(read_in_steps);
  }
  ck_assert_msg(result == end, "instruction %d: %d", number - 1, result);
  ck_assert_int_gt(number, 10);
}

static int loss;

/* The page loses its index, and in addition: 1: the event its hardware; 2: the thread the
   descriptor, and the kernel its events; 3: as 2, but then the page has the index again, so the
   interrupted read finds the count there, and must not add the base of the fallback counter. */
static long long lose_index_and_read(void)
{
  long long count;

  lose_index();
  perf_kernel.lost_hardware = loss == 1;
  if (loss >= 2) {
    close(cpuc_perf_self.events[0].descriptor);
    perf_kernel.has_no_events = 1;
  }
  count = read_page();
  page->index = loss == 3 ? 2 : 0;
  return count;
}

static int lose_page_in_a_read(void)
{
  page = add_page(0, 2, 48, 1000000000000LL);
  perf_kernel.ahead = 1000000000000LL;
  open_page_counter();
  read_page();
  read_in_step = lose_index_and_read;
  return try_reads(read_page, 1000000000000LL, 1200000000000LL);
}

TEST_LOOP(read_is_right_if_a_handler_loses_the_page_after_any_instruction, 4)
{
  loss = _i;
  skip_without_single_steps();
  expect_right_reads_until(NOT_REACHED, lose_page_in_a_read);
}

static void advance_event(void)
{
  perf_kernel.reading.value += 100;
}

/* The event counts from 10^12, and the base is about -10^12. So the count of the event is far too
   high if the base is not added. */
static int open_in_a_read(void)
{
  perf_kernel.reading = (struct cpuc_perf_reading){ 1000000000000LL, 1, 1, 0 };
  perf_kernel.during_read = advance_event;
  cpuc_perf_close();
  read_in_step = cpucycles;
  return try_reads(cpucycles, 0, 1000000);
}

/* The read blocks signals before it opens the event. A SIGTRAP that is blocked ends the child. */
TEST(first_read_is_right_if_a_handler_reads_before_the_event_is_opened)
{
  skip_without_single_steps();
  select_perfevent_or_skip();
  expect_right_reads_until(-SIGTRAP, open_in_a_read);
}

#endif

/* Pages. */

TEST(count_is_offset_plus_sign_extended_counter_at_four_widths)
{
  static const struct {
    int width;
    long long offset;
    uint64_t counter;
    long long count;
  } cases[] = {
    { 32, 0, 5, 5 },
    { 32, 0x100000000LL, 0x7fffffff, 0x17fffffffLL },
    { 32, 0x100000000LL, 0x80000000, 0x80000000LL }, /* past the middle, so it is negative */
    { 32, 1000, 0xdeadbeef00000010ULL, 1016 },       /* bits above the width are ignored */
    { 40, 1LL << 39, 0xffffffffffULL, (1LL << 39) - 1 },
    { 40, 1LL << 39, 0x8000000000ULL, 0 },
    { 48, 1LL << 47, 0x800000000000ULL, 0 }, /* where Linux starts its counters on Intel */
    { 48, 1LL << 47, 0x7fffffffffffULL, (1LL << 48) - 1 },
    { 48, -1000, 3000, 2000 }, /* a negative offset */
    { 64, INT64_MIN, 0x8000000000000000ULL, 0 }, /* where Linux starts its counters on Arm */
    { 64, INT64_MIN, 0x8000000000001234ULL, 0x1234 },
    { 64, 0, 0x7fffffffffffffffULL, INT64_MAX },
  };
  unsigned i;

  page = add_page(0, 1, 64, 0);
  open_page_counter();
  for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    page->pmc_width = (uint16_t)cases[i].width;
    cpuc_perf_self.shift = 64 - cases[i].width; /* as set at the opening */
    page->offset = (int64_t)((uint64_t)cases[i].offset);
    hardware[0] = cases[i].counter;
    ck_assert_msg(read_page() == cases[i].count, "case %u: %lld, not %lld", i, read_page(),
      cases[i].count);
    cpuc_perf_self.index = UINT32_MAX; /* as if the event had another counter before */
    ck_assert_msg(read_page() == cases[i].count, "case %u: %lld, not %lld, on another counter", i,
      read_page(), cases[i].count);
  }
}

/* The kernel moves the event to another counter after the instruction has read it, and before the
   lock is read again. */
static void move_once(void)
{
  if (executed > 1)
    return;
  page->lock += 2;
  page->index = 7;
  page->offset = 5000;
  hardware[6] = 42;
}

TEST(seqlock_change_during_a_read_repeats_the_read)
{
  page = add_page(0, 2, 48, 100);
  hardware[1] = 77;
  open_page_counter();
  ck_assert_int_eq(read_page(), 177);
  executed = 0;
  during_instruction = move_once;
  ck_assert_int_eq(read_page(), 5042);
  ck_assert_int_eq(executed, 2);
}

TEST(index_cleared_during_a_read_stops_the_instruction)
{
  page = add_page(0, 2, 48, 100);
  open_page_counter();
  during_instruction = lose_index;
  executed = 0;
  read_page();
  read_page();
  ck_assert_int_eq(executed, 1);
}

TEST_LOOP(counter_without_user_space_access_is_not_opened, 4)
{
  static const struct {
    uint32_t index;
    int width, has_user_access;
  } cases[] = { { 0, 48, 1 }, { 1, 48, 0 }, { 1, 0, 1 }, { 1, 65, 1 } };
  struct cpuc_diagnosis diagnosis = { 0 }, later = { 0 };
  int descriptors;

  page = add_page(0, cases[_i].index, cases[_i].width, 0);
  page->cap_user_rdpmc = (unsigned)cases[_i].has_user_access & 1;
  select_without_events();
  descriptors = open_descriptors();
  ck_assert_int_eq(page_counter.open(&cpuc_select_services, &diagnosis), EACCES);
  ck_assert_ptr_nonnull(diagnosis.explanation);
  page_counter.close();
  ck_assert_int_eq(open_descriptors(), descriptors);
  ck_assert_int_eq(executed, 0);
  /* another counter of perf events that is tried later changes nothing */
  perf_kernel.has_no_events = 1;
  cpuc_backend_default_perfevent.open(&cpuc_select_services, &later);
  page_counter.explain(EACCES, 0, &diagnosis);
  ck_assert_str_eq(diagnosis.remedy, "remedy of the test");
}

/* _i: 0: the event counts on, so no cycle is missing; 1: it has lost its hardware; 2, 3: the thread
   also has no descriptor any more; 3: no other event can be opened. */
TEST_LOOP(page_without_an_index_leads_to_another_read, 4)
{
  int descriptor, requests;
  long long before;

  page = add_page(0, 2, 48, 1000);
  hardware[1] = 1000000000000LL;
  open_page_counter();
  before = read_page();
  descriptor = cpuc_perf_self.events[0].descriptor;
  requests = perf_kernel_request_count;
  lose_index();
  perf_kernel.ahead = _i ? 0 : 2000000000000LL;
  perf_kernel.lost_hardware = _i > 0;
  perf_kernel.has_no_events = _i == 3;
  if (_i >= 2)
    close(descriptor);
  executed = 0;
  ck_assert_int_ge(read_page(), _i ? before : perf_kernel.ahead);
  ck_assert_int_eq(executed, 0);
  ck_assert_int_eq(cpuc_perf_self.state, _i < 3 ? CPUC_PERF_VIA_READ : CPUC_PERF_VIA_FALLBACK);
  if (_i)
    ck_assert_int_eq((int)perf_kernel_requests[perf_kernel_request_count - 1].config1, 0);
  else {
    ck_assert_int_eq(cpuc_perf_self.events[0].descriptor, descriptor);
    ck_assert_int_eq(perf_kernel_request_count, requests);
  }
  before = read_page();
  spend_cpu_time();
  ck_assert_int_gt(read_page(), before);
  ck_assert_int_eq(_i == 3 || counts_cpu_time(read_page), 1);
  ck_assert_str_eq(loss_reason(), _i < 3 ? "by-read" : "by-fallback");
}

/* Core types (hybrid CPUs). */

#define HYBRID \
  { "cpu_core", "type", "4\n" }, { "cpu_core", "cpus", "0-7\n" }, { "uncore", "type", "20\n" }, \
    { "uncore", "cpus", "0\n" }, /* belongs to no core */ \
    { "cpu_lost", "type", "21\n" } /* named like a PMU of cores, but has no file "cpus" */
#define ATOM(type) { "cpu_atom", "type", type }, { "cpu_atom", "cpus", "8-15\n" }
#define END { NULL, NULL, NULL }

static const struct perf_kernel_file hybrid[] = { HYBRID, ATOM("10\n"), END };

static struct perf_event_mmap_page *pages[PERF_KERNEL_PAGES];

/* Opens two events. The thread runs on the core type of the first event. */
static void open_hybrid(void)
{
  perf_kernel.files = hybrid;
  pages[0] = add_page(0, 1, 48, 1000);
  pages[1] = add_page(1, 0, 48, 200000);
  hardware[0] = 5;
  open_page_counter();
}

TEST(each_core_type_has_its_event)
{
  int i, seen[2] = { 0, 0 };

  perf_kernel_request_count = 0;
  open_hybrid();
  ck_assert_int_eq(cpuc_perf_self.event_count, 2);
  for (i = 0; i < perf_kernel_request_count; i++) {
    uint64_t pmu = perf_kernel_requests[i].config >> 32;

    seen[0] |= pmu == 4;
    seen[1] |= pmu == 10;
    ck_assert(pmu != 20 && pmu != 21);
    ck_assert_int_eq((int)perf_kernel_requests[i].pinned, 1);
    ck_assert_uint_eq(perf_kernel_requests[i].type, PERF_TYPE_HARDWARE);
    ck_assert_uint_eq((uint32_t)perf_kernel_requests[i].config, PERF_COUNT_HW_CPU_CYCLES);
  }
  ck_assert_int_eq(seen[0] + seen[1], 2);
}

TEST(counts_of_core_types_are_added)
{
  open_hybrid();
  ck_assert_int_eq(read_page(), 1000 + 5 + 200000);
  hardware[0] = 25;
  ck_assert_int_eq(read_page(), 1000 + 25 + 200000);
  /* the thread moves to the other core type */
  pages[0]->lock += 2;
  pages[0]->index = 0;
  pages[0]->offset = 1030;
  pages[1]->lock += 2;
  pages[1]->index = 1;
  hardware[0] = 4;
  ck_assert_int_eq(read_page(), 1030 + 200000 + 4);
  ck_assert_int_eq(cpuc_perf_self.state, CPUC_PERF_VIA_MMAP);
}

static int changing_page;

/* The kernel changes a page after this page was read. */
static void change_page(void)
{
  if (executed > 1)
    return;
  pages[changing_page]->lock += 2;
  pages[changing_page]->offset += 300;
}

/* The page with the index is read last. */
TEST_LOOP(every_seqlock_is_checked_again, 2)
{
  open_hybrid();
  executed = 0;
  changing_page = _i;
  during_instruction = change_page;
  ck_assert_int_eq(read_page(), 1300 + 200000 + 5);
  ck_assert_int_eq(executed, 2);
}

/* _i: 1 if there is an index, but that of a counter that the other core type may lack. */
TEST_LOOP(pages_of_core_types_without_the_fixed_index_lead_to_read, 2)
{
  open_hybrid();
  pages[0]->index = _i ? 3 : 0;
  executed = 0;
  read_page();
  ck_assert_int_eq(executed, 0);
  ck_assert_str_eq(loss_reason(), "by-read");
}

TEST(unit_shows_that_one_core_type_includes_the_kernel)
{
  struct cpuc_diagnosis diagnosis = { 0 };

  perf_kernel.files = hybrid;
  perf_kernel.cannot_exclude_kernel = 1;
  perf_kernel.excluding_pmu = 10; /* the type that is tried last */
  add_page(0, 1, 48, 0);
  add_page(1, 0, 48, 0);
  ck_assert_int_eq(try_page_counter(&diagnosis), 0);
  ck_assert_str_eq(diagnosis.unit, "core cycles in user mode and kernel");
}

TEST(core_type_without_the_generic_event_gets_its_event_by_number)
{
  static const struct perf_kernel_file big_little[] = {
    { "armv8_cortex_a53", "type", "8\n" },
    { "armv8_cortex_a53", "cpus", "0-3\n" },
    { "armv8_cortex_a53", "events/cpu_cycles", "event=0x0011\n" },
    { "armv8_cortex_a72", "type", "9\n" },
    { "armv8_cortex_a72", "cpus", "4-7\n" },
    { "armv8_cortex_a72", "events/cpu_cycles", "event=0x0011\n" },
    END,
  };
  struct cpuc_diagnosis diagnosis = { 0 };
  const struct perf_event_attr *last;

  perf_kernel.files = big_little;
  perf_kernel.lacking_pmu = 9;
  add_page(0, 1, 48, 0);
  perf_kernel_request_count = 0;
  /* The PMU's number is not an event type here, so the test looks at the requests only. */
  try_page_counter(&diagnosis);
  ck_assert_int_ge(perf_kernel_request_count, 3);
  last = &perf_kernel_requests[perf_kernel_request_count - 1];
  ck_assert_int_eq((int)last->type, 9);
  ck_assert_int_eq((int)last->config, 0x11);
}

TEST_LOOP(core_type_that_cannot_be_counted_drops_the_counter, 6)
{
  static const struct perf_kernel_file cases[][16] = {
    { HYBRID, ATOM("10\n"), END }, /* lacks the event */
    { HYBRID, ATOM(""), END },
    { HYBRID, ATOM("x\n"), END },
    { HYBRID, ATOM("99999999999999999999\n"), END },
    { HYBRID, ATOM("-4\n"), END },
    { HYBRID, ATOM("10\n"), { "cpu_three", "type", "11\n" }, { "cpu_three", "cpus", "1\n" },
      { "cpu_four", "type", "12\n" }, { "cpu_four", "cpus", "1\n" },
      { "cpu_five", "type", "13\n" }, { "cpu_five", "cpus", "1\n" }, END }, /* too many */
  };
  struct cpuc_diagnosis diagnosis = { 0 };

  perf_kernel.files = cases[_i];
  perf_kernel.lacking_pmu = _i ? 0 : 10;
  add_page(0, 1, 48, 0);
  ck_assert_int_eq(try_page_counter(&diagnosis), ENODEV);
  ck_assert_ptr_nonnull(diagnosis.explanation);
}

#else

SUITE_WITHOUT(perf_events, "default-perfevent is not built here")

#endif

SUITE("perf event")
