/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the selection among fake counters: which one passes its trial, its score, the reason of
   a dropped counter, and that losers are closed. Each reason that cpucycles-internals(7) lists is
   given to a counter to which it applies; check_process and check_perfevent cause the reasons of
   counters in use. lists.sh compares the table of reasons with the man page and the library. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/frequency.h"
#include "lib/reader.h"
#include "lib/reasons.h"
#include "lib/scale.h"
#include "lib/select.h"
#include "lib/table.h"
#include "sys/cpuid.h"
#include "sys/dependent-add.h"
#include "sys/environment.h"
#include "sys/os-clock.h"

#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <errno.h>
#ifdef CPUCYCLES_POSIX
#include <pthread.h>
#include <sched.h>
#endif
#include <signal.h>
#include <string.h>

/* Fake counters. Each test runs in its own process, so that their state begins at 0. */

static long long fake_count;
static volatile int opens, closes; /* volatile: the guard may end the counting code early */
static volatile char *forbidden;   /* a page without access */

/* Reads of one try of a trial. */
enum { TRY = 1001 };

/* A read function. n: the number of this read, from 1. */
#define READ(name, count) \
  static long long name(void) \
  { \
    static long long n; \
\
    n++; \
    (void)n; /* not used by each */ \
    return count; \
  }

READ(read_clock, n) /* of a clock that always works; most lists end with it */
READ(read_up, fake_count += 7)
READ(read_up_by_41_or_more, fake_count += n % 3 == 2 ? 50 : 41)
READ(read_up_by_4711, fake_count += 4711)
READ(read_constant, 5)
READ(read_down_at_times, fake_count += n % 900 == 0 ? -3 : 7)
READ(read_from_tenth_try, n > 9 * TRY ? n : 0)
READ(read_from_eleventh_try, n > 10 * TRY ? n : 0)
READ(read_forbidden, suite_read(forbidden))
READ(read_faults_after_its_trial, n > TRY ? suite_read(forbidden) : n)
READ(read_until_another_opens, opens > 1 ? 5 : n)
READ(read_around_2_63, (long long)(0x7fffffffffffff00ULL + 3ULL * (unsigned long long)n))

static int error_of_open = EACCES;

/* An open function. n: the number of this call, from 1. */
#define OPEN(name, error) \
  static int name(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis) \
  { \
    static int n; \
\
    (void)services, (void)diagnosis, (void)n; \
    n++; \
    opens++; \
    return error; \
  }

OPEN(open_well, 0)
OPEN(open_refused, error_of_open)
OPEN(open_faults, suite_read(forbidden))
OPEN(open_only_once, n > 1 ? EBUSY : 0)
OPEN(open_with_own_words, (diagnosis->reason = CPUC_REASON_ABSENT,
  diagnosis->explanation = "it is somewhere else", diagnosis->unit = "kernel cycles, too",
  n > 1 ? 0 : EIO)) /* fails at the first call */

static void close_well(void)
{
  closes++;
}

static int explained_error, explained_signal; /* -1: nothing was explained */
static enum cpuc_reason explained_reason;     /* replaces the reason, unless it is 0 */

static void explain(int error, int signal, struct cpuc_diagnosis *diagnosis)
{
  explained_error = error;
  explained_signal = signal;
  diagnosis->reason = explained_reason;
  diagnosis->remedy = "ask nicely";
}

#define RATE(name, hz) \
  static struct cpuc_rate name(void) \
  { \
    return cpuc_rate_exact(hz); \
  }

RATE(megahertz, 1000000)
RATE(rate_faults, suite_read(forbidden))
RATE(report_too_high_rate, 1400000000)

static int entries; /* of the next selection */

/* A table entry. Counts how often the counter is opened and closed. */
static struct cpuc_table_entry entry(const char *name, struct cpuc_backend backend)
{
  static struct cpuc_backend pool[8];
  struct cpuc_backend *backend_copy = &pool[entries++];
  struct cpuc_table_entry made = { name, "made for a test", backend_copy };

  ck_assert_int_le(entries, 8);
  *backend_copy = backend;
  backend_copy->unit = "ticks";
  if (backend.kind != CPUC_KIND_NONE) { /* it is never opened */
    backend_copy->open = backend.open ? backend.open : open_well;
    backend_copy->close = close_well;
  }
  return made;
}

#define ENTRY(name, ...) entry(name, (struct cpuc_backend) { __VA_ARGS__ })

