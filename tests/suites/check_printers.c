/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests what the tool judges and prints, line by line, for fake reports and counters, including
   properties that few machines have. report.sh and report.py in tests/scripts test order and
   completeness on the tool. */

#include "config.h"

#include "cpucycles-info/fill.h"

#include "tests/suites/child.h"
#include "tests/suites/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static struct report report = { .clock = "CLOCK",
  .library = { .version = "20261121", .implementation = "fake", .frequency_source = "nowhere" } };
static struct counter_results fake_results[2];
static struct cpucycles_counter_info counters[7];

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

/* The selected counter, and its results, which are empty. */
static struct counter_results *set_selected(const char *name, const char *kind)
{
  const struct cpucycles_counter_info fake = { .name = name, .state = CPUCYCLES_SELECTED,
    .kind = kind, .scope = "system", .unit = "ticks", .scaling = 1,
    .count_unit = strcmp(kind, "reference") == 0 ? "reference cycles" :
      strcmp(kind, "core") == 0 ? "core cycles" : "scaled cycles" };
  struct counter_results *results = fake_results;

  set_counters(&fake, 1);
  memset(results, 0, sizeof *results);
  strcpy(results->name, name);
  results->invariant = 1;
  results->scaling = 1;
  report.results = results;
  report.result_count = 1;
  return results;
}

static int at_terminal;

/* In place of the function of the C library. */
int isatty(int descriptor)
{
  (void)descriptor;
  return at_terminal;
}

/* Prints the judged report. */
static void print(enum write_form form, int all)
{
  judge_report(&report);
  capture_begin(stdout);
  print_report(&report, form, all);
  capture_end();
}

/* Expects this part of the document, which is compared without indents and line ends.
   tests/scripts/report.py validates the whole document against the schema. */
static void expect_json(const char *part)
{
  static char dense[sizeof captured];
  const char *from;
  char *to = dense;

  print(WRITE_JSON, 0);
  for (from = captured; *from; from++) {
    if (*from != '\n')
      *to++ = *from;
    else
      from += strspn(from, "\n ") - 1;
  }
  *to = 0;
  ck_assert_msg(strstr(dense, part) != NULL, "not printed: %s\nin:\n%s", part, dense);
}

/* Expects these whole lines in what was printed. */
static void expect(const char *lines)
{
  char whole[700];

  snprintf(whole, sizeof whole, "\n%s\n", lines);
  ck_assert_msg(strstr(captured, whole) != NULL, "not printed: %s\nin:\n%s", lines, captured);
}

/* Expects these whole lines in the text with all lines, or in the short text. */
static void expect_all(const char *lines)
{
  print(WRITE_TEXT, 1);
  expect(lines);
}

static void expect_short(const char *lines)
{
  print(WRITE_TEXT, 0);
  expect(lines);
}

TEST(trace_lines_are_those_of_the_library)
{
  static char library_printed[sizeof captured];
  const char *trace;

  fill_library(&report.library);
  capture_begin(stdout);
  cpucycles_tracesetup();
  strcpy(library_printed, capture_end());
  ck_assert_int_eq(strncmp(library_printed, "cpucycles tracesetup 0 ", 23), 0);
  print(WRITE_TEXT, 1);
  trace = strchr(captured, '\n') + 1; /* after the version */
  ck_assert_int_eq(strncmp(trace, library_printed, strlen(library_printed)), 0);
  ck_assert_int_eq(strncmp(trace + strlen(library_printed), "cpucycles persecond ", 20), 0);
}

