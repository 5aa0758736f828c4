/* SPDX-License-Identifier: 0BSD OR MIT */
/* vm-test PROMISE [ARGUMENT...]: is a promise about the library kept in this guest of "make
   check-vm"? Speaks with the library through its public interface. Exit status: 0 if so; 1 if
   not, and says why; 77 if that cannot be tried here, and says why; 2 for wrong usage. */

#include "config.h"

#include "include/cpucycles.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_PERFEX
#include "include/perfex.h"
#include <linux/perf_event.h>
#endif

#if defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)
#define HAVE_USER_ACCESS 1 /* arm64-perfpmc, riscv64-perfrdcycle */
#include <linux/perf_event.h>
#include <sys/mman.h>
#endif

enum {
  KEPT = 0,
  BROKEN = 1,
  USAGE = 2,
  SKIPPED = 77,
  NOBODY = 65534,
  TURNS = 2000, /* of a loop to be counted */
  READS = 1000
};

static int broken(const char *format, ...)
{
  va_list arguments;

  printf("vm-test: ");
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  return BROKEN;
}

/* A loop of known length: so many instructions a turn, at least one turn, and none before or
   after. */
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

/* What the counter makes of it. */
__attribute__((noinline)) static long long count_loop(unsigned long turns)
{
  long long begin = cpucycles_begin();

  loop(turns);
  return cpucycles_end() - begin - cpucycles_overhead();
}

/* What the library says of a counter; fails the test if it was not built. */
static const struct cpucycles_counter_info *find(const char *name)
{
  const struct cpucycles_counter_info *counter;
  int i;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (strcmp(counter->name, name) == 0)
      return counter;
  exit(broken("%s is not in the library", name));
}

/* Is it one of the list, which is separated by commas? */
static int is_listed(const char *name, const char *list)
{
  size_t length = strlen(name);
  const char *at = list;

  while ((at = strstr(at, name)) != NULL) {
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
      return 1;
    at++;
  }
  return 0;
}

/* Why it is not what it should be. */
static void explain(const struct cpucycles_counter_info *counter)
{
  printf("vm-test: %s: state %d, precision %lld, reason %s, errno %d (%s), signal %d, remedy: %s\n",
    counter->name, counter->state, counter->precision, counter->reason ? counter->reason : "none",
    counter->error_number, strerror(counter->error_number), counter->signal_number,
    counter->remedy ? counter->remedy : "none");
}

/* Ends the test if another counter than one of the list is in use. */
static void need(const char *list)
{
  const char *name = cpucycles_implementation();
  int i;

  if (is_listed(name, list))
    return;
  for (i = 0; cpucycles_counter(i); i++)
    explain(cpucycles_counter(i));
  exit(broken("%s is selected, and not %s", name, list));
}

/* selected LIST: one of these is. */
static int selected(char **arguments)
{
  need(arguments[0]);
  return KEPT;
}

/* usable NAME: it works, whether or not another is better. */
static int usable(char **arguments)
{
  const struct cpucycles_counter_info *counter = find(arguments[0]);

  explain(counter);
  return counter->state == CPUCYCLES_DROPPED ? BROKEN : KEPT;
}

#ifdef HAVE_PERFEX

/* Two events of a loop, as libperfex counts them. Returns 0 if that count is not whole. */
__attribute__((noinline)) static int count_events(int e0, int e1, unsigned long turns,
  long long *counts)
{
  int started = start_counters(e0, e1);

  loop(turns);
  if (started < 0)
    exit(broken("start_counters: %s", strerror(errno)));
  return read_counters(e0, &counts[0], e1, &counts[1]) == started;
}

/* The same, a hundred times, without what is there for one turn. Returns 0 if they are not the
   same. */
static int count_turns(int e0, int e1, unsigned long turns, long long *counts)
{
  long long once[2], now[2];
  int i, is_whole = count_events(e0, e1, 1, once) & count_events(e0, e1, 1, once);

  for (i = 0; i < READS / 10; i++) {
    is_whole &= count_events(e0, e1, turns, now);
    if (i > 0 && (now[0] - once[0] != counts[0] || now[1] - once[1] != counts[1]))
      is_whole = 0;
    counts[0] = now[0] - once[0];
    counts[1] = now[1] - once[1];
  }
  printf("vm-test: events %d and %d of %lu turns: %lld, %lld; of the calls: %lld, %lld\n", e0, e1,
    turns - 1, counts[0], counts[1], once[0] - INSTRUCTIONS, once[1] - INSTRUCTIONS);
  return is_whole;
}

/* perfex-exact: under -icount shift=0, cycles and instructions of a loop are those of its length,
   and of twice the loop twice as many. */
