/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints the facts of a report, as text or as one JSON document. Each fact is one call, with its
   key, its value and its words. The document follows cpucycles-info.schema.json. FORMAT stays if a
   member is added, and changes if a member changes its meaning. */

#include "config.h"

#include "cpucycles-info/child.h"
#include "cpucycles-info/report.h"

#include <limits.h>
#include <string.h>

enum { FORMAT = 1 };

/* Writes the lines of the public-domain cpucycles-info, in its form and order. */
static void write_usual_lines(const struct report *report, enum write_form form)
{
  const struct library_info *library = &report->library;
  const struct loop_rate *rate = report->loop_rates;
  int i;

  write_integer("format", 1, FORMAT, NULL, NULL);
  write_string("version", library->version, "\nversion ", "");
  write_fold(INT_MAX);
  if (form == WRITE_TEXT)
    cpucycles_tracesetup();
  write_words("\npersecond %lld", library->persecond);
  write_string("implementation", library->implementation, "\nimplementation ", "");
  write_open("iqm", '{');
  write_integer("mean", 1, report->mean, "\niqm ", " ");
  write_open("differences", '[');
  for (i = 0; i < IQM_DIFFERENCES; i++) {
    write_integer("", 1, report->iqm_differences[i], NULL, NULL);
    write_words("%+lld", report->iqm_differences[i] - report->mean);
  }
  write_close();
  write_close();
  write_open("observed", '[');
  for (i = 0; i < LOOP_RATES; i++, rate++) {
    write_open("", '{');
    write_number("low", 1, rate->low, 0, "\nobserved persecond ", "...");
    write_number("high", 1, rate->high, 0, "", "");
    write_integer("loops", 1, rate->loops, " with ", " loops");
    write_integer("microseconds", 1, rate->microseconds, " ", " microseconds");
    write_close();
  }
  write_close();
  write_fold(80);
}

static void write_system(const struct system_info *system)
{
  write_open("system", '{');
  write_words("\nsystem kernel%s", *system->kernel ? "" : " not known");
  write_string("kernel", system->kernel, " ", "");
  write_string("release", system->release, " ", "");
  write_words("\nsystem architecture%s", *system->architecture ? "" : " not known");
  write_string("architecture", system->architecture, " ", "");
  write_integer("pointer_bits", 1, system->pointer_bits, ", ", " bits");
  write_string("byte_order", system->little_endian ? "little" : "big", ", ", "-endian");
  write_string("libc", system->libc, "; libc ", "");
  write_words("\nsystem hypervisor%s", *system->hypervisor ? "" : " none found");
  write_string("hypervisor", system->hypervisor, " ", "");
  write_string("container", system->container, "; container ", "");
  write_string("emulator", system->emulator, "; emulator ", "");
  write_close();
}

static void write_cpu(const struct cpu_info *cpu)
{
  int i;

  write_open("cpu", '{');
  write_words("\ncpu model%s", *cpu->model ? "" : " not known");
  write_string("model", cpu->model, " ", "");
  write_integer("cpus", cpu->cpu_count > 0, cpu->cpu_count, "\ncpu cores ", " CPUs");
  write_integer("cores", cpu->core_count > 0, cpu->core_count, " on ", " cores");
  write_integer("allowed", cpu->allowed_count > 0, cpu->allowed_count,
    cpu->cpu_count > 0 ? ", " : NULL, " allowed here");
  write_open("types", '[');
  for (i = 0; i < cpu->type_count; i++) {
    write_open("", '{');
    write_string("name", cpu->types[i].name, "\ncpu type ", "");
    write_integer("cpus", 1, cpu->types[i].count, ": ", " CPUs");
    write_close();
  }
  write_close();
  write_close();
}

