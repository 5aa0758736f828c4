/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints the report as one JSON document (RFC 8259), which follows cpucycles-info.schema.json.
   FORMAT stays if a member is added, and changes if a member changes its meaning. */

#include "config.h"

#include "cpucycles-info/print.h"

#include <stdio.h>
#include <string.h>

enum { FORMAT = 1 };

static int depth;    /* number of open objects and arrays */
static int is_first; /* 1 while the innermost open object or array has no members */

static void line(void)
{
  printf(is_first ? "\n%*s" : ",\n%*s", depth * 2, "");
  is_first = 0;
}

/* Returns the length of the UTF-8 sequence at `text`, whose first byte is not ASCII, or 0 if the
   sequence is not valid. */
static int sequence_length(const unsigned char *text)
{
  static const unsigned char least[] = { 0, 0, 0xc2, 0xe0, 0xf0 };
  int length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2, i;

  if (text[0] < least[length] || text[0] > 0xf4)
    return 0;
  for (i = 1; i < length; i++)
    if (text[i] < 0x80 || text[i] > 0xbf)
      return 0;
  if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f)
    || (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
    return 0;
  return length;
}

/* Prints a string. Escapes control characters, and replaces bytes that are not UTF-8, because files
   of the system can contain any bytes. */
static void string(const char *text)
{
  const unsigned char *at = (const unsigned char *)text;
  int length;

  putchar('"');
  while (*at) {
    length = *at < 0x80 ? 1 : sequence_length(at);
    if (*at == '"' || *at == '\\')
      printf("\\%c", *at);
    else if (*at < ' ' || *at == 127)
      printf("\\u%04x", *at);
    else if (length > 0)
      fwrite(at, 1, (size_t)length, stdout);
    else
      printf("\\ufffd");
    at += length > 0 ? length : 1;
  }
  putchar('"');
}

static void key(const char *name)
{
  line();
  string(name);
  printf(": ");
}

static void open_with(char bracket)
{
  putchar(bracket);
  depth++;
  is_first = 1;
}

static void close_with(char bracket)
{
  depth--;
  if (!is_first)
    printf("\n%*s", depth * 2, "");
  putchar(bracket);
  is_first = 0;
}

static void text_or_null(const char *name, const char *text)
{
  key(name);
  if (text && *text)
    string(text);
  else
    printf("null");
}

static void integer(const char *name, long long value)
{
  key(name);
  printf("%lld", value);
}

static void integer_or_null(const char *name, long long value)
{
  if (value != 0) {
    integer(name, value);
    return;
  }
  key(name);
  printf("null");
}

static void boolean_or_null(const char *name, int value)
{
  key(name);
  printf("%s", value < 0 ? "null" : value ? "true" : "false");
}

/* printf() writes a decimal point, because the tool does not set LC_NUMERIC. */
static void number(const char *name, double value)
{
  key(name);
  printf("%.6f", value);
}

static void number_or_null(const char *name, double value, int is_known)
{
  if (is_known)
    number(name, value);
  else
    text_or_null(name, NULL);
}

static void print_system(const struct system_info *system)
{
  key("system");
  open_with('{');
  text_or_null("kernel", system->kernel);
  text_or_null("release", system->release);
  text_or_null("architecture", system->architecture);
  integer("pointer_bits", system->pointer_bits);
  key("byte_order");
  string(system->little_endian ? "little" : "big");
  text_or_null("libc", system->libc);
  text_or_null("hypervisor", system->hypervisor);
  text_or_null("container", system->container);
  text_or_null("emulator", system->emulator);
  close_with('}');
}

static void print_cpu(const struct cpu_info *cpu)
{
  int i;

  key("cpu");
  open_with('{');
  text_or_null("model", cpu->model);
  integer_or_null("cpus", cpu->cpu_count);
  integer_or_null("cores", cpu->core_count);
  integer_or_null("allowed", cpu->allowed_count);
  key("types");
  open_with('[');
  for (i = 0; i < cpu->type_count; i++) {
    line();
    open_with('{');
    text_or_null("name", cpu->types[i].name);
    integer("cpus", cpu->types[i].count);
    close_with('}');
  }
  close_with(']');
  close_with('}');
}

static void print_frequency(const struct library_info *library)
{
  key("frequency");
  open_with('{');
  integer("persecond", library->persecond);
  text_or_null("source", library->frequency_source);
  text_or_null("ignored", library->frequency_ignored);
  close_with('}');
}

static void print_core(const struct core_info *core)
{
  long long persecond = core->persecond_after > 0 ? core->persecond_after : core->persecond_before;
  double cycles = cycles_per_counted_cycle(core, persecond);

  key("core");
  open_with('{');
  integer_or_null("persecond_before", core->persecond_before);
  integer_or_null("persecond_after", core->persecond_after);
  integer_or_null("counted_persecond", core->counted_persecond);
  boolean_or_null("counts_core_cycles", core->counts_core_cycles);
  number_or_null("cycles_per_counted_cycle", cycles, cycles > 0);
  close_with('}');
}

static void print_rate(const struct counter_results *results, const char *clock)
{
  key("rate");
  open_with('{');
  integer_or_null("reported", results->reported);
  text_or_null("reported_source", results->reported_source);
  key("measured");
  if (results->measured > 0)
    printf("%.0f", results->measured);
  else
    printf("null");
  number_or_null("uncertainty_ppm", results->uncertainty, results->measured > 0);
  number_or_null("off_ppm", rate_off_ppm(results), results->reported > 0 && results->measured > 0);
  number("seconds", results->seconds);
  key("clock");
  string(clock);
  close_with('}');
}

