/* SPDX-License-Identifier: 0BSD OR MIT */
/* The trial of one counter. Each stage runs under the fault guard, because reading a counter
   without permission can cause a fault. select.c decides which counters are tried and which one
   wins. All floating-point operations are exact, because the program may trap inexact ones or round
   in any direction. */

#include "config.h"

#include "lib/candidate.h"
#include "lib/calibrate.h"
#include "lib/extend32.h"
#include "lib/reasons.h"
#include "sys/dependent-add.h"
#include "sys/guard.h"
#include "sys/os-clock.h"
#include "sys/step.h"

#include <stdio.h>
#include <string.h>

/* Runs a stage of the trial. Returns 0 if the stage drops the counter or causes a fault, which also
   drops the counter. */
static int run(struct cpuc_candidate *candidate, void (*stage)(void *candidate))
{
  int signal = cpuc_guard_run(stage, candidate);

  if (signal != 0) {
    cpuc_reasons_drop(&candidate->info, CPUC_REASON_SIGNAL);
    candidate->info.signal_number = signal;
  }
  return candidate->info.state != CPUCYCLES_DROPPED;
}

static void open_counter(void *argument)
{
  struct cpuc_candidate *candidate = argument;
  struct cpuc_diagnosis diagnosis = { .machine = &candidate->context->machine };
  int error = 0;

  if (candidate->backend->open)
    error = candidate->backend->open(candidate->context->services, &diagnosis);
  if (error != 0)
    cpuc_reasons_drop_errno(&candidate->info, error, &diagnosis);
  else if (diagnosis.unit)
    candidate->info.unit = diagnosis.unit;
}

/* Finds the units and cycles of the scale of a time-based counter. Clocks have a fixed rate. Other
   time-based counters need a reported rate, or a measured rate at which a unit is a simple multiple
   or fraction of a cycle. */
static void find_units_and_cycles(struct cpuc_candidate *candidate)
{
  const struct cpuc_backend *backend = candidate->backend;
  const struct cpuc_calibrate_setup calibration
    = { backend->read, candidate->info.width, candidate->context->now };
  long long persecond = candidate->context->persecond, cycles = persecond;
  long long reported = cpuc_reported_rate(backend).hz;
  int is_clock = backend->kind == CPUC_KIND_CLOCK;
  enum cpuc_reason result;

  if (reported > 0)
    result = is_clock ? CPUC_REASON_NONE : cpuc_calibrate_verify(&calibration, reported);
  else
    result = is_clock ? CPUC_REASON_NO_RATE
                      : cpuc_calibrate_find_sixteenths(&calibration, persecond, &cycles);
  if (result) {
    cpuc_reasons_drop(&candidate->info, result);
    return;
  }
  candidate->units = reported > 0 ? reported : 16;
  candidate->cycles = cycles;
}

/* Sets the scale. The trial finds it, and the counter that is opened again keeps it. */
static void scale(void *argument)
{
  struct cpuc_candidate *candidate = argument;

  if (!cpuc_candidate_kind(candidate)->is_time_based) {
    candidate->units = candidate->cycles = 1;
    candidate->info.scaling = 1;
    return;
  }
  if (candidate->units == 0)
    find_units_and_cycles(candidate);
  if (candidate->units == 0)
    return;
  candidate->reader.scale = cpuc_scale_from_to(candidate->units, candidate->cycles);
  candidate->info.scaling = cpuc_scale_factor(candidate->reader.scale);
}

/* Extends a counter of 32 bits. If `rate` is 0, computes the rate of the counter from the frequency
   estimate and the scale. There is one extension, because the trials open one counter at a time,
   and of the counters that stay open, only the selected one can have 32 bits. */
static void extend(struct cpuc_candidate *candidate, long long rate)
{
  const struct cpuc_extend32_clock clock = { cpuc_os_clock_monotonic, cpuc_os_clock_coarse };

  if (rate == 0)
    rate = cpuc_scale_apply(cpuc_scale_from_to(candidate->cycles, candidate->units),
      candidate->context->persecond);
  cpuc_extend32_begin(candidate->backend->read, clock, rate);
  candidate->reader.is_extended = 1;
}

static void extend_for_trial(void *argument)
{
  struct cpuc_candidate *candidate = argument;

  if (candidate->backend->is_32_bit)
    extend(candidate, 0);
}

/* Measures the rate first, because a more exact rate allows longer gaps between calls. Two
   measurements must agree, because the thread may move to another core during one. */
static void extend_for_use(void *argument)
{
  struct cpuc_candidate *candidate = argument;
  long long rate, again;

  if (!candidate->backend->is_32_bit)
    return;
  rate = cpuc_calibrate_rate(candidate->backend->read, 32);
  again = cpuc_calibrate_rate(candidate->backend->read, 32);
  extend(candidate, cpuc_scale_agree_within_1_percent(rate, again) ? rate : 0);
}

