/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the printers' output, line by line, for fake reports and counters, including properties
   that few machines have. info.sh and report.py in tests/scripts test order and completeness on
   the tool. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include "tests/suites/child.h"
#include "tests/suites/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define CORE(before, after, counted) \
  { .persecond_before = before, .persecond_after = after, .counted_persecond = counted }

static struct report report = { .clock = "CLOCK",
  .library = { .version = "20261121", .implementation = "fake", .frequency_source = "nowhere" } };
static struct counter_results fake_results[2];
static struct cpucycles_counter_info counters[4];

/* Puts these rows into the report as the library's counters. */
static void set_counters(const struct cpucycles_counter_info *rows, int count)
{
  struct library_info *library = &report.library;
  int i;

  library->counter_count = count;
  library->selected = NULL;
  for (i = 0; i < count; i++) {
    counters[i] = rows[i];
    library->counters[i] = &counters[i];
    if (rows[i].state == CPUCYCLES_SELECTED && !library->selected)
      library->selected = &counters[i];
  }
}

/* Prints what `body` prints of the judged report, and joins lines that are folded. */
static void print(void (*body)(const struct report *))
{
  char *fold;

  judge_report(&report);
  capture_begin(stdout);
  body(&report);
  capture_end();
  while ((fold = strstr(captured, "\n    ")) != NULL && *captured == 'c')
    memmove(fold, fold + 4, strlen(fold + 4) + 1), *fold = ' ';
}

static void print_all(const struct report *printed)
{
  print_report(printed, WRITE_TEXT, 1);
}

static void print_short(const struct report *printed)
{
  print_report(printed, WRITE_TEXT, 0);
}

static void print_json(const struct report *printed)
{
  print_report(printed, WRITE_JSON, 0);
}

/* Expects this part of the document, which is compared without indents and line ends.
   tests/scripts/report.py validates the whole document against the schema. */
static void expect_json(const char *part)
{
  static char dense[sizeof captured];
  const char *from;
  char *to = dense;

  for (from = captured; *from; from++) {
    if (*from != '\n')
      *to++ = *from;
    else
      from += strspn(from, "\n ") - 1;
  }
  *to = 0;
  ck_assert_msg(strstr(dense, part) != NULL, "not printed: %s\nin:\n%s", part, dense);
}

/* Expects this whole line. */
static void expect(const char *line)
{
  char whole[400];

  snprintf(whole, sizeof whole, "\n%s\n", line);
  ck_assert_msg(strstr(captured, whole) != NULL, "not printed: %s\nin:\n%s", line, captured);
}

TEST(trace_lines_are_those_of_the_library)
{
  static char library_printed[sizeof captured];
  const char *trace;

  fill_library(&report.library);
  capture_begin(stdout);
  cpucycles_tracesetup();
  capture_end();
  strcpy(library_printed, captured);
  ck_assert_int_eq(strncmp(library_printed, "cpucycles tracesetup 0 ", 23), 0);
  print(print_all);
  trace = strchr(captured, '\n') + 1; /* after the version */
  ck_assert_int_eq(strncmp(trace, library_printed, strlen(library_printed)), 0);
  ck_assert_int_eq(strncmp(trace + strlen(library_printed), "cpucycles persecond ", 20), 0);
}