static void print_grain(const struct counter_results *results)
{
  key("grain");
  if (results->step == 0 || results->grain.units <= 1) {
    printf("null");
    return;
  }
  open_with('{');
  number("cycles", results->grain.units * results->scaling);
  number("units", results->grain.units);
  number("share", results->grain.share);
  close_with('}');
}

static void print_hops(const struct counter_results *results)
{
  key("across_cpus");
  if (results->cpu_count == 0) {
    printf("null");
    return;
  }
  open_with('{');
  integer("cpus", results->cpu_count);
  integer("hops", results->hop_count);
  boolean_or_null("monotonic", results->largest_step_back == 0);
  integer("largest_step_back", results->largest_step_back);
  close_with('}');
}

static void print_differences(const struct counter_results *results)
{
  key("differences");
  open_with('{');
  integer("count", results->difference_count);
  integer("below_zero", results->below_zero);
  integer("lowest", results->lowest);
  integer("lower_quartile", results->lower_quartile);
  integer("median", results->median);
  integer("upper_quartile", results->upper_quartile);
  integer("highest", results->highest);
  close_with('}');
}

static void print_results(const struct counter_results *results, const char *clock)
{
  key("timer");
  if (!results) {
    printf("null");
    return;
  }
  open_with('{');
  text_or_null("failure", results->failure);
  if (!*results->failure) {
    print_rate(results, clock);
    boolean_or_null("invariant", results->invariant);
    text_or_null("invariant_source", results->invariant_source);
    print_hops(results);
    integer("step", results->step);
    number("step_units", results->step_units);
    print_grain(results);
    key("read");
    open_with('{');
    number("cycles", results->read_cycles);
    number_or_null("nanoseconds", results->read_nanoseconds, results->read_nanoseconds > 0);
    close_with('}');
    integer("overhead", results->overhead);
    print_differences(results);
  }
  close_with('}');
}

static void print_counter(const struct report *report, const struct cpucycles_counter_info *counter)
{
  static const char *const states[] = { "dropped", "usable", "selected" };

  line();
  open_with('{');
  text_or_null("name", counter->name);
  text_or_null("summary", counter->summary);
  text_or_null("kind", counter->kind);
  text_or_null("scope", counter->scope);
  text_or_null("unit", counter->unit);
  text_or_null("count_unit", counter->count_unit);
  integer("width", counter->width);
  text_or_null("state", states[counter->state]);
  integer("score", counter->score);
  number("scaling", counter->scaling);
  text_or_null("reason", counter->reason);
  text_or_null("explanation", counter->explanation);
  integer_or_null("errno", counter->error_number);
  text_or_null("error", counter->error_number ? strerror(counter->error_number) : NULL);
  text_or_null("signal", counter->signal_number ? signal_name(counter->signal_number) : NULL);
  text_or_null("remedy", counter->remedy);
  print_results(results_of(report, counter->name), report->clock);
  close_with('}');
}

static void print_counters(const struct report *report)
{
  int i;

  key("counters");
  open_with('[');
  for (i = 0; i < report->library.counter_count; i++)
    print_counter(report, report->library.counters[i]);
  close_with(']');
}

static void print_iqm(const struct report *report)
{
  int i;

  key("iqm");
  open_with('{');
  integer("mean", report->mean);
  key("differences");
  printf("[");
  for (i = 0; i < IQM_DIFFERENCES; i++)
    printf("%s%lld", i ? ", " : "", report->iqm_differences[i]);
  printf("]");
  close_with('}');
}

static void print_observed(const struct report *report)
{
  int i;

  key("observed");
  open_with('[');
  for (i = 0; i < LOOP_RATES; i++) {
    const struct loop_rate *rate = &report->loop_rates[i];

    line();
    open_with('{');
    key("low");
    printf("%.0f", rate->low);
    key("high");
    printf("%.0f", rate->high);
    integer("loops", rate->loops);
    integer("microseconds", rate->microseconds);
    close_with('}');
  }
  close_with(']');
}

static void print_settings(const struct settings_info *settings)
{
  text_or_null("clock_source", settings->clock_source);
  text_or_null("clock_sources", settings->clock_sources);
  key("governor");
  if (*settings->governor) {
    open_with('{');
    text_or_null("name", settings->governor);
    integer("cpus", settings->governor_cpu_count);
    boolean_or_null("others", settings->other_governors);
    close_with('}');
  } else
    printf("null");
  boolean_or_null("turbo", settings->turbo);
}

static void print_warnings(const struct report *report)
{
  int i;

  key("warnings");
  open_with('[');
  for (i = 0; i < report->warning_count; i++) {
    line();
    string(report->warnings[i]);
  }
  close_with(']');
}

void print_json(const struct report *report)
{
  const struct library_info *library = &report->library;

  open_with('{');
  integer("format", FORMAT);
  text_or_null("version", library->version);
  text_or_null("implementation", library->implementation);
  text_or_null("implementation_ignored", library->implementation_ignored);
  print_frequency(library);
  print_core(&report->core);
  print_counters(report);
  print_iqm(report);
  print_observed(report);
  print_system(&report->system);
  print_cpu(&report->cpu);
  print_settings(&report->settings);
  print_warnings(report);
  close_with('}');
  printf("\n");
}
