/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints the summary, which answers what a person asks first. */

#include "config.h"

#include "cpucycles-info/report.h"

static void summarize_counter(const struct cpucycles_counter_info *counter,
  const struct core_info *core)
{
  write_words("\nsummary counter  %s: %s", counter->name,
    is_of_core_cycles(counter) && core->counts_core_cycles != 1 ? "counts" : counter->count_unit);
  if (counter->scaling > 0 && (counter->scaling < 1 || counter->scaling > 1))
    write_words(" (%s * %.6g)", counter->unit, counter->scaling);
  if (!is_of_core_cycles(counter) && core->counted_persecond > 0)
    write_words(", %lld per second", core->counted_persecond);
}

static void summarize_core(const struct cpucycles_counter_info *counter,
  const struct core_info *core)
{
  double cycles = core->cycles_per_count;

  write_words("\nsummary core     %s", core->persecond > 0 ? "" : "frequency not known");
  write_integer(NULL, core->persecond > 0, core->persecond, "", " Hz now");
  if (core->counts_core_cycles < 0)
    write_words("; counts could not be compared with core cycles");
  else if (is_of_core_cycles(counter))
    write_words("; %.2f counts per core cycle", cycles > 0 ? 1 / cycles : 0);
  else if (cycles > 0)
    write_words(": core cycles = counts * %.3f", cycles);
}

static void summarize_read(const struct counter_results *results)
{
  int is_timed = results->read_nanoseconds > 0;

  if (*results->failure) {
    write_words("\nsummary read     not examined: %s", results->failure);
    return;
  }
  write_words("\nsummary read     %.1f %s",
    is_timed ? results->read_nanoseconds : results->read_cycles, is_timed ? "ns" : "cycles");
  if (results->step > 0 && results->grain.units > 1)
    write_words("; grain %.0f cycles", (double)results->grain.units * results->scaling);
  write_words("; an empty section %lld cycles", results->overhead);
}

/* Returns the counter whose explanation says how to get a better count: the one in use, if it has a
   remedy, else the best counter that works but is slower, or does not work, and of equal ones that
   with a remedy; or NULL. */
static const struct cpucycles_counter_info *find_better(const struct library_info *library)
{
  const struct cpucycles_counter_info *counter, *best = NULL;
  enum cpuc_kind kind, least
    = library->selected ? cpuc_kind_named(library->selected->kind) : CPUC_KIND_CORE;
  int i;

  if (library->selected && library->selected->remedy)
    return library->selected;
  for (i = 0; i < library->counter_count; i++) {
    counter = library->counters[i];
    kind = cpuc_kind_named(counter->kind);
    if (kind >= least || (!counter->explanation && counter->state == CPUCYCLES_DROPPED))
      continue;
    if (!counter->explanation)
      return counter;
    if (!best || (counter->remedy && !best->remedy)
      || (!counter->remedy == !best->remedy && kind < cpuc_kind_named(best->kind)))
      best = counter;
  }
  return best;
}

static void summarize_better(const struct report *report)
{
  const struct cpucycles_counter_info *better = find_better(&report->library);

  if (!better)
    write_words("\nsummary better   none: no counter of a better kind is built for this CPU");
  else if (better->explanation)
    write_words("\nsummary better   %s%s", better == report->library.selected ? "" : "none here: ",
      better->explanation);
  else {
    write_words("\nsummary better   %s: %s, but slower", better->name, better->count_unit);
    write_words("\nsummary enable   CPUCYCLES_IMPLEMENTATION=%s", better->name);
  }
  if (better && better->remedy)
    write_words("\nsummary enable   %s", better->remedy);
}

void write_summary(const struct report *report)
{
  enum { MOST = 5 }; /* lines of warnings, so that a screen shows the summary */
  const struct cpucycles_counter_info *counter = report->library.selected;
  int i, written = 0;

  if (counter) {
    summarize_counter(counter, &report->core);
    summarize_core(counter, &report->core);
    if (results_of(report, counter->name))
      summarize_read(results_of(report, counter->name));
    summarize_better(report);
  }
  for (i = 0; i < report->warning_count; i++) {
    if (!*report->warnings[i].advice)
      continue;
    if (written++ < MOST)
      write_words("\nsummary warning  %s", report->warnings[i].advice);
    else
      write_words("; %s", report->warnings[i].advice);
  }
}