/* In place of sys/dependent-add.c: each add takes a cycle, of which `ratio` are counted, or if
   ratio is 0, the chain proves nothing. */
static double ratio, counted;

int cpuc_dependent_add_run(long passes)
{
  counted += (double)passes * CPUC_DEPENDENT_ADD_PASS * ratio;
  return ratio > 0 ? 0 : -1;
}

READ(read_counted, (long long)(counted += 1))

#define SYSTEM_CALL .kind = CPUC_KIND_CORE_SYSTEM_CALL
#define REFERENCE .kind = CPUC_KIND_REFERENCE
#define CLOCK .kind = CPUC_KIND_CLOCK, .rate = megahertz
#define NONE .kind = CPUC_KIND_NONE
#define WORKING_CLOCK ENTRY("clock", CLOCK, .read = read_clock)

static const char *requested_names; /* value of CPUCYCLES_IMPLEMENTATION */

/* In place of sys/environment.c. */
const char *cpuc_environment(const char *name)
{
  return strcmp(name, "CPUCYCLES_IMPLEMENTATION") == 0 ? requested_names : NULL;
}

static int is_estimate_set;
static long long least_plausible, least_plausible_by;

/* In place of lib/frequency.c. */
struct cpuc_frequency cpuc_frequency_estimate(long long least)
{
  if (least > CPUC_FREQUENCY_DEFAULT)
    return (struct cpuc_frequency) { 5000000000, "next source", "", 0 };
  return (struct cpuc_frequency) { CPUC_FREQUENCY_DEFAULT, "default", "", is_estimate_set };
}

/* In place of lib/frequency-measure.c. */
long long cpuc_frequency_least_plausible(void)
{
  return least_plausible;
}

long long cpuc_frequency_least_plausible_by(long long (*read)(void), long long rate)
{
  (void)read;
  ck_assert_int_gt(rate, 0);
  return least_plausible_by;
}

long long cpuc_frequency_measure_core(void)
{
  return 0;
}

static struct cpuc_candidate candidates[8];
static struct cpuc_selection selection;

static void select_among(const struct cpuc_table_entry *table, int count)
{
  forbidden = suite_forbidden_page();
  memset(candidates, 0, sizeof candidates);
  entries = opens = closes = 0;
  enter_guard();
  cpuc_select(table, count, candidates, &selection);
  leave_guard();
}

#define SELECT(...) \
  do { \
    const struct cpuc_table_entry table[] = { __VA_ARGS__ }; \
    select_among(table, (int)(sizeof table / sizeof table[0])); \
  } while (0)

static void expect_selected(const char *name)
{
  ck_assert_str_eq(selection.selected->info.name, name);
}

static void expect_dropped(int i, const char *reason)
{
  ck_assert_int_eq(candidates[i].info.state, CPUCYCLES_DROPPED);
  ck_assert_str_eq(candidates[i].info.reason, reason);
  ck_assert_ptr_nonnull(candidates[i].info.explanation);
  ck_assert_int_eq(candidates[i].info.score, 0);
  ck_assert_int_eq(candidates[i].info.smallest_step, 0);
  ck_assert(!(candidates[i].info.scaling > 0));
  ck_assert_int_eq(candidates[i].info.signal_number, strcmp(reason, "signal") == 0 ? SIGSEGV : 0);
}

