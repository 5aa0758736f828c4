/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tries every counter, scores it, chooses, and publishes the choice once for the process. How a
   counter is read is its backend's matter, how it is scored precision.c's; the policy between
   them is here. */

#include "config.h"

#include "lib/select.h"
#include "lib/choice.h"
#include "lib/precision.h"
#include "lib/reasons.h"
#include "sys/os-clock.h"
#include "sys/trial.h"

#include <stddef.h>
#include <string.h>

/* An on-core counter beats whatever is not quite what was asked for, and anything beats a clock. */
static const int penalties[] = {
  [CPUCYCLES_KIND_CORE] = 0,
  [CPUCYCLES_KIND_PERF_READ] = 100,
  [CPUCYCLES_KIND_REFERENCE] = 100,
  [CPUCYCLES_KIND_SCALED] = 100,
  [CPUCYCLES_KIND_CLOCK] = 200,
  [CPUCYCLES_KIND_NONE] = 200,
};

/* Time that is multiplied up to cycles is right as long as the core's frequency is what it is
   taken for, and looks right when it is not. What counts cycles goes before, whatever a read of
   it costs. */
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

/* One counter on trial, for the bodies that the trial runs. */
struct attempt {
  const struct cpucycles_backend *backend;
  struct cpucycles_why why;
  struct cpucycles_reader reader;
  struct cpucycles_extension *extension; /* for a counter of 32 bits */
  struct cpucycles_calibration *calibration;
  double scaling; /* as its trial found it; 0: this is its trial */
  int error;
  int quick; /* it cannot be chosen any more: its score is for the record */
  const char *reason;
  long long units, cycles; /* so many units are so many cycles */
  long long estimate;      /* of units a second */
  long long smallest;
  enum cpucycles_steps steps;
};

static void open_counter(void *argument)
{
  struct attempt *attempt = argument;

  attempt->error = attempt->backend->open ? attempt->backend->open(&attempt->why) : 0;
}

/* At the opening, the scale that the trial found. In the trial, a clock's rate is a matter of
   definition; another's must stand the test, or be found. */
