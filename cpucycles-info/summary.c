/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints the summary, which answers what a person asks first. */

#include "config.h"

#include "cpucycles-info/report.h"

/* Writes a rate with the digits that do not change from run to run. */
static void write_hz(long long hz, int digits)
{
  static const char *const units[] = { "Hz", "kHz", "MHz", "GHz" };
  double value = (double)hz;
  int unit = 0;

  for (; value >= 1000 && unit < 3; unit++)
    value /= 1000;
  digits -= value >= 100 ? 3 : value >= 10 ? 2 : 1;
  write_words("%.*f %s", digits > 0 ? digits : 0, value, units[unit]);
}

static void summarize_counter(const struct cpucycles_counter_info *counter,
  const struct core_info *core)
{
  write_words("\nsummary counter  %s: %s", counter->name,
    is_of_core_cycles(counter) && core->counts_core_cycles != 1
      ? cpuc_kind_facts[CPUC_KIND_UNPROVEN].count_unit : counter->count_unit);
  if (counter->scaling > 0 && (counter->scaling < 1 || counter->scaling > 1))
    write_words(" (%s * %.6g)", counter->unit, counter->scaling);
  if (is_of_core_cycles(counter) || core->counted_persecond <= 0)
    return;
  write_words(" at ");
  write_hz(core->counted_persecond, 4);
}

/* An estimate can be far below the core frequency, because some drivers report the nominal
   frequency of a core that can boost. */
static void summarize_core(const struct cpucycles_counter_info *counter,
  const struct core_info *core, long long persecond)
{
  double cycles = core->cycles_per_count;

  write_words("\nsummary core     ");
  if (core->persecond > 0)
    write_hz(core->persecond, 3);
  write_words("%s", core->persecond > 0 ? " now" : "frequency not known");
  if (persecond > 0 && core->persecond > persecond + persecond / 50)
    write_words(", %.2f times the frequency estimate", (double)core->persecond / (double)persecond);
  if (core->counts_core_cycles < 0)
    write_words("; counts could not be compared with core cycles");
  else if (is_of_core_cycles(counter))
    write_words("; %.2f counts per core cycle", cycles > 0 ? 1 / cycles : 0);
  else if (cycles > 0)
    write_words("; %.2f core cycles per count", cycles);
}

/* Writes whether counts can be compared: at all times, on all CPUs, and with the count before. */
static void summarize_trust(const struct counter_results *results,
  const struct cpucycles_counter_info *counter)
{
  const char *rate = results->invariant > 0 ? "constant rate"
    : is_of_core_cycles(counter)            ? "follows the core frequency"
    : results->invariant == 0               ? "no constant rate"
                                            : "rate not known to be constant";

  if (*results->failure)
    return;
  write_words("\nsummary trust    %s", rate);
  if (strcmp(counter->scope, "system") == 0 && results->cpu_count > 0)
    write_words("; %s on %d CPUs", results->largest_step_back > 0 ? "differs" : "equal",
      results->cpu_count);
  if (results->below_zero > 0)
    write_words("; %d steps back in %d reads", results->below_zero, results->difference_count);
  else
    write_words("; never a step back in %d reads", results->difference_count);
}

static void summarize_read(const struct counter_results *results)
{
  if (*results->failure) {
    write_words("\nsummary read     not examined: %s", results->failure);
    return;
  }
  write_words("\nsummary read     %.0f cycles", results->read_cycles);
  if (results->step > 0 && results->grain.units > 1)
    write_words("; grain %.0f", (double)results->grain.units * results->scaling);
  write_words("; subtract %lld from a section", results->overhead);
}

void write_summary(const struct report *report)
{
  enum { MOST = 4 }; /* lines of warnings, so that a screen shows the summary */
  const struct cpucycles_counter_info *counter = report->library.selected;
  const struct counter_results *results = counter ? results_of(report, counter->name) : NULL;
  int i, written = 0;

  if (counter) {
    summarize_counter(counter, &report->core);
    summarize_core(counter, &report->core, report->library.persecond);
    if (results) {
      summarize_read(results);
      summarize_trust(results, counter);
    }
    write_words("\nsummary better   %s", report->better.found);
    if (*report->better.remedy)
      write_words("\nsummary enable   %s", report->better.remedy);
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