/* Up to five counters, and what becomes of each. The kind is "core" where the row has none. */
static const struct choice {
  struct cpuc_backend counters[6]; /* up to one without read() */
  int selected;
  long long score;        /* of the selected counter: its smallest step and the penalty */
  const char *reasons[5]; /* NULL: the counter works */
  int fallback;           /* 0: the OS clock */
} choices[] = {
  /* the smallest step counts; cycles win over time at any score, and the earlier row wins a tie */
  { .counters = { { CLOCK, .read = read_clock } }, .score = 2599 },
  { .counters = { { CLOCK, .read = read_clock }, { SYSTEM_CALL, .read = read_up_by_4711 } },
    .selected = 1, .score = 4811 },
  { .counters = { { SYSTEM_CALL, .read = read_up }, { REFERENCE, .read = read_up },
      { .read = read_up_by_41_or_more } }, .selected = 2, .score = 41 },
  { .counters = { { .read = read_up }, { .read = read_up } }, .score = 7 },
  /* of two counters of one register, the first that works */
  { .counters = { { .read = read_up_by_41_or_more, .register_name = "register" },
      { .read = read_up, .register_name = "register" } }, .score = 41 },
  { .counters = { { .read = read_forbidden, .register_name = "register" },
      { .read = read_up, .register_name = "register" } },
    .selected = 1, .score = 7, .reasons = { "signal" } },
  /* ten tries */
  { .counters = { { .read = read_down_at_times }, { .read = read_from_eleventh_try },
      { CLOCK, .read = read_clock } }, .selected = 2,
    .score = 2599, .reasons = { "decreasing", "not-increasing" } },
  { .counters = { { .read = read_from_tenth_try } }, .score = 1 },
  { .counters = { { .read = read_around_2_63 } }, .score = 3 },
  /* faults in open(), in read(), in rate(), and in read() after the trial */
  { .counters = { { .open = open_faults, .read = read_up }, { .read = read_forbidden },
      { .kind = CPUC_KIND_SCALED, .read = read_up, .rate = rate_faults },
      { .read = read_faults_after_its_trial }, { REFERENCE, .read = read_up } },
    .selected = 4, .score = 107, .reasons = { "signal", "signal", "signal", "signal" } },
  /* a winner that cannot be opened again, or that the trial of another counter has stopped */
  { .counters = { { .open = open_only_once, .read = read_up }, { REFERENCE, .read = read_up } },
    .selected = 1, .score = 107, .reasons = { "failed" } },
  { .counters = { { .read = read_until_another_opens },
      { SYSTEM_CALL, .read = read_up_by_41_or_more } },
    .selected = 1, .score = 141, .reasons = { "not-increasing" } },
  /* the fallback of a thread counter: the best shared counter except clocks, or the OS clock */
  { .counters = { { CLOCK, .read = read_clock }, { .is_of_thread = 1, .read = read_up },
      { .read = read_up_by_41_or_more }, { REFERENCE, .read = read_up_by_4711 },
      { REFERENCE, .read = read_up } },
    .selected = 1, .score = 7, .fallback = 4 },
  { .counters = { { .is_of_thread = 1, .read = read_up },
      { REFERENCE, .read = read_up, .open = open_only_once } },
    .score = 7, .reasons = { NULL, "failed" } },
  /* the last resorts: a clock, and if no clock can be read, the counter that counts nothing */
  { .counters = { { NONE, .read = read_constant }, { CLOCK, .read = read_constant } },
    .selected = 1, .reasons = { "not-increasing", "not-increasing" } },
  { .counters = { { .read = read_forbidden }, { CLOCK, .read = read_forbidden },
      { NONE, .read = read_constant } },
    .selected = 2, .reasons = { "signal", "signal", "not-increasing" } },
};

TEST_LOOP(best_counter_that_works_is_selected, sizeof choices / sizeof choices[0])
{
  static const char names[][2] = { "a", "b", "c", "d", "e" };
  static const char *const count_units[] = { "core cycles", "core cycles", "reference cycles",
    "scaled cycles", "scaled cycles", "counts" }; /* of each enum cpuc_kind */
  const struct choice *choice = &choices[_i];
  const struct cpuc_candidate *selected = &candidates[choice->selected];
  struct cpuc_table_entry table[5];
  enum cpuc_kind kind;
  int i, count = 0;

  for (; choice->counters[count].read; count++)
    table[count] = entry(names[count], choice->counters[count]);
  select_among(table, count);
  ck_assert_ptr_eq(selection.selected, selected);
  ck_assert_ptr_eq(selected->reader.read, choice->counters[choice->selected].read);
  for (i = 0; i < count; i++) {
    kind = choice->counters[i].kind;
    ck_assert_str_eq(candidates[i].info.count_unit, count_units[kind]);
    if (i != choice->selected && choice->reasons[i])
      expect_dropped(i, choice->reasons[i]);
    else
      ck_assert_int_eq(candidates[i].info.state,
        i == choice->selected ? CPUCYCLES_SELECTED : CPUCYCLES_USABLE);
  }
  kind = selected->backend->kind;
  ck_assert_pstr_eq(selected->info.reason, choice->reasons[choice->selected]);
  ck_assert_int_eq(selected->info.score, choice->score);
  ck_assert_double_eq_tol(selected->info.scaling, kind == CPUC_KIND_CLOCK ? 2399.987654 : 1, 1e-9);
  ck_assert_ptr_eq(selection.fallback.read,
    choice->fallback ? candidates[choice->fallback].backend->read : cpuc_os_clock_monotonic);
  if (!choice->fallback)
    ck_assert_uint_eq(selection.fallback.scale.multiplier,
      cpuc_scale_from_to(1000000000, CPUC_FREQUENCY_DEFAULT).multiplier);
  /* the selected counter and the fallback counter are open, and all others are closed */
  ck_assert_int_eq(opens - closes, (kind != CPUC_KIND_NONE) + (choice->fallback > 0));
}

