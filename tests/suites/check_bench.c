/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests <cpucycles/bench.h> and cpucycles_core_ratio() on a simulated machine: replaces
   lib/bench-counter.c, sys/dependent-add.c, sys/thread-usage.c, the selected counter and, with
   one-clock.h, sys/os-clock.c. No test depends on this machine's time. */

#include "config.h"

#include "include/cpucycles/bench.h"
#include "include/cpucycles/inline.h"
#include "lib/bench.h"
#include "sys/dependent-add.h"
#include "sys/thread-local.h"
#include "sys/thread-usage.h"

#include "tests/suites/child.h"
#include "tests/suites/one-clock.h"
#include "tests/suites/suite.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <time.h>

enum { EMPTY_CYCLES = 40, SEEDS = 100, COARSE_SEEDS = 40, COARSE_RIGHT = 38 };

/* Times are in nanoseconds. */
#define US 1e3
#define MS 1e6
#define S 1e9

/* The clock that is set back is set forward after 100 us. */
enum clock_state { RUNS, FAILS, FAILS_AT_TIMES, STOPS, IS_SET_BACK, IS_SET_FORWARD };

/* What one thread sees of the simulated machine. Its core has 4 GHz, and its counter advances twice
   per nanosecond, so that all numbers are exact in binary. */
static CPUC_THREAD_LOCAL struct machine {
  double now, cpu;              /* true time, and that of the thread */
  double hz, later_hz, changes; /* frequency of the core, and from `changes` on; 0: no change */
  double rate, step;            /* of the counter: counts per second, smallest step */
  double read;                  /* cost of a read of the counter */
  double noise;                 /* share by which the time of work varies */
  double sleeps, preempts;      /* share of the samples, of 100 us and `away` more */
  double away;
  double latency;               /* of a chain or a single call, beside that of an empty section */
  double chains;                /* share of the chains that take 3 % more */
  double loss;                  /* share by which work of more than 50 us takes longer */
  double counter_stops, counter_back; /* when; 0: never. It steps back often. */
  enum clock_state clock;
  double clock_fails; /* when */
  int is_core, slow_add, unknown_rate, is_thread, no_usage, no_chain; /* as the meter needs it */
  int cpu_is_wrong, checks_signals;
  double slow_chains[3]; /* share that the first three chains take more */
  int is_new_sample;
  unsigned int random;
  long chains_run, involuntary, voluntary;
} m;

#define WITH_RATES(core, counter) .hz = core, .rate = counter, .now = S, .step = 1, .read = 10, \
  .away = 100 * US, .random = 1
#define EXACT WITH_RATES(4e9, 2e9)
static const struct machine exact = { EXACT };

static double uniform(void)
{
  m.random = m.random * 1664525 + 1013904223;
  return (m.random >> 8) / 16777216.0;
}

static int happens(double share)
{
  return share > 0 && uniform() < share;
}

static void pass(double nanoseconds)
{
  m.now += nanoseconds;
  m.cpu += nanoseconds;
}

static void execute(double cycles)
{
  if (m.noise > 0)
    cycles *= 1 + m.noise * (uniform() - 0.5);
  if (cycles / m.hz > 50e-6)
    cycles *= 1 + m.loss;
  if (m.later_hz > 0 && m.now >= m.changes)
    m.hz = m.later_hz;
  pass(cycles / m.hz * S);
}

static long long read_simulated(void)
{
  double cost = m.noise > 0 ? m.read * (0.9 + 0.2 * uniform()) : m.read, at;

  pass(cost / 2);
  at = m.is_thread ? m.cpu : m.now;
  if (m.counter_stops > 0 && m.now > m.counter_stops)
    at = m.counter_stops;
  if (m.counter_back > 0 && m.now > m.counter_back)
    at -= floor((m.now - m.counter_back) / (50 * US) + 1) * 100 * US;
  pass(cost / 2);
  return (long long)(floor(at * m.rate / S / m.step) * m.step);
}

int cpuc_bench_counter_describe(struct cpuc_bench_meter *meter)
{
  meter->unit = m.is_core ? "core cycles" : "reference cycles";
  meter->rate = m.rate;
  meter->rate_is_known = !m.unknown_rate;
  meter->counts_core_cycles = m.is_core;
  meter->counts_sleep = !m.is_thread;
  meter->add_takes_one_cycle = !m.slow_add;
  return 0;
}

void cpuc_bench_counter_nothing(void *unused)
{
  (void)unused;
  execute(EMPTY_CYCLES);
}

long long cpuc_os_clock_monotonic(void)
{
  int failed = m.clock != RUNS && m.now >= m.clock_fails;
  int is_back = m.clock == IS_SET_BACK && m.now < m.clock_fails + 100 * US;
  double offset = is_back ? -S / 2 : m.clock >= IS_SET_BACK ? 86400 * S : 0;

  pass(25);
  if (failed && (m.clock == FAILS || (m.clock == FAILS_AT_TIMES && happens(0.7))))
    return 0;
  if (failed && m.clock == STOPS)
    return (long long)m.clock_fails;
  return (long long)(m.now + (failed ? offset : 0));
}

int cpuc_dependent_add_run(long passes)
{
  if (m.no_chain)
    return -1;
#ifdef CPUCYCLES_POSIX
  if (m.checks_signals) {
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    ck_assert(sigismember(&blocked, SIGUSR1));
  }
#endif
  m.is_new_sample = 1;
  pass(m.latency);
  execute((double)passes * CPUC_DEPENDENT_ADD_PASS * (happens(m.chains) ? 1.03 : 1)
    * (m.chains_run < 3 ? 1 + m.slow_chains[m.chains_run] : 1));
  m.chains_run++;
  return 0;
}

