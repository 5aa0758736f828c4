/* SPDX-License-Identifier: 0BSD OR MIT */
/* vm-test PROMISE [ARGUMENT...]: tests a promise of the library in a guest of "make check-vm",
   through the public interface only. Exit status: 0 passed; 1 failed, with a message; 2 wrong
   usage.

   As the first process of the guest, carries out /steps line by line, and turns the machine off. A
   line is one of
     set FILE VALUE          write a setting of the kernel
     load FILE               load a module
     unload NAME
     show PROGRAM            run a program as an ordinary user, for the log
     root NAME PROGRAM ...   run a test: as root,
     user NAME PROGRAM ...   or as an ordinary user
   Prints the result of each test in a line that begins with "vm:", because the programs print
   to the same console. */

#include "config.h"

#include "include/cpucycles.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_PERFEX
#include "include/perfex.h"
#endif

#if defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)
#define HAVE_USER_ACCESS 1 /* arm64-perfpmc, riscv64-perfrdcycle */
#endif

enum {
  PASSED = 0,
  FAILED = 1,
  USAGE = 2,
  WORDS = 16, /* of a step */
  ORDINARY_USER = 65534,
  TURNS = 2000,         /* turns of a measured loop */
  MANY_TURNS = 1000000, /* of a loop that takes a millisecond or more */
  READS = 1000,
  DESCRIPTORS = 4096 /* more than a process may have */
};

static int fail(const char *format, ...)
{
  va_list arguments;

  printf("vm-test: ");
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  return FAILED;
}

/* A loop of known length: INSTRUCTIONS per turn, at least one turn, and no other instruction. */
#if defined(__aarch64__) || defined(__arm__)
enum { INSTRUCTIONS = 2 };
#define LOOP "1:\tsubs %0, %0, #1\n\tbne 1b"
#elif defined(__riscv)
enum { INSTRUCTIONS = 2 };
#define LOOP "1:\taddi %0, %0, -1\n\tbnez %0, 1b"
#elif defined(__powerpc__)
enum { INSTRUCTIONS = 2 };
#define LOOP "1:\taddic. %0, %0, -1\n\tbne 1b"
#elif defined(__mips__)
enum { INSTRUCTIONS = 3 };
#define LOOP ".set push\n\t.set noreorder\n1:\tdaddiu %0, %0, -1\n\tbnez %0, 1b\n\tnop\n\t.set pop"
#else
#error no loop for this CPU
#endif

static inline __attribute__((always_inline)) void loop(unsigned long turns)
{
  __asm__ volatile(LOOP : "+r"(turns) : : "cc", "memory");
}

/* Counts the loop with the selected counter. */
__attribute__((noinline)) static long long count_loop(unsigned long turns)
{
  long long begin = cpucycles_section_begin();

  loop(turns);
  return cpucycles_section_end() - begin - cpucycles_section_overhead();
}

/* Returns the library's entry for a counter. Fails the test if the counter was not built. */
static const struct cpucycles_counter_info *find_counter(const char *name)
{
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (strcmp(counter->name, name) == 0)
      return counter;
  exit(fail("%s is not in the library", name));
}

/* Is the name in the list, whose items are separated by commas? */
static int is_listed(const char *name, const char *list)
{
  char item[64], items[256];

  snprintf(item, sizeof item, ",%s,", name);
  snprintf(items, sizeof items, ",%s,", list);
  return strstr(items, item) != NULL;
}

/* Prints a counter's state and reason. */
static void print_counter(const struct cpucycles_counter_info *counter)
{
  printf("vm-test: %s: state %d, score %lld, reason %s, errno %d (%s), signal %d, remedy: %s\n",
    counter->name, counter->state, counter->score, counter->reason ? counter->reason : "none",
    counter->error_number, strerror(counter->error_number), counter->signal_number,
    counter->remedy ? counter->remedy : "none");
}

/* Ends the test if the selected counter is not in the list. */
static void require_selected(const char *list)
{
  const char *name = cpucycles_implementation();
  int i;

  if (is_listed(name, list))
    return;
  for (i = 0; cpucycles_counter(i); i++)
    print_counter(cpucycles_counter(i));
  exit(fail("%s is selected, and not %s", name, list));
}

/* More events than a PMU has counters. */
enum { OTHERS = 32 };

static int others[OTHERS];

/* Opens OTHERS events, for all processes on CPU 0. They count only the kernel, so they do not
   advance in a loop. The kernel gives the hardware to the first `pinned` of these events before the
   events of threads. One of the pinned events takes the cycle counter. */