/* Counts per core cycle, whether the count is taken for core cycles, and whether it is on CPUs that
   may execute two adds per cycle. */
static const struct {
  double ratio;
  int is_proven, is_of_two;
} ratios[] = { { 1, 1, 1 }, { 0.955, 1, 1 }, { 2, 1, 1 }, { 2.45, 1, 1 }, { 0.94, 0, 0 },
  { 0.9, 0, 0 }, { 0.77, 0, 0 }, { 0.66, 0, 0 }, { 0.64, 0, 1 }, { 0.5, 0, 1 }, { 0.46, 0, 0 },
  { 0.3, 0, 0 }, { 3, 0, 0 }, { 1 / 8.0, 0, 0 }, { 1 / 64.0, 0, 0 }, { 1 / 1000.0, 0, 0 },
  { 8, 0, 0 } };

/* Vendors in CPUID, all of whose cores execute one add per cycle, except the last one. */
static const char *const vendors[] = { "GenuineIntel", "AuthenticAMD", "  Shanghai  " };

enum { VENDORS = sizeof vendors / sizeof vendors[0] };

static const char *vendor = "GenuineIntel";

/* In place of sys/cpuid.c: a CPU whose family is 6. */
struct cpuc_cpuid_leaf cpuc_cpuid_read(unsigned int leaf)
{
  struct cpuc_cpuid_leaf read = { 0x600, 0, 0, 0 };

  if (leaf == 0) {
    memcpy(&read.b, vendor, 4);
    memcpy(&read.d, vendor + 4, 4);
    memcpy(&read.c, vendor + 8, 4);
  }
  return read;
}

static int is_proven(int row)
{
#if defined(__x86_64__) || defined(__i386__)
  return ratios[row].is_proven || (ratios[row].is_of_two && vendor == vendors[VENDORS - 1]);
#else
  return ratios[row].is_proven || ratios[row].is_of_two;
#endif
}

TEST_LOOP(count_that_is_not_of_core_cycles_ranks_last, VENDORS * sizeof ratios / sizeof ratios[0])
{
  const struct cpuc_candidate *counter = &candidates[0];
  int row = _i / VENDORS;

  SKIP_IF(!cpuc_dependent_add_takes_one_cycle(), "adds prove nothing on this CPU");
  vendor = vendors[_i % VENDORS];
  ratio = ratios[row].ratio;
  SELECT(ENTRY("counted", .read = read_counted, .register_name = "register",
           .remedy_for_64th = "cure"),
    WORKING_CLOCK, ENTRY("same", REFERENCE, .read = read_up,
      .register_name = "register"));
  ck_assert_int_ne(counter->info.state, CPUCYCLES_DROPPED);
  if (is_proven(row)) {
    expect_selected("counted");
    ck_assert_str_eq(counter->info.count_unit, "core cycles");
    ck_assert_ptr_null(counter->info.reason);
    return;
  }
  expect_selected("same");
  ck_assert_str_eq(counter->info.reason, "not-core-cycles");
  ck_assert_str_eq(counter->info.count_unit, "counts");
  ck_assert_int_eq(counter->info.remedy != NULL, ratio == 1 / 64.0);
  if (ratio == 8)
    ck_assert_ptr_nonnull(strstr(counter->info.explanation, "advances by 8.000 per core cycle"));
  requested_names = "counted";
  SELECT(WORKING_CLOCK, ENTRY("counted", SYSTEM_CALL, .read = read_counted));
  expect_selected("counted");
  ck_assert_str_eq(selection.selected->info.reason, "not-core-cycles");
}

/* In place of backends/tsc/reference.c: a counter of this rate, or none. */
static long long reference_rate;
static int reference_is_invariant, reference_faults;

static long long read_reference(void)
{
  return reference_faults
    ? suite_read(forbidden)
    : (long long)((double)cpuc_os_clock_monotonic() / 1e9 * (double)reference_rate);
}

static int report_invariance(const char **source)
{
  *source = "the test";
  return reference_is_invariant;
}

