/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the 32-bit extension: within the bounds that extend32.c derives, it never counts a
   wraparound too many or too few. One part uses a simulated machine, the other real threads and
   signals. CPUCYCLES_TEST_STEPS sets the number of simulated steps, for slow environments; the
   default of 10^8 takes some 10 s. */

#include "config.h"

#include "lib/extend32.h"

#include "tests/suites/suite.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* ThreadSanitizer delays signals, and its own code would be stepped through. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && defined(CPUCYCLES_POSIX)
#define SINGLE_STEPS
#endif

enum { READS = 32 };

#define HALF 0x1p31
#define SECOND 1000000000LL

/* The simulated machine: its count in all 64 bits, and its clock. Each access takes time, and a
   stall before one may take very long. */
static struct {
  uint64_t count, part; /* part: in 2^-32 counts */
  uint64_t rate;        /* in 2^-32 counts per nanosecond */
  long long time;       /* ns */
  long long lag;        /* the coarse clock's */
  long long stall;      /* before access number stall_at, in ns */
  int stall_at;
  uint64_t seen[READS]; /* 64-bit counts at this call's reads of the counter */
  int seen_count;
} machine;

static uint64_t random_state = 88172645463325252ULL;

/* xorshift64: Marsaglia, "Xorshift RNGs", 2003. */
static uint64_t random64(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* From 0 to below limit, roughly on a logarithmic scale. */
static long long random_below(double limit)
{
  double top = limit, scale;
  int shift = (int)(random64() % 32);

  scale = (double)(random64() >> 11) * 0x1p-53;
  return (long long)(top * scale / (double)(1ULL << shift));
}

static void advance_count(long long nanoseconds)
{
  uint64_t fraction = machine.rate & 0xffffffff, whole = machine.rate >> 32;
  uint64_t high = (uint64_t)nanoseconds >> 32, low = (uint64_t)nanoseconds & 0xffffffff;
  uint64_t parts = fraction * low + machine.part;

  /* a carry out of parts needs both factors near 2^32 */
  if (parts < machine.part)
    machine.count += 1ULL << 32;
  machine.count += whole * (uint64_t)nanoseconds + fraction * high + (parts >> 32);
  machine.part = parts & 0xffffffff;
}

static void advance(long long nanoseconds)
{
  machine.time += nanoseconds;
  advance_count(nanoseconds);
}

#ifdef SINGLE_STEPS
/* Switches single-stepping: the CPU raises SIGTRAP after each instruction. Skips the red zone. */
static void set_single_step(int on)
{
  if (on)
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\t"
                     "lea 128(%%rsp), %%rsp" ::: "cc", "memory");
  else
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $-257, (%%rsp)\n\tpopfq\n\t"
                     "lea 128(%%rsp), %%rsp" ::: "cc", "memory");
}
#else
static void set_single_step(int on)
{
  (void)on;
}
#endif

/* Single-step the code under test, but not the simulation. */
static volatile int stepping;

static void spend_access(void)
{
  if (machine.stall_at-- == 0)
    advance(machine.stall);
  advance(7);
}

static long long simulated_counter(void)
{
  long long low;

  if (stepping)
    set_single_step(0);
  spend_access();
  if (machine.seen_count < READS)
    machine.seen[machine.seen_count++] = machine.count;
  /* only the low half is valid: on alpha, the high half is a process's own */
  low = (long long)((machine.count & 0xffffffff) | 0xdead00000000);
  if (stepping)
    set_single_step(1);
  return low;
}

static long long simulated_now(void)
{
  long long time;

  if (stepping)
    set_single_step(0);
  spend_access();
  time = machine.time;
  if (stepping)
    set_single_step(1);
  return time;
}

static long long simulated_coarse(void)
{
  return simulated_now() - machine.lag;
}

static struct cpucycles_extension extension;