TEST(cpu_governor_turbo_and_clock_source_are_printed)
{
  const struct settings_info state = { .clock_source = "tsc", .clock_sources = "tsc hpet",
    .governor = "powersave", .governor_cpu_count = 3, .other_governors = 1, .turbo = 1 };
  const struct cpu_info cpu = { .model = "Some CPU", .cpu_count = 8, .core_count = 6,
    .allowed_count = 4, .type_count = 2, .types = { { "cpu_core", 2 }, { "cpu_atom", 6 } } };

  report.settings = state;
  report.cpu = cpu;
  strcpy(report.system.kernel, "Linux");
  capture_begin(stdout);
  print_surroundings(&report);
  ck_assert_str_eq(capture_end(), "cpucycles system kernel Linux\n"
    "cpucycles system architecture not known, 0 bits, big-endian\n"
    "cpucycles system hypervisor none found\n"
    "cpucycles cpu model Some CPU\n"
    "cpucycles cpu cores 8 CPUs on 6 cores, 4 allowed here\n"
    "cpucycles cpu type cpu_core: 2 CPUs\n"
    "cpucycles cpu type cpu_atom: 6 CPUs\n"
    "cpucycles clock source tsc; available: tsc hpet\n"
    "cpucycles governor powersave on 3 CPUs; other CPUs have another\n"
    "cpucycles turbo on\n");
  expect_json("\"types\": [{\"name\": \"cpu_core\",\"cpus\": 2},"
    "{\"name\": \"cpu_atom\",\"cpus\": 6}]");
  expect_json("\"governor\": {\"name\": \"powersave\",\"cpus\": 3,\"others\": true},"
    "\"turbo\": true");
  report.settings.other_governors = 0;
  report.settings.turbo = 0;
  *report.settings.clock_sources = 0;
  report.cpu.type_count = 0;
  expect_all("cpucycles cpu cores 8 CPUs on 6 cores, 4 allowed here\n"
    "cpucycles clock source tsc\n"
    "cpucycles governor powersave on 3 CPUs\n"
    "cpucycles turbo off");
  memset(&report.settings, 0, sizeof report.settings);
  report.settings.turbo = -1;
  expect_json("\"governor\": null,\"turbo\": null");
  expect_all("cpucycles cpu cores 8 CPUs on 6 cores, 4 allowed here\n"
    "cpucycles frequency estimate 0 from nowhere");
}

TEST(each_kind_of_reason_is_printed)
{
#define REFUSED(counter, sentence, number) \
  { .name = counter, .state = CPUCYCLES_DROPPED, .reason = "refused", .explanation = sentence, \
    .error_number = number, .kind = "core" }
  const struct cpucycles_counter_info rows[] = {
    { .name = "a", .state = CPUCYCLES_DROPPED, .reason = "signal", .explanation = "it trapped",
      .signal_number = SIGSEGV, .remedy = "do this", .kind = "core" },
    REFUSED("b", "not allowed", EACCES),
    { .name = "c", .state = CPUCYCLES_SELECTED, .reason = "by-read", .explanation = "by a call",
      .score = 7, .kind = "core", .count_unit = "core cycles" },
    { .name = "d", .state = CPUCYCLES_SELECTED, .reason = "not-increasing",
      .explanation = "its count did not change", .kind = "clock", .count_unit = "scaled cycles" },
    REFUSED("e", "not allowed", EACCES),
    REFUSED("f", "not allowed", EPERM),
    REFUSED("g", "not here", 0),
  };
  char lines[500];

  set_counters(rows, 7);
  report.library.implementation_ignored = report.library.frequency_ignored = "a does not work";
  snprintf(lines, sizeof lines,
    "cpucycles dropped a signal: it trapped (SIGSEGV); remedy: do this\n"
    "cpucycles dropped b refused: not allowed (%s)\n"
    "cpucycles note c by-read: by a call\n"
    "cpucycles last resort d not-increasing: its count did not change\n"
    "cpucycles dropped e refused: like b\n"
    "cpucycles dropped f refused: like b (%s)\n"
    "cpucycles dropped g refused: not here", strerror(EACCES), strerror(EPERM));
  expect_all(lines);
  expect("cpucycles frequency estimate 0 from nowhere; ignored: a does not work\n"
    "cpucycles ignored in CPUCYCLES_IMPLEMENTATION: a does not work");
  expect_json("\"reason\": \"signal\",\"explanation\": \"it trapped\","
    "\"errno\": null,\"signal\": \"SIGSEGV\",\"error\": null,\"remedy\": \"do this\","
    "\"timer\": null");
  expect_json("\"state\": \"selected\",\"score\": 7,\"scaling\": 0.000000,"
    "\"reason\": \"by-read\"");
  expect_json("\"implementation_ignored\": \"a does not work\"");
  expect_json("\"reason\": \"refused\",\"explanation\": \"not allowed\",\"errno\": 1,");
}