const struct cpuc_backend *cpuc_reference_counter(void)
{
  static const struct cpuc_backend reference = { .kind = CPUC_KIND_REFERENCE,
    .read = read_reference, .is_invariant = report_invariance };

  return reference_rate > 0 ? &reference : NULL;
}

/* The reference counter, the lowest plausible estimates against the OS clock and against this
   counter, and whether the estimate of 2.4 GHz is replaced if a clock is selected, and if a counter
   of cycles is. */
static const struct {
  long long rate;
  int is_invariant, faults;
  long long least, least_by;
  int is_setting, replaces_for_clock, replaces_for_cycles;
} estimates[] = {
#define HIGH (CPUC_FREQUENCY_DEFAULT + 1)
  { 0, 0, 0, HIGH, 0, 0, 1, 0 },
  { 0, 0, 0, CPUC_FREQUENCY_DEFAULT, 0, 0, 0, 0 },
  { 0, 0, 0, HIGH, 0, 1, 0, 0 },
  { 10000000000, 1, 0, 0, HIGH, 0, 1, 1 },
  { 10000000000, 1, 0, 0, HIGH, 1, 0, 0 },
  /* a core that is slowed down */
  { 10000000000, 1, 0, HIGH, CPUC_FREQUENCY_DEFAULT, 0, 0, 0 },
  /* the estimate is not far below the rate, whatever the frequency of the core */
  { 5000000000, 1, 0, HIGH, HIGH, 0, 0, 0 },
  /* a counter that is not constant, or faults */
  { 10000000000, 0, 0, HIGH, HIGH, 0, 1, 0 },
  { 10000000000, 1, 1, HIGH, HIGH, 0, 1, 0 },
};

/* An interruption makes the rate of the reference counter too low. */
TEST_LOOP(low_estimate_is_replaced, sizeof estimates / sizeof estimates[0])
{
  static const char *const sources[] = { "default", "next source" };
  const char *for_clock = sources[estimates[_i].replaces_for_clock],
             *for_cycles = sources[estimates[_i].replaces_for_cycles];
  struct suite_repeat retry = suite_retry(100);

  skip_where_the_clock_steps_are_long();
  reference_rate = estimates[_i].rate;
  reference_is_invariant = estimates[_i].is_invariant;
  reference_faults = estimates[_i].faults;
  least_plausible = estimates[_i].least;
  least_plausible_by = estimates[_i].least_by;
  is_estimate_set = estimates[_i].is_setting;
  forbidden = suite_forbidden_page();
  do
    SELECT(WORKING_CLOCK);
  while (strcmp(selection.frequency.source, for_clock) != 0 && suite_again(&retry));
  ck_assert_str_eq(selection.frequency.source, for_clock);
  ck_assert_double_eq_tol(candidates[0].info.scaling,
    estimates[_i].replaces_for_clock ? 5000 : 2399.987654, 1e-9);
  ck_assert_int_eq(opens - closes, 1);
  do
    SELECT(ENTRY("cycles", REFERENCE, .read = read_up), WORKING_CLOCK);
  while (strcmp(selection.frequency.source, for_cycles) != 0 && suite_again(&retry));
  expect_selected("cycles");
  ck_assert_str_eq(selection.frequency.source, for_cycles);
  ck_assert_double_eq_tol(candidates[1].info.scaling,
    estimates[_i].replaces_for_cycles ? 5000 : 2399.987654, 1e-9);
  /* the step was rounded down before it was scaled again */
  ck_assert_int_eq(candidates[1].info.score, estimates[_i].replaces_for_cycles ? 5197 : 2599);
  ck_assert_int_eq(candidates[1].info.smallest_step, candidates[1].info.score - 200);
  ck_assert_uint_eq(selection.fallback.scale.multiplier,
    cpuc_scale_from_to(1000000000, selection.frequency.persecond).multiplier);
  ck_assert_int_eq(opens - closes, 1);
}

TEST(open_describes_the_counter)
{
  SELECT(ENTRY("refused", .read = read_up, .open = open_refused),
    ENTRY("own words", .read = read_up, .open = open_with_own_words),
    ENTRY("unit", .read = read_up, .open = open_with_own_words));
  ck_assert_str_eq(candidates[0].info.unit, "ticks");
  ck_assert_int_eq(candidates[0].info.error_number, EACCES);
  expect_dropped(1, "absent");
  ck_assert_str_eq(candidates[1].info.explanation, "it is somewhere else");
  ck_assert_int_eq(candidates[1].info.error_number, EIO);
  ck_assert_str_eq(candidates[2].info.unit, "kernel cycles, too");
}