struct cpuc_thread_switches cpuc_thread_usage_switches(void)
{
  struct cpuc_thread_switches switches = { m.voluntary, m.involuntary };
  static const struct cpuc_thread_switches unknown;

  return m.no_usage ? unknown : switches;
}

long long cpuc_thread_usage_nanoseconds(void)
{
  return m.no_usage ? 0 : m.cpu_is_wrong ? (long long)(S - m.cpu) : (long long)m.cpu;
}

/* A function that is timed. */
struct load {
  double cycles;
  double varies;  /* share that each of five calls in a row takes more than the one before it */
  double grows;   /* share that each call takes more than the one before it */
  double sleep;   /* in each call */
  double prepare; /* time to prepare; 0: no call is prepared */
  double seconds; /* for samples */
  double cold;    /* share that calls take more in the first 1.9 ms, which are disturbed, too */
  double began;
  void (*act)(void); /* in call number act_at */
  long act_at, calls, prepared;
};

static void load(void *argument)
{
  struct load *this = (struct load *)argument;
  long call = this->calls++;
  int is_cold;

  if (call == 0)
    this->began = m.now;
  is_cold = this->cold > 0 && m.now < this->began + 1.9 * MS;
  m.voluntary += is_cold;
  m.involuntary += is_cold && call % 8 == 0;
  if (this->act && call == this->act_at)
    this->act();
  if (this->prepare > 0) {
    ck_assert_int_eq(this->prepared--, 1);
    pass(m.latency);
  }
  if (m.is_new_sample) {
    m.is_new_sample = 0;
    if (happens(m.sleeps)) {
      m.now += 100 * US;
      m.voluntary++;
    }
    if (happens(m.preempts)) {
      m.now += m.away;
      m.involuntary++;
    }
  }
  m.now += this->sleep;
  m.voluntary += this->sleep > 0;
  execute(this->cycles
    * (1 + is_cold * this->cold + this->varies * (double)(call % 5) + this->grows * (double)call));
}

static void prepare(void *argument)
{
  struct load *this = (struct load *)argument;

  ck_assert_int_eq(this->prepared++, 0);
  pass(this->prepare);
}

static struct cpucycles_bench_setup setup_of(struct load *argument)
{
  struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;

  setup.function = load;
  setup.prepare = argument->prepare > 0 ? prepare : NULL;
  setup.argument = argument;
  setup.seconds = argument->seconds;
  setup.nothing = cpuc_bench_counter_nothing;
  return setup;
}

/* Begins on a machine of this state. Programs may let these floating-point errors trap. */
static void begin(struct machine state, int seed)
{
  m = state;
  m.random += (unsigned int)seed * 7919;
  if (cpucycles != read_simulated) { /* not again in threads */
    cpucycles_inline_state.method = CPUCYCLES_INLINE_CALL;
    cpucycles = read_simulated;
  }
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__i386__)) /* elsewhere, traps are rare */
  (void)feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
#endif
}

/* Returns the result of cpucycles_bench_run() for a load. */
static struct cpucycles_bench_result run(struct load argument)
{
  struct cpucycles_bench_setup setup = setup_of(&argument);
  struct cpucycles_bench_result result;
  int error = cpucycles_bench_run(&result, &setup);

  ck_assert_int_eq(error, result.samples > 0 ? 0 : -1);
  ck_assert_msg((result.note == NULL) == (result.mark[0] == 0), "%s: %s", result.mark, result.note);
  return result;
}

static int is_near(double value, double wanted, double share)
{
  return value >= wanted - share * wanted && value <= wanted + share * wanted;
}

#define expect_near(value, wanted, share) \
  ck_assert_msg(is_near(value, wanted, share), #value " is %.9g, not %.9g", value, \
    (double)(wanted))
#define expect_0(value) expect_near(value, 0, 0)

/* Results. */

TEST_LOOP(each_member_of_a_result_is_exact, 2)
{
  static double samples[21000];
  struct load argument = { .cycles = 40000, .varies = 0.05 };
  struct cpucycles_bench_setup setup = setup_of(&argument);
  struct cpucycles_bench_result r;
  double ratio = _i ? 1 : 2, sum = 0, began;
  int i;

  setup.name = "name";
  setup.bytes = 64;
  setup.samples = samples;
  setup.capacity = 21000;
  /* a counter of core cycles needs no chain */
  begin(_i ? (struct machine) { WITH_RATES(4e9, 4e9), .is_core = 1, .no_chain = 1 } : exact, 0);
  began = m.now;
  ck_assert_int_eq(cpucycles_bench_run(&r, &setup), 0);
  ck_assert_msg(m.now - began < 40 * MS, "%g", m.now - began);
  expect_near(r.cycles, 44000, 1e-3);
  expect_near(r.cycles_low, 44000, 2e-3);
  expect_near(r.cycles_high, 44000, 2e-3);
  expect_near(r.minimum, 40000 / ratio, 1e-9);
  expect_near(r.lower_quartile, 42000 / ratio, 1e-9);
  expect_near(r.median, 44000 / ratio, 1e-9);
  expect_near(r.upper_quartile, 46000 / ratio, 1e-9);
  expect_near(r.maximum, 48000 / ratio, 1e-9);
  expect_near(r.nanoseconds, 11000, 1e-9);
  expect_near(r.core_ratio, ratio, 1e-9);
  expect_near(r.frequency_low, _i ? 0 : 4e9, 1e-9);
  expect_near(r.frequency_high, _i ? 0 : 4e9, 1e-9);
  expect_near(r.empty, EMPTY_CYCLES, 1e-9);
  expect_near(r.kept, 1, 0);
  expect_near(r.bytes, 64, 0);
  ck_assert_int_eq(r.calls, 1);
  ck_assert(llabs(r.time - (long long)time(NULL)) < 60);
  ck_assert_str_eq(r.name, "name");
  ck_assert_str_eq(r.unit, _i ? "core cycles" : "reference cycles");
  ck_assert_ptr_null(r.note);
  ck_assert_str_eq(r.mark, "");
  ck_assert(r.samples > 1000 && r.samples < 2000);
  for (i = 0; i < r.samples; i++) {
    if (i > 0)
      expect_near(samples[i], samples[i - 1] < 47000 ? samples[i - 1] + 2000 : 40000, 1e-9);
    sum += samples[i] / ratio;
  }
  expect_near(r.mean, sum / r.samples, 1e-9);
  expect_0(samples[r.samples]);
}