TEST(timer_is_printed_completely_and_main_figures_of_a_counter_that_is_not_in_use)
{
  struct counter_results *results = set_selected("fake", "scaled"), *gone = &fake_results[1];

  counters[1] = (struct cpucycles_counter_info) { .name = "gone", .state = CPUCYCLES_USABLE,
    .kind = "core", .scope = "system", .count_unit = "core cycles", .score = 250 };
  report.library.counters[1] = &counters[1];
  report.library.counter_count = report.result_count = 2;
  *gone = (struct counter_results) { .name = "gone", .failure = "it ended" };
  *results = (struct counter_results) { .name = "fake", .scaled = 1, .scaling = 4,
    .reported = 1000, .reported_source = "the test", .measured = 1010, .uncertainty = 5,
    .seconds = 0.05, .invariant_source = "me", .cpu_count = 2, .hop_count = 200,
    .largest_step_back = 99, .step = 12, .step_units = 3, .grain = { 42, 0.986 },
    .read_cycles = 24.6, .read_nanoseconds = 9.5, .overhead = 52, .difference_count = 100,
    .below_zero = 3, .lowest = -5 };
  expect_all("cpucycles timer fake unit ticks; kind scaled, scope system\n"
    "cpucycles timer fake rate reported 1000 by the test, measured 1010 +-5.0 ppm in 0.050 s, "
    "off by 10000.0 ppm\n"
    "cpucycles timer fake invariant no (me)\n"
    "cpucycles timer fake across CPUs steps back by up to 99 cycles, in 200 moves between 2 CPUs\n"
    "cpucycles timer fake step 12 cycles, 3 of its units; grain 168.0 cycles, 42 of its "
    "units, share 0.986\n"
    "cpucycles timer fake read 24.6 cycles, 9.5 ns; section overhead 52 cycles\n"
    "cpucycles timer fake differences -5 0 0 0 0, 3 of 100 below 0\n"
    "cpucycles timer gone not examined: it ended");
  expect_short("cpucycles timer fake invariant no (me)");
  expect("cpucycles timer gone not examined: it ended");
  expect_json("\"scope\": \"system\",\"unit\": \"ticks\",\"count_unit\": \"scaled cycles\",");
  expect_json("\"grain\": {\"cycles\": 168.000000,\"units\": 42,\"share\": 0.986000}");
  expect_json("\"timer\": {\"failure\": \"it ended\"}");
  results->grain.units = 1;
  expect_all("cpucycles timer fake step 12 cycles, 3 of its units; no grain above 1");
  results->scaled = 0;
  expect_all("cpucycles timer fake step 12 cycles; no grain above 1");
  expect_json("\"grain\": null");
  results->reported = 7250; /* the measurement contradicts it */
  expect_all("cpucycles timer fake rate not the reported 7250 by the test, measured 1010 +-5.0 ppm "
    "in 0.050 s, off by -860689.7 ppm");
  *results = (struct counter_results) { .name = "fake", .scaling = 4, .invariant = -1,
    .cpu_count = 2, .hop_count = 200, .read_cycles = 24.6, .overhead = 52 };
  expect_all("cpucycles timer fake rate not measured\n"
    "cpucycles timer fake invariant not known\n"
    "cpucycles timer fake across CPUs monotonic, in 200 moves between 2 CPUs\n"
    "cpucycles timer fake step not found\n"
    "cpucycles timer fake read 24.6 cycles, time not measured; section overhead 52 cycles");
  expect_json("\"measured\": null,\"uncertainty_ppm\": null,");
  results->cpu_count = 0;
  results->invariant = 1;
  expect_all("cpucycles timer fake invariant yes\ncpucycles timer fake across CPUs not tried");
  expect_json("\"across_cpus\": null");
  *gone = (struct counter_results) { .name = "gone", .reported = 24000000, .has_core_ratio = 1,
    .counts_per_core_cycle = 1, .read_nanoseconds = 9.5 };
  expect_short("cpucycles timer gone core, 24000000 Hz, 1.00 counts per core cycle, read 9.5 ns,"
    " score 250");
  gone->measured = 25000000;
  expect_short("cpucycles timer gone core, 25000000 Hz, 1.00 counts per core cycle, read 9.5 ns,"
    " score 250");
}