static void open_others(int pinned)
{
  struct perf_event_attr other;
  int i;

  memset(&other, 0, sizeof other);
  other.size = sizeof other;
  other.type = PERF_TYPE_HARDWARE;
  other.config = PERF_COUNT_HW_CPU_CYCLES;
  other.exclude_user = 1;
  for (i = 0; i < OTHERS; i++) {
    other.pinned = i < pinned;
    others[i] = (int)syscall(SYS_perf_event_open, &other, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
    if (others[i] < 0)
      exit(fail("no other event: %s", strerror(errno)));
  }
}

static void close_others(void)
{
  int i;

  for (i = 0; i < OTHERS; i++)
    close(others[i]);
}

#ifdef HAVE_PERFEX

/* Stores the cycles and instructions of a loop, with those of the calls, from start_counters(). */
__attribute__((noinline)) static void count_by_start(unsigned long turns, long long *counts)
{
  int started = start_counters(0, 15);

  loop(turns);
  if (started < 0)
    exit(fail("start_counters: %s", strerror(errno)));
  if (read_counters(0, &counts[0], 15, &counts[1]) != started)
    exit(fail("a count is incomplete"));
}

/* Does each count of a loop equal the loop's length, without the count of one turn? */
static int counts_exactly(void (*count)(unsigned long turns, long long *counts))
{
  long long one[2], counts[2];
  int i;

  count(1, one);
  count(1, one);
  for (i = 0; i < READS; i++) {
    count(TURNS + 1, counts);
    if (counts[0] - one[0] != TURNS * INSTRUCTIONS || counts[1] - one[1] != TURNS * INSTRUCTIONS)
      return !fail("%lld cycles, %lld instructions of %d", counts[0] - one[0], counts[1] - one[1],
        TURNS * INSTRUCTIONS);
  }
  printf("vm-test: one turn and the calls: %lld cycles, %lld instructions\n", one[0], one[1]);
  return 1;
}

/* perfex-exact: under -icount shift=0, cycles and instructions of a loop equal its length. */
static int perfex_exact(char **arguments)
{
  (void)arguments;
  return counts_exactly(count_by_start) ? PASSED : FAILED;
}

static struct perfex_group *group;

/* Opens the group, or ends the test. */
static void open_group(const char *events)
{
  group = perfex_open(events, 0);
  if (!group)
    exit(fail("%s: %s: %s", events, strerror(errno), perfex_why()));
}

static void read_group(long long *counts)
{
  if (perfex_read(group, counts) != 0)
    exit(fail("%s: %s", strerror(errno), perfex_why()));
}

/* Stores the counts of a loop, with those of one read. */
__attribute__((noinline)) static void count_group(unsigned long turns, long long *counts)
{
  long long begin[2];

  read_group(begin);
  loop(turns);
  read_group(counts);
  counts[0] -= begin[0];
  counts[1] -= begin[1];
}

/* Prints the sentence on a failure. Returns 1 if there is one, with this errno. */
static int explains(int error)
{
  printf("vm-test: %s: %s\n", strerror(errno), perfex_why());
  return errno == error && strlen(perfex_why()) > 10;
}

/* group-exact WAY: under -icount, a group counts the cycles and instructions of a loop exactly. If
   WAY is "page", the group does not need its descriptors. If it is "read", a group whose
   descriptors were closed is an error. */
static int group_exact(char **arguments)
{
  long long counts[2];
  int number;

  open_group("cycles,instructions");
  if (!counts_exactly(count_group))
    return FAILED;
  for (number = 3; number < DESCRIPTORS; number++)
    close(number);
  if (strcmp(arguments[0], "page") == 0)
    count_group(1, counts);
  else if (perfex_read(group, counts) == 0 || !explains(EBADF))
    return fail("a group without descriptors was read");
  perfex_close(group);
  return PASSED;
}

static void call_nothing(void *argument)
{
  (void)argument;
}

static void call_loop(void *turns)
{
  loop(*(unsigned long *)turns);
}

/* Stores the cycles and instructions of a call. Rounds the cycles, because a whole sample has a few
   cycles of its own. */
static void bench_group(void (*function)(void *argument), unsigned long turns, double *counts)
{
  if (perfex_bench(group, counts, function, &turns) != 0)
    exit(fail("%s: %s", strerror(errno), perfex_why()));
  perfex_print_bench(group, counts);
  counts[0] = (double)(long long)(counts[0] + 0.5);
}

/* bench-exact: under -icount, an empty function has 0 instructions, and the cycles of a call. A
   loop has its instructions, and as many cycles and those of a call. Two loops differ by their
   turns. */
static int bench_exact(char **arguments)
{
  enum { MORE = 1000 };
  double empty[2], one[2], more[2];

  (void)arguments;
  open_group("cycles,instructions");
  bench_group(call_nothing, 0, empty);
  bench_group(call_loop, 1, one);
  bench_group(call_loop, 1 + MORE, more);
  if (empty[1] != 0 || !(empty[0] >= 3))
    return fail("an empty call: %f cycles, %f instructions", empty[0], empty[1]);
  if (one[0] - one[1] != empty[0] || more[0] - more[1] != empty[0])
    return fail("the cycles are not those of the loop and of a call");
  if (more[1] - one[1] != MORE * INSTRUCTIONS)
    return fail("%f instructions of %d", more[1] - one[1], MORE * INSTRUCTIONS);
  return PASSED;
}

/* Returns the number of open descriptors. */
static int count_descriptors(void)
{
  int number, count = 0;

  for (number = 0; number < DESCRIPTORS; number++)
    count += fcntl(number, F_GETFD) >= 0;
  return count;
}

/* group-fits, as root: a group with one event more than the PMU has counters is refused, so is a
   group while other events are pinned, and a group that loses its counters is an error. */
static int group_fits(char **arguments)
{
  char events[16 * 40] = "cycles";
  int before, count = 1;
  long long counts[40];

  (void)arguments;
  before = count_descriptors();
  while ((group = perfex_open(events, 0)) != NULL && count < 32) {
    perfex_close(group);
    strcat(events, ",instructions");
    count++;
  }
  printf("vm-test: %d events do not fit\n", count);
  if (group || !explains(ENOSPC) || count < 3)
    return fail("the group was not refused for its size");
  if (count_descriptors() != before)
    return fail("a refused group left %d descriptors open", count_descriptors() - before);
  open_group("cycles,instructions");
  open_others(OTHERS);
  if (perfex_read(group, counts) == 0 || !explains(EBUSY))
    return fail("a group that lost its counters was read");
  perfex_close(group);
  group = perfex_open("cycles,instructions", 0);
  if (group || !explains(EBUSY))
    return fail("a group was opened that does not count");
  close_others();
  if (count_descriptors() != before)
    return fail("%d descriptors were left open", count_descriptors() - before);
  open_group("cycles,instructions");
  read_group(counts);
  return PASSED;
}

#endif

/* dropped NAME REASON CAUSE [REMEDY]: the counter is dropped with this reason, errno or signal,
   and remedy. The CAUSE "-" is neither errno nor signal. */
static int dropped(char **arguments)
{
  const struct cpucycles_counter_info *counter = find_counter(arguments[0]);
  const char *cause = counter->error_number ? strerrorname_np(counter->error_number)
    : counter->signal_number == SIGILL ? "SIGILL" : counter->signal_number ? "a signal" : "-";

  print_counter(counter);
  if (counter->state != CPUCYCLES_DROPPED)
    return fail("it was not dropped");
  if (!counter->reason || strcmp(counter->reason, arguments[1]) != 0)
    return fail("the reason is not %s", arguments[1]);
  if ((counter->error_number && counter->signal_number) || strcmp(cause, arguments[2]) != 0)
    return fail("the cause is not %s", arguments[2]);
  if (arguments[3] && (!counter->remedy || !strstr(counter->remedy, arguments[3])))
    return fail("the remedy is not %s", arguments[3]);
  return PASSED;
}

/* Returns 1 if the selected counter has the expected reason. "-" stands for no reason. */
static int has_reason(const char *expected)
{
  const char *reason = find_counter(cpucycles_implementation())->reason;

  printf("vm-test: reason: %s\n", reason ? reason : "-");
  return strcmp(reason ? reason : "-", expected) == 0;
}

/* Reads READS times. Returns the last count. Returns -1 if the first count is below `last`, if a
   later count is below the previous count, or if the last count equals the first count. */
static long long read_upward(long long last)
{
  long long first = 0, next;
  int i;

  for (i = 0; i < READS; i++) {
    next = cpucycles();
    if (next < last) {
      fail("read %d: %lld after %lld", i, next, last);
      return -1;
    }
    last = next;
    if (i == 0)
      first = next;
  }
  if (last == first) {
    fail("it is stopped at %lld", last);
    return -1;
  }
  return last;
}

static void run_on_cpu(int cpu)
{
  cpu_set_t one;

  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0)
    exit(fail("cannot run on CPU %d: %s", cpu, strerror(errno)));
}