/* Does one call return a count that the counter had at a read within that call? */
static int read_is_right(void)
{
  uint64_t count;
  int i;

  machine.seen_count = 0;
  if (stepping)
    set_single_step(1);
  count = (uint64_t)cpucycles_extend32(&extension);
  if (stepping)
    set_single_step(0);
  machine.stall_at = -1;
  for (i = 0; i < machine.seen_count; i++)
    if (machine.seen[i] == count)
      return 1;
  return 0;
}

static void change_rate(double persecond)
{
  machine.rate = (uint64_t)(persecond / 1e9 * 0x1p32);
}

/* Starts a machine of `persecond` counts a second, and an extension with this estimate of it.
   fastest: highest rate of a core that changes its frequency; 0: the estimate. */
static void begin_scaling(double persecond, double estimate, double fastest, int settable)
{
  struct cpucycles_clock clock = { simulated_now, simulated_coarse, 0 };

  memset(&machine, 0, sizeof machine);
  change_rate(persecond);
  machine.count = random64() & 0xffffffff;
  machine.time = 1 + random_below(1e15);
  machine.lag = settable ? 0 : random_below(1e7);
  machine.stall_at = -1;
  clock.settable = settable;
  cpucycles_extend32_begin(
    &extension, simulated_counter, clock, (long long)estimate, (long long)fastest);
}

static void begin_at_rate(double persecond, double estimate, int settable)
{
  begin_scaling(persecond, estimate, 0, settable);
}

static double random_rate(void)
{
  return 1e6 * (1 + (double)random_below(4999));
}

/* From 0 to below 1. */
static double random_part(void)
{
  return (double)(random64() >> 11) * 0x1p-53;
}

/* The rate with an error of at most this fraction. */
static double with_error(double rate, double error)
{
  return rate * (1 + error * (2 * random_part() - 1));
}

static double twenty_percent(double rate)
{
  return with_error(rate, 0.2);
}

/* Number of simulated steps of one test: a fifth of CPUCYCLES_TEST_STEPS or of its default. LIFE:
   steps from one start of the machine to the next. */
static long steps(void)
{
  const char *wanted = getenv("CPUCYCLES_TEST_STEPS");
  long count = wanted ? atol(wanted) : 0;

  return (count > 0 ? count : 100000000) / 5;
}

enum { LIFE = 2000 };

/* May delay the thread within the call, before any access. */
static void stall_at_random(long long longest)
{
  if (random64() % 8 != 0)
    return;
  machine.stall = random_below((double)longest);
  machine.stall_at = (int)(random64() % 5);
}

/* Three quarters of the gaps are short. */
static long long random_gap(double longest)
{
  return random64() % 4 ? random_below(1e5) : random_below(longest);
}

/* Error of a prediction, in counts, by the granularity of clock and counter and by a delay of the
   thread. */
#define MARGIN 0x1p24

START_TEST(constant_rate_allows_gaps_up_to_the_bound)
{
  static const double errors[] = { 0.2, 0.01, 0.001 };
  long i, done, wrong = 0, all = steps();
  long long gap, longest = 0;

  for (done = 0; done < all; done += LIFE) {
    double rate = random_rate() / 1e9, error = errors[done / LIFE % 3];
    double bound = (HALF - MARGIN) / error / rate; /* ns */

    begin_at_rate(rate * 1e9, with_error(rate * 1e9, error), 0);
    for (i = 0; i < LIFE; i++) {
      gap = random_gap(bound * 0.49);
      if (gap > longest)
        longest = gap;
      advance(gap);
      stall_at_random((long long)(bound * 0.49));
      wrong += !read_is_right();
    }
  }
  ck_assert_msg(wrong == 0, "%ld of %ld wrong", wrong, done);
  ck_assert_int_gt(longest, 3600 * SECOND);
}
END_TEST

/* Greatest age of a thread's anchor at its last read, in counts. */
#define ANCHOR_AGE 0x1p26

/* Lets the anchor age, then reads. The read keeps the anchor, except that it may replace one of
   the greatest age. */