/* The last column is the measured ratio of a counter of core cycles; -1: not such a counter; -2: it
   could not be measured. No line calls the counts core cycles only because of the kind. */
static const struct {
  long long before, after, counted;
  double ratio;
  const char *line, *json; /* the part of the document that the text does not have */
} cores[] = {
  { 0, 0, 2000000000, -1, "not known",
    "\"persecond_before\": null,\"persecond_after\": null,\"counted_persecond\": 2000000000,"
    "\"counts_core_cycles\": false,\"cycles_per_counted_cycle\": null" },
  { 3200000000, 3202000000, 2000000000, -1, "3200000000 before, 3202000000 after; 1.601 per count",
    "\"cycles_per_counted_cycle\": 1.601000" },
  { 1200000000, 0, 2000000000, -1, "1200000000 before; 0.600 per count", "" },
  { 0, 1200000000, 2000000000, -1, "1200000000 after; 0.600 per count", "" },
  { 1200000000, 1200000000, 1199000000, 1,
    "1200000000 before, 1200000000 after; core cycles are counted",
    "\"counts_core_cycles\": true,\"cycles_per_counted_cycle\": 1.000000" },
  { 1200000000, 1200000000, 1199000000, 0.015625,
    "1200000000 before, 1200000000 after; 64.000 per count", "" },
  { 1200000000, 0, 1199000000, 0, "1200000000 before", "\"counts_core_cycles\": false" },
  { 1200000000, 1200000000, 1200000000, -2, "1200000000 before, 1200000000 after",
    "\"counts_core_cycles\": null" },
  { 1200000000, 1200000000, 0, -1, "1200000000 before, 1200000000 after",
    "\"counted_persecond\": null" },
};

TEST_LOOP(core_is_printed_with_any_of_its_figures_missing, sizeof cores / sizeof cores[0])
{
  double ratio = cores[_i].ratio;
  struct counter_results *results
    = set_selected("fake", ratio > -1 || ratio < -1 ? "core" : "reference");
  char line[300];

  results->has_core_ratio = ratio >= 0;
  results->counts_per_core_cycle = ratio;
  report.core = (struct core_info) { .persecond_before = cores[_i].before,
    .persecond_after = cores[_i].after, .counted_persecond = cores[_i].counted };
  snprintf(line, sizeof line, "cpucycles core persecond %s", cores[_i].line);
  expect_all(line);
  if (cores[_i].after > 0) /* the estimate stands beside what was measured */
    snprintf(line, sizeof line, "cpucycles frequency estimate 0 from nowhere; measured %lld",
      cores[_i].after);
  expect(line);
  ck_assert_int_eq(strstr(captured, "summary counter  fake: core cycles") != NULL,
    strstr(cores[_i].line, "core cycles are counted") != NULL);
  snprintf(line, sizeof line, "scope system; %.2f counts per core cycle\n", ratio);
  ck_assert_int_eq(strstr(captured, line) != NULL, ratio >= 0);
  expect_json(cores[_i].json);
}

#define CLOCK_WARNING \
  "fake is an operating-system clock: its cycles are converted time, not counted cycles\n" \
  "  compare the counts as times: they are not counted cycles\n"
#define UNIT_WARNING(core, ratio, factor, unit) \
  "fake counts 2000000000 cycles per second, but the core runs at " core " Hz: core cycles = " \
  "counted cycles * " ratio " while the core keeps this frequency. Report the counts as " unit \
  " (fake, 2000000000 per second), not as core cycles\n" \
  "  the counts are " unit ": multiply by " factor " for core cycles\n"
#define RATIO_WARNING(ratio) \
  "fake does not count core cycles: it counts " ratio " per core cycle\n" \
  "  do not report the counts as core cycles\n"
#define RATE_WARNING(measured, cause) \
  "fake counts " measured " units per second instead of the reported 1000000: " cause "\n" \
  "  do not convert counts with the reported rate\n"
#define EMULATORS "this is typical of emulators"