TEST(interval_holds_the_middle_of_blocks_or_of_few_samples)
{
  static double samples[21000];
  struct load rising = { .cycles = 40000, .grows = 0.0001 };
  struct cpucycles_bench_setup setup = setup_of(&rising);
  struct cpucycles_bench_result r;
  double first, range, width;

  setup.samples = samples;
  setup.capacity = 21000;
  begin(exact, 0);
  ck_assert_int_eq(cpucycles_bench_run(&r, &setup), 0);
  first = samples[0];
  range = samples[r.samples - 1] - first;
  expect_near(r.cycles, first + range / 2, 0.001);
  expect_near(r.cycles_low - first, range * 3.5 / 16, 0.01); /* the middle of block 4 of 16 */
  expect_near(r.cycles_high - first, range * 12.5 / 16, 0.01);
  ck_assert_str_eq(r.mark, "unstable");
  rising = (struct load) { .cycles = 2e7, .grows = 0.0001 }; /* 5 ms: long samples */
  ck_assert_int_eq(cpucycles_bench_run(&r, &setup), 0);
  ck_assert(r.samples >= 15 && r.samples <= 25);
  range = samples[r.samples - 1] - samples[0];
  width = 2.2 * sqrt(0.25 * 0.75 / r.samples);
  expect_near(r.cycles - samples[0], range * 0.25, 0.01);
  expect_near(r.cycles_low - samples[0] + 1, range * fmax(0.25 - width, 0) + 1, 0.02);
  expect_near(r.cycles_high - samples[0], range * (0.25 + width), 0.02);
}

TEST(frequency_is_that_of_both_halves_after_a_step)
{
  struct cpucycles_bench_result r;

  begin((struct machine) { EXACT, .later_hz = 2e9, .changes = S + 15 * MS }, 0);
  r = run((struct load) { .cycles = 10000 });
  expect_near(r.frequency_low, 2e9, 1e-9);
  expect_near(r.frequency_high, 4e9, 1e-9);
  expect_near(r.cycles, 10000, 0.0001);
}

TEST(first_2_ms_are_left_out)
{
  struct cpucycles_bench_result r;

  begin(exact, 0);
  r = run((struct load) { .cycles = 10000, .cold = 1 });
  expect_near(r.minimum, 5000, 1e-9);
  expect_near(r.maximum, 5000, 1e-9);
  expect_near(r.kept, 1, 0);
  ck_assert_str_eq(r.mark, "");
}

static void wait_200_ms(void)
{
  pass(200 * MS);
}

/* Lengths of functions: short and long samples, with and without prepare, and a slow first call. */
TEST_LOOP(any_length_is_measured_within_the_documented_time, 13)
{
  static const struct {
    struct load load;
    double most; /* time, of about that of the method and three calls */
    long long calls;
    int least, most_samples;
    const char *mark;
  } rows[] = {
    { { .cycles = 50 }, 50 * MS, 1024, 100, 2000, "" },
    { { .cycles = 1000 }, 50 * MS, 64, 100, 2000, "" },
    { { .cycles = 10000 }, 50 * MS, 4, 100, 2000, "" },
    { { .cycles = 1e6 }, 50 * MS, 1, 25, 40, "" },
    { { .cycles = 4e7 }, 0.3 * S, 1, 8, 20, "" },
    { { .cycles = 1e9 }, 3.5 * S, 1, 3, 3, "few" },
    { { .cycles = 10000, .prepare = 1 }, 50 * MS, 1, 1000, 4000, "" },
    { { .cycles = 10000, .prepare = 10 * US }, 50 * MS, 1, 500, 2000, "" },
    { { .cycles = 10000, .prepare = MS }, 0.2 * S, 1, 100, 100, "" },
    { { .cycles = 10000, .prepare = 10 * MS }, 0.3 * S, 1, 10, 25, "" },
    { { .cycles = 1e6, .prepare = 10 * US }, 0.3 * S, 1, 100, 101, "" },
    { { .cycles = 700, .prepare = 10 * US }, 50 * MS, 1, 100, 2000, "short" },
    { { .cycles = 50, .act = wait_200_ms }, 0.3 * S, 1024, 100, 2000, "" },
  };
  struct cpucycles_bench_result r;
  double began;

  begin((struct machine) { EXACT, .latency = 5 }, 0);
  began = m.now;
  r = run(rows[_i].load);
  expect_near(r.cycles, rows[_i].load.cycles, 1e-6);
  expect_near(r.nanoseconds, rows[_i].load.cycles / 4, 1e-6);
  expect_near(r.empty, EMPTY_CYCLES, 1e-6);
  ck_assert_msg(m.now - began <= rows[_i].most, "%g ms", (m.now - began) / MS);
  ck_assert_int_eq(r.calls, rows[_i].calls);
  ck_assert_msg(r.samples >= rows[_i].least && r.samples <= rows[_i].most_samples, "%d", r.samples);
  ck_assert_str_eq(r.mark, rows[_i].mark);
}