static enum cpuc_reason try_reads(const struct cpuc_reader *reader, int differences,
  long long *smallest)
{
  struct cpuc_step step = { cpuc_reader_read(reader), 0 };

  while (differences-- > 0)
    if (cpuc_step_add(&step, cpuc_reader_read(reader)) < 0)
      return CPUC_REASON_DECREASING;
  *smallest = step.smallest;
  return step.smallest > 0 ? CPUC_REASON_NONE : CPUC_REASON_NOT_INCREASING;
}

/* A try succeeds if no read is below the read before it, and at least one read is above the read
   before it. Makes up to ten tries of 1001 reads, and stops after the first success. If `quick` is
   1, first makes a try of 51 reads, and stops if this try succeeds. Stores the step, and returns
   CPUC_REASON_NONE, if the last try has succeeded; else returns CPUC_REASON_DECREASING or
   CPUC_REASON_NOT_INCREASING. */
static enum cpuc_reason find_step(const struct cpuc_reader *reader, int quick, long long *step)
{
  enum {
    FULL = 1000,
    QUICK = 50, /* 51 reads of a clock take about a microsecond, the step of gettimeofday(2) */
    TRIES = 10
  };
  enum cpuc_reason reason = CPUC_REASON_NOT_INCREASING;
  int i;

  if (quick && !try_reads(reader, QUICK, step))
    return CPUC_REASON_NONE;
  for (i = 0; i < TRIES && reason; i++)
    reason = try_reads(reader, FULL, step);
  return reason;
}

/* The step and the penalty of the kind are the score. */
static void score(void *argument)
{
  struct cpuc_candidate *candidate = argument;
  long long smallest = 0;
  enum cpuc_reason reason = find_step(&candidate->reader, candidate->cannot_win, &smallest);

  if (reason) {
    cpuc_reasons_drop(&candidate->info, reason);
    return;
  }
  candidate->info.smallest_step = smallest;
  candidate->info.score = smallest + cpuc_candidate_kind(candidate)->penalty;
}

/* Returns the number of passes of a chain of at least 20 times the step, which a read costs, but
   the chain of twice the length takes 200 us at most. A step that is as short as an add needs 2048
   adds. */
static long find_passes(const struct cpuc_candidate *candidate)
{
  enum { LEAST = 4, STEPS = 20, PARTS_OF_SECOND = 10000 };
  long long most = candidate->context->persecond / PARTS_OF_SECOND / CPUC_DEPENDENT_ADD_PASS;
  long long step = candidate->info.smallest_step;
  long long passes = step / CPUC_DEPENDENT_ADD_PASS * STEPS
    + step % CPUC_DEPENDENT_ADD_PASS * STEPS / CPUC_DEPENDENT_ADD_PASS + 1;

  passes = passes < most ? passes : most;
  return (long)(passes > LEAST ? passes : LEAST);
}

/* Returns the count per add in thousandths. */
static long long count_per_add(long long advance, long passes)
{
  const long long limit = 1LL << 50; /* of a count, so that no product overflows */

  advance = advance < 0 ? 0 : advance < limit ? advance : limit;
  return advance * 1000 / (passes * CPUC_DEPENDENT_ADD_PASS);
}

static void note_unproven(struct cpuc_candidate *candidate, long long thousandths)
{
  candidate->is_unproven = 1;
  candidate->info.count_unit = cpuc_candidate_kind(candidate)->count_unit;
  cpuc_reasons_set(&candidate->info, CPUC_REASON_NOT_CORE_CYCLES);
  snprintf(candidate->explanation, sizeof candidate->explanation,
    "%s: its count advances by %lld.%03lld per core cycle", candidate->info.explanation,
    thousandths / 1000, thousandths % 1000);
  candidate->info.explanation = candidate->explanation;
  if (thousandths >= 12 && thousandths <= 20) /* near 1/64 */
    candidate->info.remedy = candidate->backend->remedy_for_64th;
}

/* Compares the count with the cycles of a chain of adds. The first try decides whose windows agree,
   and whose count is possible, or too low in the difference of two windows and in the longer one,
   which interruptions do not make smaller. A count that is not proven stays usable. */
