/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fills the warnings: one sentence for each condition that can distort a measurement on this
   machine. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3)))
static void warn(struct report *report, const char *format, ...)
{
  va_list arguments;

  if (report->warning_count == WARNINGS)
    return;
  va_start(arguments, format);
  vsnprintf(report->warnings[report->warning_count++], sizeof report->warnings[0], format,
    arguments);
  va_end(arguments);
}

static void warn_about_kind(struct report *report, const struct cpucycles_counter_info *counter)
{
  if (strcmp(counter->kind, "clock") == 0)
    warn(report,
      "%s is an operating-system clock: its cycles are converted time, not counted cycles",
      counter->name);
  if (strcmp(counter->kind, "none") == 0)
    warn(report, "no counter works here");
}

/* Warns about counts that are not core cycles, because users publish them as core cycles. */
static void warn_about_core(struct report *report, const struct cpucycles_counter_info *counter)
{
  const struct core_info *core = &report->core;
  long long persecond = core->persecond_after > 0 ? core->persecond_after : core->persecond_before;
  double cycles = cycles_per_counted_cycle(core, persecond);
  int is_reference = strcmp(counter->kind, "reference") == 0;

  if (core->counts_core_cycles || cycles <= 0 || (cycles > 0.98 && cycles < 1.02))
    return;
  warn(report,
    "%s counts %lld cycles per second, but the core runs at %lld Hz: core cycles = counted cycles "
    "* %.3f while the core keeps this frequency. Report the counts as %s cycles (%s, %lld per "
    "second), not as core cycles",
    counter->name, core->counted_persecond, persecond, cycles,
    is_reference ? "reference" : "scaled", counter->name, core->counted_persecond);
}

/* Warns about changes of the core frequency, which change the ratio of core cycles to time and to
   the count of any counter that does not count core cycles. */
static void warn_about_frequency(struct report *report,
  const struct cpucycles_counter_info *counter)
{
  const struct settings_info *settings = &report->settings;
  const char *effect = counts_core_cycles(counter)
    ? "the same work takes more or less time from run to run"
    : "the number of core cycles per counted cycle varies";

  if (*settings->governor && strcmp(settings->governor, "performance") != 0)
    warn(report, "the governor %s can change the core frequency: %s", settings->governor, effect);
  if (settings->turbo == 1)
    warn(report, "turbo is on and can change the core frequency: %s", effect);
}

/* Warns about a watchdog that was switched on after the selection. If the watchdog is on during the
   selection, the library drops amd64-pmcff. */
static void warn_about_watchdog(struct report *report, const struct cpucycles_counter_info *counter)
{
  if (report->settings.nmi_watchdog && strcmp(counter->name, "amd64-pmcff") == 0)
    warn(report,
      "the kernel's NMI watchdog sets %s back, usually every ten seconds: counts can be too small, "
      "or below 0. Turn it off: sysctl kernel.nmi_watchdog=0", counter->name);
}

static void warn_about_clock_source(struct report *report)
{
  static const char *const slow[] = { "hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies" };
  const struct settings_info *settings = &report->settings;
  size_t i;

  for (i = 0; i < sizeof slow / sizeof slow[0]; i++)
    if (strcmp(settings->clock_source, slow[i]) == 0)
      warn(report,
        "the clock source %s is slow and coarse: measurements against the OS clock are less exact",
        slow[i]);
}

static void warn_about_results(struct report *report, const struct counter_results *results,
  const struct cpucycles_counter_info *counter)
{
  double off = rate_off_ppm(results), size = off < 0 ? -off : off;

  if (results->measured > 0 && size > 10000 && size > results->uncertainty)
    warn(report,
      "%s counts %.0f units per second instead of the reported %lld: this is typical of emulators",
      results->name, results->measured, results->reported);
  if (strcmp(counter->scope, "system") == 0 && results->largest_step_back > 0)
    warn(report,
      "%s differs between CPUs, by %lld cycles or more: a migration can make it step back",
      results->name, results->largest_step_back);
  if (results->below_zero > 0)
    warn(report, "%s stepped back in %d of %d adjacent reads", results->name, results->below_zero,
      results->difference_count);
  if (results->invariant == 0 && strcmp(counter->kind, "reference") == 0)
    warn(report, "%s does not have a constant rate (%s)", results->name, results->invariant_source);
}

void find_warnings(struct report *report)
{
  const struct cpucycles_counter_info *counter = report->library.selected;
  const struct counter_results *results;
  int i;

  if (counter) {
    warn_about_kind(report, counter);
    warn_about_core(report, counter);
    warn_about_frequency(report, counter);
    warn_about_watchdog(report, counter);
  }
  warn_about_clock_source(report);
  for (i = 0; i < report->library.counter_count; i++) {
    counter = report->library.counters[i];
    results = results_of(report, counter->name);
    if (results)
      warn_about_results(report, results, counter);
  }
}