static const struct cpuc_table_entry *row_of(const char *name)
{
  int i;

  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (strcmp(cpuc_table[i].name, name) == 0)
      return &cpuc_table[i];
  return NULL;
}

/* Of two counters of one register, the first that works is selected. */
TEST(clock_that_can_be_set_never_wins_over_the_monotonic_clock)
{
  const struct cpuc_table_entry *monotonic = row_of("default-monotonic");
  const struct cpuc_table_entry *wall = row_of("default-gettimeofday");

  SKIP_IF(!monotonic || !wall, "one of them was not built");
  ck_assert(monotonic < wall);
  ck_assert_str_eq(monotonic->backend->register_name, wall->backend->register_name);
}

/* 1.3 GHz, no simple fraction of the default frequency */
READ(read_time, (long long)((double)cpuc_os_clock_monotonic() * 1.3))

TEST(named_last_resort_is_not_reported_as_unusable)
{
  requested_names = "still,zero";
  SELECT(ENTRY("zero", NONE, .read = read_constant),
    ENTRY("still", CLOCK, .read = read_constant));
  expect_selected("still");
  ck_assert_str_eq(selection.unusable_text, "zero does not work here: not-increasing");
}

/* Six counters: the first would be selected, the second reads the register of the first, the third
   cannot be opened, the fourth never counts. */
static void select_with_request(const char *names)
{
  requested_names = names;
  SELECT(ENTRY("core", .read = read_up, .register_name = "register"),
    ENTRY("core-asm", .read = read_up, .register_name = "register"),
    ENTRY("refused", .open = open_refused, .read = read_up, .explain = explain),
    ENTRY("zero", NONE, .read = read_constant),
    ENTRY("reference", REFERENCE, .read = read_up), WORKING_CLOCK);
}

#define REFUSED "refused does not work here: refused"
#define UNKNOWN(name) name " is not a counter of this library"

/* The request; the counters that are tried, each as its initial, except f for "refused" and a for
   "core-asm", with "." for a counter that is not tried; the selected counter; the report. */
static const struct {
  const char *names, *tried, *selected, *unusable;
} requests[] = {
  { "reference", "....r.", "reference", "" },
  { " clock,reference\n", "....rc", "reference", "" },
  { "reference,core,,clock", "c...rc", "core", "" },
  { "core-asm", ".a....", "core-asm", "" },
  { "core asm", "c.....", "core", UNKNOWN("asm") },
  { "refused,reference,nonesuch", "..f.r.", "reference", REFUSED "; " UNKNOWN("nonesuch") },
  { "Reference,reference", "....r.", "reference", UNKNOWN("Reference") },
  { "ref,references,clock", ".....c", "clock", UNKNOWN("ref") "; " UNKNOWN("references") },
  /* none of them works, so the selection is automatic */
  { "refused", "cafzrc", "core", REFUSED },
  { "references", "cafzrc", "core", UNKNOWN("references") },
  { "refused,nonesuch", "cafzrc", "core", REFUSED "; " UNKNOWN("nonesuch") },
  { "zero", "cafzrc", "core", "zero does not work here: not-increasing" },
  { "\033[31mred\001\377", "cafzrc", "core", UNKNOWN("?[31mred??") },
  /* no names */
  { "", "cafzrc", "core", "" },
  { " , \t,\n", "cafzrc", "core", "" },
};

/* If a named counter was dropped, the selection has already asked for its remedy. A counter that is
   tried is opened once, and the winner again. */
static void expect_tried(const char *tried, const char *names)
{
  const char *remedy = strstr(names, "refused") ? "ask nicely" : NULL;
  int i, opened = 1;

  for (i = 0; tried[i]; i++) {
    if (tried[i] == '.')
      expect_dropped(i, "not-asked");
    else if (tried[i] == 'f')
      expect_dropped(i, "refused");
    else if (tried[i] == 'z')
      expect_dropped(i, "not-increasing");
    else
      ck_assert_ptr_null(candidates[i].info.reason);
    ck_assert_pstr_eq(candidates[i].info.remedy, tried[i] == 'f' ? remedy : NULL);
    ck_assert_int_eq(candidates[i].info.error_number, tried[i] == 'f' ? EACCES : 0);
    opened += tried[i] != '.' && tried[i] != 'z';
  }
  ck_assert_int_eq(opens, opened);
}

