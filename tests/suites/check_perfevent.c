/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the counters of perf events, with the kernel of perf-kernel.h. default-perfevent is tested
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
#include "sys/dependent-add.h"
#include "tests/suites/child.h"
#include "tests/suites/counters.h"
#include "tests/suites/machine.h"
#include "tests/suites/perf-kernel.h"

#include <pthread.h>

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
  .diagnose_access = diagnose_access,
};

static long long read_page(void)
{
  return cpuc_perf_read(&counter, fake_instruction, cpuc_perf_self.index, cpuc_perf_self.shift);
}

extern const struct cpuc_backend cpuc_backend_default_perfevent;

static struct perf_event_mmap_page *page; /* of the first event */
static struct cpuc_machine machine;

/* Makes the selection without perf events, so that the services of the process work. Threads then
   fall back to the OS clock. */
static void select_without_events(void)
{
  perf_kernel.has_no_events = 1;
  cpucycles_implementation();
  perf_kernel.has_no_events = 0;
}

/* Opens the counter as the selection would, with the pages that the test has added. */
static void open_page_counter(void)
{
  struct cpuc_diagnosis diagnosis = { .machine = &machine };

  select_without_events();
  ck_assert_int_eq(open_counter(&cpuc_select_services, &diagnosis), 0);
  pthread_atfork(NULL, NULL, cpuc_perf_forked);
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

static int event_descriptor(void)
{
  return cpuc_perf_self.events[0].descriptor;
}

static void lose_index(void)
{
  page->lock += 2;
  page->index = 0;
}

static void spend_cpu_time(void)
{
  long long end = cpu_time() + 4000000; /* more than steps of any clock */

  while (cpu_time() < end)
    ;
}

/* Does the count advance by this thread's CPU time, within a factor of two? The hypervisor may take
   time from one of the two measurements, so one of several attempts is enough. */
static int counts_cpu_time(long long (*read)(void))
{
  struct suite_repeat retry = suite_retry(20);

  while (suite_again(&retry)) {
    long long outer = cpu_time(), begin = read(), inner = cpu_time(), counted;

    spend_cpu_time();
    inner = cpu_time() - inner;
    counted = read() - begin;
    outer = cpu_time() - outer;
    if (counted >= inner / 2 && counted <= 2 * outer)
      return 1;
  }
  return 0;
}

/* Threads. */

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

  if (strcmp(name, "default-perfevent") == 0)
    select_perfevent_or_skip();
  setenv("CPUCYCLES_IMPLEMENTATION", name, 1);
  SKIP_IF(strcmp(cpucycles_implementation(), name) != 0, "%s does not work here", name);
  scope = cpucycles_selected()->scope;
  is_per_thread = strcmp(scope, "thread") == 0;
  do {
    busy_rounds = 2 * busy_rounds + 1;
    begin = cpucycles();
    result_in_thread(count_busy_time, other);
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

/* Descriptors and memory that threads cost the program. */

enum { READERS = 40 };

static long long (*read_in_readers)(void);
static pthread_barrier_t readers_and_test;

/* Stores the descriptor of the thread's event, or -1. Returns NULL if the count steps back. */
static void *read_and_wait(void *descriptor)
{
  long long begin = read_in_readers();
  void *result = read_in_readers() >= begin ? descriptor : NULL;

  *(int *)descriptor = event_descriptor();
  pthread_barrier_wait(&readers_and_test);
  pthread_barrier_wait(&readers_and_test);
  return result;
}

/* _i: 1: the threads read through pages, and those without a descriptor, too. */
TEST_LOOP(events_take_half_of_the_descriptors_until_their_thread_exits, 2)
{
  int descriptors[READERS], i, with_event = 0, before, pages;
  pthread_t threads[READERS];
  void *result;

  skip_unless(lower_the_limit, 0, "the limit of descriptors cannot be lowered");
  if (_i) {
    add_page(1, 48, 0);
    perf_kernel.copies_page = 1; /* for each thread */
    /* read(2) returns 0, which is also the count of the page */
    perf_kernel.reading.enabled = perf_kernel.reading.running = 1;
    open_page_counter();
  } else
    select_perfevent_or_skip();
  read_in_readers = _i ? read_page : cpucycles;
  ck_assert_int_eq(set_descriptor_limit(LOW_LIMIT), 0);
  before = open_descriptors();
  pages = perf_kernel.mapped_now;
  pthread_barrier_init(&readers_and_test, NULL, READERS + 1);
  for (i = 0; i < READERS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, read_and_wait, &descriptors[i]), 0);
  pthread_barrier_wait(&readers_and_test);
  for (i = 0; i < READERS; i++)
    if (descriptors[i] >= 0) {
      with_event++;
      ck_assert_int_ge(descriptors[i], LOW_LIMIT / 4);
      ck_assert_int_lt(descriptors[i], LOW_LIMIT / 2);
      ck_assert_int_eq(fcntl(descriptors[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    }
  ck_assert_int_ge(with_event, LOW_LIMIT / 4 - before);
  ck_assert_int_lt(with_event, READERS);
  ck_assert_str_eq(loss_reason(), _i ? "" : "by-fallback");
  pthread_barrier_wait(&readers_and_test);
  for (i = 0; i < READERS; i++) {
    pthread_join(threads[i], &result);
    ck_assert_ptr_nonnull(result);
  }
  ck_assert_int_eq(open_descriptors(), before);
  ck_assert_int_eq(perf_kernel.mapped_now, pages);
}

/* 0 if 3 or 4 is free. An event can have no other number if the limit is 10. */
static int use_low_number(void)
{
  return fcntl(2, F_DUPFD, 3) < 5 ? 0 : -1;
}

/* A quarter of the limit, the lowest number for an event, would be that of a standard stream, and
   the streams are closed. */
TEST(event_descriptor_is_above_standard_streams)
{
  int saved[3], i;

  skip_without_perf_events();
  skip_unless(lower_the_limit, 0, "the limit of descriptors cannot be lowered");
  skip_unless(use_low_number, 0, "the descriptors 3 and 4 are in use");
  for (i = 0; i < 3; i++) {
    saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
    close(i);
  }
  ck_assert_int_eq(set_descriptor_limit(10), 0);
  select_perfevent_or_skip();
  ck_assert_int_eq(fcntl(0, F_GETFD), -1);
  for (i = 0; i < 3; i++)
    dup2(saved[i], i);
  ck_assert_int_gt(event_descriptor(), 2);
}

static void read_once(void)
{
  cpucycles();
}

TEST(first_read_in_a_thread_allocates_nothing)
{
  SKIP_IF(heap_bytes() < 0, "this C library does not count what is allocated");
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
  int descriptors;

  add_page(2, 48, 0);
  open_page_counter();
  ck_assert_int_eq(pthread_key_create(&late_key, read_late), 0);
  add_page(3, 48, 5);
  descriptors = open_descriptors();
  result_in_thread(exit_reading, NULL);
  ck_assert_int_eq(__atomic_load_n(&late_rounds, __ATOMIC_ACQUIRE), 4);
  ck_assert_int_gt(late_before, 900000000000LL);
  ck_assert_int_ge(late_after, late_before);
  ck_assert_int_eq(open_descriptors(), descriptors);
  ck_assert_str_eq(loss_reason(), "");
}

static int reads_at_the_end;

/* A destructor of the program, which runs before that of a library linked statically. */
__attribute__((destructor)) static void read_at_the_end(void)
{
  hardware[0] = 5000;
  if (reads_at_the_end && read_page() != 5000)
    _exit(1);
}

static int end_with_a_read(void)
{
  add_page(1, 48, 0);
  open_page_counter();
  reads_at_the_end = 1;
  exit(read_page() != 0);
}

TEST(destructor_of_the_program_reads_its_event)
{
  in_child_process(end_with_a_read);
}

/* Child processes. */

static long long count_before_fork;
static int descriptors_before_fork;

/* Returns 0 if this child process counts its own time with read(2), upward from its parent's
   count. */
static int child_counts_wrong(void)
{
  long long first = cpucycles();

  return first < count_before_fork ? 1 : !counts_cpu_time(cpucycles) ? 2
    : *loss_reason() ? 3 : cpucycles() < first ? 4 : 0;
}

static int is_daemon;

/* Many daemons close their files. Then the program's next files have the numbers of the events that
   the child inherited. */
static int count_in_child(void)
{
  int number = event_descriptor(), i, wrong;

  for (i = 3; is_daemon && i < 4096; i++)
    close(i);
  if (is_daemon && dup2(0, number) != number)
    return 5;
  wrong = child_counts_wrong();
  if (is_daemon)
    return wrong ? wrong : fcntl(number, F_GETFD) < 0 ? 6 : 0;
  return wrong ? wrong : open_descriptors() != descriptors_before_fork ? 7 : 0;
}

static void *fork_here(void *result)
{
  spend_cpu_time();
  count_before_fork = cpucycles();
  descriptors_before_fork = open_descriptors();
  *(int *)result = result_in_child(count_in_child);
  ck_assert_int_eq(counts_cpu_time(cpucycles), 1);
  return NULL;
}

/* _i: 1: another thread than the main thread forks; 2: the child is a daemon. */
TEST_LOOP(forked_child_counts_itself_upward_from_its_parents_count, 3)
{
  int result = -1;

  select_perfevent_or_skip();
  is_daemon = _i == 2;
  if (_i == 1)
    result_in_thread(fork_here, &result);
  else
    fork_here(&result);
  ck_assert_int_eq(result, 0);
}

/* The child's next mapping has the address of the page, which the child does not have. The child's
   own event gets the kernel's page, which has no index. */
static int read_page_in_child(void)
{
  mmap(page, page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  executed = 0;
  return read_page() < count_before_fork ? 1 : strcmp(loss_reason(), "by-read") != 0 ? 2
    : executed != 0 ? 3 : mprotect(page, page_size(), PROT_NONE) != 0 ? 4 : 0;
}

TEST(forked_child_touches_no_page_of_its_parent)
{
  page = add_page(3, 64, 1000);
  hardware[2] = 500;
  open_page_counter();
  count_before_fork = read_page();
  hardware[2] += 1000000000000ULL;
  in_child_process(read_page_in_child);
  ck_assert_int_eq(read_page(), count_before_fork + 1000000000000LL);
}

static int reads_before_fork;
static pid_t child_of_read;

/* Acts like a signal handler that forks, and returns in the child as well. */
static void fork_once(void)
{
  if (reads_before_fork-- > 0)
    return;
  perf_kernel.during_read = NULL;
  child_of_read = fork();
  if (child_of_read == 0)
    perf_kernel.reading.enabled = 0;
}

/* _i: 1, 2: read(2) shows an event that did not count all the time, so the parent reads once more,
   and then uses the fallback counter; 2: the handler runs in the second of these reads. */
TEST_LOOP(child_forked_during_a_read_counts_itself_upward, 3)
{
  long long count;
  int status = -1;

  select_perfevent_or_skip();
  count_before_fork = cpucycles();
  perf_kernel.reading.enabled = _i > 0;
  perf_kernel.during_read = fork_once;
  reads_before_fork = _i == 2;
  count = cpucycles();
  if (child_of_read == 0 && count >= count_before_fork) {
    count_before_fork = count;
    _exit(child_counts_wrong());
  }
  ck_assert_int_ge(count, count_before_fork);
  ck_assert_str_eq(loss_reason(), _i ? "by-fallback" : "");
  ck_assert_int_eq(waitpid(child_of_read, &status, 0), child_of_read);
  ck_assert_int_eq(status, 0);
}

/* Lost descriptors, events and pages. */

/* The ID of the event, which read(2) returns with the count, shows whether the descriptor is still
   that of the event. */
TEST(read_is_one_system_call)
{
  int i;

  select_perfevent_or_skip();
  cpucycles();
  perf_kernel_calls = 0;
  for (i = 0; i < 100; i++)
    cpucycles();
  ck_assert_int_eq(perf_kernel_calls, 100);
}

enum { CLOSED, FOREIGN_FILE, FOREIGN_EVENT, MULTIPLEXED, NO_DESCRIPTOR, LOSSES };

/* _i: how the event is lost. NO_DESCRIPTOR: the thread opens its event, and no number is free. */
TEST_LOOP(lost_event_leads_to_the_fallback_counter, LOSSES)
{
  /* any user may open it */
  struct perf_event_attr wanted = { .size = sizeof wanted, .read_format = CPUC_PERF_READ_FORMAT,
    .exclude_kernel = 1, .exclude_hv = 1 };
  static const struct cpuc_perf_reading far_above = { INT64_MAX / 2, 1000, 1000, 0 };
  long long before, count;
  char bytes[100] = { 0 };
  int number, ends[2];

  select_perfevent_or_skip();
  before = cpucycles();
  number = event_descriptor();
  if (_i == CLOSED)
    close(number);
  else if (_i == FOREIGN_FILE) {
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq((int)write(ends[1], bytes, sizeof bytes), (int)sizeof bytes);
    ck_assert_int_eq(dup2(ends[0], number), number);
  } else if (_i == FOREIGN_EVENT) {
    ck_assert_int_eq(dup2(cpuc_perf_kernel_open(&wanted, -1), number), number);
    perf_kernel.reading = far_above;
  } else if (_i == MULTIPLEXED) {
    perf_kernel.reading = far_above;
    perf_kernel.reading.running--;
  } else {
    skip_unless(lower_the_limit, 0, "the limit of descriptors cannot be lowered");
    ck_assert_int_eq(set_descriptor_limit(0), 0);
    cpuc_perf_forked(); /* the next read opens events, as in a new thread */
  }
  errno = 4711;
  count = cpucycles();
  ck_assert_int_eq(errno, 4711);
  ck_assert(count >= before && count < INT64_MAX / 4);
  spend_cpu_time();
  ck_assert_int_gt(cpucycles(), count);
  ck_assert_int_lt(cpucycles(), INT64_MAX / 4);
  ck_assert_str_eq(loss_reason(), "by-fallback");
  if (_i == FOREIGN_FILE) /* the file is read once */
    ck_assert_int_eq((int)read(number, bytes, sizeof bytes),
      (int)(sizeof bytes - sizeof(struct cpuc_perf_reading)));
  ck_assert_int_eq(fcntl(number, F_GETFD) >= 0, _i == FOREIGN_FILE || _i == FOREIGN_EVENT);
  set_descriptor_limit(LOW_LIMIT); /* LeakSanitizer opens files at the end */
}

enum { INDEX, INDEX_IN_A_READ, TIME, HARDWARE, DESCRIPTOR, EVENTS, PAGE_LOSSES };

/* _i: what the page loses. TIME: the event did not count while the thread ran on another core type.
   Up to TIME the event counts on, so no cycle is missing. HARDWARE: the event loses it after the
   page has lost the index; DESCRIPTOR: and the thread the descriptor; EVENTS: and the kernel all
   events. */
TEST_LOOP(lost_page_leads_to_another_read, PAGE_LOSSES)
{
  int number, counts_on = _i <= TIME;
  long long before;

  page = add_page(2, 48, 1000);
  hardware[1] = 1000000000000LL;
  open_page_counter();
  before = read_page();
  number = event_descriptor();
  if (_i == INDEX_IN_A_READ)
    during_instruction = lose_index;
  else
    lose_index();
  if (_i == TIME) {
    page->index = 3;
    page->time_enabled += 2000000;
    page->time_running += 1000000;
  }
  perf_kernel.ahead = counts_on ? 2000000000000LL : 0;
  perf_kernel.lost_hardware = !counts_on;
  perf_kernel.has_no_events = _i == EVENTS;
  if (_i >= DESCRIPTOR)
    close(number);
  executed = 0;
  ck_assert_int_ge(read_page(), counts_on ? perf_kernel.ahead : before);
  ck_assert_int_eq(event_descriptor(), _i == EVENTS ? -1 : number);
  before = read_page();
  spend_cpu_time();
  ck_assert_int_gt(read_page(), before);
  ck_assert(_i == EVENTS || counts_cpu_time(read_page));
  ck_assert_int_eq(executed, _i == INDEX_IN_A_READ || _i == TIME);
  ck_assert_str_eq(loss_reason(), _i == EVENTS ? "by-fallback" : "by-read");
}

/* Signal handlers. */

#ifdef CAN_SINGLE_STEP

/* Reads in a handler after a number of instructions of another read. */

enum { FIRST_READ = 4, INTERRUPTED_READS };

static int interrupted_read, steps, has_read_in_step;
static long long count_in_step;

static void advance_event(void)
{
  perf_kernel.reading.value += 100;
}

/* Unless the interrupted read is the first, the page loses its index, and in addition: 1: the event
   its hardware; 2: the thread the descriptor, and the kernel its events; 3: as 2, but then the page
   has the index again, so the interrupted read finds the count there, and must not add the base of
   the fallback counter. */
static long long read_in_step(void)
{
  long long count;

  if (interrupted_read == FIRST_READ)
    return cpucycles();
  lose_index();
  perf_kernel.lost_hardware = interrupted_read == 1;
  if (interrupted_read >= 2) {
    close(event_descriptor());
    perf_kernel.has_no_events = 1;
  }
  count = read_page();
  page->index = interrupted_read == 3 ? 2 : 0;
  return count;
}

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
   NOT_REACHED if the handler did not read. The event of a first read counts from 10^12, and its
   base is about -10^12, so the count is far too high if the base is not added. */
static int read_with_a_handler(void)
{
  struct sigaction action = { .sa_sigaction = read_after_steps, .sa_flags = SA_SIGINFO };
  long long (*read)(void) = interrupted_read == FIRST_READ ? cpucycles : read_page;
  long long least = 0, most = 1000000, count, next;

  if (interrupted_read == FIRST_READ) {
    perf_kernel.reading = (struct cpuc_perf_reading){ 1000000000000LL, 1, 1, 0 };
    perf_kernel.during_read = advance_event;
    cpuc_perf_close();
  } else {
    page = add_page(2, 48, 1000000000000LL);
    perf_kernel.ahead = 1000000000000LL;
    open_page_counter();
    least = read_page();
    most = least + 200000000000LL;
  }
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

/* Repeats the read in a child, with the handler after one instruction more each time. A first read
   blocks signals before it opens the event, and a SIGTRAP that is blocked ends the child. */
TEST_LOOP(read_is_right_if_a_handler_reads_after_any_instruction, INTERRUPTED_READS)
{
  int result = RIGHT, number;

  skip_without_single_steps();
  interrupted_read = _i;
  if (_i == FIRST_READ)
    select_perfevent_or_skip();
  for (number = 0; result == RIGHT; number++) {
    steps = number;
    result = result_in_child(read_with_a_handler);
  }
  ck_assert_msg(result == (_i == FIRST_READ ? -SIGTRAP : NOT_REACHED), "instruction %d: %d",
    number - 1, result);
  ck_assert_int_gt(number, 10);
}

#endif

/* Pages. */

TEST_LOOP(count_is_offset_plus_sign_extended_counter_at_four_widths, 8)
{
  static const struct {
    int width;
    long long offset;
    uint64_t counter;
    long long count;
  } cases[] = {
    { 32, 0x100000000LL, 0x7fffffff, 0x17fffffffLL },
    { 32, 0x100000000LL, 0x80000000, 0x80000000LL }, /* past the middle, so it is negative */
    { 32, 1000, 0xdeadbeef00000010ULL, 1016 },       /* bits above the width are ignored */
    { 40, 1LL << 39, 0xffffffffffULL, (1LL << 39) - 1 },
    { 48, 1LL << 47, 0x800000000000ULL, 0 }, /* where Linux starts its counters on Intel */
    { 48, -1000, 3000, 2000 }, /* a negative offset */
    { 64, INT64_MIN, 0x8000000000000000ULL, 0 }, /* where Linux starts its counters on Arm */
    { 64, INT64_MIN, 0x8000000000001234ULL, 0x1234 },
  };

  add_page(1, cases[_i].width, cases[_i].offset);
  hardware[0] = cases[_i].counter;
  open_page_counter();
  ck_assert_int_eq(read_page(), cases[_i].count);
  ck_assert_int_eq(read_page(), cases[_i].count); /* the first read was slow, this one is hot */
}

TEST_LOOP(counter_without_user_space_access_or_hardware_is_not_opened, 5)
{
  static const struct {
    int error;
    uint32_t index;
    int width, has_user_access;
  } cases[] = {
    { EACCES, 0, 48, 1 },
    { EACCES, 1, 48, 0 },
    { EACCES, 1, 0, 1 },
    { EACCES, 1, 65, 1 },
    { EIO, 1, 48, 1 }, /* the event did not count all the time */
  };
  struct cpuc_diagnosis diagnosis = { .machine = &machine }, later = { .machine = &machine };
  int descriptors, error = cases[_i].error;

  page = add_page(cases[_i].index, cases[_i].width, 0);
  page->cap_user_rdpmc = (unsigned)cases[_i].has_user_access & 1;
  if (error == EIO)
    perf_kernel.reading = (struct cpuc_perf_reading){ 1000, 1000000, 500000, 0 };
  select_without_events();
  descriptors = open_descriptors();
  ck_assert_int_eq(open_counter(&cpuc_select_services, &diagnosis), error);
  cpuc_perf_close();
  ck_assert_int_eq(open_descriptors(), descriptors);
  ck_assert_int_eq(executed, 0);
  /* another counter of perf events that is tried later changes nothing */
  perf_kernel.has_no_events = 1;
  cpuc_backend_default_perfevent.open(&cpuc_select_services, &later);
  explain_refusal(error, 0, &diagnosis);
  ck_assert_ptr_nonnull(
    strstr(diagnosis.explanation, error == EIO ? "does not count" : "its page is missing"));
  ck_assert_str_eq(diagnosis.remedy ? diagnosis.remedy : "",
    error == EACCES ? "remedy of the test" : "");
}

/* Core types (hybrid CPUs). */

#define CORE_TYPE(pmu, type) { pmu, "type", type }, { pmu, "cpus", "0-7\n" }
#define ARM_EVENT(pmu) { pmu, "events/cpu_cycles", "event=0x0011\n" }
#define TWO_OF_ARM \
  { CORE_TYPE("armv8_cortex_a53", "8\n"), ARM_EVENT("armv8_cortex_a53"), \
    CORE_TYPE("armv8_cortex_a72", "9\n"), ARM_EVENT("armv8_cortex_a72") }
#define HYBRID(atom) \
  { CORE_TYPE("cpu_core", "4\n"), CORE_TYPE("uncore", "20\n"), /* belongs to no core */ \
    { "cpu_lost", "type", "21\n" }, /* named like a PMU of cores, but has no file "cpus" */ \
    CORE_TYPE("cpu_atom", atom) }

/* A file in the directory of a PMU. */
struct pmu_file {
  const char *pmu, *name, *text;
};

/* What open() returns; the PMU that lacks the generic event, that is alone in excluding the kernel,
   or that alone has event 0x11; and the files. If open() succeeds without a PMU's event, it did
   not ask for this event. */
static const struct {
  int error;
  uint32_t lacking_pmu, excluding_pmu, event_11_pmu;
  struct pmu_file files[16];
} core_types[] = {
  { 0, 0, 0, 0, HYBRID("10\n") },
  { 0, 0, 10, 0, HYBRID("10\n") },
  { 0, 0, 99, 0, { { NULL, NULL, NULL } } }, /* no PMU can exclude the kernel */
  { 0, 20, 0, 0, HYBRID("10\n") },
  { 0, 21, 0, 0, HYBRID("10\n") },
  { 0, 9, 0, 9, TWO_OF_ARM }, /* the directory has the number of the event */
  { ENODEV, 9, 0, 8, TWO_OF_ARM },
  { ENODEV, 4, 0, 0, HYBRID("10\n") },
  { ENODEV, 10, 0, 0, HYBRID("10\n") },
  { ENODEV, 0, 0, 0, HYBRID("") },
  { ENODEV, 0, 0, 0, HYBRID("99999999999999999999\n") },
  { ENODEV, 0, 0, 0, HYBRID("-4\n") },
  { ENODEV, 0, 0, 0, /* too many */
    { CORE_TYPE("cpu_core", "4\n"), CORE_TYPE("cpu_atom", "10\n"), CORE_TYPE("cpu_three", "11\n"),
      CORE_TYPE("cpu_four", "12\n"), CORE_TYPE("cpu_five", "13\n") } },
};

/* A row of zeros ends the list. */
static void make_machine_with_pmus(const struct pmu_file *file)
{
  char path[128];

  make_machine();
  for (; file->pmu; file++) {
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/%s", file->pmu, file->name);
    write_file(path, file->text);
  }
}

TEST_LOOP(each_core_type_has_its_event_or_the_counter_is_dropped,
  sizeof core_types / sizeof core_types[0])
{
  struct cpuc_diagnosis diagnosis = { .machine = &machine };

  make_machine_with_pmus(core_types[_i].files);
  perf_kernel.lacking_pmu = core_types[_i].lacking_pmu;
  perf_kernel.excluding_pmu = core_types[_i].excluding_pmu;
  perf_kernel.event_11_pmu = core_types[_i].event_11_pmu;
  add_page(1, 48, 0);
  add_page(0, 48, 0);
  select_without_events();
  ck_assert_int_eq(open_counter(&cpuc_select_services, &diagnosis), core_types[_i].error);
  explain_refusal(core_types[_i].error, 0, &diagnosis);
  ck_assert_int_eq(diagnosis.explanation != NULL, core_types[_i].error != 0);
  ck_assert_str_eq(diagnosis.unit ? diagnosis.unit : "",
    perf_kernel.excluding_pmu ? "core cycles in user mode and kernel" : "");
}

static struct perf_event_mmap_page *pages[2];

/* Opens two events. The thread runs on the core type of the first event. */
static void open_hybrid(void)
{
  make_machine_with_pmus(core_types[0].files);
  pages[0] = add_page(1, 48, 1000);
  pages[1] = add_page(0, 48, 200000);
  hardware[0] = 5;
  open_page_counter();
}

TEST(counts_of_core_types_are_added)
{
  open_hybrid();
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
  ck_assert_str_eq(loss_reason(), "");
}

/* The kernel changes a page after the instruction has read its counter, and before the lock is read
   again. It moves an event with the index 2 to another counter. */
static void change_page(void)
{
  if (executed > 1)
    return;
  page->lock += 2;
  page->offset += 300;
  if (page->index == 2) {
    page->index = 7;
    hardware[1] = 0;
  }
}

/* _i: 0: the page of the only event; 1, 2: a page of two core types. That with the index is read
   last. */
TEST_LOOP(change_of_any_page_during_a_read_repeats_the_read, 3)
{
  long long count;

  if (_i == 0) {
    page = add_page(2, 48, 100);
    hardware[1] = hardware[6] = 77;
    open_page_counter();
  } else {
    open_hybrid();
    page = pages[_i - 1];
  }
  count = read_page();
  executed = 0;
  during_instruction = change_page;
  ck_assert_int_eq(read_page(), count + 300);
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

SUITE_AROUND("perf event", NULL, remove_machine)

#else

SUITE_WITHOUT(perf_events, "default-perfevent is not built here")

SUITE("perf event")

#endif