static void age_anchor(double rate)
{
  double age = (double)(extension.near_time + machine.lag) * (random64() % 2 ? 1 : random_part());
  double most = ANCHOR_AGE / rate * 1e9;

  advance((long long)(age < most ? age : most));
  ck_assert(read_is_right());
}

/* Just inside the bound, every count is right at any age of the anchor; just outside, it is
   wrong by 2^32 with a new anchor. So the stated bound is tight, except for the age. */
START_TEST(bound_of_a_first_gap_is_tight)
{
  int i, fast;

  for (i = 0; i < 20000; i++) {
    double rate = random_rate(), bound;

    fast = i % 2;
    begin_at_rate(rate, fast ? rate * 1.2 : rate * 0.8, 0);
    bound = HALF / 0.2 / rate * 1e9;
    age_anchor(rate);
    advance((long long)(bound - ANCHOR_AGE / rate * 1e9) - 1000);
    ck_assert(read_is_right());
    begin_at_rate(rate, fast ? rate * 1.2 : rate * 0.8, 0);
    advance((long long)(bound * 1.001));
    ck_assert(!read_is_right());
  }
}
END_TEST

/* A core that sleeps and changes its frequency, with an estimate of the rate at the start. */
START_TEST(changing_rate_allows_gaps_up_to_the_bound)
{
  long i, done, wrong = 0, all = steps();

  for (done = 0; done < all; done += LIFE) {
    double fastest = random_rate(), estimate = fastest * (0.02 + 0.98 * random_part());
    double farther = estimate > fastest - estimate ? estimate : fastest - estimate;
    double bound = (HALF - MARGIN) / (farther / 1e9);

    begin_scaling(estimate, estimate, twenty_percent(fastest), 0);
    for (i = 0; i < LIFE; i++) {
      if (random64() % 16 == 0)
        change_rate(random64() % 4 ? fastest * random_part() : random64() % 2 ? fastest : 0);
      advance(random_gap(bound * 0.49));
      stall_at_random((long long)(bound * 0.49));
      wrong += !read_is_right();
    }
  }
  ck_assert_msg(wrong == 0, "%ld of %ld wrong", wrong, done);
}
END_TEST

/* A core that sleeps a little less than the bound, and a little more. Before that it may run at
   any slow rate, while the anchor ages as if the core were at its fastest. */
START_TEST(bound_of_a_sleep_is_tight)
{
  int i;

  for (i = 0; i < 20000; i++) {
    double rate = random_rate(), bound = HALF / rate * 1e9;

    begin_at_rate(rate, rate * (0.8 + 0.2 * random_part()), 0);
    change_rate(rate * random_part());
    age_anchor(rate);
    change_rate(0);
    advance((long long)(bound - ANCHOR_AGE / rate * 1e9) - 1000);
    ck_assert(read_is_right());
    begin_at_rate(rate, rate, 0);
    change_rate(0);
    advance((long long)(bound * 1.001) + 1000);
    ck_assert(!read_is_right());
  }
}
END_TEST

/* Reads close to each other need no good estimate. */
START_TEST(short_gaps_need_no_good_estimate)
{
  static const double rates[] = { 0.3e9, 1.7e9, 5e9 };
  int i, j;

  for (i = 0; i < 9; i++) {
    begin_at_rate(rates[i % 3], rates[i / 3], 0);
    for (j = 0; j < 100000; j++) {
      advance(SECOND / 1000);
      ck_assert(read_is_right());
    }
  }
}
END_TEST

/* Cores with a counter each: every core has an offset, and the thread migrates between cores. */
static struct {
  long long offset[64];
  int number, at;
} cores;

static long long cores_counter(void)
{
  (void)simulated_counter();
  return (long long)((machine.count + (uint64_t)cores.offset[cores.at]) & 0xffffffff);
}

static void begin_cores(double rate, double error)
{
  begin_at_rate(rate, with_error(rate, error), 0);
  memset(&cores, 0, sizeof cores);
  cores.number = 2;
  extension.read = cores_counter;
}

/* Difference between the count after a migration and the first core's counter. */
static long long read_at(int core)
{
  cores.at = core;
  return (long long)((uint64_t)cpucycles_extend32(&extension) - machine.count);
}