TEST(seconds_and_samples_are_those_of_the_setup)
{
  static double samples[11];
  struct load argument = { .cycles = 50 };
  struct cpucycles_bench_setup setup = setup_of(&argument);
  struct cpucycles_bench_result r;
  double began;
  int i, usual;
  static const double bad[] = { -1, -INFINITY };

  begin(exact, 0);
  usual = run(argument).samples;
  setup.seconds = 0.1;
  setup.samples = samples;
  setup.capacity = 10;
  samples[10] = -1;
  began = m.now;
  ck_assert_int_eq(cpucycles_bench_run(&r, &setup), 0);
  ck_assert(m.now - began > 0.1 * S && m.now - began < 0.13 * S);
  ck_assert(r.samples > 4 * usual && r.samples < 6 * usual);
  for (i = 0; i < 10; i++)
    expect_near(samples[i], 50, 1e-6);
  expect_near(-samples[10], 1, 0);
  setup.nothing = NULL; /* as a program without CPUCYCLES_BENCH_SETUP leaves it */
  for (i = 0; i < 2; i++) { /* what makes no sense is ignored */
    setup.seconds = setup.bytes = bad[i];
    setup.capacity = -1;
    samples[0] = -1;
    ck_assert_int_eq(cpucycles_bench_run(&r, &setup), 0);
    ck_assert_int_eq(r.samples, usual);
    expect_0(r.bytes);
    expect_near(-samples[0], 1, 0);
  }
  setup.seconds = 0.05;
  argument.cycles = 2e7; /* 5 ms */
  ck_assert_int_eq(cpucycles_bench_run(&r, &setup), 0);
  ck_assert(r.samples >= 5 && r.samples <= 6); /* each has a control of 5 ms */
}

TEST(setup_without_a_function_has_no_samples_but_a_sentence)
{
  struct load argument = { .cycles = 50 };
  struct cpucycles_bench_setup setup = setup_of(&argument), none = CPUCYCLES_BENCH_SETUP;
  struct cpucycles_bench_comparison c;
  struct cpucycles_bench_result r;
  int i;

  begin(exact, 0);
  none.name = "none";
  ck_assert_int_eq(cpucycles_bench_run(&r, &none), -1);
  ck_assert_str_eq(r.note, "The setup has no function.");
  ck_assert(r.samples == 0 && r.name == none.name && *r.unit && r.time > 0);
  for (i = 0; i < 2; i++) {
    ck_assert_int_eq(cpucycles_bench_compare(&c, i ? &setup : &none, i ? &none : &setup), -1);
    ck_assert_str_eq(c.f.note, r.note);
    ck_assert_str_eq(c.g.note, r.note);
    ck_assert_str_eq(c.verdict, "unclear");
    ck_assert_int_eq(c.f.samples + c.g.samples + c.rounds, 0);
    expect_0(c.ratio);
  }
}

/* Where core cycles are not known, the counts are those of the counter. */
TEST_LOOP(core_cycles_that_are_not_known_are_0, 5)
{
  struct load argument = { .cycles = 10000 };
  struct cpucycles_bench_setup setup = setup_of(&argument);
  struct cpucycles_bench_result r;
  static const struct machine machines[] = { { EXACT, .slow_add = 1 },
    { EXACT, .no_chain = 1 }, /* a library without optimization */
    { WITH_RATES(0.04e9, 2e9) }, { WITH_RATES(11e9, 2e9) }, { EXACT, .unknown_rate = 1 } };
  double sample, counts = 10000 / machines[_i].hz * 2e9;

  setup.samples = &sample;
  setup.capacity = 1;
  begin(machines[_i], 0);
  ck_assert_int_eq(cpucycles_bench_run(&r, &setup), 0);
  expect_near(r.median, counts, 0.001);
  expect_near(r.nanoseconds, _i == 4 ? 0 : counts / 2, 0.001);
  expect_0(r.frequency_low);
  expect_0(r.frequency_high);
  expect_near(sample, _i == 4 ? 10000 : counts, 0.001);
  expect_near(r.cycles, _i == 4 ? 10000 : 0, 1e-6);
  expect_near(r.core_ratio, _i == 4 ? 2 : 0, 1e-6);
  if (_i != 4) {
    expect_0(r.cycles_low);
    expect_0(r.cycles_high);
    expect_0(r.empty);
  }
}

/* A clock of 10 ms has no chain. */
TEST(clock_of_10_ms_gives_the_time_alone)
{
  struct machine state = exact;
  struct cpucycles_bench_result r;
  double began;

  state.rate = 1e9;
  state.step = 1e7;
  begin(state, 0);
  began = m.now;
  r = run((struct load) { .cycles = 4000 });
  ck_assert(m.now - began < 2 * S);
  expect_0(r.cycles);
  expect_near(r.nanoseconds, 1000, 1);
  ck_assert_int_ge(r.calls, 1000);
}

TEST_LOOP(coarse_counter_is_right_in_38_of_40_processes, 9)
{
  static const struct {
    double rate, share;
  } rows[] = { { 24e6, 0.001 }, { 10e6, 0.002 }, { 4e6, 0.005 } };
  static const double cycles[] = { 50, 10000, 300000 };
  struct suite_repeat repeat = suite_repeat(COARSE_SEEDS);
  int wrong = 0;

  while (suite_again(&repeat)) {
    begin((struct machine) { WITH_RATES(3.1e9, rows[_i % 3].rate), .noise = 0.001 },
      (int)repeat.begun - 1);
    wrong += !is_near(run((struct load) { .cycles = cycles[_i / 3] }).cycles, cycles[_i / 3],
      rows[_i % 3].share);
  }
  ck_assert_int_le(wrong, COARSE_SEEDS - COARSE_RIGHT);
}

