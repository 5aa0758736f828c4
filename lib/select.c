/* SPDX-License-Identifier: 0BSD OR MIT */
/* Selection policy: which counters are tried, in what order, and which one wins. Backends read
   counters, precision.c scores them, and process.c runs the selection once per process. */

#include "config.h"

#include "lib/select.h"
#include "lib/choice.h"
#include "lib/precision.h"
#include "lib/reasons.h"
#include "sys/os-clock.h"
#include "sys/trial.h"

#include <stddef.h>
#include <string.h>

/* Penalty by kind: on-core counters first, OS clocks last. */
static const int penalties[] = {
  [CPUCYCLES_KIND_CORE] = 0,
  [CPUCYCLES_KIND_PERF_READ] = 100,
  [CPUCYCLES_KIND_REFERENCE] = 100,
  [CPUCYCLES_KIND_SCALED] = 100,
  [CPUCYCLES_KIND_CLOCK] = 200,
  [CPUCYCLES_KIND_NONE] = 200,
};

/* True for counters of time, which scaling turns into cycles. The result is wrong once the core's
   frequency differs from the estimate, and nothing shows that. Counters of cycles therefore go
   first, whatever a read costs. */
static int counts_time(const struct cpucycles_entry *entry)
{
  switch (entry->backend->kind) {
  case CPUCYCLES_KIND_SCALED:
  case CPUCYCLES_KIND_CLOCK:
  case CPUCYCLES_KIND_NONE:
    return 1;
  default:
    return 0;
  }
}

/* A counter on trial: argument of the functions that cpucycles_trial() calls. */
struct attempt {
  const struct cpucycles_backend *backend;
  struct cpucycles_why why;
  struct cpucycles_reader reader;
  struct cpucycles_extension *extension; /* for a counter of 32 bits */
  struct cpucycles_calibration *calibration;
  double scaling; /* found by the trial, if the counter is reopened; 0 in the trial */
  int error;      /* errno of open() */
  int quick; /* its score decides nothing: it cannot win any more, or has won */
  const char *reason; /* code, if it cannot be scaled */
  long long units, cycles; /* this many units are this many cycles */
  long long estimate;      /* units per second */
  long long smallest;
  enum cpucycles_steps steps;
};

static void open_counter(void *argument)
{
  struct attempt *attempt = argument;

  attempt->error = attempt->backend->open ? attempt->backend->open(&attempt->why) : 0;
}

/* Clocks have a fixed rate. Other counters need a stated rate that a measurement confirms, or a
   measured one. When a counter is reopened, the scale is the one that its trial found. */
static void find_scale(void *argument)
{
  struct attempt *attempt = argument;
  double sixteenths_found = 16 * attempt->scaling;
  long long sixteenths = 0;

  if (attempt->scaling > 0) {
    sixteenths = (long long)sixteenths_found;
    if ((double)sixteenths != sixteenths_found) { /* the rate was stated, and is restored exactly */
      attempt->units = (long long)((double)attempt->cycles / attempt->scaling + 0.5);
      sixteenths = 0;
    }
  } else {
    attempt->units = attempt->backend->rate ? attempt->backend->rate() : 0;
    if (attempt->backend->kind == CPUCYCLES_KIND_SCALED)
      attempt->reason
        = cpucycles_scale_find(attempt->calibration, attempt->units, attempt->cycles, &sixteenths);
  }
  if (sixteenths > 0) {
    attempt->units = 16;
    attempt->cycles = sixteenths;
  }
  if (attempt->units <= 0 && !attempt->reason)
    attempt->reason = "no-rate";
}

/* The better the rate is known, the longer the gaps between calls may be. It is measured only when
   the counter is reopened, not in its trial. An estimate without a measurement may be far too
   low. */
static void begin_extension(void *argument)
{
  struct cpucycles_clock clock = { cpucycles_osclock_monotonic, cpucycles_osclock_coarse,
    cpucycles_osclock_is_settable() };
  struct attempt *attempt = argument;
  long long measured = attempt->scaling > 0 ? cpucycles_calibration_rate(attempt->calibration) : 0;

  cpucycles_extend32_begin(attempt->extension, attempt->reader.read, clock,
    measured > 0 ? measured : attempt->estimate,
    measured > 0 ? attempt->estimate : 4 * attempt->estimate);
}

static void measure_precision(void *argument)
{
  struct attempt *attempt = argument;

  attempt->steps = cpucycles_precision(&attempt->reader, attempt->quick, &attempt->smallest);
}