/* selected LIST [CPU...]: a counter of the list is selected, on the first CPU if CPUs are given,
   and advances, on each of these CPUs. */
static int selected(char **arguments)
{
  char **cpu = arguments + 1;

  do {
    if (*cpu)
      run_on_cpu(atoi(*cpu));
    require_selected(arguments[0]);
    if (read_upward(cpucycles()) < 0)
      return FAILED;
  } while (*cpu && *++cpu);
  return PASSED;
}

static void sleep_ms(long milliseconds)
{
  struct timespec pause = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

  nanosleep(&pause, NULL);
}

/* Prints a count and the loop's length. Returns 1 if they differ by more than 1 %. */
static int differs_from_loop(const char *label, long long cycles, unsigned long turns)
{
  double right = (double)turns * INSTRUCTIONS;

  printf("vm-test: %s: %lld cycles for %.0f instructions\n", label, cycles, right);
  return (double)cycles < right * 0.99 || (double)cycles > right * 1.01;
}

/* Counts a loop a thousand times. Returns the least count, or -1 if more than `outliers` counts
   were higher. */
static long long repeated_count(unsigned long turns, int outliers)
{
  long long counts[READS], least, most;
  int i, higher = 0;

  (void)count_loop(turns);
  for (i = 0; i < READS; i++)
    counts[i] = count_loop(turns);
  least = most = counts[0];
  for (i = 0; i < READS; i++) {
    least = counts[i] < least ? counts[i] : least;
    most = counts[i] > most ? counts[i] : most;
  }
  for (i = 0; i < READS; i++)
    higher += counts[i] != least;
  printf("vm-test: %lu turns: %lld cycles, %d times of %d more, up to %lld\n", turns, least, higher,
    READS, most);
  return higher <= outliers ? least : -1;
}