TEST(cpu_governor_turbo_and_clock_source_are_printed)
{
  struct settings_info state = { .clock_source = "tsc", .clock_sources = "tsc hpet",
    .governor = "powersave",
    .governor_cpu_count = 3, .other_governors = 1, .turbo = 1 };

  report.settings = state;
  strcpy(report.system.kernel, "Linux");
  strcpy(report.cpu.model, "Some CPU");
  report.cpu.cpu_count = 8;
  report.cpu.core_count = 6;
  report.cpu.allowed_count = 4;
  report.cpu.type_count = 2;
  strcpy(report.cpu.types[0].name, "cpu_core");
  report.cpu.types[0].count = 2;
  strcpy(report.cpu.types[1].name, "cpu_atom");
  report.cpu.types[1].count = 6;
  print(print_surroundings);
  ck_assert_int_eq(strncmp(captured, "cpucycles system kernel Linux\n", 30), 0);
  expect("cpucycles system architecture not known, 0 bits, big-endian");
  expect("cpucycles system hypervisor none found");
  expect("cpucycles cpu model Some CPU");
  expect("cpucycles cpu cores 8 CPUs on 6 cores, 4 allowed here");
  expect("cpucycles cpu type cpu_core: 2 CPUs");
  expect("cpucycles cpu type cpu_atom: 6 CPUs");
  expect("cpucycles clock source tsc; available: tsc hpet");
  expect("cpucycles governor powersave on 3 CPUs; other CPUs have another");
  expect("cpucycles turbo on");
  print(print_json);
  expect_json("\"types\": [{\"name\": \"cpu_core\",\"cpus\": 2},"
    "{\"name\": \"cpu_atom\",\"cpus\": 6}]");
  expect_json("\"governor\": {\"name\": \"powersave\",\"cpus\": 3,\"others\": true},"
    "\"turbo\": true");
  report.settings.other_governors = 0;
  report.settings.turbo = 0;
  *report.settings.clock_sources = 0;
  print(print_surroundings);
  expect("cpucycles clock source tsc");
  expect("cpucycles governor powersave on 3 CPUs");
  expect("cpucycles turbo off");
  memset(&report.settings, 0, sizeof report.settings);
  report.settings.turbo = -1;
  print(print_json);
  expect_json("\"governor\": null,\"turbo\": null");
  print(print_surroundings);
  ck_assert(!strstr(captured, "governor") && !strstr(captured, "turbo")
    && !strstr(captured, "clock source"));
}

TEST(each_kind_of_reason_is_printed)
{
  const struct cpucycles_counter_info rows[] = {
    { .name = "a", .state = CPUCYCLES_DROPPED, .reason = "signal", .explanation = "it trapped",
      .signal_number = SIGSEGV, .remedy = "do this", .kind = "core", .scope = "core",
      .unit = "cycles" },
    { .name = "b", .state = CPUCYCLES_DROPPED, .reason = "refused", .explanation = "not allowed",
      .error_number = EACCES, .kind = "core", .scope = "core", .unit = "cycles" },
    { .name = "c", .state = CPUCYCLES_SELECTED, .reason = "by-read", .explanation = "by a call",
      .score = 7, .kind = "core", .scope = "thread", .unit = "cycles",
      .count_unit = "core cycles" },
    { .name = "d", .state = CPUCYCLES_SELECTED, .reason = "not-increasing",
      .explanation = "its count did not change",
      .kind = "clock", .scope = "system", .unit = "ns", .count_unit = "scaled cycles" },
  };
  char line[300];

  set_counters(rows, 4);
  report.library.implementation_ignored = report.library.frequency_ignored = "a does not work";
  print(print_all);
  snprintf(line, sizeof line, "cpucycles dropped b refused: not allowed (%s)", strerror(EACCES));
  expect("cpucycles dropped a signal: it trapped (SIGSEGV); remedy: do this");
  expect(line);
  expect("cpucycles note c by-read: by a call");
  expect("cpucycles last resort d not-increasing: its count did not change");
  print(print_json);
  expect_json("\"reason\": \"signal\",\"explanation\": \"it trapped\","
    "\"errno\": null,\"signal\": \"SIGSEGV\",\"error\": null,\"remedy\": \"do this\","
    "\"timer\": null");
  expect_json("\"state\": \"selected\",\"score\": 7,\"scaling\": 0.000000,"
    "\"reason\": \"by-read\"");
  expect_json("\"implementation_ignored\": \"a does not work\"");
  print(print_all);
  expect("cpucycles ignored in CPUCYCLES_IMPLEMENTATION: a does not work");
  expect("cpucycles frequency estimate 0 from nowhere; ignored: a does not work");
}

