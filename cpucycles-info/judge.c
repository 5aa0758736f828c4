/* SPDX-License-Identifier: 0BSD OR MIT */
/* Judges a report: fills the warnings, one sentence for each condition that can distort a
   measurement on this machine, and the summary, which answers what a person asks first. */

#include "config.h"

#include "cpucycles-info/report.h"
#include "sys/trapped-call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Adds a warning, and what to do about it. The advice may be NULL. */
__attribute__((format(printf, 3, 4)))
static void warn(struct report *report, const char *advice, const char *format, ...)
{
  va_list arguments;
  int i = report->warning_count;

  if (i == WARNINGS)
    return;
  report->warning_count++;
  snprintf(report->warnings[i].advice, sizeof report->warnings[i].advice, "%s",
    advice ? advice : "");
  va_start(arguments, format);
  vsnprintf(report->warnings[i].text, sizeof report->warnings[i].text, format, arguments);
  va_end(arguments);
}

/* Warns about counts that are not core cycles, because users publish them as core cycles. */
static void warn_about_unit(struct report *report, const struct cpucycles_counter_info *counter)
{
  const char *unit = counter->count_unit;
  long long core = core_persecond(&report->core), counted = report->core.counted_persecond;
  double cycles = cycles_per_counted_cycle(report);
  char advice[80];

  if (strcmp(counter->kind, "clock") == 0)
    warn(report, "compare the counts as times: they are not counted cycles",
      "%s is an operating-system clock: its cycles are converted time, not counted cycles",
      counter->name);
  if (strcmp(counter->kind, "none") == 0)
    warn(report, "do not measure here: no counter works", "no counter works here");
  if (is_of_core_cycles(counter) || cycles <= 0 || (cycles > 0.98 && cycles < 1.02))
    return;
  snprintf(advice, sizeof advice, "report %s, not core cycles", unit);
  warn(report, advice,
    "%s counts %lld cycles per second, but the core runs at %lld Hz: core cycles = counted cycles "
    "* %.3f while the core keeps this frequency. Report the counts as %s (%s, %lld per second), "
    "not as core cycles", counter->name, counted, core, cycles, unit, counter->name, counted);
}

/* Warns about changes of the core frequency, which change the ratio of core cycles to time and to
   the count of any counter that does not count core cycles. */
static void warn_about_frequency(struct report *report,
  const struct cpucycles_counter_info *counter)
{
  const struct settings_info *settings = &report->settings;
  const char *effect = is_of_core_cycles(counter)
    ? "the same work takes more or less time from run to run"
    : "the number of core cycles per counted cycle varies";

  if (*settings->governor && strcmp(settings->governor, "performance") != 0)
    warn(report, "set the governor performance", "the governor %s can change the core frequency: %s",
      settings->governor, effect);
  if (settings->turbo == 1)
    warn(report, "turn turbo off", "turbo is on and can change the core frequency: %s", effect);
}

/* Warns about a watchdog that was switched on after the selection. If the watchdog is on during the
   selection, the library drops amd64-pmcff. */
static void warn_about_watchdog(struct report *report, const struct cpucycles_counter_info *counter)
{
  if (report->settings.nmi_watchdog && strcmp(counter->name, "amd64-pmcff") == 0)
    warn(report, "turn the watchdog off: sysctl kernel.nmi_watchdog=0",
      "the kernel's NMI watchdog sets %s back, usually every ten seconds: counts can be too small, "
      "or below 0. Turn it off: sysctl kernel.nmi_watchdog=0", counter->name);
}

/* Warns about what runs this process: an emulator, a slow clock, and a filter that does not refuse
   calls with an errno, but with a signal, which ends most programs. */
