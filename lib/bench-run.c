/* SPDX-License-Identifier: 0BSD OR MIT */
/* Times one function, or two in rounds f g g f or g f f g, so that a change of the frequency or of
   the load affects both. No lock is held while a function of the program runs. */

#include "config.h"

#include "lib/bench.h"
#include "sys/dependent-add.h"
#include "sys/kind.h"
#include "sys/thread-usage.h"

#include <string.h>

static const double sample_seconds = 10e-6; /* at least, because a chain takes 3 us */
static const double long_seconds = 100e-6;  /* such samples are often preempted */
static const double slow_seconds = 0.1;     /* such a sample may contain a slow first call */
static const double asleep_seconds = 0.01;  /* long enough, even if the counter did not count it */
static const double undropped_seconds = 0.02; /* longer samples are all disturbed, and all used */
static const double longest_control = 3e7;  /* adds */
static const double warm_seconds = 2e-3;

enum { SAMPLE_STEPS = 100, SAMPLE_OVERHEADS = 20, ALIKE = 3, MORE_CHAINS = 3, ALIKE_TIMES = 4,
  EMPTY_SAMPLES = 25, EMPTY_TRIES = 4 };

/* When rounds end: with `wanted` rounds after `seconds`, with 3 after `most`, or with 3 tries. */
struct limits {
  int wanted;
  double seconds, most, give_up;
};

/* The state of the thread after a sample, with which the next one begins. */
struct state {
  double chain;
  struct cpuc_thread_switches switches;
};

/* A long sample that was preempted, and did not sleep, takes the CPU time of the thread, if that is
   plausible: the clock of CPU time can fail, too. */
static double time_calls(struct cpuc_bench_meter *meter, double overhead, int is_long,
  void (*function)(void *argument), void *argument, long long calls)
{
  struct cpuc_thread_switches before = { 0, 0 }, after;
  long long began = 0;
  double counts, cpu;

  if (is_long) {
    before = cpuc_thread_usage_switches();
    began = cpuc_thread_usage_nanoseconds();
  }
  counts = cpuc_bench_meter_section(meter, function, argument, calls) - overhead;
  if (is_long && !meter->counts_core_cycles) {
    cpu = (double)(cpuc_thread_usage_nanoseconds() - began) / 1e9 * meter->rate;
    after = cpuc_thread_usage_switches();
    if (after.involuntary > before.involuntary && after.voluntary == before.voluntary
      && cpu < counts && cpu >= counts / 2)
      counts = cpu;
  }
  return counts > 0 ? counts : 0;
}

/* A single call overlaps less with its section than many, so its overhead is that of a chain. */
static double time_sample(struct cpuc_bench *bench, const struct cpuc_bench_function *function)
{
  const struct cpuc_bench_meter *meter = &bench->meter;

  return time_calls(&bench->meter,
    bench->is_single && meter->passes > 0 ? meter->base : meter->overhead, bench->is_long,
    function->setup->function, function->setup->argument, function->calls);
}

static void prepare(const struct cpucycles_bench_setup *setup)
{
  if (setup->prepare)
    setup->prepare(setup->argument);
}

/* Returns the counts that a sample needs; of a clock of milliseconds one step. */
static double find_enough(const struct cpuc_bench *bench)
{
  const struct cpuc_bench_meter *meter = &bench->meter;
  double enough = SAMPLE_STEPS * meter->step + SAMPLE_OVERHEADS * meter->overhead;

  if (bench->is_single)
    return 0;
  if (meter->is_coarse && meter->passes == 0)
    return meter->step;
  return enough > sample_seconds * meter->rate ? enough : sample_seconds * meter->rate;
}

/* Doubles the calls until three samples in a row are long enough. A slow sample is repeated once,
   because its first call may have been slow. */
static void find_calls(struct cpuc_bench *bench, struct cpuc_bench_function *function)
{
  double enough = find_enough(bench), counts = 0, seconds;
  int found = 0, repeated = 0;

  function->calls = 1;
  while (found < ALIKE && !bench->meter.failure) {
    struct cpuc_bench_time began;
    double last = counts;

    prepare(function->setup);
    began = cpuc_bench_time_begin();
    counts = time_sample(bench, function);
    seconds = cpuc_bench_time_passed(&began, &bench->meter);
    if (seconds >= slow_seconds && !repeated) {
      repeated = 1;
      continue;
    }
    if (repeated && last < counts)
      counts = last;
    if (found == 0 || counts < function->sized)
      function->sized = counts;
    if (seconds >= slow_seconds)
      break;
    repeated = 0;
    if (counts >= enough || (counts > 0 && seconds >= asleep_seconds)) {
      found++;
    } else {
      function->calls *= 2;
      found = 0;
    }
  }
}

