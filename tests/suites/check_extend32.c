/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the 32-bit extension: within the bounds that extend32.c derives, it never counts a
   wraparound too many or too few. Most tests use a simulated machine. */

#include "config.h"

#include "lib/extend32.h"
#include "sys/os-clock.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define HALF 0x1p31
#define SECOND 1000000000LL

/* The greatest lag of the coarse clock, in nanoseconds. */
#define LAG (SECOND / 100)

/* The greatest age of a thread's anchor at its last read, in nanoseconds: 10 ms, and the lag. */
#define AGE (SECOND / 100 + LAG)

/* More than the error of a sample, in counts. */
#define MARGIN 0x1p20

enum { READS = 32 };

/* 64-bit counts at the reads of the counter in one call. */
struct seen {
  uint64_t counts[READS];
  int number;
};

/* The simulated machine: its count in all 64 bits, and its clock. Each access takes time, and a
   stall before an access may take very long. */
static struct {
  double count;
  double rate;           /* counts per nanosecond */
  uint64_t core_offset;  /* of the counter of the core that runs the thread */
  long long time;        /* ns */
  long long lag;         /* of the coarse clock, in ns */
  int reads;             /* of the clock before it fails */
  long long failed_time; /* that the clock shows from then on */
  long long stall;       /* before access number stall_at, in ns */
  int stall_at;
  struct seen seen;
} machine;

/* From 0 to below 1. */
static double random_part(void)
{
  return (double)(random64() >> 11) * 0x1p-53;
}

/* From 0 to below limit, roughly on a logarithmic scale. */
static long long random_below(double limit)
{
  return (long long)(limit * random_part() / (double)(1ULL << random64() % 32));
}

/* Counts per nanosecond. */
static double random_rate(void)
{
  return 0.001 + 5 * random_part();
}

static void advance(long long nanoseconds)
{
  machine.time += nanoseconds;
  machine.count += (double)nanoseconds * machine.rate;
}

/* 1: the code under test is single-stepped, but not the simulation */
static volatile int stepping;

static void enter_simulation(void)
{
  if (stepping)
    set_single_step(0);
  if (machine.stall_at-- == 0)
    advance(machine.stall);
  advance(7);
}

static long long leave_simulation(long long value)
{
  if (stepping)
    set_single_step(1);
  return value;
}

/* Only the low half is valid, as on alpha, where the high half is a process's own. */
static long long simulated_counter(void)
{
  uint64_t count;

  enter_simulation();
  count = (uint64_t)machine.count + machine.core_offset;
  if (machine.seen.number < READS)
    machine.seen.counts[machine.seen.number++] = count;
  return leave_simulation((long long)((count & 0xffffffff) | 0xdead00000000));
}

static long long read_clock(long long lag)
{
  long long time;

  enter_simulation();
  time = machine.reads-- > 0 ? machine.time - lag : machine.failed_time;
  return leave_simulation(time);
}

static long long simulated_now(void)
{
  return read_clock(0);
}

static long long simulated_coarse(void)
{
  return read_clock(machine.lag);
}

static uint64_t read_count(void)
{
  uint64_t count;

  machine.seen.number = 0;
  if (stepping)
    set_single_step(1);
  count = (uint64_t)cpuc_extend32();
  if (stepping)
    set_single_step(0);
  machine.stall_at = -1;
  return count;
}

/* Does one call return a count that the counter had at a read within that call? */
static int read_is_right(void)
{
  uint64_t count = read_count();
  int i;

  for (i = 0; i < machine.seen.number; i++)
    if (machine.seen.counts[i] == count)
      return 1;
  return 0;
}

/* The clock advances, is refused, is refused later, or has stopped. */
enum { CLOCK_ADVANCES, CLOCKS = 4 };