START_TEST(round_trips_between_two_cores_cancel)
{
  static const uint32_t offsets[] = { 0, 1000000, 1 << 27, 1 << 29, 1 << 30, 0x60000000, 0x7fffffff,
    0x80000000, 0x80000001, 0xb0000000, 0xf0000000, 0xf8000000, 0xffffffff };
  size_t i;
  int j;

  for (i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
    long long difference = offsets[i], there, back = 0;

    begin_cores(1.5e9, 0.2);
    cores.offset[1] = difference;
    for (j = 0; j < 20000; j++) {
      advance(random_below(5e7));
      there = read_at(1);
      ck_assert_int_le((int32_t)(uint32_t)(difference - there), 1000);
      /* no step is larger than the difference, which is known modulo 2^32 */
      ck_assert_int_le(there < back ? back - there : there - back, 0x80010000);
      advance(random_below(5e7));
      back = read_at(0);
      ck_assert_int_le(back < 0 ? -back : back, 1000);
    }
  }
}
END_TEST

/* Whether a thread's long gaps coincide with moves to a higher offset, and whether the cores
   sleep during long gaps. */
enum { LONG_WHEN_MOVING_UP = 1, ASLEEP_WHEN_LONG = 2, WALK_KINDS = 4 };

/* Migrates at random between cores with offsets below `spread`. Gaps are uniform up to `gaps`
   counts; about half of them are 64 times shorter. Returns how often the count differs from the
   core's own, relative to the first core. */
static long migrate_at_random(double gaps, double spread, int kind)
{
  double rate = random_rate(), longest = gaps / rate * 1e9;
  long i, wrong = 0;
  long long error, gap;
  int to, is_long;

  begin_cores(rate, 0.2);
  cores.number = 2 + (int)(random64() % 15);
  for (i = 1; i < cores.number; i++)
    cores.offset[i] = (long long)(spread * random_part());
  for (i = 0; i < LIFE; i++) {
    to = (int)(random64() % (uint64_t)cores.number);
    is_long = kind & LONG_WHEN_MOVING_UP ? cores.offset[to] > cores.offset[cores.at]
                                    : (int)(random64() % 2);
    gap = (long long)(longest * random_part() / (is_long ? 1 : 64));
    if (kind & ASLEEP_WHEN_LONG && is_long)
      machine.time += gap;
    else
      advance(gap);
    error = read_at(to) - cores.offset[to];
    wrong += error > 2000 || error < -2000;
  }
  return wrong;
}

static void expect_migrations_to_cancel(double longest, long all)
{
  long done, wrong = 0;

  for (done = 0; done < all; done += LIFE)
    wrong += migrate_at_random(longest, HALF - 1.25 * longest - ANCHOR_AGE,
      (int)(random64() % WALK_KINDS));
  ck_assert_msg(wrong == 0, "gaps up to %.0f: %ld of %ld wrong", longest, wrong, done);
}

/* A count is off by the difference of the cores, after any number of migrations, if that
   difference and the gap are together below 2^31 less the estimate's error and the anchor's age. */
START_TEST(jumps_between_cores_cancel_with_short_gaps)
{
  expect_migrations_to_cancel(0x1p25, steps());
}
END_TEST

START_TEST(jumps_between_cores_cancel_with_gaps_up_to_the_bound)
{
  static const double gaps[] = { 0x1p28, 0x1p29, 0x1p30, 0x1.8p30 };
  int i;

  for (i = 0; i < 4; i++)
    expect_migrations_to_cancel(gaps[i], steps() / 4);
}
END_TEST

/* Even with any offsets, errors do not accumulate if the rate is known, and the gaps are too short
   for a jump to be explained by a core that slept. The sum of the jumps may exceed 3 * 2^30 by
   what counters that ran slower or faster explain (see extend32.c). */