/* exact NAME [OUTLIERS]: under -icount shift=0, where an instruction takes a cycle, every count
   of a loop equals its length, except for at most OUTLIERS higher counts. The section may begin
   with one more instruction, by which the compiler copies the number of turns. */
static int exact(char **arguments)
{
  int outliers = arguments[1] ? atoi(arguments[1]) : 0;
  long long once, twice;

  require_selected(arguments[0]);
  once = repeated_count(TURNS, outliers);
  twice = repeated_count(2 * TURNS, outliers);
  if (once < 0 || twice < 0)
    return fail("the counts of the loop differ");
  if (once != TURNS * INSTRUCTIONS && once != TURNS * INSTRUCTIONS + 1)
    return fail("%lld cycles for %d instructions", once, TURNS * INSTRUCTIONS);
  if (twice - once != TURNS * INSTRUCTIONS)
    return fail("%lld cycles for %d more instructions", twice - once, TURNS * INSTRUCTIONS);
  return PASSED;
}

enum { THREADS = 4 };

struct runner {
  pthread_t thread;
  int cpu;
  unsigned long turns;
  long long cycles, nanoseconds; /* the loop's, from the counter and from the kernel */
};

static pthread_barrier_t start;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int is_in_turn; /* one thread runs while the other threads sleep */