/* Starts a machine with this clock, and an extension with this estimate of its rate. */
static void begin(double rate, double estimate, int which)
{
  static const struct {
    int reads;
    long long failed_time;
  } clocks[CLOCKS] = { { INT_MAX, 0 }, { 0, 0 }, { 3, 0 }, { 0, 12345 } };
  const struct cpuc_extend32_clock clock = { simulated_now, simulated_coarse };

  memset(&machine, 0, sizeof machine);
  machine.rate = rate;
  machine.count = (double)(random64() & 0xffffffff);
  machine.time = 1 + random_below(1e15);
  machine.lag = random_below((double)LAG);
  machine.reads = clocks[which].reads;
  machine.failed_time = clocks[which].failed_time;
  machine.stall_at = -1;
  cpuc_extend32_begin(simulated_counter, clock, (long long)(estimate * 1e9));
}

/* Gaps and stalls. */

/* Reads of one simulated machine, and simulated machines of one test. */
enum { LIFE = 2000, LIVES = 10000 };

enum { RATE_IS_CONSTANT, RATE_CHANGES, CLOCK_DOES_NOT_ADVANCE, GAPS };

/* Reads after random gaps, three quarters of which are short, with a random stall before one of the
   first accesses. The time from the beginning of a call to the end of the next call is less than
   the bound. RATE_IS_CONSTANT: the estimate has an error. RATE_CHANGES: the core sleeps and changes
   its frequency, and the estimate is the rate at the start. CLOCK_DOES_NOT_ADVANCE: the bound is
   7/8 of a wraparound, and there is no stall. */
TEST_LOOP(count_is_right_for_gaps_up_to_the_bound, GAPS)
{
  static const double errors[] = { 0.001, 0.01, 0.2 };
  struct suite_repeat repeat = suite_repeat(LIVES);
  long i, wrong = 0;

  while (suite_again(&repeat)) {
    double fastest = random_rate(), error = errors[repeat.begun % 3], rate = fastest;
    double bound = 0x1p32 * 7 / 8 / rate, farther;

    if (_i == RATE_IS_CONSTANT) {
      bound = (HALF - MARGIN) / error / rate - (double)AGE;
      begin(rate, rate * (1 + error * (2 * random_part() - 1)), CLOCK_ADVANCES);
    } else if (_i == RATE_CHANGES) {
      rate = fastest * (0.02 + 0.98 * random_part());
      farther = rate > fastest - rate ? rate : fastest - rate;
      bound = (HALF - MARGIN) / farther - (double)AGE;
      begin(rate, rate, CLOCK_ADVANCES);
    } else
      begin(rate, rate, 1 + (int)(repeat.begun % (CLOCKS - 1)));
    for (i = 0; i < LIFE; i++) {
      if (_i == RATE_CHANGES && random64() % 16 == 0)
        machine.rate = random64() % 4 ? fastest * random_part() : random64() % 2 ? fastest : 0;
      if (_i == CLOCK_DOES_NOT_ADVANCE)
        advance((long long)((bound - 1000) * (random64() % 2 ? random_part() : 1)));
      else
        advance(random64() % 4 ? random_below(1e5) : random_below(bound / 3));
      if (_i != CLOCK_DOES_NOT_ADVANCE && random64() % 8 == 0) {
        machine.stall = random_below(bound / 3);
        machine.stall_at = (int)(random64() % 5);
      }
      wrong += !read_is_right();
    }
  }
  ck_assert_msg(wrong == 0, "%ld of %ld wrong", wrong, repeat.begun * LIFE);
}

/* Threads and cores. */

/* Moves between cores whose counters differ by any amount. After each move, a read returns the
   count that is nearest to the prediction from the anchor, so its error exceeds the error of the
   anchor by at most 2^31. The error of the count before the move exceeds the error of the anchor by
   at most 2^26 plus the counts in AGE, because a count within 2^26 of an anchor up to AGE old is
   not compared with the prediction. If the clock does not advance, the prediction itself has an
   error. _i: the clock. */
