/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints the report as plain lines that begin with "cpucycles". The lines of the
   public-domain cpucycles-info come first, in its form and order. */

#include "config.h"

#include "cpucycles-info/print.h"

#include <stdio.h>
#include <string.h>

/* Prints the line that cpucycles_tracesetup() prints, with an equally rounded scale factor. */
static void print_trace(int number, const struct cpucycles_counter_info *counter)
{
  long long millionths = (long long)(counter->scaling * 1e6 + 0.5);

  printf("cpucycles tracesetup %d %s precision %lld scaling %lld.%06lld only32 %d\n", number,
    counter->name, counter->score, millionths / 1000000, millionths % 1000000,
    counter->width == 32);
}

static void print_selection(const struct library_info *library)
{
  int i;

  printf("cpucycles version %s\n", library->version);
  for (i = 0; i < library->counter_count; i++)
    print_trace(i, library->counters[i]);
  printf("cpucycles persecond %lld\n", library->persecond);
  printf("cpucycles implementation %s\n", library->implementation);
}

static void print_iqm(const struct report *report)
{
  int i;

  printf("cpucycles iqm %lld ", report->mean);
  for (i = 0; i < IQM_DIFFERENCES; i++)
    printf("%+lld", report->iqm_differences[i] - report->mean);
  printf("\n");
}

static void print_observed(const struct report *report)
{
  int i;

  for (i = 0; i < LOOP_RATES; i++) {
    const struct loop_rate *rate = &report->loop_rates[i];

    printf("cpucycles observed persecond %.0f...%.0f with %lld loops %lld microseconds\n",
      rate->low, rate->high, rate->loops, rate->microseconds);
  }
}

static const char *text_or(const char *text, const char *none)
{
  return *text ? text : none;
}

static void print_system(const struct system_info *system)
{
  printf("cpucycles system kernel %s%s%s\n", text_or(system->kernel, "not known"),
    *system->release ? " " : "", system->release);
  printf("cpucycles system architecture %s, %d bits, %s-endian\n",
    text_or(system->architecture, "not known"),
    system->pointer_bits, system->little_endian ? "little" : "big");
  printf("cpucycles system libc %s\n", text_or(system->libc, "not known"));
  printf("cpucycles system hypervisor %s\n", text_or(system->hypervisor, "none found"));
  printf("cpucycles system container %s\n", text_or(system->container, "none found"));
  printf("cpucycles system emulator %s\n", text_or(system->emulator, "none found"));
}

static void print_cpu(const struct cpu_info *cpu)
{
  int i;

  printf("cpucycles cpu model %s\n", text_or(cpu->model, "not known"));
  if (cpu->cpu_count > 0) {
    printf("cpucycles cpu cores %d CPUs", cpu->cpu_count);
    if (cpu->core_count > 0)
      printf(" on %d cores", cpu->core_count);
    if (cpu->allowed_count > 0)
      printf(", %d allowed here", cpu->allowed_count);
    printf("\n");
  }
  for (i = 0; i < cpu->type_count; i++)
    printf("cpucycles cpu type %s: %d CPUs\n", cpu->types[i].name, cpu->types[i].count);
}

static void print_frequency(const struct library_info *library)
{
  printf("cpucycles frequency source %s", library->frequency_source);
  if (library->frequency_ignored)
    printf("; ignored: %s", library->frequency_ignored);
  printf("\n");
}

static void print_core(const struct core_info *core)
{
  double first = cycles_per_counted_cycle(core, core->persecond_before);
  double last = cycles_per_counted_cycle(core, core->persecond_after);

  printf("cpucycles core persecond ");
  if (core->persecond_before <= 0 && core->persecond_after <= 0) {
    printf("not known\n");
    return;
  }
  if (core->persecond_before > 0)
    printf("%lld before the other measurements, ", core->persecond_before);
  else
    printf("not known before the other measurements, ");
  if (core->persecond_after > 0)
    printf("%lld after them", core->persecond_after);
  else
    printf("not known after them");
  if (core->counts_core_cycles)
    printf("; the counter in use counts core cycles");
  else if (first > 0 && last > 0 && (first > 1.02 * last || last > 1.02 * first))
    printf("; one counted cycle was %.3f core cycles, and then %.3f", first, last);
  else if (first > 0 || last > 0)
    printf("; one counted cycle is %.3f core cycles", last > 0 ? last : first);
  printf("\n");
}

static void print_ignored(const struct library_info *library)
{
  if (library->implementation_ignored)
    printf("cpucycles ignored in CPUCYCLES_IMPLEMENTATION: %s\n", library->implementation_ignored);
}

static void print_unit(const struct cpucycles_counter_info *counter)
{
  printf("cpucycles timer %s counts %s; kind %s, scope %s\n", counter->name, counter->unit,
    counter->kind, counter->scope);
}

static void print_rate(const struct counter_results *results, const char *clock)
{
  printf("cpucycles timer %s rate ", results->name);
  if (results->reported > 0)
    printf("reported %lld%s%s, ", results->reported, *results->reported_source ? " by " : "",
      results->reported_source);
  else
    printf("not reported, ");
  if (results->measured > 0)
    printf("measured %.0f +-%.1f ppm in %.3f s against %s", results->measured, results->uncertainty,
      results->seconds, clock);
  else
    printf("not measured");
  if (results->reported > 0 && results->measured > 0)
    printf(", %+.1f ppm off", rate_off_ppm(results));
  printf("\n");
}

