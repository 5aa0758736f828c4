/* SPDX-License-Identifier: 0BSD OR MIT */
/* Judges a report: what the counter in use counts, and the warnings, one sentence for each
   condition that can distort a measurement on this machine. */

#include "config.h"

#include "cpucycles-info/report.h"
#include "sys/dependent-add.h"
#include "sys/diagnosis.h"
#include "sys/perf/pmu.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const reason_codes[] = {
  [CPUC_REASON_NONE] = "",
#define CPUC_REASON(id, code, sentence) [CPUC_REASON_##id] = (code),
#include "sys/reasons.def"
#undef CPUC_REASON
};

const struct counter_results *results_of(const struct report *report, const char *counter)
{
  int i;

  for (i = 0; i < report->result_count; i++)
    if (strcmp(report->results[i].name, counter) == 0)
      return &report->results[i];
  return NULL;
}

/* Returns 1 if a measurement contradicts that the counter counts core cycles. The windows are long,
   so the count is certain, and the upper bound is lower than in the selection. */
static int is_core_ratio_off(const struct counter_results *results)
{
  double thousandths = results->counts_per_core_cycle * 1000 + 0.5;

  return results->has_core_ratio
    && (!(thousandths <= CPUC_DEPENDENT_ADD_USUALLY_HIGHEST)
      || !cpuc_dependent_add_fits((long long)thousandths, 1));
}

/* The counter in use and its results may be NULL. */
static void judge_core(struct core_info *core, const struct cpucycles_counter_info *counter,
  const struct counter_results *results)
{
  long long counted = core->counted_persecond;

  core->persecond = core->persecond_after > 0 ? core->persecond_after : core->persecond_before;
  core->cycles_per_count = counted > 0 ? (double)core->persecond / (double)counted : 0;
  core->counts_core_cycles = counter && is_of_core_cycles(counter) ? -1 : 0;
  if (!results || !results->has_core_ratio)
    return;
  core->cycles_per_count
    = results->counts_per_core_cycle > 0 ? 1 / results->counts_per_core_cycle : 0;
  core->counts_core_cycles = !is_core_ratio_off(results);
}

double rate_off_ppm(const struct counter_results *results)
{
  if (results->reported <= 0 || results->measured <= 0)
    return 0;
  return (results->measured - (double)results->reported) / (double)results->reported * 1e6;
}

int is_contradicted(const struct counter_results *results)
{
  double off = rate_off_ppm(results), size = off < 0 ? -off : off;

  return size > 10000 && size > results->uncertainty;
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
    if (kind >= least
      || (counter->reason && strcmp(counter->reason, reason_codes[CPUC_REASON_NOT_ASKED]) == 0)
      || (!counter->explanation && counter->state == CPUCYCLES_DROPPED))
      continue;
    if (!counter->explanation)
      return counter;
    if (!best || (counter->remedy && !best->remedy)
      || (!counter->remedy == !best->remedy && kind < cpuc_kind_named(best->kind)))
      best = counter;
  }
  return best;
}

