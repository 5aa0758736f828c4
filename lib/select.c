/* SPDX-License-Identifier: 0BSD OR MIT */
/* The selection: clocks, frequency, trials and choice, in this order (cpuc_select()). Contains the
   policy: which counters are tried, in what order, and which one wins. candidate.c tries one
   counter, and process.c runs the selection once per process. */

#include "config.h"

#include "lib/select.h"
#include "lib/early.h"
#include "lib/reasons.h"
#include "lib/request.h"
#include "sys/environment.h"
#include "sys/guard.h"
#include "sys/os-clock.h"

#include <stddef.h>
#include <string.h>

/* The selection for cpuc_select_services, once it is finished; NULL before. */
static struct cpuc_selection *finished;

static struct cpuc_selection *load_finished(void)
{
  return __atomic_load_n(&finished, __ATOMIC_ACQUIRE);
}

static long long read_fallback(void)
{
  const struct cpuc_selection *selection = load_finished();

  return selection ? cpuc_reader_read(&selection->fallback) : 0;
}

static void note_indirect_read(enum cpuc_reason reason)
{
  struct cpuc_selection *selection = load_finished();

  if (selection)
    cpuc_reasons_note_selected(&selection->selected->info, reason);
}

const struct cpuc_services cpuc_select_services = {
  .fallback = read_fallback,
  .note_indirect_read = note_indirect_read,
#ifdef HAVE_PERF_EVENTS
  .on_thread_exit = cpuc_early_on_exit,
#endif
};

/* Reads the OS clocks. After each fault, lets the clocks fall back as os-clock.h describes, to
   system calls or to no clock. */
static void try_clocks(void)
{
  int i;

  for (i = 0; i < 2 && cpuc_guard_run(cpuc_os_clock_try, NULL) != 0; i++)
    cpuc_os_clock_fall_back();
}

static int is_usable(const struct cpuc_candidate *candidate)
{
  return candidate->info.state == CPUCYCLES_USABLE;
}

static int group_of(const struct cpuc_candidate *candidate)
{
  return cpuc_candidate_kind(candidate)->group;
}

/* Returns 1 if an earlier usable counter of this group or a lower one has the same register_name.
   The earlier counter then wins, whatever the scores, so that noise in the scores does not change
   the selection. */
static int reads_same_register(const struct cpuc_selection *selection,
  const struct cpuc_candidate *candidate)
{
  const char *name = candidate->backend->register_name;
  const struct cpuc_candidate *earlier;

  for (earlier = selection->candidates; name && earlier < candidate; earlier++)
    if (is_usable(earlier) && group_of(earlier) <= group_of(candidate)
      && earlier->backend->register_name && strcmp(earlier->backend->register_name, name) == 0)
      return 1;
  return 0;
}

/* Returns 1 if the candidate can still become the best counter. Returns 0 if an earlier usable
   counter is in a lower group, is in the same group and has a score of at most the candidate's
   penalty, or reads the same register. */
static int can_win(const struct cpuc_selection *selection, const struct cpuc_candidate *candidate)
{
  const struct cpuc_candidate *earlier;

  for (earlier = selection->candidates; earlier < candidate; earlier++)
    if (is_usable(earlier) && group_of(earlier) <= group_of(candidate)
      && (group_of(earlier) < group_of(candidate)
        || earlier->info.score <= cpuc_candidate_kind(candidate)->penalty))
      return 0;
  return !reads_same_register(selection, candidate);
}

static int is_better(const struct cpuc_candidate *candidate, const struct cpuc_candidate *other)
{
  if (group_of(candidate) != group_of(other))
    return group_of(candidate) < group_of(other);
  return candidate->info.score < other->info.score;
}

/* Returns the best usable counter or, with among_fallbacks, the best of those that
   can be the fallback counter; the earlier one on a tie; NULL if there is none. */
static struct cpuc_candidate *find_best(struct cpuc_selection *selection, int among_fallbacks)
{
  struct cpuc_candidate *best = NULL, *candidate = selection->candidates;
  int i;

  for (i = 0; i < selection->count; i++, candidate++)
    if (is_usable(candidate) && !reads_same_register(selection, candidate)
      && (!among_fallbacks || cpuc_candidate_kind(candidate)->is_fallback)
      && (!best || is_better(candidate, best)))
      best = candidate;
  return best;
}

/* Opens the counter again and selects it. Returns 0 if it no longer works. */
static int select_counter(struct cpuc_selection *selection, struct cpuc_candidate *candidate)
{
  if (!cpuc_candidate_reopen(candidate))
    return 0;
  candidate->info.state = CPUCYCLES_SELECTED;
  selection->selected = candidate;
  return 1;
}

