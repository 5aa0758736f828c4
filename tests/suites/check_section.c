/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests timed sections: an empty one takes about 0, a chain of dependent instructions is
   never measured too short, and code beside a section is not in it. All of these tests compare
   durations within one run. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "include/cpucycles.h"
#include "lib/process.h"
#include "sys/quantile.h"

#include "tests/suites/suite.h"

#include <limits.h>

enum { SAMPLES = 1001, TRIES = 20, ATTEMPTS = 10, LONG_CHAINS = 16 };

/* Each step depends on the previous step, and no compiler can shorten the chain. The steps are
   divisions, because a short chain of divisions already takes long. A chain must be short, because
   a chain of more instructions than a CPU's reorder window holds would delay the second read even
   without fences. NUMBER divides its square, so all steps are the same. */
#define NUMBER 0xfffdUL
#define STEP __asm__ volatile("" : "+r"(x)); x = NUMBER * NUMBER / x;
#define STEPS_4 STEP STEP STEP STEP

static inline unsigned long chain(unsigned long x)
{
  STEPS_4 STEPS_4 STEPS_4 STEPS_4
  return x;
}

static inline unsigned long many_chains(unsigned long x)
{
  int i;

  for (i = 0; i < LONG_CHAINS; i++)
    x = chain(x);
  return x;
}

static volatile unsigned long seed = NUMBER, sink;

/* Returns the grain in cycles. No section is measured more finely than the grain. */
static long long grain_of_the_counter(void)
{
  double grain = (double)measure_grain(1).units;

  if (cpucycles_selected()->scaling > grain)
    grain = cpucycles_selected()->scaling;
  return (long long)(grain + 0.999);
}

/* Defines a section with chains or nothing before, in and after it. */
#define SECTION(name, prefix, before, inside, after) \
  static long long name(void) \
  { \
    unsigned long x = before(seed); \
    long long first = prefix##_section_begin(), length; \
\
    x = inside(x); \
    length = prefix##_section_end() - first; \
    sink = after(x); \
    return length; \
  }
#define nothing(x) (x)

SECTION(empty_section, cpucycles, nothing, nothing, nothing)
SECTION(chain_section, cpucycles, nothing, chain, nothing)
SECTION(behind_a_chain, cpucycles, chain, nothing, nothing)
SECTION(ahead_of_a_chain, cpucycles, nothing, nothing, chain)
SECTION(inline_empty_section, cpucycles_inline, nothing, nothing, nothing)
SECTION(inline_chain_section, cpucycles_inline, nothing, chain, nothing)
SECTION(long_section, cpucycles, nothing, many_chains, nothing)

enum { LEAST = 0, MEDIAN = SAMPLES / 2, MOST_SECTIONS = 5 };

/* Finds the least duration of this rank of each section, over several tries, because a busy machine
   disturbs some tries. The sections alternate, because the core frequency may change. */
static void measure(long long (*const *sections)(void), int count, int rank, long long *least)
{
  long long values[SAMPLES];
  int try, i, j;

  for (i = 0; i < count; i++)
    least[i] = LLONG_MAX;
  for (try = 0; try < TRIES; try++)
    for (i = 0; i < count; i++) {
      for (j = 0; j < SAMPLES; j++)
        values[j] = sections[i]();
      cpuc_quantile_sort_counts(values, SAMPLES);
      if (values[rank] < least[i])
        least[i] = values[rank];
    }
}

static long long median_of_empty(void)
{
  static long long (*const empty)(void) = empty_section;
  long long median;

  measure(&empty, 1, MEDIAN, &median);
  return median;
}

/* Skips a test that judges durations of this CPU. A sanitizer makes calls longer, and a part of a
   call overlaps with the chain before it. */
static void skip_where_a_tool_changes_durations(void)
{
  SKIP_IF(suite_under("valgrind") || suite_under("qemu") || SUITE_SANITIZED,
    "durations are those of the code that the tool has added or translated");
}

/* The limit below 0 is the grain. The limit above 0 is the grain or, because reads vary, half of
   the overhead if that is more. The first round brings an idle core up to its frequency. */
TEST(empty_section_takes_0_within_a_grain_or_half_the_overhead)
{
  long long grain = grain_of_the_counter(), first = median_of_empty();
  long long overhead = cpucycles_section_overhead(), net = median_of_empty() - overhead;

  ck_assert_int_ge(overhead, 0);
  ck_assert_int_eq(cpucycles_section_overhead(), overhead);
  skip_where_a_tool_changes_durations();
  ck_assert_msg(net >= -grain && (net <= grain || net <= overhead / 2),
    "%lld, where the overhead is %lld and the grain %lld; %lld at first", net, overhead, grain,
    first);
}

/* A time-stamp counter that advances by 26 and never returns a count twice. A read takes `cost`,
   and up to `varies` more. */
static double simulated_time, cost, varies = 2;

static long long read_by_26(void)
{
  static unsigned int random = 1;
  static long long last;
  long long count;

  random = random * 1664525 + 1013904223;
  simulated_time += cost + varies * ((random >> 8) % 100) / 100;
  if (random >> 16 == 0)
    simulated_time += 5000; /* interrupted */
  count = (long long)(simulated_time / 26) * 26;
  if (count <= last)
    count = last + 1;
  return last = count;
}