/* Functions of like times get the same calls. */
static void size(struct cpuc_bench *bench)
{
  struct cpuc_bench_function *f = &bench->functions[0], *g = &bench->functions[1];
  int i;

  for (i = 0; i < bench->count; i++) {
    find_calls(bench, &bench->functions[i]);
    bench->is_long |= bench->functions[i].sized >= long_seconds * bench->meter.rate;
  }
  if (bench->count == 2) {
    double one = f->sized / (double)f->calls, other = g->sized / (double)g->calls;

    if (one < ALIKE_TIMES * other && other < ALIKE_TIMES * one)
      f->calls = g->calls = f->calls > g->calls ? f->calls : g->calls;
  }
  if (bench->is_long)
    cpuc_bench_meter_set_chain(&bench->meter, 1);
}

static struct state find_state(struct cpuc_bench *bench)
{
  struct state state;

  state.chain = cpuc_bench_meter_chain(&bench->meter);
  state.switches = cpuc_thread_usage_switches();
  return state;
}

/* Beside a long sample, repeats a chain that was disturbed. Returns 1 if nothing has disturbed what
   ran since *before. */
static int find_state_after(struct cpuc_bench *bench, const struct state *before,
  struct state *after)
{
  int tries = bench->is_long ? MORE_CHAINS : 0;

  do
    *after = find_state(bench);
  while (!cpuc_bench_meter_agree(before->chain, after->chain) && tries-- > 0);
  return cpuc_bench_meter_agree(before->chain, after->chain)
    && (bench->is_long || after->switches.involuntary == before->switches.involuntary);
}

/* Times a chain as long as the sample: what slows a chain of this length slows the function, too.
   Returns its time over that of the chains beside it; 0 if these differ. */
static double find_control(struct cpuc_bench *bench, double adds, struct state *state)
{
  struct state before = *state;
  double counts;
  long passes
    = (long)((adds < longest_control ? adds : longest_control) / CPUC_DEPENDENT_ADD_PASS);

  if (bench->meter.passes == 0 || passes == 0)
    return 1;
  counts = time_calls(&bench->meter, bench->meter.base, 1, cpuc_bench_meter_adds, &passes, 1);
  if (!find_state_after(bench, &before, state)
    && adds * before.chain < undropped_seconds * bench->meter.rate)
    return 0;
  return counts / (double)(passes * CPUC_DEPENDENT_ADD_PASS) / ((before.chain + state->chain) / 2);
}

/* Returns the function of sample i in the order f g g f or, with swap, g f f g. */
static struct cpuc_bench_function *function_of(struct cpuc_bench *bench, int i, int swap)
{
  return &bench->functions[bench->count == 1 ? 0 : (i % 3 != 0) ^ swap];
}

/* Runs a round: one sample, or four of two functions, of which each has two chains of its own if
   is_single. */
static void run_round(struct cpuc_bench *bench, struct state *state, int swap)
{
  double counts[4], chain[4], control = 1, sum = 0;
  int i, j, begin = 0, steady = 1, samples = bench->count == 1 ? 1 : 4;
  struct state before = *state;

  for (i = 0; i < samples; i++) {
    struct cpuc_bench_function *function = function_of(bench, i, swap);

    if (bench->is_single)
      prepare(function->setup);
    if (bench->is_single || (i == 0 && samples > 1))
      before = find_state(bench);
    counts[i] = time_sample(bench, function);
    sum += counts[i];
    if (!bench->is_single && i < samples - 1)
      continue;
    steady &= find_state_after(bench, &before, state);
    bench->slept += state->switches.voluntary - before.switches.voluntary;
    for (j = begin; j <= i; j++)
      chain[j] = (before.chain + state->chain) / 2;
    begin = i + 1;
  }
  bench->tried++;
  bench->steady += steady;
  for (i = 0; i < samples; i++)
    if (!(chain[i] > 0) || (samples > 1 && counts[i] <= 0) || bench->meter.failure)
      return;
  steady |= sum >= undropped_seconds * bench->meter.rate;
  if (steady && samples == 1 && bench->is_long)
    control = find_control(bench, sum / chain[0], state);
  for (i = 0; i < samples; i++) {
    struct cpuc_bench_function *function = function_of(bench, i, swap);

    function->sum += counts[i] / chain[i] / (double)function->calls;
    if (!steady || !(control > 0))
      continue;
    function->counts[function->used] = counts[i] / (double)function->calls;
    function->chain[function->used] = chain[i];
    function->control[function->used++] = control;
  }
}

static void run_rounds(struct cpuc_bench *bench, const struct limits *limits)
{
  struct cpuc_bench_time began = cpuc_bench_time_begin();
  struct state state = find_state(bench);
  unsigned int random = 1;
  double passed = 0;
  int used = 0;

  while (!bench->meter.failure && (used + 1) * bench->count <= bench->most
    && !(used >= limits->wanted && passed >= limits->seconds)
    && !(used >= 3 && passed >= limits->most)
    && !(bench->tried >= 3 && passed >= limits->give_up)) {
    random = random * 1103515245 + 12345;
    run_round(bench, &state, random >> 16 & 1);
    used = bench->functions[0].used / bench->count;
    passed = cpuc_bench_time_passed(&began, &bench->meter);
  }
}