static int perfex_exact(char **arguments)
{
  long long once[2], twice[2];
  int i;

  (void)arguments;
  if (!count_turns(0, 15, TURNS + 1, once) || !count_turns(0, 15, 2 * TURNS + 1, twice))
    return broken("the loop has not one count, or that is not whole");
  for (i = 0; i < 2; i++)
    if (once[i] != TURNS * INSTRUCTIONS || twice[i] != 2 * once[i])
      return broken("%lld, %lld of event %d for %d instructions and twice as many", once[i],
        twice[i], i ? 15 : 0, TURNS * INSTRUCTIONS);
  return KEPT;
}

/* perfex-counts NAME [TURN]: so many of an event in each turn of a loop, or none. */
static int perfex_counts(char **arguments)
{
  int event = perfex_event(arguments[0]), turn = arguments[1] ? atoi(arguments[1]) : 0;
  long long counts[2];

  if (event < 0)
    return USAGE;
  if (start_counters(0, event) < 0 && errno == ENOTSUP)
    return printf("vm-test: this PMU does not count %s\n", arguments[0]), SKIPPED;
  if (!count_turns(0, event, TURNS + 1, counts))
    return broken("the loop has not one count, or that is not whole");
  if (counts[1] != (long long)TURNS * turn)
    return broken("%lld of %s in %d turns", counts[1], arguments[0], TURNS);
  return KEPT;
}

/* perfex-lost: where other pinned events have the hardware, a count shows that it is not whole; and
   is whole again without them. */
static int perfex_lost(char **arguments)
{
  struct perf_event_attr other;
  int descriptors[32], i;
  long long counts[2];

  (void)arguments;
  memset(&other, 0, sizeof other);
  other.size = sizeof other;
  other.type = PERF_TYPE_HARDWARE;
  other.config = PERF_COUNT_HW_INSTRUCTIONS;
  other.pinned = other.exclude_kernel = other.exclude_hv = 1;
  for (i = 0; i < 32; i++)
    descriptors[i] = (int)syscall(SYS_perf_event_open, &other, 0, -1, -1, 0);
  if (count_events(15, 17, TURNS, counts))
    return broken("%lld, %lld with 32 other events: said to be whole", counts[0], counts[1]);
  for (i = 0; i < 32; i++)
    close(descriptors[i]);
  return count_events(15, 17, TURNS, counts) ? KEPT : broken("not whole without other events");
}

#endif

static const struct {
  const char *name;
  int error, signal;
} causes[] = {
  { "-", 0, 0 },
  { "EACCES", EACCES, 0 },
  { "ENOENT", ENOENT, 0 },
  { "EINVAL", EINVAL, 0 },
  { "SIGILL", 0, SIGILL },
};

#ifdef HAVE_PERFEX
/* perfex-refused CAUSE: libperfex may not count, by this errno, and prints all the same. */
static int perfex_refused(char **arguments)
{
  size_t i = 0;

  while (i < sizeof causes / sizeof causes[0] && strcmp(causes[i].name, arguments[0]) != 0)
    i++;
  if (i == sizeof causes / sizeof causes[0])
    return USAGE;
  if (start_counters(0, 15) != -1 || errno != causes[i].error)
    return broken("not refused by %s, but: %s", arguments[0], strerror(errno));
  return print_counters(0, 1, 15, 2) > 0 && print_costs(0, 1, 15, 2) > 0 ? KEPT : BROKEN;
}
#endif

/* dropped NAME REASON CAUSE [REMEDY]: it is, with this reason, this errno or signal, and this
   remedy. */
static int dropped(char **arguments)
{
  const struct cpucycles_counter_info *counter = find(arguments[0]);
  size_t i = 0;

  explain(counter);
  while (i < sizeof causes / sizeof causes[0] && strcmp(causes[i].name, arguments[2]) != 0)
    i++;
  if (i == sizeof causes / sizeof causes[0])
    return USAGE;
  if (counter->state != CPUCYCLES_DROPPED)
    return broken("it was not dropped");
  if (!counter->reason || strcmp(counter->reason, arguments[1]) != 0)
    return broken("the reason is not %s", arguments[1]);
  if (counter->error_number != causes[i].error || counter->signal_number != causes[i].signal)
    return broken("it was not by %s", arguments[2]);
  if (arguments[3] && (!counter->remedy || !strstr(counter->remedy, arguments[3])))
    return broken("the remedy is not %s", arguments[3]);
  return KEPT;
}

/* Reads for a while. Returns the last count, or -1: it ran backward, also from `last`, or stood
   still. */
static long long keep_reading(long long last)
{
  long long first = 0, next;
  int i;

  for (i = 0; i < READS; i++) {
    next = cpucycles();
    if (next < last) {
      broken("read %d: %lld after %lld", i, next, last);
      return -1;
    }
    last = next;
    if (i == 0)
      first = next;
  }
  if (last == first) {
    broken("it stands still at %lld", last);
    return -1;
  }
  return last;
}

static void stay_on(int cpu)
{
  cpu_set_t one;

  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0)
    exit(broken("cannot run on CPU %d: %s", cpu, strerror(errno)));
}