START_TEST(errors_of_migrations_do_not_accumulate)
{
  long i, done, wrong = 0, all = steps();
  long long error;

  for (done = 0; done < all; done += LIFE) {
    int ring = random64() % 2;

    begin_cores(random_rate(), 0.001);
    cores.number = 2 + (int)(random64() % 15);
    for (i = 1; i < cores.number; i++)
      cores.offset[i] = ring ? (i << 16) / cores.number << 16 : (long long)(random64() >> 32);
    for (i = 0; i < LIFE; i++) {
      advance((long long)(0x1p25 * random_part() / ((double)machine.rate * 0x1p-32)));
      error = read_at(ring ? (int)(i % cores.number) : (int)(random64() % (uint64_t)cores.number));
      wrong += error >= 0x1.4p32 || error <= -0x1.4p32;
    }
  }
  ck_assert_msg(wrong == 0, "%ld of %ld wrong", wrong, done);
}
END_TEST

/* A ring of cores, each ahead of the previous one, or behind it: the jumps of one round add up
   to a wraparound. The extension undoes them, because the gaps are short. */
START_TEST(ring_of_sixteen_cores_stays_within_a_wraparound)
{
  long long error;
  int i, ahead;

  for (ahead = 0; ahead < 2; ahead++) {
    begin_at_rate(1e9, 1e9, 0);
    memset(&cores, 0, sizeof cores);
    extension.read = cores_counter;
    for (i = 0; i < 16; i++)
      cores.offset[i] = (ahead ? 1 : -1) * (i * (1LL << 28));
    for (i = 0; i < 10000; i++) {
      advance(33000000);
      error = read_at(i % 16);
      ck_assert(error < 0x1p32 && error > -0x1p32);
    }
  }
}
END_TEST

/* Cores that stand still while their thread sleeps; the thread wakes on another one. */
START_TEST(migrations_of_a_sleeping_thread_do_not_accumulate)
{
  long i, done, wrong = 0, all = steps() / 10;
  long long error, asleep;

  for (done = 0; done < all; done += LIFE) {
    double rate = random_rate();

    begin_cores(rate, 0.2);
    cores.offset[1] = (long long)(random64() % 0x60000000) - 0x30000000;
    for (i = 0; i < LIFE; i++) {
      asleep = random_below(0x1p28 / rate * 1e9);
      machine.time += asleep;
      advance(random_below(1e6));
      error = read_at((int)(random64() % 2));
      wrong += error >= 0x1p32 || error <= -0x1p32;
    }
  }
  ck_assert_msg(wrong == 0, "%ld of %ld wrong", wrong, done);
}
END_TEST

START_TEST(wall_clock_steps_of_a_day_change_no_count)
{
  const double day = 86400e9;
  long i, done, wrong = 0, all = steps();

  for (done = 0; done < all; done += LIFE) {
    double rate = random_rate() / 1e9, wrap = 0x1p32 / rate;

    begin_at_rate(rate * 1e9, twenty_percent(rate * 1e9), 1);
    for (i = 0; i < LIFE; i++) {
      if (random64() % 8 == 0)
        machine.time += random64() % 2 ? random_below(day) : -random_below(day);
      advance(random_gap(wrap * 0.43));
      stall_at_random((long long)(wrap * 0.43));
      wrong += !read_is_right();
    }
  }
  ck_assert_msg(wrong == 0, "%ld of %ld wrong", wrong, done);
}
END_TEST

static void *read_in_new_thread(void *right)
{
  *(int *)right = read_is_right();
  return NULL;
}

/* It starts from the clock's prediction since the start of the extension. */
START_TEST(late_thread_starts_at_the_right_count)
{
  pthread_t thread;
  int i, right = 0;

  begin_at_rate(1e9, 1.001e9, 0);
  for (i = 0; i < 1000; i++) {
    advance(SECOND);
    ck_assert(read_is_right());
  }
  ck_assert_int_eq(pthread_create(&thread, NULL, read_in_new_thread, &right), 0);
  pthread_join(thread, NULL);
  ck_assert(right);
}
END_TEST