static long long nanoseconds(clockid_t clock)
{
  struct timespec time;

  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void *run_loop(void *argument)
{
  struct runner *runner = argument;
  long long begin;

  run_on_cpu(runner->cpu);
  (void)cpucycles(); /* a thread's first call costs more */
  pthread_barrier_wait(&start);
  if (is_in_turn)
    pthread_mutex_lock(&turn);
  begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  runner->cycles = count_loop(runner->turns);
  runner->nanoseconds = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin;
  if (is_in_turn)
    pthread_mutex_unlock(&turn);
  return NULL;
}

/* Runs four threads on this number of CPUs, each with a longer loop than the previous one. */
static void run_threads(struct runner *runners, int cpus)
{
  int i;

  pthread_barrier_init(&start, NULL, THREADS);
  for (i = 0; i < THREADS; i++) {
    runners[i].cpu = i % cpus;
    runners[i].turns = 10000000UL * (unsigned)(i + 1);
    if (pthread_create(&runners[i].thread, NULL, run_loop, &runners[i]) != 0)
      exit(fail("no thread"));
  }
  for (i = 0; i < THREADS; i++)
    pthread_join(runners[i].thread, NULL);
}

/* Returns the least cycles per turn of a loop. */
static double fastest_turn(void)
{
  enum { SOME = 100000 };
  long long least = count_loop(SOME), next;
  int i;

  for (i = 0; i < 100; i++) {
    next = count_loop(SOME);
    if (next < least)
      least = next;
  }
  return (double)least / SOME;
}

/* threads NAME [CPUS]: under -icount, each of four threads counts its own loop within 1 %. On two
   CPUs, one clock counts the instructions of both, so the threads run in turn. If CPUS is
   "parallel", two CPUs run in parallel without -icount, and an emulated cycle takes a nanosecond:
   a thread's count is then at most its own CPU time, from the kernel, and at least the shortest
   time of its loop. */
static int threads(char **arguments)
{
  int i, wrong = 0, is_parallel = arguments[1] && strcmp(arguments[1], "parallel") == 0;
  int cpus = is_parallel ? 2 : arguments[1] ? atoi(arguments[1]) : 1;
  double before, after, turn, least, most;
  struct runner runners[THREADS];

  require_selected(arguments[0]);
  is_in_turn = cpus > 1 && !is_parallel;
  before = fastest_turn();
  run_threads(runners, cpus);
  after = fastest_turn();
  turn = before < after ? before : after; /* the machine may have been busy at one of the times */
  for (i = 0; i < THREADS; i++) {
    least = (is_parallel ? 0.9 * turn : 0.99 * INSTRUCTIONS) * (double)runners[i].turns;
    most = 1.01 * (is_parallel ? (double)runners[i].nanoseconds
                               : (double)runners[i].turns * INSTRUCTIONS);
    printf("vm-test: thread %d: %.0f <= %lld <= %.0f cycles\n", i, least, runners[i].cycles, most);
    wrong |= (double)runners[i].cycles < least || (double)runners[i].cycles > most;
  }
  return wrong ? FAILED : PASSED;
}

/* Does the process still count correctly? Uses the least of five counts, because an emulator may
   also count the kernel's cycles. */
static int counts_correctly(const char *label)
{
  long long least = count_loop(MANY_TURNS), next;
  int i;

  for (i = 0; i < 4; i++) {
    next = count_loop(MANY_TURNS);
    least = next < least ? next : least;
  }
  return read_upward(cpucycles()) >= 0 && !differs_from_loop(label, least, MANY_TURNS);
}

/* forked NAME: under -icount, parent and child continue to count, each its own cycles, so the
   parent's count while it waits is less than one of the child's loops. */
static int forked(char **arguments)
{
  long long before, waited;
  pid_t child;
  int status;

  require_selected(arguments[0]);
  before = read_upward(cpucycles());
  fflush(stdout);
  child = fork();
  if (child == 0)
    exit(counts_correctly("child") ? PASSED : FAILED);
  if (child < 0 || waitpid(child, &status, 0) != child)
    return fail("no child: %s", strerror(errno));
  if (WIFSIGNALED(status))
    return fail("the child ended by signal %d", WTERMSIG(status));
  if (WEXITSTATUS(status) != PASSED)
    return fail("the child does not count");
  waited = cpucycles() - before;
  printf("vm-test: %lld cycles while the child ran\n", waited);
  if (waited > MANY_TURNS * INSTRUCTIONS)
    return fail("the parent counts the child's cycles");
  return before >= 0 && read_upward(before) >= 0 && counts_correctly("parent") ? PASSED : FAILED;
}

/* Closes all files but the standard streams, and opens files with the numbers `begin` to `end`. */
static void replace_files(int begin, int end)
{
  int number, opened;

  for (number = 3; number < DESCRIPTORS; number++)
    close(number);
  for (number = begin; number <= end; number++) {
    opened = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (opened != number && (dup2(opened, number) < 0 || close(opened) != 0))
      exit(fail("no file %d: %s", number, strerror(errno)));
  }
}

/* Returns 1 if the process counts correctly, and the files with the numbers `begin` to `end` are
   still open and were not read. */
static int counts_beside_files(const char *label, int begin, int end)
{
  int number;

  if (!counts_correctly(label))
    return 0;
  for (number = begin; number <= end; number++)
    if (lseek(number, 0, SEEK_CUR) != 0)
      return fail("%s: file %d was read or closed", label, number), 0;
  return 1;
}

/* First, the process closes the parent's files, and opens a file with the number of the parent's
   event, or of standard error if the parent has no file for its event. Then the process closes its
   own event, and opens files with the numbers 3 to 99. */
static int count_as_daemon(long long last, const char *reason)
{
  int old = DESCRIPTORS, null = open("/dev/null", O_RDWR);

  dup2(null, STDIN_FILENO);
  dup2(null, STDERR_FILENO);
  close(null);
  while (fcntl(old, F_GETFD) < 0)
    old--;
  replace_files(old, old);
  if (read_upward(last) < 0 || !counts_beside_files("as a daemon", old, old) || !has_reason("-"))
    return FAILED;
  last = cpucycles();
  replace_files(3, 99);
  return read_upward(last) >= 0 && counts_beside_files("without its event", 3, 99)
      && has_reason(reason)
    ? PASSED : FAILED;
}

/* daemon NAME REASON: under -icount, a daemon that closes all files counts correctly, and does not
   touch files that it opens afterwards. When it has closed its own event, the reason is REASON. */
static int runs_as_daemon(char **arguments)
{
  int status, ended = 0, failed = 0;
  long long last;

  require_selected(arguments[0]);
  last = read_upward(cpucycles());
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
    return fail("the daemon would have another parent: %s", strerror(errno));
  fflush(stdout);
  if (fork() == 0) {
    setsid();
    if (fork() == 0)
      exit(count_as_daemon(last, arguments[1]));
    _exit(PASSED);
  }
  for (; wait(&status) > 0; ended++)
    failed |= status;
  return ended == 2 && failed == 0 ? PASSED : fail("%d processes ended with %#x", ended, failed);
}

/* core-rate HZ: 20 measurements of the core frequency return HZ within 1 %. HZ is 0 if the core
   frequency is not measurable. */
static int core_rate(char **arguments)
{
  long long expected = atoll(arguments[0]), measured = 0, off;
  int i;

  for (i = 0; i < 20; i++) {
    measured = cpucycles_core_persecond();
    off = llabs(measured - expected);
    if (off > expected / 100)
      return fail("core persecond %lld, and not %lld", measured, expected);
  }
  printf("vm-test: core persecond %lld, 20 times within 1 %% of %lld\n", measured, expected);
  return PASSED;
}

static void drop_privileges(void)
{
  if (setgid(ORDINARY_USER) != 0 || setuid(ORDINARY_USER) != 0)
    exit(fail("cannot become an ordinary user: %s", strerror(errno)));
}

static void write_file(const char *file, const char *text)
{
  int descriptor = open(file, O_WRONLY | O_CLOEXEC);

  if (descriptor < 0 || write(descriptor, text, strlen(text)) != (ssize_t)strlen(text))
    exit(fail("%s: cannot write %s: %s", file, text, strerror(errno)));
  close(descriptor);
}

static int set(char **arguments)
{
  write_file(arguments[0], arguments[1]);
  return PASSED;
}

static int load(char **arguments)
{
  int descriptor = open(arguments[0], O_RDONLY | O_CLOEXEC);

  return descriptor >= 0 && syscall(SYS_finit_module, descriptor, "", 0) == 0
    ? PASSED : fail("cannot load %s: %s", arguments[0], strerror(errno));
}

static int unload(char **arguments)
{
  return syscall(SYS_delete_module, arguments[0], O_NONBLOCK) == 0
    ? PASSED : fail("cannot unload %s: %s", arguments[0], strerror(errno));
}

/* unloaded NAME, as root: a program that reads the counter after the module was unloaded ends by
   SIGILL, as contrib/arm-pmu-access/README says. */
static int unloaded(char **arguments)
{
  static char *module[] = { "arm_pmu_access" };
  int status;
  pid_t child = fork();

  if (child == 0) {
    require_selected(arguments[0]);
    if (read_upward(cpucycles()) < 0)
      exit(FAILED);
    if (unload(module) != PASSED)
      exit(FAILED);
    (void)cpucycles();
    exit(PASSED);
  }
  if (waitpid(child, &status, 0) != child)
    return fail("no child: %s", strerror(errno));
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGILL)
    return fail("the program ended with %#x", (unsigned)status);
  return PASSED;
}