static void find_scale(void *argument)
{
  struct attempt *attempt = argument;
  double sixteenths_found = 16 * attempt->scaling;
  long long sixteenths = 0;

  if (attempt->scaling > 0) {
    sixteenths = (long long)sixteenths_found;
    if ((double)sixteenths != sixteenths_found) { /* a stated rate, which this gives back exactly */
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

/* The better the rate is known, the longer the gaps between calls may be. That of a counter which
   is only on trial need not be known. An estimate that no measurement confirms may be far too
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

static void measure(void *argument)
{
  struct attempt *attempt = argument;

  attempt->steps = cpucycles_precision(&attempt->reader, attempt->quick, &attempt->smallest);
}

/* Of a core's counter, which other counters' trials may have stopped (a perf event of the same
   hardware that ends), that it still advances. */
static void read_again(void *argument)
{
  struct attempt *attempt = argument;

  if (attempt->backend->scope == CPUCYCLES_SCOPE_CORE)
    measure(attempt);
  else
    (void)attempt->reader.read();
}

static void close_counter(void *argument)
{
  struct attempt *attempt = argument;

  if (attempt->backend->close)
    attempt->backend->close();
}

static struct attempt attempt_at(const struct cpucycles_entry *entry,
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

/* Opens the counter for good or for a trial; drops it if that fails. */
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

/* Decides by what the counter is multiplied; drops it if it would have to be and cannot. */
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

/* Has 64 bits, or gets them. */
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
  int signal = cpucycles_trial(measure, attempt);

  if (signal != 0)
    cpucycles_counter_drop_signal(info, signal, &attempt->why);
  else if (attempt->steps == CPUCYCLES_STEPS_DOWN)
    cpucycles_counter_drop(info, "decreasing");
  else if (attempt->steps == CPUCYCLES_STEPS_NOWHERE)
    cpucycles_counter_drop(info, "not-increasing");
  else {
    info->state = CPUCYCLES_USABLE;
    info->precision = attempt->smallest + penalties[attempt->backend->kind];
  }
}

/* Is this a second way to a register that an earlier usable counter reads too? Only noise could
   tell their scores apart. */
static int is_second_way(const struct cpucycles_entry *table,
  const struct cpucycles_counter_info *infos,
  int i)
{
  int j;

  for (j = 0; j < i; j++)
    if (infos[j].state == CPUCYCLES_USABLE
      && strcmp(table[j].backend->source, table[i].backend->source) == 0)
      return 1;
  return 0;
}

/* Can it still be chosen, whatever its reads show? Not where an earlier counter goes before it,
   or has a score within this one's penalty. */
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
  struct attempt attempt = attempt_at(&table[i], selection);

  memset(info, 0, sizeof *info);
  cpucycles_counter_describe(info, &table[i]);
  attempt.quick = !can_win(table, selection->counters, i);
  if (attempt.backend->kind == CPUCYCLES_KIND_NONE)
    cpucycles_counter_drop(info, "not-increasing"); /* so it says itself */
  else if (opens(&attempt, info) && scales(&attempt, info) && extends(&attempt, info))
    scores(&attempt, info);
  cpucycles_trial(close_counter, &attempt);
}

static int is_better(const struct cpucycles_entry *table,
  const struct cpucycles_counter_info *infos, int i,
  int than)
{
  if (counts_time(&table[i]) != counts_time(&table[than]))
    return counts_time(&table[i]) < counts_time(&table[than]);
  return infos[i].precision < infos[than].precision;
}

/* The usable counter that is best, the earlier one at a tie; -1: none. */
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

/* Opens it for good, to be read by *reader. It was let go since its trial, and may refuse now. */
static int reopens(struct cpucycles_selection *selection, const struct cpucycles_entry *table,
  int i, struct cpucycles_reader *reader)
{
  struct attempt attempt = attempt_at(&table[i], selection);
  struct cpucycles_counter_info *info = &selection->counters[i];
  int signal;

  attempt.scaling = info->scaling;
  if (!opens(&attempt, info) || !scales(&attempt, info) || !extends(&attempt, info)) {
    cpucycles_trial(close_counter, &attempt);
    return 0;
  }
  attempt.quick = 1;
  signal = cpucycles_trial(read_again, &attempt);
  if (signal != 0 || attempt.steps == CPUCYCLES_STEPS_NOWHERE) {
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

static void prepare_questions(void *backend)
{
  ((const struct cpucycles_backend *)backend)->prepare();
}

/* Of all counters, since cpucycles_core_persecond() asks the CPU whatever was chosen. One that has
   been cut short by a signal goes on after what raised it. */
static void prepare_all(const struct cpucycles_entry *table, int count)
{
  int i, tries;

  for (i = 0; i < count; i++)
    for (tries = 0; table[i].backend->prepare && tries < 3; tries++)
      if (cpucycles_trial(prepare_questions, (void *)table[i].backend) == 0)
        break;
}

/* The process's counter from now on. */
static int is_chosen(struct cpucycles_selection *selection, const struct cpucycles_entry *table,
  int i)
{
  if (!reopens(selection, table, i, &selection->reader))
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

/* For threads that cannot have their own count of the chosen one: the best of those that all
   share; a clock is there at any rate. */
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
  } while (chosen >= 0 && !reopens(selection, table, chosen, &selection->next_best));
}

static long long read_nothing(void)
{
  return 0;
}

/* Nothing passed its trial. A clock that stood still for the moment is better than none, the
   last of the list first; and if even reading a clock faults, there is still an answer. */
static void last_resort(struct cpucycles_selection *selection, const struct cpucycles_entry *table)
{
  int i;

  for (i = selection->count - 1; i >= 0; i--)
    if (table[i].backend->kind == CPUCYCLES_KIND_CLOCK && selection->counters[i].signal_number == 0
      && is_chosen(selection, table, i))
      return;
  memset(&selection->reader, 0, sizeof selection->reader);
  selection->reader.read = read_nothing;
  selection->implementation = "default-zero";
  for (i = 0; i < selection->count; i++)
    if (strcmp(table[i].name, selection->implementation) == 0)
      selection->counters[i].state = CPUCYCLES_SELECTED;
}

/* Opens the best of those that were tried, for good. Returns 0 if there is none. */
static int chooses(struct cpucycles_selection *selection, const struct cpucycles_entry *table)
{
  int i;

  while ((i = best(table, selection->counters, selection->count)) >= 0)
    if (is_chosen(selection, table, i)) {
      if (table[i].backend->scope == CPUCYCLES_SCOPE_THREAD)
        choose_next_best(selection, table);
      return 1;
    }
  return 0;
}

/* Tries what the list asks for, and chooses among that. */
static int chooses_among(struct cpucycles_selection *selection, const struct cpucycles_entry *table,
  const char *list)
{
  int i;

  for (i = 0; i < selection->count; i++) {
    cpucycles_counter_describe(&selection->counters[i], &table[i]);
    cpucycles_counter_drop(&selection->counters[i], "not-asked");
  }
  for (i = 0; i < selection->count; i++)
    if (cpucycles_choice_names(list, table[i].name))
      try_counter(table, i, selection);
  return chooses(selection, table);
}

/* The same among all: of those that were tried already, each was dropped. */
static int chooses_among_all(struct cpucycles_selection *selection,
  const struct cpucycles_entry *table, const char *list)
{
  int i;

  for (i = 0; i < selection->count; i++)
    if (!list || !cpucycles_choice_names(list, table[i].name))
      try_counter(table, i, selection);
  return chooses(selection, table);
}

void cpucycles_select(const struct cpucycles_host *host, const struct cpucycles_entry *table,
  int count, struct cpucycles_counter_info *counters, struct cpucycles_selection *selection)
{
  const char *list = host->environment("CPUCYCLES_IMPLEMENTATION");
  int i;

  if (!cpucycles_choice_is_made(list))
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
  if (!(list && chooses_among(selection, table, list))
    && !chooses_among_all(selection, table, list))
    last_resort(selection, table);
  cpucycles_choice_report(list ? list : "", counters, count, selection->skipped,
    (int)sizeof selection->skipped);
}