static void prove(void *argument)
{
  enum { TRIES = 3, WINDOWS = 4, PARTS = 20 };
  struct cpuc_candidate *candidate = argument;
  long long advance = 0, longer = 0, thousandths = 0;
  int i, agree, is_low, is_possible = 0;
  long passes;

  if (!cpuc_candidate_kind(candidate)->counts_core_cycles || !cpuc_dependent_add_takes_one_cycle()
    || cpuc_dependent_add_run(0) != 0)
    return; /* a chain proves nothing */
  passes = find_passes(candidate);
  for (i = 0; i < TRIES; i++) {
    agree = cpuc_reader_measure_chain(&candidate->reader, passes, WINDOWS << i, PARTS, &advance,
      &longer);
    thousandths = count_per_add(advance, passes);
    is_low = thousandths < CPUC_DEPENDENT_ADD_LOWEST
      && count_per_add(longer, 2 * passes) < CPUC_DEPENDENT_ADD_LOWEST;
    if (cpuc_dependent_add_fits(thousandths, agree)) {
      if (agree)
        return;
      is_possible = 1;
    } else if (agree && is_low) {
      is_possible = 0;
      break;
    } else if (thousandths < CPUC_DEPENDENT_ADD_LOWEST && !is_low)
      is_possible = 1;
  }
  if (!is_possible)
    note_unproven(candidate, thousandths);
}

/* Drops a counter of the core if it no longer advances. The trial of another counter may have
   stopped it by closing a perf event that used the same hardware. */
static void read_again(void *argument)
{
  struct cpuc_candidate *candidate = argument;
  long long smallest;

  if (!cpuc_kind_facts[candidate->backend->kind].counts_core_cycles
    || candidate->backend->is_of_thread)
    (void)candidate->reader.read();
  else if (find_step(&candidate->reader, 1, &smallest) == CPUC_REASON_NOT_INCREASING)
    cpuc_reasons_drop(&candidate->info, CPUC_REASON_NOT_INCREASING);
}

static void close_counter(void *argument)
{
  const struct cpuc_candidate *candidate = argument;

  if (candidate->backend->close)
    candidate->backend->close();
}

void cpuc_candidate_close(struct cpuc_candidate *candidate)
{
  cpuc_guard_run(close_counter, candidate);
  candidate->reader.is_extended = 0;
}

void cpuc_candidate_begin(struct cpuc_candidate *candidate, const struct cpuc_table_entry *entry,
  struct cpuc_candidate_context *context)
{
  const struct cpuc_backend *backend = entry->backend;
  const struct cpuc_kind_facts *kind = &cpuc_kind_facts[backend->kind];
  const char *scope = kind->counts_core_cycles ? "core" : "system";

  *candidate = (struct cpuc_candidate) {
    .backend = backend,
    .info = { .name = entry->name, .summary = entry->summary, .kind = kind->name,
      .scope = backend->is_of_thread ? "thread" : scope,
      .unit = backend->unit ? backend->unit : kind->count_unit, .count_unit = kind->count_unit,
      .width = backend->is_32_bit ? 32 : 64 },
    .context = context,
    .reader.read = backend->read,
  };
}

void cpuc_candidate_try(struct cpuc_candidate *candidate, int cannot_win)
{
  candidate->cannot_win = cannot_win;
  candidate->info.state = CPUCYCLES_USABLE;
  candidate->info.reason = candidate->info.explanation = NULL; /* may have been "not-asked" */
  candidate->is_unproven = 0;
  if (candidate->backend->kind == CPUC_KIND_NONE)
    cpuc_reasons_drop(&candidate->info, CPUC_REASON_NOT_INCREASING); /* no trial is needed */
  else if (run(candidate, open_counter) && run(candidate, scale)
    && run(candidate, extend_for_trial) && run(candidate, score))
    run(candidate, prove);
  cpuc_candidate_close(candidate);
}

void cpuc_candidate_rescale(struct cpuc_candidate *candidate)
{
  long long before = candidate->cycles, *step = &candidate->info.smallest_step;

  if (candidate->backend->kind != CPUC_KIND_CLOCK || candidate->info.state != CPUCYCLES_USABLE)
    return;
  candidate->units = 0;
  if (run(candidate, scale)) {
    *step = cpuc_scale_apply(cpuc_scale_from_to(before, candidate->cycles), *step);
    candidate->info.score = *step + cpuc_candidate_kind(candidate)->penalty;
  }
}

int cpuc_candidate_reopen(struct cpuc_candidate *candidate)
{
  /* default-zero must always be selectable, but on Windows the guard calls no function if there was
     no memory to install its handler. */
  if (candidate->backend->kind == CPUC_KIND_NONE) {
    scale(candidate);
    return 1;
  }
  candidate->info.state = CPUCYCLES_USABLE;
  if (run(candidate, open_counter) && run(candidate, scale) && run(candidate, extend_for_use)
    && run(candidate, read_again))
    return 1;
  cpuc_candidate_close(candidate);
  return 0;
}

static void explain(void *argument)
{
  struct cpuc_candidate *candidate = argument;

  cpuc_reasons_explain(&candidate->info, candidate->backend, &candidate->context->machine);
}

void cpuc_candidate_explain(struct cpuc_candidate *candidate)
{
  cpuc_guard_run(explain, candidate);
}