static const char cpu_1_online[] = "/sys/devices/system/cpu/cpu1/online";

/* goes-offline NAME, as root: under -icount, a thread counts correctly while and after its CPU goes
   offline, and when the thread runs on this CPU again. */
static int goes_offline(char **arguments)
{
  long long begin, cycles;
  int is_right;

  run_on_cpu(1);
  require_selected(arguments[0]);
  begin = cpucycles();
  write_file(cpu_1_online, "0");
  loop(MANY_TURNS);
  cycles = cpucycles() - begin;
  is_right = sched_getcpu() == 0 && !differs_from_loop("CPU 1 goes offline", cycles, MANY_TURNS)
    && counts_correctly("on CPU 0");
  begin = cpucycles();
  write_file(cpu_1_online, "1");
  run_on_cpu(1);
  return is_right && read_upward(begin) >= 0 && counts_correctly("on CPU 1 again")
      && has_reason("-")
    ? PASSED : FAILED;
}

/* Number of times that CPU 0 was in an idle state that resets its PMU. */
static long idle_count(void)
{
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpuidle/state1/usage", "re");
  long count;

  if (!file || fscanf(file, "%ld", &count) != 1)
    exit(fail("there is no idle state: %s", strerror(errno)));
  fclose(file);
  return count;
}

/* idles NAME: the count continues after the CPU slept. The count of a thread excludes the sleep
   and, under -icount, is correct afterwards. */
static int idles(char **arguments)
{
  enum { MOST_CYCLES = 2000 }; /* of a thread before and after its sleep */
  int i, is_of_thread;
  long long last, begin, slept, most = 0;
  long before;

  run_on_cpu(0);
  require_selected(arguments[0]);
  is_of_thread = strcmp(find_counter(arguments[0])->scope, "thread") == 0;
  before = idle_count();
  last = read_upward(cpucycles());
  for (i = 0; i < 20 && last >= 0; i++) {
    begin = cpucycles();
    sleep_ms(20);
    slept = cpucycles() - begin;
    most = slept > most ? slept : most;
    last = read_upward(last);
  }
  printf("vm-test: the CPU slept %ld times; at most %lld cycles in 20 ms\n", idle_count() - before,
    most);
  if (idle_count() == before)
    return fail("the CPU never slept");
  if (is_of_thread && (most > MOST_CYCLES || !counts_correctly("after sleep") || !has_reason("-")))
    return FAILED;
  return last >= 0 ? PASSED : FAILED;
}

/* suspended NAME, as root: the count continues after a test suspend of the machine, which ends just
   before the power would be switched off. */
static int suspended(char **arguments)
{
  long long last;

  run_on_cpu(0);
  require_selected(arguments[0]);
  last = read_upward(cpucycles());
  write_file("/sys/power/pm_test", "core");
  write_file("/sys/power/state", "disk");
  return last >= 0 && read_upward(last) >= 0 ? PASSED : FAILED;
}

#ifdef HAVE_USER_ACCESS