/* Conditions, and the warnings about them, each followed by its advice. */
static const struct {
  const char *kind, *name; /* name NULL: "fake" */
  char source[16], failure[16]; /* of the reported rate; of the examination */
  struct system_info system;
  struct settings_info settings;
  long long before, after; /* frequency of the core; the counted rate is 2000000000 */
  long long reported, step_back;
  double measured, uncertainty;
  int below_zero, varies, has_ratio;
  double ratio;
  const char *warnings;
} conditions[] = {
  /* the counter in use */
  { .kind = "none", .warnings = "no counter works here\n"
                                "  do not measure here: no counter works\n" },
  { .kind = "clock", .warnings = CLOCK_WARNING },
  { .kind = "core", .warnings = "" },
  { .kind = "core", .varies = 1, .warnings = "" },
  { .kind = "reference", .warnings = "" },
  { .kind = "reference", .varies = 1, .warnings = "fake does not have a constant rate (me)\n"
      "  keep the frequency of the core constant\n" },
  /* core cycles differ from counted cycles by 2 % or more */
  { .kind = "reference", .before = 3000000000, .after = 3200000000,
    .warnings = UNIT_WARNING("3200000000", "1.600", "1.60", "reference cycles") },
  { .kind = "reference", .before = 3000000000,
    .warnings = UNIT_WARNING("3000000000", "1.500", "1.50", "reference cycles") },
  { .kind = "clock", .before = 3000000000, .after = 1000000000,
    .warnings = CLOCK_WARNING UNIT_WARNING("1000000000", "0.500", "0.50", "scaled cycles") },
  { .kind = "reference", .after = 1958000000,
    .warnings = UNIT_WARNING("1958000000", "0.979", "0.98", "reference cycles") },
  { .kind = "reference", .after = 1961000000, .warnings = "" },
  { .kind = "reference", .after = 2039000000, .warnings = "" },
  { .kind = "reference", .after = 2042000000,
    .warnings = UNIT_WARNING("2042000000", "1.021", "1.02", "reference cycles") },
  { .kind = "core", .after = 3000000000, .warnings = "" },
  { .kind = "core", .has_ratio = 1, .ratio = 0.96, .warnings = "" },
  { .kind = "core", .has_ratio = 1, .ratio = 1.04, .warnings = "" },
  { .kind = "core", .has_ratio = 1, .ratio = 0.94, .warnings = RATIO_WARNING("0.940") },
  { .kind = "core", .has_ratio = 1, .ratio = 1.06, .warnings = RATIO_WARNING("1.060") },
  { .kind = "core", .has_ratio = 1, .ratio = 0, .warnings = RATIO_WARNING("0.000") },
  /* settings and surroundings */
  { .kind = "core", .settings = { .turbo = -1, .governor = "performance", .clock_source = "tsc" },
    .warnings = "" },
  { .kind = "reference", .settings = { .turbo = 1, .governor = "powersave" },
    .warnings = "the governor powersave can change the core frequency: the number of core cycles "
      "per counted cycle varies\n"
      "  set the governor performance\n"
      "turbo is on and can change the core frequency: the number of core cycles per counted cycle "
      "varies\n"
      "  turn turbo off\n" },
  { .kind = "system call", .settings = { .turbo = 1 },
    .warnings = "turbo is on and can change the core frequency: the same work takes more or less "
      "time from run to run\n"
      "  turn turbo off\n" },
  { .kind = "core", .settings = { .clock_source = "hpet" },
    .system = { .emulator = "qemu-test", .trapped_calls = "uname" },
    .warnings = "an emulator runs this program (qemu-test): counts are those of the emulator, not "
      "of a CPU\n"
      "  measure on a CPU, without the emulator\n"
      "the clock source hpet is slow and coarse: measurements against the OS clock are "
      "less exact\n"
      "  observe for longer: the clock source is coarse\n"
      "a seccomp filter raises SIGSYS at uname: here these calls failed instead, and the report "
      "lacks what they return\n"
      "  let the seccomp filter answer uname with an errno\n" },
  { .kind = "core", .name = "amd64-pmcff", .settings = { .nmi_watchdog = 1 },
    .warnings = "the kernel's NMI watchdog sets amd64-pmcff back, usually every ten seconds: "
      "counts can be too small, or below 0. Turn it off: sysctl kernel.nmi_watchdog=0\n"
      "  turn the watchdog off: sysctl kernel.nmi_watchdog=0\n" },
  { .kind = "core", .name = "amd64-pmcff", .warnings = "" },
  { .kind = "core", .name = "amd64-pmc", .settings = { .nmi_watchdog = 1 }, .warnings = "" },
  /* measurements */
  { .kind = "reference", .reported = 1000000, .measured = 1000100, .warnings = "" },
  { .kind = "reference", .reported = 1000000, .measured = 980000,
    .warnings = RATE_WARNING("980000", EMULATORS) },
  { .kind = "reference", .reported = 1000000, .measured = 980000, .uncertainty = 25000,
    .warnings = "" },
  { .kind = "reference", .reported = 1000000, .measured = 970000, .uncertainty = 25000,
    .source = "CPUID leaf 15H", .warnings = RATE_WARNING("970000", EMULATORS) },
  { .kind = "reference", .reported = 1000000, .measured = 970000, .system = { .hypervisor = "KVM" },
    .warnings = RATE_WARNING("970000", EMULATORS) },
  { .kind = "reference", .reported = 1000000, .measured = 970000, .source = "CPUID leaf 15H",
    .system = { .hypervisor = "KVM" },
    .warnings = RATE_WARNING("970000",
      "CPUID can contain the value of the host, whose rate the hypervisor does not keep") },
  { .kind = "reference", .measured = 970000, .warnings = "" },
  { .kind = "reference", .step_back = 12345, .below_zero = 3,
    .warnings = "fake differs between CPUs, by 12345 cycles or more: a migration can make it step "
      "back\n"
      "  keep timed code on one CPU\n"
      "fake stepped back in 3 of 100 adjacent reads\n"
      "  drop differences below 0: the counter steps back\n" },
  { .kind = "reference", .failure = "it ended", .varies = 1, .below_zero = 3, .warnings = "" },
};