static void warn_about_surroundings(struct report *report)
{
  static const char *const slow[] = { "hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies" };
  const char *emulator = report->system.emulator;
  char calls[200], advice[256];
  size_t i;

  if (*emulator)
    warn(report, "measure on a CPU, without the emulator",
      "an emulator runs this program (%s): counts are those of the emulator, not of a CPU",
      emulator);
  for (i = 0; i < sizeof slow / sizeof slow[0]; i++)
    if (strcmp(report->settings.clock_source, slow[i]) == 0)
      warn(report, "observe for longer: the clock source is coarse",
        "the clock source %s is slow and coarse: measurements against the OS clock are less exact",
        slow[i]);
  cpuc_trapped_call_list(calls, sizeof calls);
  snprintf(advice, sizeof advice, "let the seccomp filter answer %s with an errno", calls);
  if (*calls)
    warn(report, advice,
      "a seccomp filter raises SIGSYS at %s: here these calls failed instead, and the report lacks "
      "what they return", calls);
}

/* A hypervisor that scales the TSC can leave the host's values in CPUID. */
static void warn_about_results(struct report *report, const struct counter_results *results,
  const struct cpucycles_counter_info *counter)
{
  int is_in_use = counter == report->library.selected;
  int is_of_host = *report->system.hypervisor && strncmp(results->reported_source, "CPUID", 5) == 0;

  if (is_core_ratio_off(results))
    warn(report, is_in_use ? "do not report the counts as core cycles" : NULL,
      "%s does not count core cycles: it counts %.3f per core cycle", results->name,
      results->counts_per_core_cycle);
  if (is_contradicted(results))
    warn(report, is_in_use ? "do not convert counts with the reported rate" : NULL,
      "%s counts %.0f units per second instead of the reported %lld: %s", results->name,
      results->measured, results->reported,
      is_of_host
        ? "CPUID can contain the value of the host, whose rate the hypervisor does not keep"
        : "this is typical of emulators");
  if (strcmp(counter->scope, "system") == 0 && results->largest_step_back > 0)
    warn(report, is_in_use ? "keep timed code on one CPU" : NULL,
      "%s differs between CPUs, by %lld cycles or more: a migration can make it step back",
      results->name, results->largest_step_back);
  if (results->below_zero > 0)
    warn(report, is_in_use ? "drop differences below 0: the counter steps back" : NULL,
      "%s stepped back in %d of %d adjacent reads", results->name, results->below_zero,
      results->difference_count);
  if (results->invariant == 0 && strcmp(counter->kind, "reference") == 0)
    warn(report, is_in_use ? "keep the frequency of the core constant" : NULL,
      "%s does not have a constant rate (%s)", results->name, results->invariant_source);
}

static void find_warnings(struct report *report)
{
  const struct cpucycles_counter_info *counter = report->library.selected;
  const struct counter_results *results;
  int i;

  if (counter) {
    warn_about_unit(report, counter);
    warn_about_frequency(report, counter);
    warn_about_watchdog(report, counter);
  }
  warn_about_surroundings(report);
  for (i = 0; i < report->library.counter_count; i++) {
    counter = report->library.counters[i];
    results = results_of(report, counter->name);
    if (results)
      warn_about_results(report, results, counter);
  }
}

/* Adds words to the last line of the summary or, with a label, begins a line. */
__attribute__((format(printf, 3, 4)))
static void summarize(struct report *report, const char *label, const char *format, ...)
{
  va_list arguments;
  size_t length;
  char *text;

  if (label && report->summary_count < SUMMARY_LINES) {
    report->summary[report->summary_count].label = label;
    report->summary[report->summary_count++].text[0] = 0;
  }
  text = report->summary[report->summary_count - 1].text;
  length = strlen(text);
  va_start(arguments, format);
  vsnprintf(text + length, sizeof report->summary[0].text - length, format, arguments);
  va_end(arguments);
}

static void summarize_counter(struct report *report, const struct cpucycles_counter_info *counter)
{
  summarize(report, "counter", "%s: %s", counter->name,
    is_of_core_cycles(counter) && counts_core_cycles(report) == 0 ? "counts" : counter->count_unit);
  if (counter->scaling > 0 && (counter->scaling < 1 || counter->scaling > 1))
    summarize(report, NULL, " (%s * %.6g)", counter->unit, counter->scaling);
  if (!is_of_core_cycles(counter) && report->core.counted_persecond > 0)
    summarize(report, NULL, ", %lld per second", report->core.counted_persecond);
}