/* Checks that a core's counter still advances: the trial of another counter may have stopped it,
   when a perf event of the same hardware ended. */
static void read_again(void *argument)
{
  struct attempt *attempt = argument;

  if (attempt->backend->scope == CPUCYCLES_SCOPE_CORE)
    measure_precision(attempt);
  else
    (void)attempt->reader.read();
}

static void close_counter(void *argument)
{
  struct attempt *attempt = argument;

  if (attempt->backend->close)
    attempt->backend->close();
}

static struct attempt attempt_for(const struct cpucycles_entry *entry,
  struct cpucycles_selection *selection)
{
  struct attempt attempt;

  memset(&attempt, 0, sizeof attempt);
  attempt.backend = entry->backend;
  attempt.reader.read = entry->backend->read;
  attempt.extension = &selection->extension;
  attempt.calibration = &selection->calibration;
  attempt.calibration->read = entry->backend->read;
  attempt.calibration->width = entry->backend->width;
  attempt.cycles = selection->frequency.persecond;
  attempt.estimate = selection->frequency.persecond;
  return attempt;
}

/* Opens the counter; drops it and returns 0 if that fails. */
static int opens(struct attempt *attempt, struct cpucycles_counter_info *info)
{
  int signal = cpucycles_trial(open_counter, attempt);

  if (signal == 0 && attempt->error == 0) {
    if (attempt->why.unit)
      info->unit = attempt->why.unit;
    return 1;
  }
  if (signal != 0)
    cpucycles_counter_drop_signal(info, signal, &attempt->why);
  else
    cpucycles_counter_drop_errno(info, attempt->error, &attempt->why);
  return 0;
}

/* Finds the multiplier; drops the counter and returns 0 if it needs one and there is none. */
static int scales(struct attempt *attempt, struct cpucycles_counter_info *info)
{
  enum cpucycles_kind kind = attempt->backend->kind;
  int signal;

  if (kind != CPUCYCLES_KIND_SCALED && kind != CPUCYCLES_KIND_CLOCK) {
    info->scaling = 1;
    return 1;
  }
  signal = cpucycles_trial(find_scale, attempt);
  if (signal != 0)
    cpucycles_counter_drop_signal(info, signal, &attempt->why);
  else if (attempt->reason)
    cpucycles_counter_drop(info, attempt->reason);
  else {
    attempt->reader.scale = cpucycles_scale_between(attempt->units, attempt->cycles);
    info->scaling = (double)attempt->cycles / (double)attempt->units;
    return 1;
  }
  return 0;
}

/* Extends a 32-bit counter to 64 bits; drops it and returns 0 if that raises a signal. */
static int extends(struct attempt *attempt, struct cpucycles_counter_info *info)
{
  int signal;

  if (attempt->backend->width != 32)
    return 1;
  attempt->estimate = (long long)((double)attempt->estimate / info->scaling);
  signal = cpucycles_trial(begin_extension, attempt);
  if (signal != 0) {
    cpucycles_counter_drop_signal(info, signal, &attempt->why);
    return 0;
  }
  attempt->reader.extension = attempt->extension;
  return 1;
}

static void scores(struct attempt *attempt, struct cpucycles_counter_info *info)
{
  int signal = cpucycles_trial(measure_precision, attempt);

  if (signal != 0)
    cpucycles_counter_drop_signal(info, signal, &attempt->why);
  else if (attempt->steps == CPUCYCLES_STEPS_DOWN)
    cpucycles_counter_drop(info, "decreasing");
  else if (attempt->steps == CPUCYCLES_STEPS_NONE)
    cpucycles_counter_drop(info, "not-increasing");
  else {
    info->state = CPUCYCLES_USABLE;
    info->precision = attempt->smallest + penalties[attempt->backend->kind];
  }
}

/* True if an earlier usable counter reads the same register. Their scores differ by noise only. */
static int is_second_way(const struct cpucycles_entry *table,
  const struct cpucycles_counter_info *infos, int i)
{
  int j;

  for (j = 0; j < i; j++)
    if (infos[j].state == CPUCYCLES_USABLE
      && strcmp(table[j].backend->source, table[i].backend->source) == 0)
      return 1;
  return 0;
}

/* False if an earlier usable counter rules out counter i, whatever the score of counter i: the
   earlier one counts cycles and counter i counts time; or both count the same, and the earlier one
   scores no more than the penalty of counter i; or both read the same register. */