/* Faults. */

static int has_words(const struct cpucycles_bench_result *result, const char *words)
{
  return words ? result->note && strstr(result->note, words) : !result->note;
}

/* Each fault has its mark in each process, the same machine without the fault has none, and the
   cycles stay right where they can. */
TEST_LOOP(each_fault_has_its_mark_in_100_of_100_processes_and_none_without_it, 16)
{
  static const struct {
    struct load load, without; /* without: without the fault, if no row above has this load */
    struct machine fault;
    const char *mark, *words;
    double share; /* of the cycles; 0: 0.3 %, 1: any */
  } rows[] = {
    { .load.cycles = 40000, .without.cycles = 40000, .fault = { EXACT, .sleeps = 0.2 },
      .mark = "sleeps", .words = "nanoseconds", .share = 1 },
    { .load.cycles = 40000, .fault = { EXACT, .sleeps = 0.2, .is_thread = 1 }, .mark = "sleeps",
      .words = "choose a clock", .share = 1 },
    { .load.cycles = 40000, .fault = { EXACT, .preempts = 0.3 }, .mark = "crowded",
      .words = "disturbed" },
    { .load.cycles = 40000, .fault = { EXACT, .chains = 0.18 }, .mark = "crowded",
      .words = "disturbed" },
    { .load.cycles = 4e6, .without.cycles = 4e6, .fault = { EXACT, .loss = 0.03 },
      .mark = "crowded", .words = "disturbed" },
    { .load.cycles = 40000, .fault = { EXACT, .counter_stops = S + 15 * MS }, .mark = "counter",
      .words = "is stopped", .share = 1 },
    { .load.cycles = 40000, .fault = { EXACT, .counter_back = S + 15 * MS }, .mark = "counter",
      .words = "stepped back", .share = 1 },
    { .fault = { EXACT }, .load = { .cycles = EMPTY_CYCLES, .seconds = 1e-3 },
      .without = { .cycles = 50, .seconds = 1e-3 }, .mark = "empty", .words = "removed the work" },
    { .fault = { EXACT }, .load = { .cycles = 1000, .prepare = US, .seconds = 1e-3 },
      .without = { .cycles = 10000, .prepare = US, .seconds = 1e-3 }, .mark = "short",
      .words = "more work", .share = 0.01 },
    { .fault = { EXACT }, .load = { .cycles = 40000, .grows = 5e-5 }, .mark = "unstable",
      .words = "different times", .share = 1 },
    { .load.cycles = 40000, .fault = { EXACT, .later_hz = 3e9, .changes = S + 15 * MS },
      .mark = "" },
    { .load.cycles = 40000, .fault = { EXACT, .preempts = 0.1 }, .mark = "" },
    { .load.cycles = 4e6, .fault = { EXACT, .preempts = 0.5 }, .mark = "" },
    { .load.cycles = 4e6, .fault = { EXACT, .preempts = 0.1, .cpu_is_wrong = 1 }, .mark = "" },
    /* a filter refuses the usage, which leaves the chains */
    { .load.cycles = 10000, .fault = { EXACT, .no_usage = 1, .chains = 0.05 }, .mark = "" },
    { .load.cycles = 4e6, .fault = { EXACT, .no_usage = 1, .chains = 0.05 }, .mark = "" },
  };
  struct suite_repeat repeat = suite_repeat(SEEDS);
  int seed;

  /* each seed without the fault, then the next one with it */
  for (seed = 0; seed % 2 || suite_again(&repeat); seed++) {
    int has_fault = seed % 2;
    struct machine state = has_fault ? rows[_i].fault : exact;
    struct load timed = has_fault ? rows[_i].load : rows[_i].without;
    struct cpucycles_bench_result r;

    if (timed.cycles <= 0)
      continue;
    state.noise = 0.002;
    begin(state, seed);
    r = run(timed);
    ck_assert_msg(strcmp(r.mark, has_fault ? rows[_i].mark : "") == 0, "seed %d: %s, kept %g", seed,
      r.mark, r.kept);
    ck_assert_msg(has_words(&r, has_fault ? rows[_i].words : NULL), "%s", r.note);
    if (!has_fault || rows[_i].share < 1)
      expect_near(r.cycles, timed.cycles, has_fault && rows[_i].share > 0 ? rows[_i].share : 0.003);
    if (r.mark[0] == 'c' && r.samples == 0)
      expect_0(r.cycles + r.median + r.nanoseconds + r.kept + r.core_ratio);
  }
}

/* The first mark that holds, of two. */
TEST_LOOP(first_of_two_marks_is_given, 6)
{
  static const struct {
    struct load load;
    double preempts, loss;
    const char *mark;
  } rows[] = {
    { { .cycles = 40000, .sleep = 300 * MS }, 0, 0, "sleeps" },    /* and few */
    { { .cycles = 1e9, .grows = 0.1 }, 0, 0.03, "few" },           /* and crowded, unstable */
    { { .cycles = EMPTY_CYCLES }, 0.3, 0, "empty" },               /* and crowded */
    { { .cycles = 1000, .prepare = US }, 0.3, 0, "short" },        /* and crowded */
    { { .cycles = 40000, .grows = 5e-5 }, 0.3, 0, "crowded" },     /* and unstable */
    { { .cycles = EMPTY_CYCLES, .prepare = US }, 0, 0, "short" },  /* and empty */
  };
  begin((struct machine) { EXACT, .preempts = rows[_i].preempts, .loss = rows[_i].loss }, 0);
  ck_assert_str_eq(run(rows[_i].load).mark, rows[_i].mark);
}