/* advances LIST: one of these is selected on CPU 0, and advances. */
static int advances(char **arguments)
{
  stay_on(0);
  need(arguments[0]);
  printf("vm-test: %s is selected\n", cpucycles_implementation());
  return keep_reading(cpucycles()) >= 0 ? KEPT : BROKEN;
}

static void rest(long milliseconds)
{
  struct timespec pause = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

  nanosleep(&pause, NULL);
}

/* Says how far a count is from the loop's length. Returns 1 if that is more than 1 %. */
static int is_wrong(const char *whose, long long cycles, unsigned long turns)
{
  double right = (double)turns * INSTRUCTIONS;

  printf("vm-test: %s: %lld cycles for %.0f instructions\n", whose, cycles, right);
  return (double)cycles < right * 0.99 || (double)cycles > right * 1.01;
}

/* Counts a loop a thousand times. Returns the one count that was seen, though so many may have
   been more; or -1: it was not one. */
static long long one_count(unsigned long turns, int strays)
{
  long long counts[READS], least, most;
  int i, others = 0;

  (void)count_loop(turns);
  for (i = 0; i < READS; i++)
    counts[i] = count_loop(turns);
  least = most = counts[0];
  for (i = 0; i < READS; i++) {
    least = counts[i] < least ? counts[i] : least;
    most = counts[i] > most ? counts[i] : most;
  }
  for (i = 0; i < READS; i++)
    others += counts[i] != least;
  printf("vm-test: %lu turns: %lld cycles, %d times of %d more, up to %lld\n", turns, least, others,
    READS, most);
  return others <= strays ? least : -1;
}

/* exact NAME [STRAYS]: under -icount shift=0, where an instruction takes a cycle, a loop has the
   same count each time, or so many times more, and that is its length. */
static int exact(char **arguments)
{
  int strays = arguments[1] ? atoi(arguments[1]) : 0;
  long long once, twice;

  need(arguments[0]);
  once = one_count(TURNS, strays);
  twice = one_count(2 * TURNS, strays);
  if (once < 0 || twice < 0)
    return broken("the loop has not one count");
  if (once != TURNS * INSTRUCTIONS)
    return broken("%lld cycles for %d instructions", once, TURNS * INSTRUCTIONS);
  if (twice != 2 * once)
    return broken("twice the loop is not twice the cycles");
  return KEPT;
}

enum { THREADS = 4 };

struct runner {
  pthread_t thread;
  unsigned long turns;
  long long cycles, nanoseconds; /* of its loop: by the counter, and by the kernel */
};

static pthread_barrier_t start;