TEST(timer_is_printed_completely)
{
  const struct cpucycles_counter_info rows[] = {
    { .name = "fake", .state = CPUCYCLES_SELECTED, .kind = "scaled", .scope = "core",
      .unit = "ticks", .count_unit = "scaled cycles", .score = 7 },
    { .name = "gone", .state = CPUCYCLES_USABLE, .kind = "core", .scope = "core",
      .unit = "cycles" },
  };
  struct counter_results *results = &fake_results[0];

  set_counters(rows, 2);
  report.results = fake_results;
  report.result_count = 2;
  strcpy(fake_results[1].name, "gone");
  strcpy(fake_results[1].failure, "it ended");
  strcpy(results->name, "fake");
  results->scaled = 1;
  results->reported = 1000;
  strcpy(results->reported_source, "the test");
  results->measured = 1010;
  results->uncertainty = 5;
  results->seconds = 0.05;
  strcpy(results->invariant_source, "me");
  results->cpu_count = 2;
  results->hop_count = 200;
  results->largest_step_back = 99;
  results->step = 12;
  results->step_units = 3;
  results->scaling = 4;
  results->grain.units = 42;
  results->grain.share = 0.986;
  results->read_cycles = 24.6;
  results->read_nanoseconds = 9.5;
  results->overhead = 52;
  results->difference_count = 100;
  results->below_zero = 3;
  results->lowest = -5;
  print(print_all);
  expect("cpucycles timer fake unit ticks; kind scaled, scope core");
  expect("cpucycles timer fake rate reported 1000 by the test, measured 1010 +-5.0 ppm in 0.050 s, "
    "off by 10000.0 ppm");
  expect("cpucycles timer fake invariant no (me)");
  expect("cpucycles timer fake across CPUs steps back by up to 99 cycles, in 200 moves between 2 "
    "CPUs");
  expect("cpucycles timer fake step 12 cycles, 3 of its units; grain 168.0 cycles, 42 of its "
    "units, share 0.986");
  expect("cpucycles timer fake read 24.6 cycles, 9.5 ns; section overhead 52 cycles");
  expect("cpucycles timer fake differences -5 0 0 0 0, 3 of 100 below 0");
  expect("cpucycles timer gone not examined: it ended");
  print(print_short);
  ck_assert_ptr_nonnull(strstr(captured, "cpucycles timer fake invariant no (me)\n"));
  print(print_json);
  expect_json("\"across_cpus\": {\"monotonic\": false,\"largest_step_back\": 99,\"hops\": 200,"
    "\"cpus\": 2}");
  expect_json("\"off_ppm\": 10000.000000}");
  expect_json("\"grain\": {\"cycles\": 168.000000,\"units\": 42,\"share\": 0.986000}");
  results->grain.units = 1;
  print(print_all);
  expect("cpucycles timer fake step 12 cycles, 3 of its units; "
    "no grain above 1");
  results->scaled = 0;
  print(print_all);
  expect("cpucycles timer fake step 12 cycles; no grain above 1");
  print(print_json);
  expect_json("\"grain\": null");
  strcpy(results->failure, "it stopped");
  print(print_json);
  expect_json("\"timer\": {\"failure\": \"it stopped\"}");
  *results->failure = 0;
  results->reported = 7250; /* the measurement contradicts it */
  print(print_all);
  expect("cpucycles timer fake rate not the reported 7250 by the test, measured 1010 +-5.0 ppm in "
    "0.050 s, off by -860689.7 ppm");
  results->reported = 0;
  *results->reported_source = 0;
  results->measured = results->uncertainty = 0; /* the rate could not be measured */
  results->invariant = -1;
  *results->invariant_source = 0;
  results->largest_step_back = 0;
  results->step = 0;
  results->read_nanoseconds = 0;
  print(print_all);
  expect("cpucycles timer fake rate not measured");
  expect("cpucycles timer fake invariant not known");
  expect("cpucycles timer fake across CPUs monotonic, in 200 moves between 2 CPUs");
  expect("cpucycles timer fake step not found");
  expect("cpucycles timer fake read 24.6 cycles, time not measured; section overhead 52 cycles");
  print(print_json);
  expect_json("\"read\": {\"cycles\": 24.600000,\"nanoseconds\": null}");
  expect_json("\"measured\": null,\"uncertainty_ppm\": null,");
  results->cpu_count = 0;
  results->invariant = 1;
  print(print_all);
  expect("cpucycles timer fake across CPUs not tried");
  expect("cpucycles timer fake invariant yes");
}

/* The selected counter and its results, whose kind and ratio the test sets. */
static void set_selected(const char *kind, double counts_per_core_cycle)
{
  const struct cpucycles_counter_info fake
    = { .name = "fake", .state = CPUCYCLES_SELECTED, .kind = kind, .scope = "system",
    .unit = "ticks", .count_unit = strcmp(kind, "reference") == 0 ? "reference cycles" :
      strcmp(kind, "core") == 0 ? "core cycles" : "scaled cycles" };

  set_counters(&fake, 1);
  memset(&fake_results[0], 0, sizeof fake_results[0]);
  strcpy(fake_results[0].name, "fake");
  strcpy(fake_results[0].invariant_source, "me");
  fake_results[0].has_core_ratio = counts_per_core_cycle >= 0;
  fake_results[0].counts_per_core_cycle = counts_per_core_cycle;
  report.results = fake_results;
  report.result_count = 1;
}