TEST_LOOP(conditions_that_distort_measurements_have_warnings,
  sizeof conditions / sizeof conditions[0])
{
  const char *name = conditions[_i].name ? conditions[_i].name : "fake";
  struct counter_results *results = set_selected(name, conditions[_i].kind);
  char found[1000] = "";
  int i;

  *results = (struct counter_results) { .invariant_source = "me", .scaling = 1,
    .difference_count = 100, .reported = conditions[_i].reported,
    .measured = conditions[_i].measured, .uncertainty = conditions[_i].uncertainty,
    .largest_step_back = conditions[_i].step_back, .below_zero = conditions[_i].below_zero,
    .invariant = !conditions[_i].varies, .has_core_ratio = conditions[_i].has_ratio,
    .counts_per_core_cycle = conditions[_i].ratio };
  strcpy(results->name, name);
  strcpy(results->reported_source, conditions[_i].source);
  strcpy(results->failure, conditions[_i].failure);
  report.system = conditions[_i].system;
  report.settings = conditions[_i].settings;
  report.core = (struct core_info) { .persecond_before = conditions[_i].before,
    .persecond_after = conditions[_i].after, .counted_persecond = 2000000000 };
  judge_report(&report);
  for (i = 0; i < report.warning_count; i++)
    snprintf(found + strlen(found), sizeof found - strlen(found), "%s\n  %s\n",
      report.warnings[i].text, report.warnings[i].advice);
  ck_assert_str_eq(found, conditions[_i].warnings);
}