static long long my_time(void)
{
  struct timespec time;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void *run_loop(void *argument)
{
  struct runner *runner = argument;
  long long begin;

  (void)cpucycles(); /* what a thread's first call does is not the loop's */
  pthread_barrier_wait(&start);
  begin = my_time();
  runner->cycles = count_loop(runner->turns);
  runner->nanoseconds = my_time() - begin;
  return NULL;
}

/* Four threads at once, of which each runs a longer loop than the one before it. */
static void run_threads(struct runner *runners)
{
  int i;

  pthread_barrier_init(&start, NULL, THREADS);
  for (i = 0; i < THREADS; i++) {
    runners[i].turns = 10000000UL * (unsigned)(i + 1);
    if (pthread_create(&runners[i].thread, NULL, run_loop, &runners[i]) != 0)
      exit(broken("no thread"));
  }
  for (i = 0; i < THREADS; i++)
    pthread_join(runners[i].thread, NULL);
}

/* threads NAME: under -icount, each thread counts its own loop. */
static int threads(char **arguments)
{
  struct runner runners[THREADS];
  char whose[32];
  int i, wrong = 0;

  need(arguments[0]);
  run_threads(runners);
  for (i = 0; i < THREADS; i++) {
    snprintf(whose, sizeof whose, "thread %d", i);
    wrong |= is_wrong(whose, runners[i].cycles, runners[i].turns);
  }
  return wrong ? BROKEN : KEPT;
}

/* Whose turn it is, of threads that run one after another. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_over = PTHREAD_COND_INITIALIZER;
static int whose_turn;

struct turn {
  struct runner runner;
  int number;
};

static void *run_in_turn(void *argument)
{
  struct turn *turn = argument;

  stay_on(turn->number % 2);
  (void)cpucycles();
  pthread_mutex_lock(&turn_lock);
  while (whose_turn != turn->number)
    pthread_cond_wait(&turn_over, &turn_lock);
  turn->runner.cycles = count_loop(turn->runner.turns);
  whose_turn++;
  pthread_cond_broadcast(&turn_over);
  pthread_mutex_unlock(&turn_lock);
  return NULL;
}

/* threads-in-turn NAME: under -icount on two CPUs, whose one clock counts the instructions of
   both: so four threads, on one CPU or the other, run while the others sleep, and each counts
   its own loop within 1 %. */
static int threads_in_turn(char **arguments)
{
  struct turn turns[THREADS];
  int i, wrong = 0;

  need(arguments[0]);
  for (i = 0; i < THREADS; i++) {
    turns[i].number = i;
    turns[i].runner.turns = 10000000UL * (unsigned)(i + 1);
    if (pthread_create(&turns[i].runner.thread, NULL, run_in_turn, &turns[i]) != 0)
      exit(broken("no thread"));
  }
  for (i = 0; i < THREADS; i++)
    pthread_join(turns[i].runner.thread, NULL);
  for (i = 0; i < THREADS; i++) {
    double off = (double)turns[i].runner.cycles / ((double)turns[i].runner.turns * INSTRUCTIONS)
      - 1;

    printf("vm-test: thread %d on CPU %d: %lld cycles, %+.4f %% off\n", i, i % 2,
      turns[i].runner.cycles, 100 * off);
    wrong |= off < -0.01 || off > 0.01;
  }
  return wrong ? BROKEN : KEPT;
}

/* The least that a turn takes, in cycles. */
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

/* timed-threads NAME: on CPUs that run at once, where a cycle of the emulator's takes a
   nanosecond. What a thread counts is no more than its own time, as the kernel has it, and no
   less than its loop can take. */
static int timed_threads(char **arguments)
{
  struct runner runners[THREADS];
  double turn, least, most;
  int i, wrong = 0;

  need(arguments[0]);
  turn = fastest_turn();
  run_threads(runners);
  for (i = 0; i < THREADS; i++) {
    least = 0.9 * turn * (double)runners[i].turns;
    most = 1.01 * (double)runners[i].nanoseconds;
    printf("vm-test: thread %d: %.0f <= %lld <= %.0f cycles\n", i, least, runners[i].cycles, most);
    wrong |= (double)runners[i].cycles < least || (double)runners[i].cycles > most;
  }
  return wrong ? BROKEN : KEPT;
}

/* What a process must do after whatever happened. The least of some counts: an emulator may
   count the kernel's cycles, too. */
static int counts_right(const char *whose)
{
  enum { SOME = 1000000 };
  long long least = count_loop(SOME), next;
  int i;

  for (i = 0; i < 4; i++) {
    next = count_loop(SOME);
    least = next < least ? next : least;
  }
  return keep_reading(cpucycles()) >= 0 && !is_wrong(whose, least, SOME);
}

/* forked NAME: under -icount, both parent and child go on counting, each its own cycles. */
static int forked(char **arguments)
{
  long long before;
  pid_t child;
  int status;

  need(arguments[0]);
  before = keep_reading(cpucycles());
  fflush(stdout);
  child = fork();
  if (child == 0)
    exit(counts_right("child") ? KEPT : BROKEN);
  if (child < 0 || waitpid(child, &status, 0) != child)
    return broken("no child: %s", strerror(errno));
  if (WIFSIGNALED(status))
    return broken("the child ended by signal %d", WTERMSIG(status));
  if (WEXITSTATUS(status) != KEPT)
    return broken("the child did not go on");
  return before >= 0 && keep_reading(before) >= 0 && counts_right("parent") ? KEPT : BROKEN;
}

/* Closes the descriptors of perf events, behind the library's back. Returns how many. */
static int close_events(void)
{
  char link[32], name[64];
  int descriptor, closed = 0;
  ssize_t length;

  for (descriptor = 3; descriptor < 1024; descriptor++) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    length = readlink(link, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    if (strstr(name, "perf_event"))
      closed += close(descriptor) == 0;
  }
  return closed;
}

/* closed NAME: where the event's descriptor is closed, reads go on. */
static int closed(char **arguments)
{
  long long last;
  int i;

  need(arguments[0]);
  last = keep_reading(cpucycles());
  if (last >= 0 && close_events() == 0)
    return broken("it has no event");
  for (i = 0; i < 10 && last >= 0; i++) {
    last = keep_reading(last);
    rest(10);
  }
  return last >= 0 ? KEPT : BROKEN;
}

static int count_descriptors(void)
{
  int descriptor, open = 0;

  for (descriptor = 0; descriptor < 4096; descriptor++)
    open += fcntl(descriptor, F_GETFD) >= 0;
  return open;
}

static pthread_barrier_t have_read, counted;

static void *read_and_wait(void *argument)
{
  long long begin = cpucycles();

  *(long long *)argument = cpucycles() - begin;
  pthread_barrier_wait(&have_read);
  pthread_barrier_wait(&counted);
  return NULL;
}

/* no-descriptors NAME: while 100 threads read through pages, as many descriptors are open as
   before. */
static int no_descriptors(char **arguments)
{
  enum { MANY = 100 };
  pthread_t many[MANY];
  long long advance[MANY];
  int before = count_descriptors(), during, i;

  need(arguments[0]);
  pthread_barrier_init(&have_read, NULL, MANY + 1);
  pthread_barrier_init(&counted, NULL, MANY + 1);
  for (i = 0; i < MANY; i++)
    if (pthread_create(&many[i], NULL, read_and_wait, &advance[i]) != 0)
      exit(broken("no thread"));
  pthread_barrier_wait(&have_read);
  during = count_descriptors();
  pthread_barrier_wait(&counted);
  for (i = 0; i < MANY; i++) {
    pthread_join(many[i], NULL);
    if (advance[i] <= 0)
      return broken("thread %d does not count", i);
  }
  printf("vm-test: %d descriptors before, %d while %d threads count\n", before, during, MANY);
  if (find(arguments[0])->reason)
    return broken("%s: %s", arguments[0], find(arguments[0])->reason);
  return during == before ? KEPT : BROKEN;
}

/* Prints the estimate of a process that sees no file. */
static int measure_blindly(int to)
{
  if (mkdir("/nothing", 0755) != 0 || chroot("/nothing") != 0 || chdir("/") != 0)
    return broken("no folder without files: %s", strerror(errno));
  if (strcmp(cpucycles_frequency_source(), "measurement") != 0)
    return broken("without files the frequency comes from %s", cpucycles_frequency_source());
  return dprintf(to, "%lld\n", cpucycles_persecond()) > 0 ? KEPT : BROKEN;
}

/* measures, as root: where nobody states the frequency, the estimate is within 2 % of what is
   stated. */
static int measures(char **arguments)
{
  long long stated, measured, most;
  int ends[2], status;
  char text[32] = "";
  pid_t child;

  (void)arguments;
  fflush(stdout);
  if (pipe(ends) != 0 || (child = fork()) < 0)
    return broken("no child: %s", strerror(errno));
  if (child == 0)
    exit(measure_blindly(ends[1]));
  if (waitpid(child, &status, 0) != child || status != 0
    || read(ends[0], text, sizeof text - 1) <= 0)
    return broken("nothing was measured");
  measured = atoll(text);
  stated = cpucycles_persecond();
  most = stated / 50;
  printf("vm-test: measured %lld Hz, stated %lld Hz (%s)\n", measured, stated,
    cpucycles_frequency_source());
  if (strcmp(cpucycles_frequency_source(), "measurement") == 0)
    return broken("nobody states the frequency");
  return llabs(measured - stated) <= most ? KEPT : broken("by more than 2 %% apart");
}

/* core-rate HZ: so the core's frequency is measured, within 1 %, each time; 0: it cannot be said.
   */
static int core_rate(char **arguments)
{
  long long expected = atoll(arguments[0]), measured = 0, off;
  int i;

  for (i = 0; i < 20; i++) {
    measured = cpucycles_core_persecond();
    off = llabs(measured - expected);
    if (off > expected / 100)
      return broken("core persecond %lld, and not %lld", measured, expected);
  }
  printf("vm-test: core persecond %lld, 20 times within 1 %% of %lld\n", measured, expected);
  return KEPT;
}

static void drop_privileges(void)
{
  if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
    exit(broken("cannot become nobody: %s", strerror(errno)));
}

static int write_file(const char *file, const char *text)
{
  int descriptor = open(file, O_WRONLY | O_CLOEXEC), result;

  result = descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text) ? 0
    : -1;
  if (descriptor >= 0)
    close(descriptor);
  return result;
}