/* Lets the library use a counter as if it had selected this counter. Must be called before the
   first call of the library. */
static void select_counter(long long (*read)(void))
{
  static const struct cpuc_backend backend
    = { .kind = CPUC_KIND_REFERENCE, .inline_method = CPUCYCLES_INLINE_CALL };
  struct cpuc_candidate *selected = cpuc_process_select_once()->selected;

  selected->reader = (struct cpuc_reader) { .read = read };
  selected->backend = &backend;
  selected->info.scaling = 1;
}

TEST_LOOP(empty_section_takes_0_to_one_grain_of_26, 80)
{
  long long overhead, net;

  cost = 4 + 1.7 * _i; /* up to 5.3 grains */
  select_counter(read_by_26);
  ck_assert(cpucycles() > 0 && cpucycles == read_by_26);
  overhead = cpucycles_section_overhead();
  net = median_of_empty() - overhead;
  ck_assert_msg(net >= 0 && net <= 26, "%lld, where the overhead is %lld and a read takes %g", net,
    overhead, cost);
  varies = 45; /* varies the reads, because no simulated time passes between reads */
  ck_assert_int_eq(grain_of_the_counter(), 26);
}

/* Adjacent reads differ by 40, rarely by 31, and once by less than 0. */
static long long read_by_40(void)
{
  static long long last, reads;

  reads++;
  return last += reads % 301 == 0 ? 31 : reads == 500 ? -1000 : 40;
}

TEST(read_overhead_is_the_smallest_difference_of_adjacent_reads)
{
  select_counter(read_by_40);
  ck_assert_int_eq(cpucycles_read_overhead(), 31);
  ck_assert_int_eq(cpucycles_read_overhead(), 31);
}

static long long stopped(void)
{
  return 5;
}

/* _i: whether the counter is stopped, and thus has no rate. */
TEST_LOOP(nanoseconds_are_those_of_the_rate_and_0_without_a_rate, 2)
{
  double rate;

  if (_i)
    select_counter(stopped);
  cpucycles();
  rate = (double)cpucycles_rate();
  ck_assert(_i ? rate == 0 : rate >= 0);
  if (rate > 0) {
    ck_assert_double_eq_tol(cpucycles_nanoseconds(3000000001LL) * rate / 3000000001.0, 1e9, 1);
    ck_assert_double_gt(cpucycles_nanoseconds(LLONG_MAX), 9e6);
  } else
    ck_assert_double_eq(cpucycles_nanoseconds(1000), 0);
  ck_assert_double_eq_tol(cpucycles_nanoseconds(-77), -cpucycles_nanoseconds(77), 1e-9);
}

/* Skips a test of fences, also where no fence waits for arithmetic: cpucycles-internals(7),
   FENCES. */
static void skip_where_durations_prove_nothing(void)
{
#if defined(__riscv) || defined(__loongarch__) || defined(__hppa__) || defined(__ia64__)
  SKIP_IF(1, "no fence of this CPU waits for arithmetic");
#endif
  skip_where_a_tool_changes_durations();
}

enum { EMPTY, CHAIN, WHOLE, INLINE_EMPTY, INLINE_CHAIN, BEHIND = WHOLE, AHEAD };

/* A chain must take 1 / LONG_CHAINS of the time of LONG_CHAINS chains in a row, in which fences and
   steps of the counter are negligible. Another hardware thread of the core that divides can delay
   every long section and not every short one, so one attempt of several is enough. */
TEST(chain_is_never_measured_too_short)
{
  static long long (*const sections[])(void) = { empty_section, chain_section, long_section,
    inline_empty_section, inline_chain_section };
  struct suite_repeat retry = suite_retry(ATTEMPTS);
  long long grain = grain_of_the_counter(), least[MOST_SECTIONS];
  double length = 0, limit = 0;

  skip_where_durations_prove_nothing();
  while (suite_again(&retry)) {
    measure(sections, 5, LEAST, least);
    length = (double)(least[WHOLE] - least[EMPTY]) / LONG_CHAINS;
    limit = length * 0.9 - (double)grain;
    if ((double)(least[CHAIN] - least[EMPTY]) > limit
      && (double)(least[INLINE_CHAIN] - least[INLINE_EMPTY]) > limit)
      return;
  }
  ck_abort_msg("measured as %lld, inline as %lld, but takes %.1f; the grain is %lld",
    least[CHAIN] - least[EMPTY], least[INLINE_CHAIN] - least[INLINE_EMPTY], length, grain);
}

TEST(code_beside_a_section_is_not_measured)
{
  static long long (*const sections[])(void) = { empty_section, chain_section, behind_a_chain,
    ahead_of_a_chain };
  struct suite_repeat retry = suite_retry(ATTEMPTS);
  long long grain = grain_of_the_counter(), limit = 0, least[MOST_SECTIONS];

  skip_where_durations_prove_nothing();
  while (suite_again(&retry)) {
    measure(sections, 4, MEDIAN, least);
    limit = least[EMPTY] + (least[CHAIN] - least[EMPTY]) / 4 + 2 * grain;
    if (least[BEHIND] <= limit && least[AHEAD] <= limit)
      return;
  }
  ck_abort_msg("behind a chain %lld, ahead of one %lld, but at most %lld", least[BEHIND],
    least[AHEAD], limit);
}

SUITE("section")