/* The last column is the measured ratio of a counter of core cycles; -1: not such a counter; -2: it
   could not be measured. */
TEST(core_is_printed_with_any_of_its_figures_missing)
{
  const struct {
    struct core_info core;
    double ratio;
    const char *line, *json;
  } rows[] = {
    { CORE(0, 0, 2000000000), -1, "not known",
      "\"persecond_before\": null,\"persecond_after\": null,\"counted_persecond\": 2000000000,"
      "\"counts_core_cycles\": false,\"cycles_per_counted_cycle\": null" },
    { CORE(3200000000, 3202000000, 2000000000), -1,
      "3200000000 before, 3202000000 after; 1.601 per count",
      "\"persecond_before\": 3200000000,\"persecond_after\": 3202000000,"
      "\"counted_persecond\": 2000000000,\"counts_core_cycles\": false,"
      "\"cycles_per_counted_cycle\": 1.601000" },
    { CORE(1200000000, 0, 2000000000), -1, "1200000000 before; 0.600 per count",
      "\"cycles_per_counted_cycle\": 0.600000" },
    { CORE(0, 1200000000, 2000000000), -1, "1200000000 after; 0.600 per count",
      "\"persecond_before\": null" },
    { CORE(1200000000, 1200000000, 1199000000), 1,
      "1200000000 before, 1200000000 after; core cycles are counted",
      "\"counts_core_cycles\": true,\"cycles_per_counted_cycle\": 1.000000" },
    { CORE(1200000000, 1200000000, 1199000000), 0.015625,
      "1200000000 before, 1200000000 after; 64.000 per count", "\"counts_core_cycles\": false" },
    { CORE(1200000000, 1200000000, 1200000000), -2, "1200000000 before, 1200000000 after",
      "\"counts_core_cycles\": null" },
    { CORE(1200000000, 1200000000, 0), -1, "1200000000 before, 1200000000 after",
      "\"counted_persecond\": null" },
  };
  char line[300];
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    set_selected(rows[i].ratio == -1 ? "reference" : "core", rows[i].ratio);
    report.core = rows[i].core;
    print(print_all);
    snprintf(line, sizeof line, "cpucycles core persecond %s", rows[i].line);
    expect(line);
    print(print_json);
    expect_json(rows[i].json);
  }
}

/* The estimate stands beside what was measured. */
TEST(estimate_is_printed_with_the_measured_frequency)
{
  report.library.persecond = 6300000000;
  report.core.persecond_after = 4190000000;
  print(print_short);
  expect("cpucycles frequency estimate 6300000000 from nowhere; measured 4190000000");
}

static struct core_info core_in_report;

static void print_warnings_about(const char *kind)
{
  set_selected(kind, -1);
  report.settings.turbo = 1;
  report.core = core_in_report;
  print(print_all);
}

TEST(warnings_depend_on_the_kind_of_the_counter_in_use)
{
  static const struct {
    const char *kind;
    int count;
    const char *warning; /* besides that of the turbo */
  } rows[] = {
    { "none", 2, "no counter works here" },
    { "reference", 2, "fake does not have a constant rate (me)" },
    { "core", 1, NULL },
    { "system call", 1, NULL },
    { "clock", 2, "fake is an operating-system clock: its cycles are converted time, not counted "
      "cycles" },
  };
  char line[200];
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    print_warnings_about(rows[i].kind);
    ck_assert_int_eq(report.warning_count, rows[i].count);
    snprintf(line, sizeof line, "cpucycles warning %s", rows[i].warning ? rows[i].warning : "");
    if (rows[i].warning)
      expect(line);
    expect(rows[i].count == 1 ? "cpucycles warning turbo is on and can change the core frequency: "
                                "the same work takes more or less time from run to run"
                              : "cpucycles warning turbo is on and can change the core frequency: "
                                "the number of core cycles per counted cycle varies");
  }
}