/* A process of root's that sends each character back, once it has done what that says; 't' and 'r'
   before. */
struct helper {
  int to, from;
};

static const char user_access[] = "/proc/sys/kernel/perf_user_access";
static const char module[] = "arm_pmu_access";

enum { TOGGLES = 20, PAUSE = 5 }; /* milliseconds */

/* Takes user access away, and gives it back, many times. */
static int toggle(void)
{
  int i, failed = 0;

  for (i = 0; i < TOGGLES; i++) {
    rest(PAUSE);
    failed |= write_file(user_access, "0");
    rest(PAUSE);
    failed |= write_file(user_access, "1");
  }
  return failed;
}

static int obey(char wish)
{
  switch (wish) {
  case '1':
    return write_file(user_access, "1");
  case 't':
    return toggle();
  case 'r':
    rest(PAUSE);
    return write_file(user_access, "0");
  case 's':
    return write_file("/sys/power/pm_test", "core") == 0 ? write_file("/sys/power/state", "disk")
      : -1;
  case 'u':
    return syscall(SYS_delete_module, module, O_NONBLOCK) == 0 ? 0 : -1;
  default:
    return -1;
  }
}

static struct helper start_helper(void)
{
  struct helper helper;
  int to[2], from[2];
  char wish;

  if (pipe(to) != 0 || pipe(from) != 0)
    exit(broken("no pipe: %s", strerror(errno)));
  helper.to = to[1];
  helper.from = from[0];
  if (fork() == 0) {
    close(to[1]);
    while (read(to[0], &wish, 1) == 1) {
      int late = wish == 't' || wish == 'r';

      if (!late && obey(wish) != 0)
        wish = '!';
      if (write(from[1], &wish, 1) != 1)
        break;
      if (late && obey(wish) != 0)
        _exit(broken("kernel.perf_user_access cannot be set"));
    }
    _exit(0);
  }
  close(to[0]);
  close(from[1]);
  return helper;
}