/* The times at which clock and counter fail are in the search for a step, the sizing, the warm-up
   and the samples. */
TEST_LOOP(bad_clock_or_counter_ends_in_2_seconds, 6 * 3 * 5)
{
  static const double times[] = { -1, 0.1 * MS, 3 * MS, 6 * MS, 15 * MS };
  double at = exact.now + times[_i % 5];
  int counter = _i / 5 % 3;
  struct machine state = exact;
  struct cpucycles_bench_result r;

  state.clock = (enum clock_state)(_i / 15);
  state.clock_fails = at + (state.clock == IS_SET_FORWARD && counter > 0 ? MS : 0); /* ends a run */
  if (counter == 1)
    state.counter_stops = at;
  else if (counter == 2)
    state.counter_back = times[_i % 5] < 0 ? exact.now + MS : at;
  begin(state, _i);
  r = run((struct load) { .cycles = 50 });
  ck_assert_msg(m.now - exact.now < 2 * S, "%g", m.now);
  if (counter == 0) {
    expect_near(r.cycles, 50, 1e-6);
    ck_assert_str_eq(r.mark, "");
    ck_assert(r.samples > 1000 || state.clock == IS_SET_FORWARD);
  } else {
    ck_assert_int_eq(r.samples, 0);
    ck_assert_str_eq(r.mark, "counter");
    ck_assert_ptr_nonnull(strstr(r.note, counter == 1 ? "is stopped" : "stepped back"));
  }
}

/* A counter of the thread does not count the sleep, so the clock ends the run. */
TEST_LOOP(function_that_only_sleeps_ends_and_has_its_time, 2)
{
  struct cpucycles_bench_result r;

  begin((struct machine) { EXACT, .is_thread = _i }, 0);
  r = run((struct load) { .cycles = 1000, .sleep = MS });
  ck_assert(m.now - exact.now < S);
  expect_near(r.nanoseconds, (_i ? 0 : MS) + 250, 1e-6);
  ck_assert_str_eq(r.mark, "sleeps");
}

/* Comparisons. */

static struct cpucycles_bench_comparison compare(struct load f, struct load g, double seconds)
{
  struct cpucycles_bench_setup setups[2] = { setup_of(&f), setup_of(&g) };
  struct cpucycles_bench_comparison c;

  setups[0].name = "f";
  setups[1].name = "g";
  setups[1].seconds = seconds;
  ck_assert_int_eq(cpucycles_bench_compare(&c, &setups[0], &setups[1]), 0);
  ck_assert_str_eq(c.f.name, "f");
  ck_assert_str_eq(c.g.name, "g");
  ck_assert_int_gt(c.f.samples, 0);
  ck_assert_int_gt(c.g.samples, 0);
  return c;
}

TEST_LOOP(comparison_has_the_ratio_and_the_verdict, 13)
{
  static const struct {
    struct load f, g;
    double seconds, noise, preempts;
    const char *verdict;
    int least_rounds;
    double most; /* time */
    double share;
  } rows[] = {
    { { .cycles = 10000 }, { .cycles = 10000 }, 0, 0, 0, "same", 1000, 0.25 * S, 1e-9 },
    { { .cycles = 10000 }, { .cycles = 10050 }, 0, 0, 0, "differ", 1000, 0.25 * S, 1e-9 },
    { { .cycles = 10050 }, { .cycles = 10000 }, 0, 0, 0, "differ", 1000, 0.25 * S, 1e-9 },
    { { .cycles = 10000 }, { .cycles = 10025 }, 0, 0.01, 0, "unclear", 1000, 0.25 * S, 1e-3 },
    { { .cycles = 10000 }, { .cycles = 20000 }, 0.5, 0, 0.3, "differ", 1000, 0.6 * S, 1e-3 },
    { { .cycles = 3e6 }, { .cycles = EMPTY_CYCLES }, 0, 0.001, 0, "differ", 24, 1.2 * S, 0.1 },
    { { .cycles = 4e7 }, { .cycles = 4e7 }, 0, 0.001, 0, "same", 20, 1.2 * S, 1e-3 },
    { { .cycles = 4e6 }, { .cycles = 4.1e6 }, 0, 0.001, 0.5, "differ", 24, 1.2 * S, 1e-3 },
    { { .cycles = 1e9 }, { .cycles = 1.1e9 }, 0, 0, 0, "unclear", 3, 10 * S, 1e-3 },
    { { .cycles = 1.26e8 }, { .cycles = 1.26e8 }, 0, 0, 0, "same", 8, 1.3 * S, 1e-6 },
    { { .cycles = 1.26e8 }, { .cycles = 1.26e8 }, 0.17, 0, 0, "unclear", 7, 1.3 * S, 1e-6 },
    { { .cycles = 10000, .prepare = 10 * US }, { .cycles = 10050 }, 0, 0, 0, "differ", 500,
      0.25 * S, 1e-9 },
    { { .cycles = 10000 }, { .cycles = 10050, .prepare = 10 * US }, 0, 0, 0, "differ", 500,
      0.25 * S, 1e-9 },
  };
  struct cpucycles_bench_comparison c;
  double ratio = rows[_i].g.cycles / rows[_i].f.cycles;

  begin((struct machine) { EXACT, .noise = rows[_i].noise, .preempts = rows[_i].preempts }, 0);
  c = compare(rows[_i].f, rows[_i].g, rows[_i].seconds);
  ck_assert_msg(m.now - exact.now < rows[_i].most, "%g", m.now - exact.now);
  expect_near(c.ratio, ratio, rows[_i].share);
  ck_assert(c.low > 0 && c.low <= c.ratio && c.ratio <= c.high);
  if (rows[_i].noise + rows[_i].preempts <= 0)
    ck_assert(is_near(c.low, ratio, 1e-6) && is_near(c.high, ratio, 1e-6));
  ck_assert_msg(c.rounds >= rows[_i].least_rounds, "%d", c.rounds);
  ck_assert_msg(strcmp(c.verdict, rows[_i].verdict) == 0, "%s: %g to %g", c.verdict, c.low, c.high);
  expect_near(c.f.cycles, rows[_i].f.cycles, 0.003);
  expect_near(c.g.cycles, rows[_i].g.cycles, 0.003);
  if (rows[_i].f.prepare + rows[_i].g.prepare > 0)
    ck_assert(c.f.calls == 1 && c.g.calls == 1);
}