TEST(warning_if_core_and_count_differ_by_2_percent)
{
  static const struct {
    long long core;
    int is_expected;
  } rows[] = { { 1959000000, 1 }, { 1961000000, 0 }, { 2039000000, 0 }, { 2041000000, 1 } };
  const struct core_info faster = CORE(3000000000, 3200000000, 2000000000);
  int i;

  core_in_report = faster;
  print_warnings_about("reference");
  expect("cpucycles warning fake counts 2000000000 cycles per second, but the core runs at "
         "3200000000 Hz: core cycles = counted cycles * 1.600 while the core keeps this frequency. "
         "Report the counts as reference cycles (fake, 2000000000 per second), not as core cycles");
  core_in_report.persecond_after = 1000000000;
  print_warnings_about("clock");
  ck_assert_ptr_nonnull(strstr(captured, "core cycles = counted cycles * 0.500 while"));
  ck_assert_ptr_nonnull(strstr(captured, "as scaled cycles (fake, 2000000000 per second), not"));
  core_in_report.persecond_after = 0;
  print_warnings_about("reference");
  ck_assert_ptr_nonnull(strstr(captured, "the core runs at 3000000000 Hz:"));
  for (i = 0; i < 4; i++) {
    core_in_report.persecond_after = rows[i].core;
    print_warnings_about("reference");
    ck_assert_int_eq(strstr(captured, "the core runs at") != NULL, rows[i].is_expected);
  }
  print_warnings_about("core");
  ck_assert_ptr_null(strstr(captured, "the core runs at"));
}

/* The ratio is printed for each counter of core cycles, and no line calls the counts core cycles if
   it is off. */
TEST(counter_is_not_said_to_count_core_cycles_because_of_its_kind)
{
  static const struct {
    double ratio;
    int is_off;
  } rows[] = { { 1, 0 }, { 0.96, 0 }, { 1.04, 0 }, { 0.94, 1 }, { 1.06, 1 }, { 0.015625, 1 },
    { 0, 1 }, { -1, 0 } };
  char line[80];
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    set_selected("core", rows[i].ratio);
    print(print_all);
    snprintf(line, sizeof line, "scope system; %.2f counts per core cycle\n", rows[i].ratio);
    ck_assert_int_eq(strstr(captured, line) != NULL, rows[i].ratio >= 0);
    ck_assert_int_eq(strstr(captured, "warning fake does not count core cycles") != NULL,
      rows[i].is_off);
    ck_assert_int_eq(strstr(captured, "do not report the counts as core cycles") != NULL,
      rows[i].is_off);
    ck_assert_int_eq(strstr(captured, "core cycles are counted") != NULL,
      rows[i].ratio >= 0 && !rows[i].is_off);
    ck_assert_int_eq(strstr(captured, "summary counter  fake: core cycles") != NULL,
      rows[i].ratio >= 0 && !rows[i].is_off);
  }
}

TEST(summary_is_what_a_person_asks_first)
{
  struct cpucycles_counter_info rows[] = {
    { .name = "fast", .state = CPUCYCLES_DROPPED, .kind = "core", .explanation = "no PMU",
      .remedy = "give it one" },
    { .name = "fake", .state = CPUCYCLES_SELECTED, .kind = "reference", .scope = "system",
      .unit = "ticks", .count_unit = "reference cycles", .scaling = 1 },
    { .name = "slow", .state = CPUCYCLES_DROPPED, .kind = "clock", .explanation = "absent" },
  };
  struct counter_results *results = &fake_results[0];
  const struct core_info core = CORE(3000000000, 3200000000, 2000000000);

  set_counters(rows, 3);
  report.core = core;
  strcpy(results->name, "fake");
  results->scaling = 1;
  results->read_cycles = 25;
  results->read_nanoseconds = 9.52;
  results->step = 26;
  results->grain.units = 26;
  results->overhead = 52;
  report.results = results;
  report.result_count = 1;
  print(print_short);
  expect("cpucycles summary counter  fake: reference cycles, 2000000000 per second\n"
         "cpucycles summary core     3200000000 Hz now: core cycles = counts * 1.600\n"
         "cpucycles summary read     9.5 ns; grain 26 cycles; an empty section 52 cycles\n"
         "cpucycles summary better   none here: no PMU\n"
         "cpucycles summary enable   give it one\n"
         "cpucycles summary warning  report reference cycles, not core cycles");
  ck_assert_ptr_null(strstr(captured, "cpucycles warning"));
  counters[0].explanation = NULL;
  counters[1].kind = "clock";
  counters[1].scaling = 2.5;
  counters[1].count_unit = "scaled cycles";
  results->grain.units = 1;
  results->read_nanoseconds = 0;
  report.core.persecond_before = report.core.persecond_after = 0;
  print(print_short);
  expect("cpucycles summary counter  fake: scaled cycles (ticks * 2.5), 2000000000 per second\n"
         "cpucycles summary core     frequency not known\n"
         "cpucycles summary read     25.0 cycles; an empty section 52 cycles\n"
         "cpucycles summary better   none: no counter of a better kind is built for this CPU\n"
         "cpucycles summary warning  compare the counts as times: they are not counted cycles");
  counters[0].state = CPUCYCLES_USABLE;
  counters[0].count_unit = "core cycles";
  print(print_short);
  expect("cpucycles summary better   fast: core cycles, but slower\n"
         "cpucycles summary enable   CPUCYCLES_IMPLEMENTATION=fast");
  counters[1].kind = "core";
  counters[1].count_unit = "core cycles";
  counters[1].explanation = "some threads make a system call";
  counters[1].remedy = "sysctl x=1";
  counters[1].scaling = 1;
  report.core = core;
  results->has_core_ratio = 1;
  results->counts_per_core_cycle = 1.001;
  strcpy(results->failure, "it ended");
  print(print_short);
  expect("cpucycles summary counter  fake: core cycles\n"
         "cpucycles summary core     3200000000 Hz now; 1.00 counts per core cycle\n"
         "cpucycles summary read     not examined: it ended\n"
         "cpucycles summary better   some threads make a system call\n"
         "cpucycles summary enable   sysctl x=1");
}