static void ask(struct helper helper, char wish)
{
  char answer = '!';

  if (write(helper.to, &wish, 1) != 1 || read(helper.from, &answer, 1) != 1 || answer != wish)
    exit(broken("the guest does not do '%c'", wish));
}

static long long monotonic(void)
{
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* revoked NAME, as root: where kernel.perf_user_access becomes 0 in the middle of the reads, and
   1 again, they go on. */
static int revoked(char **arguments)
{
  struct helper helper = start_helper();
  long long last, end;

  drop_privileges();
  stay_on(0);
  need(arguments[0]);
  last = keep_reading(cpucycles());
  ask(helper, 't');
  end = monotonic() + 3LL * TOGGLES * PAUSE * 1000000;
  while (monotonic() < end && last >= 0)
    last = keep_reading(last);
  ask(helper, '1'); /* it is still there */
  return last >= 0 ? KEPT : BROKEN;
}

/* revoked-between NAME PERCENT, as root: where kernel.perf_user_access becomes 0 between two reads,
   their difference is that much of the thread's own time, where a cycle takes a nanosecond. Without
   the count of the lost page it would be next to nothing. */
static int revoked_between(char **arguments)
{
  struct helper helper = start_helper();
  long long begin, cycles, nanoseconds;
  const char *reason;

  drop_privileges();
  stay_on(0);
  need(arguments[0]);
  ask(helper, 'r');
  nanoseconds = my_time();
  begin = cpucycles();
  loop(20000000);
  cycles = cpucycles() - begin;
  nanoseconds = my_time() - nanoseconds;
  reason = find(arguments[0])->reason;
  printf("vm-test: %lld cycles in %lld ns; %s\n", cycles, nanoseconds, reason ? reason : "as before");
  ask(helper, '1');
  if (reason && strcmp(reason, "by-read") != 0)
    return broken("the event is lost");
  return cycles >= nanoseconds / 100 * atoi(arguments[1]) && (double)cycles <= 1.01 * (double)nanoseconds
    ? KEPT : BROKEN;
}

/* unloaded NAME, as root: what arm-pmu-access/README says of a program that reads the counter
   when the module is unloaded: it ends by SIGILL. */
static int unloaded(char **arguments)
{
  struct helper helper = start_helper();
  int status;
  pid_t child = fork();

  if (child == 0) {
    drop_privileges();
    need(arguments[0]);
    if (keep_reading(cpucycles()) < 0)
      exit(BROKEN);
    ask(helper, 'u');
    (void)cpucycles();
    exit(KEPT);
  }
  if (waitpid(child, &status, 0) != child)
    return broken("no child: %s", strerror(errno));
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGILL)
    return broken("the program ended with %#x", (unsigned)status);
  return KEPT;
}

/* each-cpu LIST: one of these is selected, and advances, on each of two CPUs. */
static int each_cpu(char **arguments)
{
  int cpu;

  for (cpu = 0; cpu < 2; cpu++) {
    stay_on(cpu);
    need(arguments[0]);
    if (keep_reading(cpucycles()) < 0)
      return BROKEN;
  }
  return KEPT;
}

/* comes-online NAME, as root: it is selected, and advances, on a CPU that was offline. */
static int comes_online(char **arguments)
{
  static const char online[] = "/sys/devices/system/cpu/cpu1/online";

  if (write_file(online, "0") != 0)
    return broken("CPU 1 does not go offline: %s", strerror(errno));
  if (write_file(online, "1") != 0)
    return broken("CPU 1 does not come back: %s", strerror(errno));
  stay_on(1);
  drop_privileges();
  need(arguments[0]);
  return keep_reading(cpucycles()) >= 0 ? KEPT : BROKEN;
}

/* How often CPU 0 was in an idle state from which it wakes with its PMU reset. */
static long idled(void)
{
  char text[32];
  int descriptor = open("/sys/devices/system/cpu/cpu0/cpuidle/state1/usage", O_RDONLY | O_CLOEXEC);
  ssize_t length = descriptor < 0 ? -1 : read(descriptor, text, sizeof text - 1);

  if (length < 0)
    exit(broken("there is no idle state: %s", strerror(errno)));
  text[length] = '\0';
  close(descriptor);
  return atol(text);
}

/* idles NAME: its CPU sleeps in the middle, and it goes on from where it was. */
static int idles(char **arguments)
{
  long before;
  long long last;
  int i;

  stay_on(0);
  need(arguments[0]);
  before = idled();
  last = keep_reading(cpucycles());
  for (i = 0; i < 20 && last >= 0; i++) {
    rest(20);
    last = keep_reading(last);
  }
  printf("vm-test: the CPU slept %ld times\n", idled() - before);
  if (idled() == before)
    return broken("the CPU never slept");
  return last >= 0 ? KEPT : BROKEN;
}

/* suspended NAME, as root: the machine is suspended, up to where it would be switched off, and
   the counter goes on from where it was. */