static int can_win(const struct cpucycles_entry *table, const struct cpucycles_counter_info *infos,
  int i)
{
  int j;

  for (j = 0; j < i; j++)
    if (infos[j].state == CPUCYCLES_USABLE && counts_time(&table[j]) <= counts_time(&table[i])
      && (counts_time(&table[j]) < counts_time(&table[i])
        || infos[j].precision <= penalties[table[i].backend->kind]))
      return 0;
  return !is_second_way(table, infos, i);
}

static void try_counter(const struct cpucycles_entry *table, int i,
  struct cpucycles_selection *selection)
{
  struct cpucycles_counter_info *info = &selection->counters[i];
  struct attempt attempt = attempt_for(&table[i], selection);

  memset(info, 0, sizeof *info);
  cpucycles_counter_describe(info, &table[i]);
  attempt.quick = !can_win(table, selection->counters, i);
  if (attempt.backend->kind == CPUCYCLES_KIND_NONE)
    cpucycles_counter_drop(info, "not-increasing"); /* by its kind */
  else if (opens(&attempt, info) && scales(&attempt, info) && extends(&attempt, info))
    scores(&attempt, info);
  cpucycles_trial(close_counter, &attempt);
}

static int is_better(const struct cpucycles_entry *table,
  const struct cpucycles_counter_info *infos, int i, int other)
{
  if (counts_time(&table[i]) != counts_time(&table[other]))
    return counts_time(&table[i]) < counts_time(&table[other]);
  return infos[i].precision < infos[other].precision;
}

/* Index of the best usable counter, the earlier one at a tie; -1: none. */
static int best(const struct cpucycles_entry *table, const struct cpucycles_counter_info *infos,
  int count)
{
  int i, chosen = -1;

  for (i = 0; i < count; i++)
    if (infos[i].state == CPUCYCLES_USABLE && !is_second_way(table, infos, i)
      && (chosen < 0 || is_better(table, infos, i, chosen)))
      chosen = i;
  return chosen;
}

/* Opens counter i again, and stores how to read it. It was closed after its trial, and reopening
   can fail: then drops it and returns 0. */
static int reopen(struct cpucycles_selection *selection, const struct cpucycles_entry *table,
  int i, struct cpucycles_reader *reader)
{
  struct attempt attempt = attempt_for(&table[i], selection);
  struct cpucycles_counter_info *info = &selection->counters[i];
  int signal;

  attempt.scaling = info->scaling;
  if (!opens(&attempt, info) || !scales(&attempt, info) || !extends(&attempt, info)) {
    cpucycles_trial(close_counter, &attempt);
    return 0;
  }
  attempt.quick = 1;
  signal = cpucycles_trial(read_again, &attempt);
  if (signal != 0 || attempt.steps == CPUCYCLES_STEPS_NONE) {
    if (signal != 0)
      cpucycles_counter_drop_signal(info, signal, &attempt.why);
    else
      cpucycles_counter_drop(info, "not-increasing");
    cpucycles_trial(close_counter, &attempt);
    return 0;
  }
  *reader = attempt.reader;
  return 1;
}

static void prepare_backend(void *backend)
{
  ((const struct cpucycles_backend *)backend)->prepare();
}

/* Prepares all backends, since cpucycles_core_persecond() executes CPUID, whichever counter is
   selected. A backend that a signal interrupts is called again, and skips the step that raised
   the signal. */
static void prepare_all(const struct cpucycles_entry *table, int count)
{
  int i, tries;

  for (i = 0; i < count; i++)
    for (tries = 0; table[i].backend->prepare && tries < 3; tries++)
      if (cpucycles_trial(prepare_backend, (void *)table[i].backend) == 0)
        break;
}

/* Reopens counter i, and makes it the selected one. Returns 0 if that fails. */
static int try_to_select(struct cpucycles_selection *selection, const struct cpucycles_entry *table,
  int i)
{
  if (!reopen(selection, table, i, &selection->reader))
    return 0;
  selection->counters[i].state = CPUCYCLES_SELECTED;
  selection->implementation = table[i].name;
  selection->backend = table[i].backend;
  selection->inline_method
    = selection->reader.extension ? CPUCYCLES_INLINE_CALL : table[i].backend->inline_method;
  if (table[i].backend->rescue)
    cpucycles_trial_keep_handlers(table[i].backend->rescue, table[i].backend->rescued);
  prepare_all(table, selection->count);
  return 1;
}

/* Next best counter, for threads that cannot have their own count of the selected one: the best of
   those that all threads share. If there is none, next_best stays the OS clock. */