static void write_settings(const struct settings_info *settings)
{
  write_string("clock_source", settings->clock_source, "\nclock source ", "");
  write_string("clock_sources", settings->clock_sources,
    *settings->clock_source ? "; available: " : NULL, "");
  if (*settings->governor) {
    write_open("governor", '{');
    write_string("name", settings->governor, "\ngovernor ", "");
    write_integer("cpus", 1, settings->governor_cpu_count, " on ", " CPUs");
    write_truth("others", settings->other_governors, "", "", "; other CPUs have another");
    write_close();
  } else
    write_null("governor");
  write_truth("turbo", settings->turbo, NULL, "\nturbo off", "\nturbo on");
}

/* The estimate stands beside the frequency that was measured, so that a wrong one is seen. An idle
   core runs at a fraction of its estimate, so nothing warns. */
static void write_frequency(const struct report *report)
{
  const struct library_info *library = &report->library;
  long long core = report->core.persecond;

  write_open("frequency", '{');
  write_integer("persecond", 1, library->persecond, "\nfrequency estimate ", "");
  write_string("source", library->frequency_source, " from ", "");
  write_integer(NULL, core > 0, core, "; measured ", "");
  write_string("ignored", library->frequency_ignored, "; ignored: ", "");
  write_close();
  write_string("implementation_ignored", library->implementation_ignored,
    "\nignored in CPUCYCLES_IMPLEMENTATION: ", "");
}

static void write_core(const struct core_info *core)
{
  long long before = core->persecond_before, after = core->persecond_after;
  int counts = core->counts_core_cycles;

  write_open("core", '{');
  write_words("\ncore persecond%s", before > 0 || after > 0 ? "" : " not known");
  write_integer("persecond_before", before > 0, before, " ", " before");
  write_integer("persecond_after", after > 0, after, before > 0 ? ", " : " ", " after");
  write_integer("counted_persecond", core->counted_persecond != 0, core->counted_persecond, NULL,
    NULL);
  write_truth("counts_core_cycles", counts, "", "", "; core cycles are counted");
  write_number("cycles_per_counted_cycle", core->cycles_per_count > 0, core->cycles_per_count, 3,
    counts == 0 ? "; " : NULL, " per count");
  write_close();
}

static void write_rate(const struct counter_results *results, const char *clock)
{
  int is_reported = results->reported > 0, is_measured = results->measured > 0;

  write_open("rate", '{');
  write_words("\ntimer %s rate", results->name);
  write_integer("reported", is_reported, results->reported,
    is_contradicted(results) ? " not the reported " : " reported ", "");
  write_string("reported_source", results->reported_source, " by ", "");
  write_words("%s %smeasured", is_reported ? "," : "", is_measured ? "" : "not ");
  write_number("measured", is_measured, results->measured, 0, " ", "");
  write_number("uncertainty_ppm", is_measured, results->uncertainty, 1, " +-", " ppm");
  write_number("seconds", 1, results->seconds, 3, is_measured ? " in " : NULL, " s");
  write_string("clock", clock, NULL, NULL);
  write_number("off_ppm", is_reported && is_measured, rate_off_ppm(results), 1, ", off by ",
    " ppm");
  write_close();
}

static void write_core_ratio(const struct counter_results *results, const char *before)
{
  write_number("counts_per_core_cycle", results->has_core_ratio, results->counts_per_core_cycle, 2,
    before, " counts per core cycle");
}

static void write_hops(const struct counter_results *results)
{
  int is_known = results->cpu_count > 0, steps_back = results->largest_step_back > 0;

  write_words("\ntimer %s across CPUs%s", results->name, is_known ? "" : " not tried");
  if (!is_known) {
    write_null("across_cpus");
    return;
  }
  write_open("across_cpus", '{');
  write_truth("monotonic", !steps_back, "", " steps back", " monotonic");
  write_integer("largest_step_back", 1, results->largest_step_back,
    steps_back ? " by up to " : NULL, " cycles");
  write_integer("hops", 1, results->hop_count, ", in ", " moves");
  write_integer("cpus", 1, results->cpu_count, " between ", " CPUs");
  write_close();
}