TEST(summary_is_what_a_person_asks_first)
{
  const struct cpucycles_counter_info rows[] = {
    { .name = "fast", .state = CPUCYCLES_DROPPED, .kind = "core", .explanation = "no PMU",
      .remedy = "give it one" },
    { .name = "fake", .state = CPUCYCLES_SELECTED, .kind = "reference", .scope = "system",
      .unit = "ticks", .count_unit = "reference cycles", .scaling = 1 },
    { .name = "slow", .state = CPUCYCLES_DROPPED, .kind = "clock", .explanation = "absent" },
  };
  struct counter_results *results = set_selected("fake", "reference");
  struct core_info core = { .persecond_after = 3200000000, .counted_persecond = 2000000000 };

  set_counters(rows, 3);
  report.core = core;
  *results = (struct counter_results) { .name = "fake", .invariant = 1, .scaling = 1,
    .read_cycles = 25, .read_nanoseconds = 9.52, .step = 26, .grain = { 26, 1 }, .overhead = 52,
    .cpu_count = 2, .difference_count = 100 };
  expect_short("cpucycles summary counter  fake: reference cycles at 2.000 GHz\n"
    "cpucycles summary core     3.20 GHz now; 1.60 core cycles per count\n"
    "cpucycles summary read     25 cycles; grain 26; subtract 52 from a section\n"
    "cpucycles summary trust    constant rate; equal on 2 CPUs; never a step back in 100 reads\n"
    "cpucycles summary better   none here: no PMU\n"
    "cpucycles summary enable   give it one\n"
    "cpucycles summary warning  the counts are reference cycles: multiply by 1.60 for core cycles");
  ck_assert_ptr_null(strstr(captured, "cpucycles warning"));
  report.library.persecond = 1808000000; /* a driver reported the nominal frequency */
  expect_short("cpucycles summary core     3.20 GHz now, 1.77 times the frequency estimate; 1.60 "
    "core cycles per count");
  report.library.persecond = 0;
  counters[0].explanation = NULL;
  counters[1].kind = "clock";
  counters[1].scaling = 2.5;
  counters[1].count_unit = "scaled cycles";
  results->grain.units = 1;
  results->invariant = -1;
  results->largest_step_back = 9;
  results->below_zero = 3;
  report.core.persecond_after = 0;
  report.core.counted_persecond = 62500000;
  expect_short("cpucycles summary counter  fake: scaled cycles (ticks * 2.5) at 62.50 MHz\n"
    "cpucycles summary core     frequency not known\n"
    "cpucycles summary read     25 cycles; subtract 52 from a section\n"
    "cpucycles summary trust    rate not known to be constant; differs on 2 CPUs; 3 steps back in "
    "100 reads\n"
    "cpucycles summary better   none: no counter of a better kind is built for this CPU\n"
    "cpucycles summary warning  compare the counts as times: they are not counted cycles\n"
    "cpucycles summary warning  keep timed code on one CPU");
  counters[0].state = CPUCYCLES_USABLE;
  counters[0].count_unit = "core cycles";
  expect_short("cpucycles summary better   fast: core cycles, but slower\n"
    "cpucycles summary enable   CPUCYCLES_IMPLEMENTATION=fast");
  results = set_selected("fake", "core");
  counters[0].explanation = "some threads make a system call";
  counters[0].remedy = "sysctl x=1";
  report.core = core;
  results->has_core_ratio = 1;
  results->counts_per_core_cycle = 1.001;
  strcpy(results->failure, "it ended");
  expect_short("cpucycles summary counter  fake: core cycles\n"
    "cpucycles summary core     3.20 GHz now; 1.00 counts per core cycle\n"
    "cpucycles summary read     not examined: it ended\n"
    "cpucycles summary better   some threads make a system call\n"
    "cpucycles summary enable   sysctl x=1");
}

/* With -c, the library reports of other counters only that they were not asked for. A child without
   the limit knows the better counter. */
TEST(better_counter_is_named_although_the_selection_is_limited)
{
  const struct cpucycles_counter_info rows[] = {
    { .name = "fast", .state = CPUCYCLES_DROPPED, .kind = "core", .reason = "not-asked",
      .explanation = "CPUCYCLES_IMPLEMENTATION does not name it" },
    { .name = "fake", .state = CPUCYCLES_SELECTED, .kind = "clock", .scope = "system" } };
  struct library_info unlimited = { .counter_count = 2 };
  struct cpucycles_counter_info free_rows[2] = { rows[0], rows[1] };

  set_counters(rows, 2);
  expect_short("cpucycles summary better   none: no counter of a better kind is built for this "
    "CPU");
  report.is_limited = 1;
  free_rows[0].count_unit = "core cycles";
  free_rows[0].reason = free_rows[0].explanation = NULL;
  unlimited.counters[0] = unlimited.selected = &free_rows[0];
  unlimited.counters[1] = &free_rows[1];
  judge_better(&report.better, &unlimited, "fake");
  expect_short("cpucycles summary better   fast: core cycles\n"
    "cpucycles summary enable   leave out -c, or unset CPUCYCLES_IMPLEMENTATION");
  unlimited.selected = &free_rows[1];
  free_rows[0].state = CPUCYCLES_DROPPED;
  free_rows[0].explanation = "no PMU";
  free_rows[0].reason = "absent";
  judge_better(&report.better, &unlimited, "fake");
  expect_short("cpucycles summary better   none here: no PMU");
  ck_assert_ptr_null(strstr(captured, "summary enable"));
}