TEST(request_limits_the_candidates_and_a_wrong_one_is_reported)
{
  size_t i;

  for (i = 0; i < sizeof requests / sizeof requests[0]; i++) {
    select_with_request(requests[i].names);
    expect_selected(requests[i].selected);
    ck_assert_str_eq(selection.unusable_text, requests[i].unusable);
    expect_tried(requests[i].tried, requests[i].names);
  }
}

TEST(report_of_a_long_request_is_short)
{
  static char names[100000];
  size_t i;

  memset(names, 'x', sizeof names - 1);
  select_with_request(names);
  ck_assert_str_eq(selection.unusable_text, UNKNOWN("xxxxxxxxxxxxxxxxxxxxxxxxxxxx..."));
  /* fewer, because strcspn() of zig's C library reads the whole rest of the list for each name */
  for (i = 1; i < 4000; i += 2)
    names[i] = ',';
  names[4000] = 0;
  select_with_request(names);
  expect_selected("core");
  ck_assert_uint_lt(strlen(selection.unusable_text), sizeof selection.unusable_text);
  ck_assert_str_eq(strstr(selection.unusable_text, "; and"), "; and others");
}

/* Reasons. */

static struct cpucycles_counter_info info;

READ(now_and_then_back, 1000 * n - (n % 50 == 0 ? 100000 : 0))

/* The counter, and the clock of its trial if it is not the OS clock, which does not step back or
   stop when a test needs it. */
static const struct {
  const char *code;
  struct cpuc_backend backend; /* no read(): provoke_otherwise() */
  long long (*now)(void);
  int errors[6]; /* of open_refused(), up to 0 */
} reasons[] = {
  { "not-increasing", { .read = read_constant }, NULL, { 0 } },
  { "decreasing", { .read = read_down_at_times }, NULL, { 0 } },
  { "signal", { .read = read_forbidden }, NULL, { 0 } },
  { "refused", { .open = open_refused, .read = read_up }, NULL, { EACCES, EPERM } },
  { "absent", { .open = open_refused, .read = read_up }, NULL,
    { ENOENT, ENODEV, ENOSYS, EOPNOTSUPP, ENOTSUP } },
  { "exhausted", { .open = open_refused, .read = read_up }, NULL, { EMFILE, ENFILE, ENOMEM } },
  { "failed", { .open = open_refused, .read = read_up }, NULL, { EIO } },
  { "no-rate", { .kind = CPUC_KIND_CLOCK, .read = read_up }, NULL, { 0 } },
  { "no-multiple", { .kind = CPUC_KIND_SCALED, .read = read_time }, NULL, { 0 } },
  { "rate-mismatch", { .kind = CPUC_KIND_SCALED, .read = read_time, .rate = report_too_high_rate },
    NULL, { 0 } },
  { "clock-decreasing", { .kind = CPUC_KIND_SCALED, .read = read_up }, now_and_then_back, { 0 } },
  { "clock-not-increasing", { .kind = CPUC_KIND_SCALED, .read = read_up }, read_constant, { 0 } },
  { "not-core-cycles", { .read = read_counted }, NULL, { 0 } },
  { "not-asked", { 0 }, NULL, { 0 } },
  { "by-read", { 0 }, NULL, { 0 } },
  { "by-fallback", { 0 }, NULL, { 0 } },
};

/* Drops a counter that is not asked for, or notes a reason of the selected counter. */
static void provoke_otherwise(const char *code)
{
  memset(&info, 0, sizeof info);
  if (strcmp(code, "not-asked") == 0) {
    select_with_request("clock");
    info = candidates[0].info;
    return;
  }
  info.state = CPUCYCLES_SELECTED;
  cpuc_reasons_note_selected(&info,
    strcmp(code, "by-read") == 0 ? CPUC_REASON_BY_READ : CPUC_REASON_BY_FALLBACK);
  cpuc_reasons_note_selected(&info, CPUC_REASON_BY_READ); /* does not replace by-fallback */
}

static void try_alone(struct cpuc_backend backend, long long (*now)(void))
{
  struct cpuc_candidate_context context = { .persecond = CPUC_FREQUENCY_DEFAULT,
    .now = now ? now : cpuc_os_clock_monotonic };
  static struct cpuc_candidate candidate; /* holds the text of an explanation */
  struct cpuc_table_entry alone;

  entries = 0;
  alone = entry("counter", backend);
  enter_guard();
  cpuc_candidate_begin(&candidate, &alone, &context);
  cpuc_candidate_try(&candidate, 0);
  leave_guard();
  info = candidate.info;
}