static void write_step_and_grain(const struct counter_results *results)
{
  const struct grain *grain = &results->grain;
  int is_known = results->step > 0, scaled = results->scaled;

  write_words("\ntimer %s step%s", results->name, is_known ? "" : " not found");
  write_integer("step", 1, results->step, is_known ? " " : NULL, " cycles");
  write_number("step_units", 1, results->step_units, 6, NULL, NULL);
  if (is_known && scaled)
    write_words(", %.0f of its units", results->step_units);
  if (!is_known || grain->units <= 1) {
    write_null("grain");
    write_words("%s", is_known ? "; no grain above 1" : "");
    return;
  }
  write_open("grain", '{');
  write_number("cycles", 1, (double)grain->units * results->scaling, scaled, "; grain ", " cycles");
  write_integer("units", 1, grain->units, scaled ? ", " : NULL, " of its units");
  write_number("share", 1, grain->share, 3, ", share ", "");
  write_close();
}

static void write_costs(const struct counter_results *results)
{
  int is_timed = results->read_nanoseconds > 0;

  write_open("read", '{');
  write_words("\ntimer %s read", results->name);
  write_number("cycles", 1, results->read_cycles, 1, " ", " cycles");
  write_number("nanoseconds", is_timed, results->read_nanoseconds, 1, ", ", " ns");
  write_words("%s", is_timed ? "" : ", time not measured");
  write_close();
  write_integer("overhead", 1, results->overhead, "; section overhead ", " cycles");
}

static void write_differences(const struct counter_results *results)
{
  write_open("differences", '{');
  write_words("\ntimer %s differences", results->name);
  write_integer("lowest", 1, results->lowest, " ", "");
  write_integer("lower_quartile", 1, results->lower_quartile, " ", "");
  write_integer("median", 1, results->median, " ", "");
  write_integer("upper_quartile", 1, results->upper_quartile, " ", "");
  write_integer("highest", 1, results->highest, " ", "");
  write_integer("below_zero", 1, results->below_zero, ", ", "");
  write_integer("count", 1, results->difference_count, " of ", " below 0");
  write_close();
}

static void write_results(const struct counter_results *results,
  const struct cpucycles_counter_info *counter, const char *clock)
{
  if (!results) {
    write_null("timer");
    return;
  }
  write_open("timer", '{');
  if (*results->failure)
    write_words("\ntimer %s not examined", results->name);
  write_string("failure", results->failure, ": ", "");
  if (!*results->failure) {
    write_words("\ntimer %s unit %s; kind %s, scope %s", counter->name, counter->unit,
      counter->kind, counter->scope);
    write_core_ratio(results, "; ");
    write_rate(results, clock);
    write_words("\ntimer %s invariant", results->name);
    write_truth("invariant", results->invariant, " not known", " no", " yes");
    write_string("invariant_source", results->invariant_source, " (", ")");
    write_hops(results);
    write_step_and_grain(results);
    write_costs(results);
    write_differences(results);
  }
  write_close();
}

/* Writes the main figures of a counter that is not in use. */
static void write_figures(const struct counter_results *results,
  const struct cpucycles_counter_info *counter)
{
  double rate = results->measured > 0 ? results->measured : (double)results->reported;

  write_words("\ntimer %s %s", results->name, counter->kind);
  write_number(NULL, rate > 0, rate, 0, ", ", " Hz");
  write_core_ratio(results, ", ");
  write_number(NULL, results->read_nanoseconds > 0, results->read_nanoseconds, 1, ", read ", " ns");
  write_integer(NULL, 1, counter->score, ", score ", "");
}