/* Opens an event of this thread that counts cycles in user mode, with user-space access. */
static int open_cycles(void)
{
  struct perf_event_attr event;
  int descriptor;

  memset(&event, 0, sizeof event);
  event.size = sizeof event;
  event.type = PERF_TYPE_HARDWARE;
  event.config = PERF_COUNT_HW_CPU_CYCLES;
#ifdef __aarch64__
  event.config1 = 3; /* of 64 bits */
#endif
  event.pinned = event.exclude_kernel = event.exclude_hv = 1;
  descriptor = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
  if (descriptor < 0)
    exit(fail("no event: %s", strerror(errno)));
  return descriptor;
}

/* Returns the nanoseconds per call, measured against a clock on which each instruction takes one
   nanosecond. Returns the least of several rounds, because an interrupt may fall into a round. */
static double nanoseconds_per_call(long long (*read_once)(void), int calls)
{
  long long (*volatile read)(void) = read_once; /* loaded for each call, like cpucycles */
  long long least = 0, begin, duration;
  int round, i;

  for (round = 0; round < 20; round++) {
    begin = nanoseconds(CLOCK_MONOTONIC);
    for (i = 0; i < calls; i++)
      (void)read();
    duration = nanoseconds(CLOCK_MONOTONIC) - begin;
    if (round == 0 || duration < least)
      least = duration;
  }
  return (double)least / calls;
}

static int bare_event;

static long long read_bare(void)
{
  long long count;

  return read(bare_event, &count, sizeof count) > 0 ? count : 0;
}

/* read-cost NAME RATIO INSTRUCTIONS: under -icount, a call of a counter that uses read(2) takes at
   most RATIO times as long as a bare read(2) of an event that returns only the count. From one read
   to the next, the program executes at most INSTRUCTIONS instructions in user mode. */
static int read_cost(char **arguments)
{
  double bare, ours, most = atof(arguments[1]);
  long long last, next, least = 0;
  int i, bound = atoi(arguments[2]);

  bare_event = open_cycles();
  bare = nanoseconds_per_call(read_bare, 1000);
  close(bare_event);
  require_selected(arguments[0]);
  ours = nanoseconds_per_call(cpucycles, 1000);
  last = cpucycles();
  for (i = 0; i < READS; i++) {
    next = cpucycles();
    least = i == 0 || next - last < least ? next - last : least;
    last = next;
  }
  printf("vm-test: cost: a call of %s %.1f ns, a bare read(2) %.1f ns: %.3f, bound %.2f\n",
    arguments[0], ours, bare, ours / bare, most);
  printf("vm-test: cost: user instructions from read to read: %lld, bound %d\n", least, bound);
  return ours <= most * bare && least <= bound ? PASSED : fail("too slow");
}

/* page-cost NAME NANOSECONDS: under -icount, a call of a counter that is read through a page
   takes at most NANOSECONDS. */
static int page_cost(char **arguments)
{
  double ours, most = atof(arguments[1]);

  require_selected(arguments[0]);
  ours = nanoseconds_per_call(cpucycles, 10000);
  printf("vm-test: cost: a call of %s %.1f ns; bound %.0f ns\n", arguments[0], ours, most);
  /* The margin of 0.5 ns is for the clock, which is read once in 10,000 calls. */
  return ours <= most + 0.5 ? PASSED : fail("too slow");
}

#endif

#if defined(HAVE_PERFEX) && defined(__aarch64__)

/* group-page-cost INSTRUCTIONS: from one read of three events through their pages to the next, the
   program executes at most so many instructions, which the group itself counts. The sequence of
   linux/perf_event.h, written by hand, takes 103. */
static int group_page_cost(char **arguments)
{
  long long counts[2][3], cost;
  int i, most = atoi(arguments[0]);

  open_group("cycles,instructions,instructions"); /* qemu has no third event */
  for (i = 3; i < DESCRIPTORS; i++)
    close(i);
  for (i = 0; i < 4; i++)
    read_group(counts[i % 2]);
  cost = counts[1][1] - counts[0][1];
  printf("vm-test: cost: a read of three events: %lld instructions, bound %d\n", cost, most);
  return cost <= most ? PASSED : fail("too slow");
}

#endif

/* competing NAME PINNED REASON, as root: under -icount, the counter counts correctly after other
   events were opened, of which PINNED are pinned. Its reason is then REASON. */
static int competing(char **arguments)
{
  long long last;

  run_on_cpu(0);
  require_selected(arguments[0]);
  last = read_upward(cpucycles());
  open_others(atoi(arguments[1]));
  return last >= 0 && read_upward(last) >= 0 && counts_correctly("with other events")
      && has_reason(arguments[2])
    ? PASSED : FAILED;
}

static int run_promise(char **words);

/* among-others PINNED PROMISE [ARGUMENT...], as root: after other events were opened, of which
   PINNED are pinned, an ordinary user's program keeps PROMISE. */
static int among_others(char **arguments)
{
  open_others(atoi(arguments[0]));
  run_on_cpu(0);
  drop_privileges();
  return run_promise(arguments + 1);
}