TEST(comparison_is_right_with_noise_and_a_step_of_the_frequency)
{
  int seed;

  for (seed = 0; seed < 20; seed++) {
    struct cpucycles_bench_comparison c;

    begin((struct machine) { EXACT, .noise = 0.004, .preempts = 0.1, .later_hz = 3e9,
      .changes = S + 100 * MS }, seed);
    c = compare((struct load) { .cycles = 10000 },
      (struct load) { .cycles = seed % 2 ? 10050 : 10000 }, 0);
    ck_assert_str_eq(c.verdict, seed % 2 ? "differ" : "same");
    expect_near(c.ratio, seed % 2 ? 1.005 : 1, 0.001);
  }
}

TEST(comparison_of_rounds_that_are_all_disturbed_has_no_interval)
{
  struct machine state = exact;
  struct load f = { .cycles = 10000 }, g = { .cycles = 20000, .cold = 1 };
  struct cpucycles_bench_setup setups[2] = { setup_of(&f), setup_of(&g) };
  struct cpucycles_bench_comparison c;

  state.preempts = 1;
  state.away = 0; /* so that the ratio is exact */
  begin(state, 0);
  ck_assert_int_eq(cpucycles_bench_compare(&c, &setups[0], &setups[1]), -1);
  ck_assert(m.now - exact.now < 1.2 * S && c.rounds == 0);
  expect_near(c.ratio, 2, 1e-6); /* the one of all rounds */
  ck_assert_str_eq(c.verdict, "unclear");
  expect_0(c.low);
  expect_0(c.high);
  ck_assert_ptr_nonnull(strstr(c.f.note, "undisturbed"));
}

/* The ratio for sections. */

/* Returns the ratio on this machine, after the library has selected a counter, which the simulated
   one replaces. */
static double core_ratio_of(struct machine state)
{
  begin(exact, 0);
  (void)cpucycles_rate();
  begin(state, 0);
  (void)cpucycles_core_ratio(); /* finds the meter */
  memcpy(m.slow_chains, state.slow_chains, sizeof m.slow_chains);
  m.chains_run = 0;
  m.checks_signals = 1;
  return cpucycles_core_ratio();
}

TEST_LOOP(core_ratio_is_that_of_the_smallest_of_three_chains_or_0, 12)
{
  static const struct {
    struct machine machine;
    double ratio, share;
    int chains;
  } rows[] = {
    { { EXACT }, 2, 1e-9, 3 },
    { { WITH_RATES(3e9, 2e9) }, 1.5, 5e-4, 3 },
    { { EXACT, .is_core = 1 }, 1, 0, 0 },
    { { EXACT, .no_chain = 1 }, 0, 0, 0 },
    { { EXACT, .slow_add = 1 }, 0, 0, 0 },
    { { WITH_RATES(4e9, 24e6) }, 4e9 / 24e6, 0.006, 3 }, /* coarse */
    { { WITH_RATES(2e7, 2e9) }, 0, 0, 3 },               /* three chains take 1.2 ms */
    { { WITH_RATES(3e7, 2e9) }, 0.015, 1e-3, 3 },        /* 0.8 ms */
    { { EXACT, .counter_stops = 1 }, 0, 0, 0 },
    { { EXACT, .slow_chains = { 0.05, 0, 0.005 } }, 2, 1e-9, 3 },
    { { EXACT, .slow_chains = { 0.02, 0, 0.02 } }, 0, 0, 3 },
    { { EXACT, .slow_chains = { 0.009, 2, 0 } }, 2, 1e-9, 3 },
  };

  expect_near(core_ratio_of(rows[_i].machine), rows[_i].ratio, rows[_i].share);
  ck_assert_int_eq(m.chains_run, rows[_i].chains);
#ifdef CPUCYCLES_POSIX
  {
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    ck_assert(!sigismember(&blocked, SIGUSR1));
  }
#endif
}

#ifdef CPUCYCLES_POSIX

/* What a function of the program may do. */

static struct cpucycles_bench_result inner;

static void run_another(void)
{
  inner = run((struct load) { .cycles = 200 });
}

static pid_t forked;

static void fork_once(void)
{
  forked = fork();
}

TEST(function_may_run_a_benchmark)
{
  begin(exact, 0);
  expect_near(run((struct load) { .cycles = 1000, .act = run_another, .act_at = 1000 }).cycles,
    1000, 1e-6);
  expect_near(inner.cycles, 200, 1e-6);
}

TEST(child_forked_in_the_function_and_its_parent_end_the_run)
{
  double cycles;
  int status = 1;

  begin(exact, 0);
  cycles = run((struct load) { .cycles = 1000, .act = fork_once, .act_at = 1000 }).cycles;
  if (forked == 0)
    _exit(!is_near(cycles, 1000, 1e-6));
  ck_assert_int_eq(waitpid(forked, &status, 0), forked);
  ck_assert_int_eq(status, 0);
  expect_near(cycles, 1000, 1e-6);
}