TEST_LOOP(each_move_adds_an_error_below_2_32, CLOCKS)
{
  struct suite_repeat repeat = suite_repeat(LIVES / CLOCKS);
  long i, wrong = 0;

  while (suite_again(&repeat)) {
    double rate = random_rate(), most = HALF + 0x1p26 + (double)AGE * rate + MARGIN, gap = 10e9;
    int64_t error = 0, before;

    begin(rate, rate, _i);
    if (_i != CLOCK_ADVANCES) {
      most = 0x1p32;
      gap = 0x1p32 * 7 / 8 / rate - 1000;
    }
    for (i = 0; i < LIFE; i++) {
      machine.core_offset = random64() % 4 ? random64() >> 32 : 0;
      advance(random_below(gap));
      before = error;
      error = (int64_t)(read_count() - (uint64_t)machine.count);
      wrong += (double)llabs(error - before) > most;
      wrong += (uint32_t)((uint64_t)error - machine.core_offset + 10000) > 20000;
    }
  }
  ck_assert_msg(wrong == 0, "%ld of %ld wrong", wrong, repeat.begun * LIFE);
}

static void *read_in_new_thread(void *unused)
{
  (void)read_count();
  return unused;
}

/* Counters of cores may differ. A thread that stays on its core sees no jump, whatever a thread on
   another core reads. _i: the other core is ahead by this multiple of 2^28. */
TEST_LOOP(thread_on_one_core_sees_no_jump_of_other_cores, 16)
{
  pthread_t thread;

  begin(1, 1, CLOCK_ADVANCES);
  ck_assert(read_is_right());
  advance(SECOND / 10);
  machine.core_offset = (uint64_t)_i << 28;
  ck_assert_int_eq(pthread_create(&thread, NULL, read_in_new_thread, NULL), 0);
  pthread_join(thread, NULL);
  machine.core_offset = 0;
  advance(SECOND / 10);
  ck_assert(read_is_right());
}

/* Real threads and signals, with a counter that wraps every 43 ms. */

enum { QUICK_RATE = 100 }; /* counts per nanosecond */

static long long quick_origin;

static long long quick_count(void)
{
  return cpuc_os_clock_monotonic() * QUICK_RATE - quick_origin;
}

static long quick_wrong;
static int finished;

/* Checks a read against the 64-bit counts before and after it, in any thread. */
static void quick_read(void)
{
  long long before = quick_count(), count = cpuc_extend32(), after = quick_count();

  if (count < before || count > after)
    __atomic_add_fetch(&quick_wrong, 1, __ATOMIC_RELAXED);
}

#ifdef CPUCYCLES_POSIX

static void quick_read_in_handler(int signal, siginfo_t *info, void *context)
{
  (void)signal, (void)info, (void)context;
  quick_read();
}

/* Sets SA_SIGINFO, because qemu 7.2 restores the FPU's registers of an m68k only with this flag. */
static void set_handler(int signal, void (*handler)(int, siginfo_t *, void *))
{
  struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

  sigaction(signal, &action, NULL);
}

#endif

static void *read_until_finished(void *pauses)
{
  const struct timespec pause = { 0, 20000000 };
  unsigned i;

  for (i = 0; !__atomic_load_n(&finished, __ATOMIC_ACQUIRE); i++) {
    quick_read();
    if (pauses && i % 64 == 0)
      nanosleep(&pause, NULL);
  }
  return NULL;
}