/* The backend may have a remedy if there is an errno or a signal, or if a stopped counter may only
   have to be started. */
static void expect_explanation(void)
{
  const struct cpuc_backend backend = { .explain = explain };
  int has_remedy = info.error_number || info.signal_number
    || strcmp(info.reason, "not-increasing") == 0;

  explained_error = explained_signal = -1;
  cpuc_reasons_explain(&info, &backend, NULL);
  ck_assert_pstr_eq(info.remedy, has_remedy ? "ask nicely" : NULL);
  ck_assert_int_eq(explained_error, has_remedy ? info.error_number : -1);
  ck_assert_int_eq(explained_signal, has_remedy ? info.signal_number : -1);
}

TEST(every_reason_is_given_to_a_counter_it_applies_to)
{
  size_t i, j, n;
  const char *sentences[sizeof reasons / sizeof reasons[0]];

  skip_where_the_clock_steps_are_long();
  forbidden = suite_forbidden_page();
  for (i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
    int is_note = strncmp(reasons[i].code, "by-", 3) == 0;
    int is_usable = strcmp(reasons[i].code, "not-core-cycles") == 0;

    sentences[i] = reasons[i].code;
    if (is_usable && !cpuc_dependent_add_takes_one_cycle())
      continue; /* the chain proves nothing on this CPU */
    ratio = is_usable ? 8 : 0;
    for (n = 0; n == 0 || reasons[i].errors[n]; n++) {
      error_of_open = reasons[i].errors[n];
      if (reasons[i].backend.read)
        try_alone(reasons[i].backend, reasons[i].now);
      else
        provoke_otherwise(reasons[i].code);
      ck_assert_str_eq(info.reason, reasons[i].code);
      ck_assert_int_eq(info.error_number, error_of_open);
      ck_assert_int_eq(info.signal_number != 0, reasons[i].backend.read == read_forbidden);
      ck_assert_int_eq(info.score > 0, is_usable);
      ck_assert(info.state == (is_usable ? CPUCYCLES_USABLE
          : is_note ? CPUCYCLES_SELECTED : CPUCYCLES_DROPPED));
      ck_assert_ptr_nonnull(info.explanation);
      ck_assert_ptr_null(info.remedy);
      expect_explanation();
    }
    sentences[i] = info.explanation;
    for (j = 0; j < i; j++)
      ck_assert_str_ne(sentences[i], sentences[j]);
  }
  try_alone((struct cpuc_backend) { .read = read_forbidden }, NULL);
  explained_reason = CPUC_REASON_ABSENT;
  expect_explanation();
  ck_assert_str_eq(info.reason, "absent");
}

#ifdef CPUCYCLES_POSIX

enum { NOTED = 1000 };

static struct cpucycles_counter_info noted[NOTED];
static int arrivals;

static void *note_all(void *reason)
{
  int i, tries;

  for (i = 0; i < NOTED; i++) {
    __atomic_add_fetch(&arrivals, 1, __ATOMIC_RELAXED);
    /* waits until both threads have arrived here, and thus have noted the previous reason */
    for (tries = 0; __atomic_load_n(&arrivals, __ATOMIC_RELAXED) < 2 * i + 2; tries++)
      if (tries > 1000)
        sched_yield();
    cpuc_reasons_note_selected(&noted[i], *(const enum cpuc_reason *)reason);
  }
  return NULL;
}

TEST(worst_reason_remains_if_two_threads_note_reasons)
{
  enum cpuc_reason by_read = CPUC_REASON_BY_READ, by_fallback = CPUC_REASON_BY_FALLBACK;
  struct suite_repeat repeat = suite_repeat(50);
  pthread_t thread;
  int i;

  provoke_otherwise("by-fallback");
  while (suite_again(&repeat)) {
    memset(noted, 0, sizeof noted);
    arrivals = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, note_all, &by_fallback), 0);
    note_all(&by_read);
    pthread_join(thread, NULL);
    for (i = 0; i < NOTED; i++) {
      ck_assert_str_eq(noted[i].reason, "by-fallback");
      ck_assert_str_eq(noted[i].explanation, info.explanation);
    }
  }
}

#endif

SUITE("select")