/* An old machine: the core has another frequency, which changes, and CPUs differ. Warnings about a
   counter that is not in use have no advice. */
TEST(summary_of_many_warnings_has_ten_lines_about_the_counter_in_use)
{
  struct counter_results *results = set_selected("fake", "reference");
  const char *line;
  int lines = 0;

  results->invariant = 0;
  results->largest_step_back = 9;
  report.core.persecond_after = 3200000000;
  report.core.counted_persecond = 2000000000;
  report.settings.turbo = 1;
  strcpy(report.settings.governor, "ondemand");
  strcpy(report.settings.clock_source, "hpet");
  expect_short("cpucycles summary warning  observe for longer: the clock source is coarse; "
    "keep timed code on one CPU; "
    "keep the frequency of the core constant");
  for (line = captured; (line = strstr(line, "\ncpucycles summary ")) != NULL; line++)
    lines++;
  ck_assert_int_eq(lines, 9);
  report.library.selected = NULL;
  expect_all("cpucycles warning fake differs between CPUs, by 9 cycles or more: a migration can "
    "make it step back");
  ck_assert_ptr_null(strstr(captured, "keep timed code"));
  ck_assert_ptr_null(strstr(captured, "summary warning  \n"));
}

/* No line of ours is wider than a terminal, unless a word forces it. In a file, none is folded. */
TEST(long_lines_are_folded_at_80_columns_of_a_terminal)
{
  const struct cpucycles_counter_info row = { .name = "fake", .state = CPUCYCLES_DROPPED,
    .reason = "absent", .kind = "core", .explanation = "\303\244\303\244\303\244\303\244 "
      "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr this is below" };

  set_counters(&row, 1);
  expect_short("cpucycles dropped fake absent: \303\244\303\244\303\244\303\244"
    " abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr this is below");
  at_terminal = 1;
  expect_short("cpucycles dropped fake absent: \303\244\303\244\303\244\303\244"
    " abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr\n    this is below");
}

TEST(text_and_json_are_valid_for_any_bytes)
{
  strcpy(report.cpu.model,
    "\302\251\342\202\254\360\237\230\200|\300\200|\355\240\200|\303|\033[|\377|\303");
  expect_all("cpucycles cpu model \302\251\342\202\254\360\237\230\200|\?\?|\?\?\?|?|?[|?|?");
  strcpy(report.cpu.model, "a\"\\\177\303\244\n\300");
  expect_json("{\"model\": \"a\\\"\\\\\\u007f\\ufffd\\ufffd\\u000a\\ufffd\",");
}

TEST(plot_has_a_row_for_all_large_differences)
{
  struct counter_results *results = set_selected("fake", "core");
  int i;

  *results = (struct counter_results) { .name = "fake", .difference_count = DIFFERENCES,
    .lowest = 26, .lower_quartile = 26, .median = 52, .upper_quartile = 52, .highest = 10001 };
  for (i = 0; i < DIFFERENCES; i++)
    results->differences[i]
      = i < 3000 ? 26 : i < 9000 ? 52 : i < 9900 ? 54 : i < 9950 ? 9999 : 10001;
  strcpy(fake_results[1].name, "gone");
  strcpy(fake_results[1].failure, "it ended");
  report.result_count = 2;
  capture_begin(stdout);
  print_plot(&report);
  capture_end();
  expect("\ngone: not examined: it ended"); /* after an empty line */
  expect("quartiles 26 52 52, from 26 to 10001");
  expect("   26..27   3000 ######################### Q1");
  ck_assert_ptr_null(strstr(captured, "28..29")); /* there is none */
  expect("   52..53   6000 ################################################# median Q3");
  expect("   54..55    900 ########");
  expect("56..10001    100 #");
}

SUITE("printers")