/* Chooses the fallback for threads that cannot open the selected per-thread counter, or lose it:
   the best counter of a kind with is_fallback. If there is none, the OS clock stays. */
static void choose_fallback(struct cpuc_selection *selection)
{
  struct cpuc_candidate *best;

  while ((best = find_best(selection, 1)) != NULL)
    if (cpuc_candidate_reopen(best)) {
      selection->fallback = best->reader;
      return;
    }
}

/* Tries the counters that the list names if `named` is 1, or those that it does not name if `named`
   is 0, and selects the best. Returns 0 if none works. */
static int choose_among(struct cpuc_selection *selection, int named, const char *list)
{
  struct cpuc_candidate *candidate = selection->candidates, *best;
  int i;

  for (i = 0; i < selection->count; i++, candidate++)
    if ((list && cpuc_request_includes(list, candidate->info.name)) == named)
      cpuc_candidate_try(candidate, !can_win(selection, candidate));
  while ((best = find_best(selection, 0)) != NULL)
    if (select_counter(selection, best)) {
      if (best->backend->is_of_thread)
        choose_fallback(selection);
      return 1;
    }
  return 0;
}

/* Selects the last counter of this kind that can be opened and read. Returns 0 if there is none. */
static int select_last(struct cpuc_selection *selection, enum cpuc_kind kind)
{
  int i;

  for (i = selection->count - 1; i >= 0; i--)
    if (selection->candidates[i].backend->kind == kind
      && select_counter(selection, &selection->candidates[i]))
      return 1;
  return 0;
}

/* Uses the first estimate of at least `least`, also for the OS clock as fallback. */
static void estimate(struct cpuc_selection *selection, long long least)
{
  selection->frequency = cpuc_frequency_estimate(least);
  selection->context.persecond = selection->frequency.persecond;
  if (selection->fallback.read == cpuc_os_clock_monotonic)
    selection->fallback.scale = cpuc_scale_from_to(1000000000, selection->frequency.persecond);
}

/* Selects with the first estimate of at least `least`. Until a better fallback is found, the OS
   clock is the fallback. */
static void select_with(struct cpuc_selection *selection, const struct cpuc_table_entry *table,
  const char *list, long long least)
{
  int i;

  selection->fallback = (struct cpuc_reader) { .read = cpuc_os_clock_monotonic };
  selection->context.services = &cpuc_select_services;
  selection->context.now = cpuc_os_clock_monotonic;
  estimate(selection, least);
  for (i = 0; i < selection->count; i++) {
    cpuc_candidate_begin(&selection->candidates[i], &table[i], &selection->context);
    if (list)
      cpuc_reasons_drop(&selection->candidates[i].info, CPUC_REASON_NOT_ASKED);
  }
  /* The last resorts: a clock, because it may advance later even if it did not in its trial; if no
     clock can be read, the counter that is always 0. */
  if (!(list && choose_among(selection, 1, list)) && !choose_among(selection, 0, list)
    && !select_last(selection, CPUC_KIND_CLOCK))
    select_last(selection, CPUC_KIND_NONE);
}

/* If the estimate is too low, and not a setting, the next source is asked. If a time-based counter
   is in use, the selection runs once more, because such a counter may have been dropped for the
   wrong estimate. */
static void check_estimate(struct cpuc_selection *selection, const struct cpuc_table_entry *table,
  const char *list, const struct cpuc_clock_sample *begin)
{
  long long persecond = selection->frequency.persecond, least;
  int is_time_based, i;

  if (selection->frequency.is_setting)
    return;
  is_time_based = cpuc_candidate_kind(selection->selected)->is_time_based;
  least = cpuc_frequency_find_least(persecond, is_time_based, begin);
  if (persecond >= least)
    return;
  if (is_time_based) {
    cpuc_candidate_close(selection->selected);
    select_with(selection, table, list, least);
    return;
  }
  estimate(selection, least);
  for (i = 0; i < selection->count; i++)
    cpuc_candidate_rescale(&selection->candidates[i]);
}

void cpuc_select(const struct cpuc_table_entry *table, int count,
  struct cpuc_candidate *candidates, struct cpuc_selection *selection)
{
  const char *list = cpuc_environment("CPUCYCLES_IMPLEMENTATION");
  struct cpuc_clock_sample begin;

  finished = NULL;
  memset(selection, 0, sizeof *selection);
  selection->candidates = candidates;
  selection->count = count;
  try_clocks();
  begin = cpuc_frequency_sample_reference();
  select_with(selection, table, list, 0);
  check_estimate(selection, table, list, &begin);
  if (list)
    cpuc_request_describe_unusable(list, candidates, count, selection->unusable_text,
      (int)sizeof selection->unusable_text);
  __atomic_store_n(&finished, selection, __ATOMIC_RELEASE);
}