static const struct {
  const char *name;
  int arguments; /* the least number */
  int (*run)(char **arguments);
} promises[] = {
  { "among-others", 2, among_others },
  { "competing", 3, competing },
  { "core-rate", 1, core_rate },
  { "daemon", 2, runs_as_daemon },
  { "dropped", 3, dropped },
  { "exact", 1, exact },
  { "forked", 1, forked },
  { "goes-offline", 1, goes_offline },
  { "idles", 1, idles },
  { "load", 1, load },
#if defined(HAVE_PERFEX) && defined(__aarch64__)
  { "group-page-cost", 1, group_page_cost },
#endif
#ifdef HAVE_PERFEX
  { "bench-exact", 0, bench_exact },
  { "group-exact", 1, group_exact },
  { "group-fits", 0, group_fits },
  { "perfex-exact", 0, perfex_exact },
#endif
#ifdef HAVE_USER_ACCESS
  { "page-cost", 2, page_cost },
  { "read-cost", 3, read_cost },
#endif
  { "selected", 1, selected },
  { "set", 2, set },
  { "suspended", 1, suspended },
  { "threads", 1, threads },
  { "unload", 1, unload },
  { "unloaded", 1, unloaded },
};

/* words: the promise, its arguments, and NULL */
static int run_promise(char **words)
{
  int count = 0;
  size_t i;

  while (words[count])
    count++;
  for (i = 0; i < sizeof promises / sizeof promises[0]; i++)
    if (count > promises[i].arguments && strcmp(promises[i].name, words[0]) == 0)
      return promises[i].run(words + 1);
  return USAGE;
}

/* Carries out a step in a process of its own. */
static int run_step(char **words)
{
  int is_test = strcmp(words[0], "root") == 0 || strcmp(words[0], "user") == 0;
  char **program = words + (is_test ? 2 : 1);

  if (!is_test && strcmp(words[0], "show") != 0)
    return run_promise(words);
  if (strcmp(words[0], "root") != 0)
    drop_privileges();
  execv(program[0], program);
  return fail("%s: %s", program[0], strerror(errno));
}

/* Carries out a line of the steps. Leaves no process behind. The time limit of the guest ends a
   program that hangs. */
static void step(char *line)
{
  char *words[WORDS + 1] = { NULL }, *word;
  int count = 0, is_test, status = -1;
  pid_t child, ended;

  for (word = strtok(line, " \n"); word && count < WORDS; word = strtok(NULL, " \n"))
    words[count++] = word;
  if (count == 0)
    return;
  is_test = count > 2 && (strcmp(words[0], "root") == 0 || strcmp(words[0], "user") == 0);
  if (is_test)
    printf("vm: begin %s\n", words[1]);
  child = fork();
  if (child == 0)
    exit(run_step(words));
  while ((ended = waitpid(-1, &status, 0)) > 0 && ended != child) /* an orphan has ended */
    continue;
  kill(-1, SIGKILL);
  if (is_test && WIFSIGNALED(status))
    printf("vm: ERROR %s: %s\n", words[1], strsignal(WTERMSIG(status)));
  else if (is_test)
    printf("vm: %s %s\n", status == 0 ? "PASS" : "FAIL", words[1]);
  else if (status != 0 && strcmp(words[0], "show") != 0) /* not as the tests expect */
    printf("vm: broken: %s %s\n", words[0], words[1] ? words[1] : "");
}

static int run_guest(void)
{
  char line[512];
  FILE *steps;

  if (mount("proc", "/proc", "proc", 0, NULL) != 0 || mount("sys", "/sys", "sysfs", 0, NULL) != 0
    || mount("dev", "/dev", "devtmpfs", 0, NULL) != 0)
    printf("vm: broken: /proc, /sys or /dev\n");
  printf("\n"); /* ends an unfinished line of the firmware */
  steps = fopen("/steps", "re");
  /* without a buffer, so that a child that ends does not move the position */
  if (!steps || setvbuf(steps, NULL, _IONBF, 0) != 0)
    printf("vm: broken: /steps\n");
  while (steps && fgets(line, sizeof line, steps))
    step(line);
  printf("vm: end\n");
  return reboot(RB_POWER_OFF);
}

int main(int argc, char **argv)
{
  int result;

  setvbuf(stdout, NULL, _IOLBF, 0); /* whole lines, because other programs use this console */
  if (getpid() == 1)
    return run_guest();
  /* Without -icount, qemu's PMU counts time, so a counter is selected only if it is named. */
  if (argc > 2 && strcmp(argv[1], "named") == 0) {
    setenv("CPUCYCLES_IMPLEMENTATION", argv[2], 1);
    argv += 2;
    if (argv[1] && *argv[1] == '/') /* another program */
      return execv(argv[1], argv + 1);
  }
  result = run_promise(argv + 1);
  if (result == USAGE)
    fprintf(stderr, "usage: vm-test PROMISE ARGUMENT...\n");
  return result;
}