/* Warms up, forgets these rounds, and runs the others. */
static void run(struct cpuc_bench *bench, const struct limits *limits)
{
  struct cpuc_bench_time began = cpuc_bench_time_begin();
  struct limits warm_up = { 0, 0, 0, 0 };
  int i;

  size(bench);
  warm_up.seconds = warm_seconds - cpuc_bench_time_passed(&began, &bench->meter);
  warm_up.most = warm_up.give_up = warm_up.seconds;
  run_rounds(bench, &warm_up);
  bench->tried = bench->steady = 0;
  bench->slept = 0;
  for (i = 0; i < bench->count; i++) {
    bench->functions[i].used = 0;
    bench->functions[i].sum = 0;
  }
  run_rounds(bench, limits);
}

/* Uses the memory of the samples, before there are any. */
static double time_nothing(struct cpuc_bench *samples, void (*nothing)(void *))
{
  static const struct limits limits = { EMPTY_SAMPLES, 0, 0.2, 0.6 };
  const struct cpucycles_bench_setup setup = { .function = nothing };
  struct cpuc_bench bench = *samples;

  bench.functions[0].setup = &setup;
  bench.count = 1;
  bench.is_single = 0;
  bench.most = EMPTY_SAMPLES;
  size(&bench);
  run_rounds(&bench, &limits);
  samples->meter.failure = bench.meter.failure;
  return bench.meter.failure || bench.functions[0].used == 0
    ? 0 : cpuc_bench_judge_center(&bench, &bench.functions[0], 0);
}

/* Measures an empty call like a function, because empty calls overlap, too. Returns the largest of
   several results, because some CPUs predict calls of one target in two ways: on AMD's Zen 3, they
   take 5 or 8 cycles. With a coarse counter, samples are too long for that. */
static double find_empty(struct cpuc_bench *bench)
{
  void (*nothing)(void *) = bench->functions[0].setup->nothing;
  double empty = 0, cycles;
  int i, tries = bench->meter.is_coarse ? 1 : EMPTY_TRIES;

  for (i = 0; i < tries && !bench->meter.failure; i++) {
    cycles = time_nothing(bench, i % 2 && nothing ? nothing : cpuc_bench_counter_nothing);
    empty = cycles > empty ? cycles : empty;
  }
  return empty;
}

/* Returns NULL, or a sentence if there can be no samples. */
static const char *run_all(struct cpuc_bench *bench, double *empty, const struct limits *limits)
{
  int i;

  bench->meter.unit = cpuc_kind_facts[CPUC_KIND_NONE].count_unit;
  for (i = 0; i < bench->count; i++)
    if (!bench->functions[i].setup->function)
      return "The setup has no function.";
  for (i = 0; i < bench->count; i++)
    bench->is_single |= bench->functions[i].setup->prepare != NULL;
  if (cpuc_bench_meter_begin(&bench->meter) != 0)
    return bench->meter.failure;
  if (cpuc_bench_memory_take(bench, limits->most) != 0)
    return "There is no memory for the samples.";
  *empty = find_empty(bench);
  run(bench, limits);
  return bench->meter.failure;
}

int cpucycles_bench_run(struct cpucycles_bench_result *result,
  const struct cpucycles_bench_setup *setup)
{
  __attribute__((cleanup(cpuc_bench_memory_give))) struct cpuc_bench bench
    = { .functions = { { .setup = setup } }, .count = 1 };
  struct limits limits = { setup->prepare ? 100 : 25, 20e-3, 0.2, 0.6 };
  double empty = 0;
  const char *note;

  if (setup->seconds > 0) {
    limits.seconds = limits.most = setup->seconds;
    limits.give_up = 3 * setup->seconds;
  }
  note = run_all(&bench, &empty, &limits);
  return note ? cpuc_bench_judge_none(result, setup, &bench.meter, note)
              : cpuc_bench_judge(result, &bench, &bench.functions[0], empty);
}

int cpucycles_bench_compare(struct cpucycles_bench_comparison *comparison,
  const struct cpucycles_bench_setup *f, const struct cpucycles_bench_setup *g)
{
  __attribute__((cleanup(cpuc_bench_memory_give))) struct cpuc_bench bench
    = { .functions = { { .setup = f }, { .setup = g } }, .count = 2 };
  double seconds = f->seconds > g->seconds ? f->seconds : g->seconds, empty = 0;
  struct limits limits = { 24, 0.2, 1, 1 };
  const char *note;

  if (seconds > 0) {
    limits.seconds = seconds;
    limits.most = limits.give_up = 5 * seconds;
  }
  note = run_all(&bench, &empty, &limits);
  memset(comparison, 0, sizeof *comparison);
  comparison->verdict = "unclear";
  if (note) {
    (void)cpuc_bench_judge_none(&comparison->f, f, &bench.meter, note);
    return cpuc_bench_judge_none(&comparison->g, g, &bench.meter, note);
  }
  cpuc_bench_judge_rounds(comparison, &bench);
  return cpuc_bench_judge(&comparison->f, &bench, &bench.functions[0], empty)
    | cpuc_bench_judge(&comparison->g, &bench, &bench.functions[1], empty);
}