static long long return_zero(void)
{
  return 0;
}

START_TEST(refused_clock_leaves_short_gaps_right)
{
  struct cpucycles_clock clock = { return_zero, return_zero, 0 };
  int i, reads = 1000 * suite_runs(200);

  begin_at_rate(1e9, 1e9, 0);
  cpucycles_extend32_begin(&extension, simulated_counter, clock, 1000000000, 0);
  for (i = 0; i < reads; i++) {
    advance(random_below(0x1p31));
    ck_assert(read_is_right());
  }
}
END_TEST

/* From here on: real time, and a counter that wraps every 4.3 ms. In an emulator, where a
   handler takes long, it wraps every 17 ms. */

static uint64_t quick_scale = 1000; /* counts per nanosecond */

/* The system's clock. In a test of one thread, that thread's clock, which stands still while
   others have the CPU. */
static clockid_t quick_clock = CLOCK_MONOTONIC;

static long long quick_time(void)
{
  struct timespec now;

  clock_gettime(quick_clock, &now);
  return (long long)now.tv_sec * SECOND + now.tv_nsec;
}

static uint64_t quick_origin;

static uint64_t quick_count(void)
{
  return (uint64_t)quick_time() * quick_scale - quick_origin;
}

static long long quick_counter(void)
{
  return (long long)(quick_count() & 0xffffffff);
}

static void quick_begin(void)
{
  static const struct cpucycles_clock clock = { quick_time, quick_time, 0 };

  if (suite_under("qemu") || suite_under("valgrind"))
    quick_scale = 250;
  quick_origin = (uint64_t)quick_time() * quick_scale;
  cpucycles_extend32_begin(&extension, quick_counter, clock, (long long)quick_scale * SECOND, 0);
}

static long quick_wrong;

/* Checks a read against the 64-bit counts before and after it, in any thread. */
static void quick_read(void)
{
  uint64_t before = quick_count();
  uint64_t count = (uint64_t)cpucycles_extend32(&extension);
  uint64_t after = quick_count();

  if (count < before || count > after)
    __atomic_add_fetch(&quick_wrong, 1, __ATOMIC_RELAXED);
}

static _Thread_local volatile sig_atomic_t in_handler;

static void read_in_handler(void)
{
  int saved_errno = errno;

  in_handler = 1;
  quick_read();
  in_handler = 0;
  errno = saved_errno;
}

#ifdef CPUCYCLES_POSIX

/* With SA_SIGINFO, as qemu 7.2 restores the FPU's registers of an m68k only then. */
static void set_handler(int signal, void (*handler)(int, siginfo_t *, void *))
{
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
  (void)signal;
  (void)info;
  (void)context;
  read_in_handler();
}

static void install_handler(void)
{
  set_handler(SIGUSR1, on_signal);
}

static void interrupt_thread(pthread_t thread)
{
  pthread_kill(thread, SIGUSR1);
}

static void interrupt_this_thread(void)
{
  raise(SIGUSR1);
}

#else

/* No signals: a handler is a plain call, and other threads are not interrupted. */

static void install_handler(void)
{
}

static void interrupt_thread(pthread_t thread)
{
  (void)thread;
}

static void interrupt_this_thread(void)
{
  read_in_handler();
}

#endif

static long long quick_end;

static void *read_until_end(void *argument)
{
  const struct timespec pause = { 0, 20000000 };
  unsigned i, pauses = argument != NULL;

  for (i = 0; quick_time() < quick_end; i++) {
    quick_read();
    if (pauses && i % 64 == 0)
      nanosleep(&pause, NULL);
  }
  return NULL;
}

static void *read_once(void *unused)
{
  (void)unused;
  quick_read();
  return NULL;
}