static int suspended(char **arguments)
{
  struct helper helper = start_helper();
  long long last;

  drop_privileges();
  stay_on(0);
  need(arguments[0]);
  last = keep_reading(cpucycles());
  ask(helper, 's');
  return last >= 0 && keep_reading(last) >= 0 ? KEPT : BROKEN;
}

#ifdef HAVE_USER_ACCESS

/* An event of this thread's cycles in user mode, as arm64-perfpmc opens it. */
static int open_event(unsigned long long read_format)
{
  struct perf_event_attr event;
  int descriptor;

  memset(&event, 0, sizeof event);
  event.size = sizeof event;
  event.type = PERF_TYPE_HARDWARE;
  event.config = PERF_COUNT_HW_CPU_CYCLES;
#ifdef __aarch64__
  event.config1 = 3; /* 64 bits, user access */
#endif
  event.read_format = read_format;
  event.pinned = event.exclude_kernel = event.exclude_hv = 1;
  descriptor = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
  if (descriptor < 0)
    exit(broken("no event: %s", strerror(errno)));
  return descriptor;
}

/* The first page of such an event. */
static const struct perf_event_mmap_page *open_page(int *descriptor)
{
  void *page;

  *descriptor = open_event(0);
  page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, *descriptor, 0);
  if (page == MAP_FAILED)
    exit(broken("no page: %s", strerror(errno)));
  return page;
}

/* Nanoseconds a call, by a clock of which each instruction takes one: the least of some rounds, as
   an interrupt may fall into a round. */
static double nanoseconds_a_call(long long (*read_once)(void), int calls)
{
  long long (*volatile read)(void) = read_once; /* loaded for each call, like cpucycles */
  long long least = 0, begin, took;
  int round, i;

  for (round = 0; round < 20; round++) {
    begin = monotonic();
    for (i = 0; i < calls; i++)
      (void)read();
    took = monotonic() - begin;
    if (round == 0 || took < least)
      least = took;
  }
  return (double)least / calls;
}

static int bare_event;

static long long read_bare(void)
{
  long long count[4];

  return read(bare_event, count, sizeof count) > 0 ? count[0] : 0;
}

/* read-cost NAME RATIO INSTRUCTIONS: under -icount, a call of a counter that is read by read(2)
   takes at most RATIO of a bare read(2) of such an event, which asks for the count alone; and from
   one read to the next the program executes so many instructions of its own. */
static int read_cost(char **arguments)
{
  double bare, ours, most = atof(arguments[1]);
  long long last, next, least = 0;
  int i, bound = atoi(arguments[2]);

  bare_event = open_event(0);
  bare = nanoseconds_a_call(read_bare, 1000);
  close(bare_event);
  need(arguments[0]);
  ours = nanoseconds_a_call(cpucycles, 1000);
  last = cpucycles();
  for (i = 0; i < READS; i++) {
    next = cpucycles();
    least = i == 0 || next - last < least ? next - last : least;
    last = next;
  }
  printf("vm-test: cost: a call of %s %.1f ns, a bare read(2) %.1f ns: %.3f, bound %.2f\n",
    arguments[0], ours, bare, ours / bare, most);
  printf("vm-test: cost: user instructions from read to read: %lld, bound %d\n", least, bound);
  return ours <= most * bare && least <= bound ? KEPT : broken("too slow");
}

static const volatile struct perf_event_mmap_page *bare_page;

static inline unsigned long long read_register(unsigned index)
{
  unsigned long long count = 0;

#ifdef __aarch64__
  if (index == 32)
    __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(count));
#else
#define CSR(n) case n: __asm__ volatile("csrr %0, 0xc00 + " #n : "=r"(count)); break;
  switch (index - 1) {
    CSR(0) CSR(1) CSR(2) CSR(3) CSR(4) CSR(5) CSR(6) CSR(7) CSR(8) CSR(9) CSR(10) CSR(11) CSR(12)
    CSR(13) CSR(14) CSR(15) CSR(16) CSR(17) CSR(18) CSR(19) CSR(20) CSR(21) CSR(22) CSR(23)
    CSR(24) CSR(25) CSR(26) CSR(27) CSR(28) CSR(29) CSR(30) CSR(31)
  }
#undef CSR
#endif
  return count;
}

/* By hand, for one thread: the sequence of perf_event_open(2). */
static long long read_bare_page(void)
{
  const volatile struct perf_event_mmap_page *page = bare_page;
  unsigned lock, index;
  long long offset, count;
  int spare;

  do {
    lock = page->lock;
    index = page->index;
    offset = page->offset;
    if (__builtin_expect(!page->cap_user_rdpmc || index == 0, 0))
      return -1;
    spare = 64 - page->pmc_width;
    count = (long long)(read_register(index) << spare) >> spare;
  } while (__builtin_expect(page->lock != lock, 0));
  return offset + count;
}

static long long read_nothing(void)
{
  return 0;
}