static void *run_in_thread(void *cycles)
{
  begin(exact, 0);
  *(double *)cycles = run((struct load) { .cycles = *(double *)cycles }).cycles / *(double *)cycles;
  return NULL;
}

TEST(threads_run_at_once)
{
  pthread_t threads[8];
  double cycles[8];
  int i;

  begin(exact, 0);
  for (i = 0; i < 8; i++) {
    cycles[i] = 100 << i;
    ck_assert_int_eq(pthread_create(&threads[i], NULL, run_in_thread, &cycles[i]), 0);
  }
  for (i = 0; i < 8; i++) {
    pthread_join(threads[i], NULL);
    expect_near(cycles[i], 1, 1e-6);
  }
}

static jmp_buf outside;

static void jump_out(void)
{
  longjmp(outside, 1);
}

/* How a run can end early. */

static void end_thread(void)
{
  pthread_exit(NULL);
}

static void cancel_thread(void)
{
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

static void *run_until_it_ends(void *act)
{
  struct load f = { .cycles = 1000, .act = *(void (**)(void))act, .act_at = 1000 };
  struct cpucycles_bench_setup setup = setup_of(&f);
  struct cpucycles_bench_comparison c;

  begin(exact, 0);
  if (!f.act || setjmp(outside) == 0)
    (void)cpucycles_bench_compare(&c, &setup, &setup);
  return NULL;
}

/* The memory of one run is 800,000 bytes or more. The end of the thread gives back what an early
   end of the run leaves; a run that returns does so itself. */
TEST_LOOP(run_that_ends_early_leaves_no_lock_and_gives_its_memory_back, 4)
{
  static void (*const acts[])(void) = { NULL, end_thread, cancel_thread, jump_out };
  void (*act)(void) = acts[_i];
  double cycles = 100;
  long before;

  SKIP_IF(SUITE_SANITIZED && (act == end_thread || act == cancel_thread),
    "AddressSanitizer takes frames that the end of a thread unwinds for live ones");
  (void)result_in_thread(run_until_it_ends, &act); /* the first thread that ends loads libraries */
  if (act == jump_out)
    (void)run_until_it_ends(&act);
  begin(exact, 0);
  expect_near(run((struct load) { .cycles = 1000 }).cycles, 1000, 1e-6);
  (void)result_in_thread(run_in_thread, &cycles);
  expect_near(cycles, 1, 1e-6);
  SKIP_IF(heap_bytes() < 0 || SUITE_SANITIZED || suite_under("valgrind"),
    "(memory) this C library does not count its memory");
  before = heap_bytes();
  if (act)
    (void)result_in_thread(run_until_it_ends, &act);
  else
    (void)run_until_it_ends(&act);
  ck_assert_msg(heap_bytes() < before + 400000, "%ld", heap_bytes() - before);
}

static int run_without_memory(void)
{
  struct load argument = { .cycles = 1000 };
  struct cpucycles_bench_setup setup = setup_of(&argument);
  struct cpucycles_bench_result r;
  struct cpucycles_bench_comparison c;
  struct rlimit none = { 0, 0 };

  begin(exact, 0);
  setup.seconds = 100; /* 40 MB */
  if (setrlimit(RLIMIT_AS, &none) != 0)
    return 77;
  if (cpucycles_bench_run(&r, &setup) != -1 || cpucycles_bench_compare(&c, &setup, &setup) != -1)
    return 1;
  return strcmp(r.note, "There is no memory for the samples.") != 0 || c.f.note != r.note
    || c.g.note != r.note || r.mark[0] != 0 || r.samples != 0;
}

TEST(run_without_memory_has_a_sentence)
{
  int result;

  SKIP_IF(SUITE_SANITIZED || suite_under("qemu") || suite_under("valgrind"),
    "the sanitizer or tool needs memory of its own");
  result = result_in_child(run_without_memory);
  SKIP_IF(result == 77, "this system does not limit memory");
  ck_assert_int_eq(result, 0);
}

/* The stack. */

enum { STACK = 1 << 18 };

/* Begins, and runs so many functions. */
static void *use_stack(void *functions)
{
  static struct cpucycles_bench_comparison c;
  static struct load argument;
  static struct cpucycles_bench_setup setup;

  argument = (struct load) { .cycles = 1000 };
  setup = setup_of(&argument);
  begin(exact, 0);
  if (*(int *)functions == 1)
    (void)cpucycles_bench_run(&c.f, &setup);
  if (*(int *)functions == 2)
    (void)cpucycles_bench_compare(&c, &setup, &setup);
  return NULL;
}

/* Returns the bytes of a painted stack that a thread writes. */
static long stack_of(int functions)
{
  static unsigned char stack[STACK] __attribute__((aligned(65536)));
  pthread_attr_t attributes;
  pthread_t thread;
  long i = 0;

  memset(stack, 0x5a, STACK);
  pthread_attr_init(&attributes);
  ck_assert_int_eq(pthread_attr_setstack(&attributes, stack, STACK), 0);
  ck_assert_int_eq(pthread_create(&thread, &attributes, use_stack, &functions), 0);
  pthread_join(thread, NULL);
  while (i < STACK && stack[i] == 0x5a)
    i++;
  return STACK - i;
}

TEST(run_needs_at_most_4_kilobytes_of_stack)
{
  long least, one, two;

  SKIP_IF(SUITE_SANITIZED || suite_under("qemu") || suite_under("valgrind"),
    "the sanitizer or tool uses the stack, too");
  (void)stack_of(2); /* binds the functions */
  least = stack_of(0);
  one = stack_of(1) - least;
  two = stack_of(2) - least;
  ck_assert_msg(one > 500 && one <= 4096 && two <= 4096, "%ld, %ld", one, two);
}

#endif

SUITE("bench")