static void choose_next_best(struct cpucycles_selection *selection,
  const struct cpucycles_entry *table)
{
  struct cpucycles_counter_info *infos = selection->counters;
  int i, chosen;

  do {
    chosen = -1;
    for (i = 0; i < selection->count; i++)
      if (infos[i].state == CPUCYCLES_USABLE && table[i].backend->scope == CPUCYCLES_SCOPE_SYSTEM
        && table[i].backend->kind != CPUCYCLES_KIND_CLOCK
        && (chosen < 0 || is_better(table, infos, i, chosen)))
        chosen = i;
  } while (chosen >= 0 && !reopen(selection, table, chosen, &selection->next_best));
}

static long long read_nothing(void)
{
  return 0;
}

/* Selects a clock after no counter has passed its trial, the last of the list first: the clock may
   have stood still during the trial only. If every clock faults, the count is always 0. */
static void select_last_resort(struct cpucycles_selection *selection,
  const struct cpucycles_entry *table)
{
  int i;

  for (i = selection->count - 1; i >= 0; i--)
    if (table[i].backend->kind == CPUCYCLES_KIND_CLOCK && selection->counters[i].signal_number == 0
      && try_to_select(selection, table, i))
      return;
  memset(&selection->reader, 0, sizeof selection->reader);
  selection->reader.read = read_nothing;
  selection->implementation = "default-zero";
  for (i = 0; i < selection->count; i++)
    if (strcmp(table[i].name, selection->implementation) == 0)
      selection->counters[i].state = CPUCYCLES_SELECTED;
}

/* Selects the best counter that can be reopened. Returns 0 if there is none. */
static int choose(struct cpucycles_selection *selection, const struct cpucycles_entry *table)
{
  int i;

  while ((i = best(table, selection->counters, selection->count)) >= 0)
    if (try_to_select(selection, table, i)) {
      if (table[i].backend->scope == CPUCYCLES_SCOPE_THREAD)
        choose_next_best(selection, table);
      return 1;
    }
  return 0;
}

/* Tries the counters that the list names, and selects the best. Returns 0 if none works. */
static int choose_among_named(struct cpucycles_selection *selection,
  const struct cpucycles_entry *table, const char *list)
{
  int i;

  for (i = 0; i < selection->count; i++) {
    cpucycles_counter_describe(&selection->counters[i], &table[i]);
    cpucycles_counter_drop(&selection->counters[i], "not-asked");
  }
  for (i = 0; i < selection->count; i++)
    if (cpucycles_choice_includes(list, table[i].name))
      try_counter(table, i, selection);
  return choose(selection, table);
}

/* Tries the counters that the list, if any, does not name, and selects the best. The named counters
   have all been dropped before. Returns 0 if none works. */
static int choose_among_others(struct cpucycles_selection *selection,
  const struct cpucycles_entry *table, const char *list)
{
  int i;

  for (i = 0; i < selection->count; i++)
    if (!list || !cpucycles_choice_includes(list, table[i].name))
      try_counter(table, i, selection);
  return choose(selection, table);
}

void cpucycles_select(const struct cpucycles_host *host, const struct cpucycles_entry *table,
  int count, struct cpucycles_counter_info *counters, struct cpucycles_selection *selection)
{
  const char *list = host->environment("CPUCYCLES_IMPLEMENTATION");
  int i;

  if (!cpucycles_choice_has_names(list))
    list = NULL;
  memset(counters, 0, (size_t)count * sizeof *counters);
  selection->counters = counters;
  selection->count = count;
  selection->implementation = NULL;
  selection->backend = NULL;
  selection->inline_method = CPUCYCLES_INLINE_CALL;
  memset(&selection->timer, 0, sizeof selection->timer);
  selection->timer.invariant = -1;
  for (i = 0; i < 2 && cpucycles_trial(cpucycles_osclock_try, NULL) != 0; i++)
    cpucycles_osclock_fall_back();
  selection->frequency = cpucycles_frequency(host);
  memset(&selection->next_best, 0, sizeof selection->next_best);
  selection->next_best.read = cpucycles_osclock_monotonic;
  selection->next_best.scale = cpucycles_scale_between(1000000000, selection->frequency.persecond);
  selection->calibration.now = cpucycles_osclock_monotonic;
  selection->calibration.left = CPUCYCLES_CALIBRATION_TIME;
  if (!(list && choose_among_named(selection, table, list))
    && !choose_among_others(selection, table, list))
    select_last_resort(selection, table);
  cpucycles_choice_report(list ? list : "", counters, count, selection->skipped,
    (int)sizeof selection->skipped);
}