static void print_invariance(const struct counter_results *results)
{
  static const char *const answers[] = { "not known", "no", "yes" };

  printf("cpucycles timer %s invariant %s", results->name, answers[results->invariant + 1]);
  if (*results->invariant_source)
    printf(" (%s)", results->invariant_source);
  printf("\n");
}

static void print_hops(const struct counter_results *results)
{
  printf("cpucycles timer %s across CPUs ", results->name);
  if (results->cpu_count == 0)
    printf("not tried\n");
  else if (results->largest_step_back > 0)
    printf("steps back by up to %lld cycles, in %d moves between %d CPUs\n",
      results->largest_step_back, results->hop_count, results->cpu_count);
  else
    printf("monotonic, in %d moves between %d CPUs\n", results->hop_count, results->cpu_count);
}

static void print_step_and_grain(const struct counter_results *results)
{
  if (results->step == 0) {
    printf("cpucycles timer %s step not found\n", results->name);
    return;
  }
  printf("cpucycles timer %s step %lld cycles", results->name, results->step);
  if (results->scaled)
    printf(", %.0f of its units", results->step_units);
  if (results->grain.units > 1) {
    printf("; grain %.1f cycles", results->grain.units * results->scaling);
    if (results->scaled)
      printf(", %.1f of its units", results->grain.units);
    printf(", in %.1f %% of differences", results->grain.share * 100);
  } else
    printf("; no grain above 1%s found", results->scaled ? " of its units" : "");
  printf("\n");
}

static void print_results(const struct report *report, const struct cpucycles_counter_info *counter)
{
  const struct counter_results *results = results_of(report, counter->name);

  if (!results)
    return;
  if (*results->failure) {
    printf("cpucycles timer %s not examined: %s\n", results->name, results->failure);
    return;
  }
  print_unit(counter);
  print_rate(results, report->clock);
  print_invariance(results);
  print_hops(results);
  print_step_and_grain(results);
  printf("cpucycles timer %s read %.1f cycles", results->name, results->read_cycles);
  if (results->read_nanoseconds > 0)
    printf(", %.1f ns\n", results->read_nanoseconds);
  else
    printf(", time not measured\n");
  printf("cpucycles timer %s overhead of a section %lld cycles\n", results->name,
    results->overhead);
  printf("cpucycles timer %s differences %lld %lld %lld %lld %lld, %d of %d below 0\n",
    results->name, results->lowest, results->lower_quartile, results->median,
    results->upper_quartile, results->highest, results->below_zero, results->difference_count);
}

static const char *reason_label(const struct cpucycles_counter_info *counter)
{
  if (counter->state == CPUCYCLES_DROPPED)
    return "dropped";
  /* if the score is 0, no counter passed its trial, and the library uses this counter as the last
     resort */
  return counter->score > 0 ? "note" : "last resort";
}

static int are_equal(const char *one, const char *other)
{
  return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Returns the first counter with the reason, explanation, signal, error and remedy of counter i. If
   no earlier counter has them, this is counter i itself. */
static const struct cpucycles_counter_info *first_alike(const struct library_info *library, int i)
{
  const struct cpucycles_counter_info *counter = library->counters[i], *first;
  int j;

  for (j = 0; j < i; j++) {
    first = library->counters[j];
    if (are_equal(first->reason, counter->reason)
      && are_equal(first->explanation, counter->explanation)
      && are_equal(first->remedy, counter->remedy)
      && first->signal_number == counter->signal_number
      && first->error_number == counter->error_number)
      return first;
  }
  return counter;
}

static void print_explanation(const struct cpucycles_counter_info *counter)
{
  printf("%s", counter->explanation);
  if (counter->signal_number)
    printf(" (%s)", signal_name(counter->signal_number));
  if (counter->error_number)
    printf(" (%s)", strerror(counter->error_number));
  if (counter->remedy)
    printf("; remedy: %s", counter->remedy);
}

static void print_reasons(const struct library_info *library)
{
  int i;

  for (i = 0; i < library->counter_count; i++) {
    const struct cpucycles_counter_info *counter = library->counters[i];
    const struct cpucycles_counter_info *first = first_alike(library, i);

    if (!counter->reason)
      continue;
    printf("cpucycles %s %s %s: ", reason_label(counter), counter->name, counter->reason);
    if (first == counter)
      print_explanation(counter);
    else
      printf("like %s", first->name);
    printf("\n");
  }
}

static void print_settings(const struct settings_info *settings)
{
  if (*settings->clock_source)
    printf("cpucycles clock source %s; available: %s\n", settings->clock_source,
      text_or(settings->clock_sources, "not known"));
  if (*settings->governor)
    printf("cpucycles governor %s on %d CPUs%s\n", settings->governor, settings->governor_cpu_count,
      settings->other_governors ? "; other CPUs have another" : "");
  if (settings->turbo >= 0)
    printf("cpucycles turbo %s\n", settings->turbo ? "on" : "off");
}

void print_text_of_surroundings(const struct report *report)
{
  print_system(&report->system);
  print_cpu(&report->cpu);
  print_settings(&report->settings);
}

void print_text(const struct report *report)
{
  int i;

  print_selection(&report->library);
  print_iqm(report);
  print_observed(report);
  print_system(&report->system);
  print_cpu(&report->cpu);
  print_frequency(&report->library);
  print_ignored(&report->library);
  print_core(&report->core);
  for (i = 0; i < report->library.counter_count; i++)
    print_results(report, report->library.counters[i]);
  print_reasons(&report->library);
  print_settings(&report->settings);
  for (i = 0; i < report->warning_count; i++)
    printf("cpucycles warning %s\n", report->warnings[i]);
}