void judge_better(struct better_info *better, const struct library_info *library,
  const char *in_use)
{
  const struct cpucycles_counter_info *counter = library->selected;
  int is_automatic = counter && strcmp(counter->name, in_use) != 0;

  memset(better, 0, sizeof *better);
  if (!is_automatic)
    counter = find_better(library);
  if (!counter)
    strcpy(better->found, "none: no counter of a better kind is built for this CPU");
  else if (counter->explanation && !is_automatic)
    snprintf(better->found, sizeof better->found, "%s%s",
      counter == library->selected ? "" : "none here: ", counter->explanation);
  else
    snprintf(better->found, sizeof better->found, "%s: %s%s", counter->name, counter->count_unit,
      is_automatic ? "" : ", but slower");
  if (is_automatic)
    strcpy(better->remedy, "leave out -c, or unset CPUCYCLES_IMPLEMENTATION");
  else if (counter && !counter->explanation)
    snprintf(better->remedy, sizeof better->remedy, "CPUCYCLES_IMPLEMENTATION=%s", counter->name);
  else if (counter && counter->remedy)
    snprintf(better->remedy, sizeof better->remedy, "%s", counter->remedy);
}

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
  const struct core_info *core = &report->core;
  double cycles = core->cycles_per_count;
  char advice[80];

  if (cpuc_kind_named(counter->kind) == CPUC_KIND_CLOCK)
    warn(report, "compare the counts as times: they are not counted cycles",
      "%s is an operating-system clock: its cycles are converted time, not counted cycles",
      counter->name);
  if (cpuc_kind_named(counter->kind) == CPUC_KIND_NONE)
    warn(report, "do not measure here: no counter works", "no counter works here");
  if (is_of_core_cycles(counter) || cycles <= 0 || (cycles > 0.98 && cycles < 1.02))
    return;
  snprintf(advice, sizeof advice, "the counts are %s: multiply by %.2f for core cycles", unit,
    cycles);
  warn(report, advice,
    "%s counts %lld cycles per second, but the core runs at %lld Hz: core cycles = counted cycles "
    "* %.3f while the core keeps this frequency. Report the counts as %s (%s, %lld per second), "
    "not as core cycles", counter->name, core->counted_persecond, core->persecond, cycles,
    unit, counter->name, core->counted_persecond);
}

/* Warns about settings that change the core frequency, and with it the ratio of core cycles to time
   and to the count of any counter that does not count core cycles, or that change the count. */
static void warn_about_settings(struct report *report, const struct cpucycles_counter_info *counter)
{
  const struct settings_info *settings = &report->settings;
  const char *effect = is_of_core_cycles(counter)
    ? "the same work takes more or less time from run to run"
    : "the number of core cycles per counted cycle varies";

  if (*settings->governor && strcmp(settings->governor, "performance") != 0)
    warn(report, "set the governor performance",
      "the governor %s can change the core frequency: %s", settings->governor, effect);
  if (settings->turbo == 1)
    warn(report, "turn turbo off", "turbo is on and can change the core frequency: %s", effect);
  /* if the watchdog is on during the selection, the library drops amd64-pmcff */
  if (settings->nmi_watchdog && strcmp(counter->name, "amd64-pmcff") == 0)
    warn(report, "turn the watchdog off: " CPUC_PERF_PMU_WATCHDOG_OFF,
      "the kernel's NMI watchdog sets %s back, usually every ten seconds: counts can be too small, "
      "or below 0. Turn it off: " CPUC_PERF_PMU_WATCHDOG_OFF, counter->name);
}

/* Warns about what runs this process: an emulator, a slow clock, and a filter that does not refuse
   calls with an errno, but with a signal, which ends most programs. */
static void warn_about_surroundings(struct report *report)
{
  static const char *const slow[] = { "hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies" };
  const char *emulator = report->system.emulator;
  const char *calls = report->system.trapped_calls;
  char advice[256];
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
  if (results->invariant == 0 && cpuc_kind_named(counter->kind) == CPUC_KIND_REFERENCE)
    warn(report, is_in_use ? "keep the frequency of the core constant" : NULL,
      "%s does not have a constant rate (%s)", results->name, results->invariant_source);
}

void judge_report(struct report *report)
{
  const struct cpucycles_counter_info *counter = report->library.selected;
  const struct counter_results *results = counter ? results_of(report, counter->name) : NULL;
  int i;

  report->warning_count = 0;
  if (!report->is_limited && counter)
    judge_better(&report->better, &report->library, counter->name);
  judge_core(&report->core, counter, results);
  if (counter) {
    warn_about_unit(report, counter);
    warn_about_settings(report, counter);
  }
  warn_about_surroundings(report);
  for (i = 0; i < report->library.counter_count; i++) {
    results = results_of(report, report->library.counters[i]->name);
    if (results && !*results->failure)
      warn_about_results(report, results, report->library.counters[i]);
  }
}