START_TEST(threads_and_handlers_read_right_counts)
{
  enum { THREADS = 6 };
  pthread_t threads[THREADS], brief;
  const struct timespec pause = { 0, 100000 };
  int i;

  if (skip_where_handlers_find_another_thread("threads_and_handlers_read_right_counts"))
    return;
  install_handler();
  quick_begin();
  quick_end = quick_time() + 2 * SECOND;
  for (i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, read_until_end, i % 2 ? &extension : NULL),
      0);
  while (quick_time() < quick_end) {
    for (i = 0; i < THREADS; i++)
      interrupt_thread(threads[i]);
    ck_assert_int_eq(pthread_create(&brief, NULL, read_once, NULL), 0);
    pthread_join(brief, NULL);
    nanosleep(&pause, NULL);
  }
  for (i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  ck_assert_int_eq(quick_wrong, 0);
}
END_TEST

static int interruptions;

/* Interrupts briefly, and at every 64th access long enough for an anchor to age. */
static void interrupt_access(void)
{
  if (in_handler)
    return;
  interrupt_this_thread();
  if (++interruptions % 64 == 0) {
    long long end = quick_time() + SECOND / (long long)quick_scale;

    while (quick_time() < end)
      ;
    interrupt_this_thread();
  }
}

static long long interrupting_counter(void)
{
  long long count = quick_counter();

  interrupt_access();
  return count;
}

static long long interrupting_time(void)
{
  long long time = quick_time();

  interrupt_access();
  return time;
}

/* At each access of a read to counter and clock, a handler makes a complete read of its own. */
START_TEST(handler_may_read_at_every_access_of_a_read)
{
  static const struct cpucycles_clock clock = { interrupting_time, interrupting_time, 0 };
  int i, reads = 100 * suite_runs(100);

#ifdef CPUCYCLES_POSIX /* a thread's clock may be coarse on other systems */
  quick_clock = CLOCK_THREAD_CPUTIME_ID;
#endif
  quick_begin();
  install_handler();
  extension.read = interrupting_counter;
  extension.clock = clock;
  for (i = 0; i < reads; i++)
    quick_read();
  ck_assert_int_ge(interruptions, 2 * reads);
  ck_assert_int_eq(quick_wrong, 0);
}
END_TEST

#ifdef SINGLE_STEPS
static long traps, traps_wrong;
static int bursts; /* left for the interrupted read: without a limit it would not end */

/* At random, reads often enough to replace the anchors at both places of the thread. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
  uint64_t seen[READS];
  int seen_count = machine.seen_count, i, reads = 1;

  (void)signal;
  (void)info;
  (void)context;
  if (bursts > 0 && random64() % 64 == 0) {
    bursts--;
    reads = 2 + (int)(random64() % 11);
  }
  stepping = 0;
  traps++;
  memcpy(seen, machine.seen, sizeof seen);
  for (i = 0; i < reads; i++) {
    if (reads > 1)
      advance(10 * SECOND);
    traps_wrong += !read_is_right();
  }
  memcpy(machine.seen, seen, sizeof seen);
  machine.seen_count = seen_count;
  stepping = 1;
}

START_TEST(handler_may_read_after_every_instruction)
{
  long wrong = 0;
  int i, runs = suite_runs(200);

  begin_at_rate(1e9, 1e9, 0);
  set_handler(SIGTRAP, on_trap);
  for (i = 0; i < runs; i++) {
    advance(random64() % 4 == 0 ? random_below(1e9) : 10 * SECOND);
    bursts = 4;
    stepping = 1;
    wrong += !read_is_right();
    stepping = 0;
  }
  if (traps == 0)
    skip("handler_may_read_after_every_instruction", "no single steps here");
  ck_assert_int_eq(wrong, 0);
  ck_assert_int_eq(traps_wrong, 0);
}
END_TEST

static sigjmp_buf before_read;
static int steps_left;

/* Reads or not, at random, and abandons the interrupted read for good. */
static void on_last_trap(int signal, siginfo_t *info, void *context)
{
  (void)signal;
  (void)info;
  (void)context;
  if (steps_left-- > 0)
    return;
  stepping = 0;
  if (random64() % 2)
    traps_wrong += !read_is_right();
  traps++;
  siglongjmp(before_read, 1);
}