static void summarize_core(struct report *report, const struct cpucycles_counter_info *counter)
{
  long long core = core_persecond(&report->core);
  double cycles = cycles_per_counted_cycle(report);

  if (core > 0)
    summarize(report, "core", "%lld Hz now", core);
  else
    summarize(report, "core", "frequency not known");
  if (counts_core_cycles(report) < 0)
    summarize(report, NULL, "; counts could not be compared with core cycles");
  else if (is_of_core_cycles(counter))
    summarize(report, NULL, "; %.2f counts per core cycle", cycles > 0 ? 1 / cycles : 0);
  else if (cycles > 0)
    summarize(report, NULL, ": core cycles = counts * %.3f", cycles);
}

static void summarize_read(struct report *report, const struct counter_results *results)
{
  if (!results)
    return;
  if (*results->failure) {
    summarize(report, "read", "not examined: %s", results->failure);
    return;
  }
  if (results->read_nanoseconds > 0)
    summarize(report, "read", "%.1f ns", results->read_nanoseconds);
  else
    summarize(report, "read", "%.1f cycles", results->read_cycles);
  if (results->step > 0 && results->grain.units > 1)
    summarize(report, NULL, "; grain %.0f cycles",
      (double)results->grain.units * results->scaling);
  summarize(report, NULL, "; an empty section %lld cycles", results->overhead);
}

/* Returns the rank of a counter, which is lower for a better kind. */
static int rank_of(const struct cpucycles_counter_info *counter)
{
  static const char *const kinds[] = { "core", "system call", "reference", "scaled", "clock" };
  int i;

  for (i = 0; i < (int)(sizeof kinds / sizeof kinds[0]) && strcmp(counter->kind, kinds[i]) != 0; i++)
    ;
  return i;
}

/* Returns the counter whose explanation says how to get a better count: the one in use, if it has a
   remedy, else the best counter that works but is slower, or does not work, and of equal ones that
   with a remedy; or NULL. */
static const struct cpucycles_counter_info *find_better(const struct library_info *library)
{
  const struct cpucycles_counter_info *counter, *best = NULL;
  int i, rank, least = library->selected ? rank_of(library->selected) : 0;

  if (library->selected && library->selected->remedy)
    return library->selected;
  for (i = 0; i < library->counter_count; i++) {
    counter = library->counters[i];
    rank = rank_of(counter);
    if (rank >= least || (!counter->explanation && counter->state == CPUCYCLES_DROPPED))
      continue;
    if (!counter->explanation)
      return counter;
    if (!best || (counter->remedy && !best->remedy)
      || (!counter->remedy == !best->remedy && rank < rank_of(best)))
      best = counter;
  }
  return best;
}

static void summarize_better(struct report *report)
{
  const struct cpucycles_counter_info *better = find_better(&report->library);

  if (!better)
    summarize(report, "better", "none: no counter of a better kind is built for this CPU");
  else if (better->explanation)
    summarize(report, "better", "%s%s", better == report->library.selected ? "" : "none here: ",
      better->explanation);
  else {
    summarize(report, "better", "%s: %s, but slower", better->name, better->count_unit);
    summarize(report, "enable", "CPUCYCLES_IMPLEMENTATION=%s", better->name);
  }
  if (better && better->remedy)
    summarize(report, "enable", "%s", better->remedy);
}

void judge_report(struct report *report)
{
  const struct cpucycles_counter_info *counter = report->library.selected;
  int i;

  report->warning_count = report->summary_count = 0;
  find_warnings(report);
  if (counter) {
    summarize_counter(report, counter);
    summarize_core(report, counter);
    summarize_read(report, results_of(report, counter->name));
    summarize_better(report);
  }
  for (i = 0; i < report->warning_count; i++) {
    int is_full = report->summary_count == SUMMARY_LINES;

    if (*report->warnings[i].advice)
      summarize(report, is_full ? NULL : "warning", "%s%s", is_full ? "; " : "",
        report->warnings[i].advice);
  }
}