/* page-cost NAME NANOSECONDS: under -icount, a call of a counter that is read through a page takes
   at most that. */
static int page_cost(char **arguments)
{
  double call, bare, ours, most = atof(arguments[1]);
  int descriptor;

  bare_page = open_page(&descriptor);
  if (read_bare_page() < 0)
    return broken("the page shows no counter");
  call = nanoseconds_a_call(read_nothing, 10000);
  bare = nanoseconds_a_call(read_bare_page, 10000);
  munmap((void *)bare_page, (size_t)sysconf(_SC_PAGESIZE));
  close(descriptor);
  need(arguments[0]);
  ours = nanoseconds_a_call(cpucycles, 10000);
  printf("vm-test: cost: a call of %s %.1f ns, by hand for one thread %.1f ns, of which the call of "
         "an empty function takes %.1f ns; bound %.0f ns\n", arguments[0], ours, bare, call, most);
  return ours <= most + 0.5 ? KEPT : broken("too slow"); /* the clock is read once in 10,000 */
}

#endif

#ifdef __aarch64__

static unsigned long long read_pmccntr(void)
{
  unsigned long long count;

  __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(count));
  return count;
}

/* misleading LIST: an event's page says that its counter may be read, and not which; reading it
   raises SIGILL. There, one of the list is selected, and advances. */
static int misleading(char **arguments)
{
  const struct perf_event_mmap_page *page;
  int descriptor, status;
  pid_t child;

  page = open_page(&descriptor);
  if (!page->cap_user_rdpmc || page->index != 0)
    return broken("the page has cap_user_rdpmc %d, index %u", (int)page->cap_user_rdpmc,
      page->index);
  child = fork();
  if (child == 0)
    _exit((int)read_pmccntr() & 1);
  if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGILL)
    return broken("PMCCNTR_EL0 can be read");
  close(descriptor);
  need(arguments[0]);
  return keep_reading(cpucycles()) >= 0 ? KEPT : BROKEN;
}

/* What a program leaves behind that had an event with user access, and closed it. */
static void freeze(void)
{
  int descriptor;

  munmap((void *)open_page(&descriptor), (size_t)sysconf(_SC_PAGESIZE));
  close(descriptor);
}

/* frozen, as root: PMCCNTR_EL0 can be read, and stands still: arm64-pmc is dropped for that. */
static int frozen(char **arguments)
{
  char *expected[] = { "arm64-pmc", "not-increasing", "-", NULL };
  unsigned long long count;

  (void)arguments;
  stay_on(0);
  freeze();
  count = read_pmccntr();
  loop(TURNS);
  if (read_pmccntr() != count)
    return broken("the counter is not frozen");
  drop_privileges();
  if (dropped(expected) != KEPT)
    return BROKEN;
  if (read_pmccntr() != count)
    return broken("the counter is not frozen any more");
  return keep_reading(cpucycles()) >= 0 ? KEPT : BROKEN;
}

#endif

static const struct {
  const char *name;
  int arguments; /* at least */
  int (*run)(char **arguments);
} promises[] = {
  { "advances", 1, advances },
  { "closed", 1, closed },
  { "comes-online", 1, comes_online },
  { "core-rate", 1, core_rate },
  { "dropped", 3, dropped },
  { "each-cpu", 1, each_cpu },
  { "exact", 1, exact },
  { "forked", 1, forked },
#ifdef __aarch64__
  { "frozen", 0, frozen },
#endif
  { "idles", 1, idles },
  { "measures", 0, measures },
  { "no-descriptors", 1, no_descriptors },
#ifdef __aarch64__
  { "misleading", 1, misleading },
#endif
#ifdef HAVE_USER_ACCESS
  { "page-cost", 2, page_cost },
#endif
#ifdef HAVE_PERFEX
  { "perfex-counts", 1, perfex_counts },
  { "perfex-exact", 0, perfex_exact },
  { "perfex-lost", 0, perfex_lost },
  { "perfex-refused", 1, perfex_refused },
#endif
#ifdef HAVE_USER_ACCESS
  { "read-cost", 3, read_cost },
#endif
  { "revoked", 1, revoked },
  { "revoked-between", 2, revoked_between },
  { "selected", 1, selected },
  { "suspended", 1, suspended },
  { "threads", 1, threads },
  { "threads-in-turn", 1, threads_in_turn },
  { "timed-threads", 1, timed_threads },
  { "unloaded", 1, unloaded },
  { "usable", 1, usable },
};

int main(int argc, char **argv)
{
  size_t i;
  int result = USAGE;

  setvbuf(stdout, NULL, _IOLBF, 0); /* whole lines: others write to the same console */
  for (i = 0; argc > 1 && i < sizeof promises / sizeof promises[0]; i++)
    if (strcmp(promises[i].name, argv[1]) == 0 && argc - 2 >= promises[i].arguments)
      result = promises[i].run(argv + 2);
  if (result == USAGE)
    fprintf(stderr, "usage: vm-test PROMISE ARGUMENT...\n");
  return result;
}