START_TEST(handler_may_abandon_a_read_after_any_instruction)
{
  static long wrong;
  static int left;

  begin_at_rate(1e9, 1e9, 0);
  set_handler(SIGTRAP, on_last_trap);
  for (left = suite_runs(300); left > 0; left--) {
    advance(random64() % 4 == 0 ? random_below(1e9) : 10 * SECOND);
    steps_left = (int)(random64() % 300);
    if (sigsetjmp(before_read, 1) == 0) {
      stepping = 1;
      wrong += !read_is_right();
    }
    stepping = 0;
    wrong += !read_is_right();
  }
  if (traps == 0)
    skip("handler_may_abandon_a_read_after_any_instruction", "no single steps here");
  ck_assert_int_eq(wrong, 0);
  ck_assert_int_eq(traps_wrong, 0);
}
END_TEST
#endif

/* Counters of cores may differ. A thread that stays on its core sees no jump, whatever threads on
   other cores read; here this thread's core is ahead by any multiple of 2^29. */
static uint32_t core_offset;
static _Thread_local int other_core;

static long long core_counter(void)
{
  return (long long)((quick_count() / quick_scale + (other_core ? 0 : core_offset)) & 0xffffffff);
}

static void *read_other_core(void *unused)
{
  (void)unused;
  other_core = 1;
  while (quick_time() < quick_end)
    (void)cpucycles_extend32(&extension);
  return NULL;
}

START_TEST(thread_on_one_core_sees_no_jump_of_other_cores)
{
  static const struct cpucycles_clock clock = { quick_time, quick_time, 0 };
  pthread_t thread;
  int i;

  for (i = 0; i < 8; i++) {
    uint64_t first, before, count;

    core_offset = (uint32_t)i << 29;
    cpucycles_extend32_begin(&extension, core_counter, clock, 1000000000, 2000000000000);
    quick_end = quick_time() + SECOND / 10;
    ck_assert_int_eq(pthread_create(&thread, NULL, read_other_core, NULL), 0);
    first = before = (uint64_t)cpucycles_extend32(&extension);
    while (quick_time() < quick_end) {
      count = (uint64_t)cpucycles_extend32(&extension);
      ck_assert_int_ge((int64_t)(count - before), 0);
      before = count;
    }
    pthread_join(thread, NULL);
    ck_assert_int_lt((int64_t)(before - first), SECOND);
  }
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, constant_rate_allows_gaps_up_to_the_bound);
  tcase_add_test(tests, bound_of_a_first_gap_is_tight);
  tcase_add_test(tests, changing_rate_allows_gaps_up_to_the_bound);
  tcase_add_test(tests, bound_of_a_sleep_is_tight);
  tcase_add_test(tests, short_gaps_need_no_good_estimate);
  tcase_add_test(tests, round_trips_between_two_cores_cancel);
  tcase_add_test(tests, jumps_between_cores_cancel_with_short_gaps);
  tcase_add_test(tests, jumps_between_cores_cancel_with_gaps_up_to_the_bound);
  tcase_add_test(tests, errors_of_migrations_do_not_accumulate);
  tcase_add_test(tests, ring_of_sixteen_cores_stays_within_a_wraparound);
  tcase_add_test(tests, migrations_of_a_sleeping_thread_do_not_accumulate);
  tcase_add_test(tests, wall_clock_steps_of_a_day_change_no_count);
  tcase_add_test(tests, late_thread_starts_at_the_right_count);
  tcase_add_test(tests, refused_clock_leaves_short_gaps_right);
  tcase_add_test(tests, threads_and_handlers_read_right_counts);
  tcase_add_test(tests, handler_may_read_at_every_access_of_a_read);
#ifdef SINGLE_STEPS
  tcase_add_test(tests, handler_may_read_after_every_instruction);
  tcase_add_test(tests, handler_may_abandon_a_read_after_any_instruction);
#endif
  tcase_add_test(tests, thread_on_one_core_sees_no_jump_of_other_cores);
}

int main(void)
{
  return suite_main("extend32", add);
}