TEST(threads_and_handlers_read_right_counts)
{
  static const struct cpuc_extend32_clock clock
    = { cpuc_os_clock_monotonic, cpuc_os_clock_monotonic };
  const struct timespec pause = { 0, 100000 };
  struct suite_repeat repeat = suite_repeat(20000);
  pthread_t threads[4];
  int i;

#ifdef __i386__
  /* qemu for i386 has one table of segments for all threads, and a handler gets the segment of the
     thread that was created last */
  SKIP_IF(suite_under("qemu"),
    "under qemu for i386, a handler accesses the variables of another thread");
#endif
#ifdef CPUCYCLES_POSIX
  set_handler(SIGUSR1, quick_read_in_handler);
#endif
  quick_origin = cpuc_os_clock_monotonic() * QUICK_RATE;
  cpuc_extend32_begin(quick_count, clock, QUICK_RATE * SECOND);
  for (i = 0; i < 4; i++)
    ck_assert_int_eq(
      pthread_create(&threads[i], NULL, read_until_finished, i % 2 ? threads : NULL), 0);
  while (suite_again(&repeat)) {
#ifdef CPUCYCLES_POSIX
    for (i = 0; i < 4; i++)
      pthread_kill(threads[i], SIGUSR1);
#endif
    nanosleep(&pause, NULL);
  }
  __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
  for (i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  ck_assert_int_eq(quick_wrong, 0);
}

/* Handlers after an instruction. */

#ifdef CAN_SINGLE_STEP

/* Replaces the C library's function, which the library calls to block signals. A SIGTRAP that is
   blocked would end the process, so single-stepping pauses while SIGTRAP is blocked. No handler can
   run in that time. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
  sigset_t now;
  long result;

  if (stepping)
    set_single_step(0);
  sigemptyset(&now);
  result = syscall(SYS_rt_sigprocmask, how, set, old, 8);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, 8);
  if (stepping && !sigismember(&now, SIGTRAP))
    set_single_step(1);
  return result == 0 ? 0 : errno;
}

/* What the handler does after an instruction of the interrupted read, and whether it did. */
static struct {
  int number;    /* of instructions so far */
  int at;        /* the handler acts after the instruction of this number */
  long long gap; /* before its own read */
  int jumps;     /* not 0: the handler does not return */
  int acted, wrong;
} handler;

static sigjmp_buf before_read;

static void act_after_instruction(int signal, siginfo_t *info, void *context)
{
  struct seen seen = machine.seen;

  (void)signal, (void)info;
  if (handler.number++ != handler.at)
    return;
  stepping = 0;
  advance(handler.gap);
  handler.wrong += !read_is_right();
  handler.acted++;
  machine.seen = seen;
  if (handler.jumps)
    siglongjmp(before_read, 1);
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

/* Bits that describe a case: the interrupted read renews the anchor, the handler's read renews the
   anchor, the handler jumps out, the thread has an anchor. */
enum { READ_RENEWS = 1, HANDLER_RENEWS = 2, HANDLER_JUMPS = 4, HAS_ANCHOR = 8, KINDS = 16 };

/* The cases that run in every check. The other cases run only in "make check-soak". */
enum {
  KINDS_WITHOUT_SOAK = 1 << HANDLER_RENEWS | 1 << (HANDLER_RENEWS | HANDLER_JUMPS)
    | 1 << (READ_RENEWS | HANDLER_JUMPS) | 1 << (READ_RENEWS | HANDLER_RENEWS)
    | 1 << (READ_RENEWS | HANDLER_RENEWS | HANDLER_JUMPS)
    | 1 << (READ_RENEWS | HANDLER_RENEWS | HAS_ANCHOR)
};

/* Interrupts one read after each of its instructions, in one run for each instruction. _i: the
   case. */
TEST_LOOP(handler_may_read_after_any_instruction_and_need_not_return, KINDS)
{
  if (suite_limit() > 0 && !(KINDS_WITHOUT_SOAK >> _i & 1))
    return;
  skip_without_single_steps();
  set_handler(SIGTRAP, act_after_instruction);
  handler.gap = _i & HANDLER_RENEWS ? 10 * SECOND : 0;
  handler.jumps = _i & HANDLER_JUMPS;
  do {
    begin(1, 1, CLOCK_ADVANCES);
    if (_i & HAS_ANCHOR) {
      advance(10 * SECOND);
      ck_assert(read_is_right());
    }
    advance(_i & READ_RENEWS ? 10 * SECOND : 0);
    handler.number = handler.acted = 0;
    if (sigsetjmp(before_read, 1) == 0) {
      stepping = 1;
      ck_assert_msg(read_is_right(), "instruction %d", handler.at);
    }
    stepping = 0;
    ck_assert_msg(handler.wrong == 0, "instruction %d, in handler", handler.at);
    advance(SECOND / 100);
    ck_assert_msg(read_is_right(), "instruction %d, next read", handler.at);
    handler.at++;
  } while (handler.acted > 0);
  ck_assert_int_gt(handler.at, 20);
}

#endif

SUITE("extend32")