/* An old machine: the core has another frequency, which changes, and CPUs differ. */
TEST(summary_of_many_warnings_has_ten_lines)
{
  const char *line;
  int lines = 0;

  set_selected("reference", -1);
  report.core.persecond_after = 3200000000;
  report.core.counted_persecond = 2000000000;
  report.settings.turbo = 1;
  strcpy(report.settings.governor, "ondemand");
  strcpy(report.settings.clock_source, "hpet");
  fake_results[0].largest_step_back = 9;
  print(print_short);
  for (line = captured; (line = strstr(line, "\ncpucycles summary ")) != NULL; line++)
    lines++;
  ck_assert_int_eq(lines, 9);
  expect("cpucycles summary warning  keep timed code on one CPU; "
         "keep the frequency of the core constant");
}

/* No line of ours is wider than a terminal, unless a word forces it. */
TEST(long_lines_are_folded_at_80_columns)
{
  const struct cpucycles_counter_info row = { .name = "fake", .state = CPUCYCLES_DROPPED,
    .reason = "absent", .kind = "core", .explanation = "\303\244\303\244\303\244\303\244 "
      "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr this is below" };

  set_counters(&row, 1);
  capture_begin(stdout);
  print_short(&report);
  capture_end();
  expect("cpucycles dropped fake absent: \303\244\303\244\303\244\303\244"
         " abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr\n    this is below");
}

TEST(json_strings_are_valid_for_any_bytes)
{
  strcpy(report.cpu.model, "a\"\\\177\303\244\n\300");
  print(print_json);
  expect_json("{\"model\": \"a\\\"\\\\\\u007f\\ufffd\\ufffd\\u000a\\ufffd\",");
}

TEST(plot_has_a_row_for_all_large_differences)
{
  struct counter_results *results = &fake_results[0];
  int i;

  memset(results, 0, sizeof *results);
  strcpy(results->name, "fake");
  for (i = 0; i < DIFFERENCES; i++)
    results->differences[i] = i < 3000 ? 26
      : i < 9000                       ? 52
      : i < 9900                       ? 54
      : i < 9950                       ? 9999
                                       : 10001;
  results->difference_count = DIFFERENCES;
  results->lowest = results->lower_quartile = 26;
  results->median = results->upper_quartile = 52;
  results->highest = 10001;
  report.results = results;
  report.result_count = 1;
  print(print_plot);
  expect("quartiles 26 52 52, from 26 to 10001");
  expect("   26..27   3000 ######################### Q1");
  ck_assert_ptr_null(strstr(captured, "28..29")); /* there is none */
  expect("   52..53   6000 ################################################# median Q3");
  expect("   54..55    900 ########");
  expect("56..10001    100 #");
}

SUITE("printers")
