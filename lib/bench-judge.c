/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the samples say: numbers, their interval, and a mark if something is wrong. */

#include "config.h"

#include "lib/bench.h"
#include "sys/quantile.h"

#include <string.h>
#include <time.h>

enum { BLOCKS = 16, LOW_BLOCK = 3, LEAST_FOR_BLOCKS = 48, ROUND_BLOCKS = 32, LOW_ROUND_BLOCK = 8,
  LEAST_FOR_ROUND_BLOCKS = 96, CLEAR_ROUNDS = 8 };

static const double lowest_frequency = 0.05e9, highest_frequency = 10e9;
static const double same_within = 0.0025;

/* Newton's method, because libm is not linked; for numbers up to 10^7. */
static double square_root(double square)
{
  double root = square > 1 ? square : 1;
  int i;

  for (i = 0; i < 20; i++)
    root = (root + square / root) / 2;
  return root;
}

static const double *sorted(const struct cpuc_bench *bench, const double *values, int count)
{
  memcpy(bench->scratch, values, (size_t)count * sizeof *values);
  cpuc_quantile_sort(bench->scratch, count);
  return bench->scratch;
}

/* Stores the middles of blocks of the values, sorted. */
static void find_blocks(const struct cpuc_bench *bench, const double *values, int count,
  double *blocks, int wanted)
{
  int i, from = 0, to;

  for (i = 0; i < wanted; i++, from = to) {
    to = (int)((long long)count * (i + 1) / wanted);
    sorted(bench, values + from, to - from);
    blocks[i] = cpuc_quantile_middle(bench->scratch, to - from);
  }
  cpuc_quantile_sort(blocks, wanted);
}

/* What slows a chain as long as the samples makes half of them useless. */
static double part_of(const struct cpuc_bench *bench)
{
  return bench->is_long && bench->meter.passes > 0 ? 0.25 : 0.5;
}

/* The mean of the middle half, because a median is a step of the counter. */
double cpuc_bench_judge_center(struct cpuc_bench *bench, struct cpuc_bench_function *function,
  double loss)
{
  int i, n = function->used;

  for (i = 0; i < n; i++)
    function->ratio[i] = function->counts[i] / function->chain[i] / (1 + loss);
  sorted(bench, function->ratio, n);
  return part_of(bench) < 0.5 ? cpuc_quantile(bench->scratch, n, part_of(bench))
                              : cpuc_quantile_middle(bench->scratch, n);
}

/* Finds the interval from the middles of blocks, because neighboring samples resemble each other;
   of few or long samples from ranks. */
static void find_interval(struct cpucycles_bench_result *result, const struct cpuc_bench *bench,
  const struct cpuc_bench_function *function)
{
  double blocks[BLOCKS], part = part_of(bench), width;
  int n = function->used;

  if (n >= LEAST_FOR_BLOCKS && !bench->is_long) {
    find_blocks(bench, function->ratio, n, blocks, BLOCKS);
    result->cycles_low = blocks[LOW_BLOCK];
    result->cycles_high = blocks[BLOCKS - 1 - LOW_BLOCK];
    return;
  }
  width = 2.2 * square_root(part * (1 - part) / n);
  result->cycles_low = cpuc_quantile(bench->scratch, n, part > width ? part - width : 0);
  result->cycles_high = cpuc_quantile(bench->scratch, n, part + width < 1 ? part + width : 1);
}

struct mark {
  const char *word, *note;
};

static const struct mark sleeps_and_counts = { "sleeps",
  "The function sleeps or waits: read its nanoseconds, not its cycles." };
static const struct mark sleeps_uncounted = { "sleeps",
  "The function sleeps or waits, which this counter does not count: choose a clock, such as"
  " CPUCYCLES_IMPLEMENTATION=default-monotonic." };
static const struct mark few = { "few",
  "There are fewer than 5 samples: take more time for them (seconds), or time less work." };
static const struct mark is_empty = { "empty",
  "The compiler removed the work, or it is shorter than a call: put it into a loop, and keep its"
  " results with cpucycles_bench_keep()." };
static const struct mark is_short = { "short",
  "One call is short beside the overhead of a section: let one call do more work." };
static const struct mark crowded = { "crowded",
  "Other programs or changes of the frequency disturbed many samples: run it again, on a machine"
  " that does less." };
static const struct mark unstable = { "unstable",
  "The calls take different times: run it again, or time the same work in each call." };

static const struct mark *find_mark(const struct cpucycles_bench_result *result,
  const struct cpuc_bench *bench, double loss, double empty)
{
  const struct cpuc_bench_meter *meter = &bench->meter;

  if ((double)bench->slept > 0.1 * bench->tried)
    return meter->counts_sleep ? &sleeps_and_counts : &sleeps_uncounted;
  if (result->samples < 5)
    return &few;
  if (!bench->is_single && result->cycles <= 1.05 * empty)
    return &is_empty;
  if (bench->is_single
    && (result->median < 20 * meter->overhead || result->median < 100 * meter->step))
    return &is_short;
  if (loss > 0.02 || result->kept < (bench->is_long ? 0.5 : 0.8))
    return &crowded;
  if (result->cycles_high - result->cycles_low > 0.03 * result->cycles)
    return &unstable;
  return NULL;
}

static void begin_result(struct cpucycles_bench_result *result,
  const struct cpucycles_bench_setup *setup, const char *unit)
{
  memset(result, 0, sizeof *result);
  result->name = setup->name;
  result->unit = unit;
  result->bytes = setup->bytes > 0 ? setup->bytes : 0;
  result->time = (long long)time(NULL);
  result->mark = "";
}