static int are_equal(const char *one, const char *other)
{
  return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Returns the first counter with the reason, explanation and remedy of this one. */
static const struct cpucycles_counter_info *first_alike(const struct library_info *library,
  const struct cpucycles_counter_info *counter)
{
  const struct cpucycles_counter_info *const *first = library->counters;

  while (*first != counter
    && !(are_equal((*first)->reason, counter->reason)
      && are_equal((*first)->explanation, counter->explanation)
      && are_equal((*first)->remedy, counter->remedy)))
    first++;
  return *first;
}

/* In the text, only the first of several counters has what they share. */
static void write_reason(const struct library_info *library,
  const struct cpucycles_counter_info *counter, enum write_form form)
{
  const struct cpucycles_counter_info *first = first_alike(library, counter);
  int error = counter->error_number, signal = counter->signal_number;
  int is_repeated = first != counter && form == WRITE_TEXT;

  /* if the score is 0, no counter passed its trial, and the library uses this counter as the last
     resort */
  if (counter->reason)
    write_words("\n%s %s", counter->state == CPUCYCLES_DROPPED ? "dropped"
      : counter->score > 0 ? "note" : "last resort", counter->name);
  write_string("reason", counter->reason, " ", ":");
  if (is_repeated)
    write_words(" like %s", first->name);
  write_string("explanation", is_repeated ? NULL : counter->explanation, " ", "");
  write_integer("errno", error != 0, error, NULL, NULL);
  write_string("signal", signal ? signal_name(signal) : NULL, " (", ")");
  write_string("error", error ? strerror(error) : NULL,
    is_repeated && error == first->error_number ? NULL : " (", ")");
  write_string("remedy", is_repeated ? NULL : counter->remedy, "; remedy: ", "");
}

static void write_counters(const struct report *report)
{
  static const char *const states[] = { "dropped", "usable", "selected" };
  int i;

  write_open("counters", '[');
  for (i = 0; i < report->library.counter_count; i++) {
    const struct cpucycles_counter_info *counter = report->library.counters[i];

    write_open("", '{');
    write_string("name", counter->name, NULL, NULL);
    write_string("summary", counter->summary, NULL, NULL);
    write_string("kind", counter->kind, NULL, NULL);
    write_string("scope", counter->scope, NULL, NULL);
    write_string("unit", counter->unit, NULL, NULL);
    write_string("count_unit", counter->count_unit, NULL, NULL);
    write_integer("width", 1, counter->width, NULL, NULL);
    write_string("state", states[counter->state], NULL, NULL);
    write_integer("score", 1, counter->score, NULL, NULL);
    write_number("scaling", 1, counter->scaling, 6, NULL, NULL);
    write_reason(&report->library, counter, WRITE_JSON);
    write_results(results_of(report, counter->name), counter, report->clock);
    write_close();
  }
  write_close();
}

static void write_lines_of_counters(const struct report *report, int all)
{
  const struct library_info *library = &report->library;
  int i;

  for (i = 0; i < library->counter_count; i++) {
    const struct cpucycles_counter_info *counter = library->counters[i];
    const struct counter_results *results = results_of(report, counter->name);

    if (all || counter == library->selected || (results && *results->failure))
      write_results(results, counter, report->clock);
    else if (results)
      write_figures(results, counter);
  }
  for (i = 0; i < library->counter_count; i++)
    if (library->counters[i]->reason)
      write_reason(library, library->counters[i], WRITE_TEXT);
}

static void write_warnings(const struct report *report)
{
  int i;

  write_open("warnings", '[');
  for (i = 0; i < report->warning_count; i++) {
    write_string("", report->warnings[i].text, "\nwarning ", "");
  }
  write_close();
}

static void write_surroundings(const struct report *report)
{
  write_system(&report->system);
  write_cpu(&report->cpu);
  write_settings(&report->settings);
}

void print_surroundings(const struct report *report)
{
  write_begin(WRITE_TEXT);
  write_surroundings(report);
  write_end();
}

void print_report(const struct report *report, enum write_form form, int all)
{
  write_begin(form);
  write_usual_lines(report, form);
  write_surroundings(report);
  write_frequency(report);
  write_core(&report->core);
  if (form == WRITE_JSON)
    write_counters(report);
  else
    write_lines_of_counters(report, all);
  if (form == WRITE_JSON || all)
    write_warnings(report);
  if (form == WRITE_TEXT)
    write_summary(report);
  write_end();
}