int cpuc_bench_judge_none(struct cpucycles_bench_result *result,
  const struct cpucycles_bench_setup *setup, const struct cpuc_bench_meter *meter, const char *note)
{
  begin_result(result, setup, meter->unit);
  if (note == meter->failure)
    result->mark = "counter";
  result->note = note;
  return -1;
}

static void fill_counts(struct cpucycles_bench_result *result, const struct cpuc_bench *bench,
  const struct cpuc_bench_function *function)
{
  int i, n = function->used;
  const double *values = sorted(bench, function->counts, n);

  result->minimum = values[0];
  result->lower_quartile = cpuc_quantile(values, n, 0.25);
  result->median = cpuc_quantile(values, n, 0.5);
  result->upper_quartile = cpuc_quantile(values, n, 0.75);
  result->maximum = values[n - 1];
  for (i = 0; i < n; i++)
    result->mean += values[i] / n;
  if (bench->meter.rate_is_known)
    result->nanoseconds = result->median * 1e9 / bench->meter.rate;
}

static int knows_core_cycles(const struct cpuc_bench_meter *meter, double chain)
{
  double frequency = meter->rate / chain;

  return meter->counts_core_cycles
    || (meter->passes > 0 && meter->add_takes_one_cycle && frequency >= lowest_frequency
      && frequency <= highest_frequency);
}

/* Where core cycles are not known, dividing by the chain still removes changes of the frequency, so
   the counts are those at its median. */
int cpuc_bench_judge(struct cpucycles_bench_result *result, struct cpuc_bench *bench,
  struct cpuc_bench_function *function, double empty)
{
  const struct cpucycles_bench_setup *setup = function->setup;
  double chain, slow, fast, loss, rate = bench->meter.rate;
  int i, n = function->used, copied = setup->capacity < n ? setup->capacity : n;
  const struct mark *mark;

  if (n == 0)
    return cpuc_bench_judge_none(result, setup, &bench->meter,
      "No sample was undisturbed: run it again, on a machine that does less.");
  begin_result(result, setup, bench->meter.unit);
  result->samples = n;
  result->calls = function->calls;
  result->kept = (double)bench->steady / bench->tried;
  loss = cpuc_quantile(sorted(bench, function->control, n), n, part_of(bench)) - 1;
  result->cycles = cpuc_bench_judge_center(bench, function,
    loss > 0.01 && n > 4 && (double)bench->slept <= 0.1 * bench->tried ? loss : 0);
  find_interval(result, bench, function);
  sorted(bench, function->chain, n);
  chain = cpuc_quantile(bench->scratch, n, 0.5);
  slow = cpuc_quantile(bench->scratch, n, 0.95);
  fast = cpuc_quantile(bench->scratch, n, 0.05);
  for (i = 0; i < n && !knows_core_cycles(&bench->meter, chain); i++)
    function->counts[i] = function->ratio[i] *= chain;
  fill_counts(result, bench, function);
  if (setup->samples && copied > 0)
    memcpy(setup->samples, function->ratio, (size_t)copied * sizeof *setup->samples);
  mark = find_mark(result, bench, loss, empty);
  if (mark) {
    result->mark = mark->word;
    result->note = mark->note;
  }
  if (!knows_core_cycles(&bench->meter, chain)) {
    result->cycles = result->cycles_low = result->cycles_high = 0;
    return 0;
  }
  result->core_ratio = 1 / chain;
  result->empty = empty;
  if (bench->meter.passes > 0 && bench->meter.rate_is_known) {
    result->frequency_low = rate / slow;
    result->frequency_high = rate / fast;
  }
  return 0;
}

/* A round has two samples of each function. */
void cpuc_bench_judge_rounds(struct cpucycles_bench_comparison *comparison,
  struct cpuc_bench *bench)
{
  struct cpuc_bench_function *f = &bench->functions[0], *g = &bench->functions[1];
  double blocks[ROUND_BLOCKS], *values = bench->rounds;
  int i, low, n = f->used / 2, count = n;

  comparison->rounds = n;
  comparison->ratio = g->sum / (f->sum > 0 ? f->sum : 1); /* Clang may divide before it compares */
  if (n < 3)
    return;
  (void)cpuc_bench_judge_center(bench, f, 0);
  (void)cpuc_bench_judge_center(bench, g, 0);
  for (i = 0; i < n; i++) {
    const double *one = f->ratio + i + i, *other = g->ratio + i + i;

    values[i] = (other[0] + other[1]) / (one[0] + one[1]);
  }
  if (n >= LEAST_FOR_ROUND_BLOCKS) {
    find_blocks(bench, values, n, blocks, ROUND_BLOCKS);
    values = blocks;
    count = ROUND_BLOCKS;
    low = LOW_ROUND_BLOCK;
  } else {
    cpuc_quantile_sort(values, n);
    low = n > 6 ? (int)(n / 2.0 - 1.3 * square_root(n)) : 0;
  }
  comparison->ratio = cpuc_quantile(values, count, 0.5);
  comparison->low = values[low];
  comparison->high = values[count - 1 - low];
  if (n < CLEAR_ROUNDS)
    return;
  if (comparison->low > 1 + same_within || comparison->high < 1 - same_within)
    comparison->verdict = "differ";
  else if (comparison->low > 1 - same_within && comparison->high < 1 + same_within)
    comparison->verdict = "same";
}
