/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests every reason that cpucycles-internals(7) lists: a trial gives the reason to a counter to which the
   reason applies. For the three reasons of a counter in use, this suite only calls
   cpuc_reasons_note_selected(). check_process and check_perfevent cause these reasons. lists.sh
   compares the table of reasons with the man page and the library. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/candidate.h"
#include "lib/frequency.h"
#include "lib/reasons.h"
#include "lib/select.h"
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
#include <string.h>

static struct cpucycles_counter_info info;

static const char *requested_name; /* value of CPUCYCLES_IMPLEMENTATION */

/* In place of sys/environment.c. */
const char *cpuc_environment(const char *name)
{
  return strcmp(name, "CPUCYCLES_IMPLEMENTATION") == 0 ? requested_name : NULL;
}

/* In place of lib/frequency.c. */
struct cpuc_frequency cpuc_frequency_estimate(long long least)
{
  (void)least;
  return (struct cpuc_frequency) { CPUC_FREQUENCY_DEFAULT, "default", "", 0 };
}

static long long fake_count;

static long long read_up(void)
{
  return fake_count += 7;
}

static long long read_down(void)
{
  return fake_count -= 7;
}

static long long read_constant(void)
{
  return 5;
}

/* 1.3 GHz, no simple fraction of the default frequency */
static long long read_time(void)
{
  return (long long)((double)cpuc_os_clock_monotonic() * 1.3);
}

static struct cpuc_rate rate_of_clock(void)
{
  return cpuc_exact_rate(1000000);
}

/* Selects among this counter and a clock. `info` describes the counter afterwards. */
static void select_counter(enum cpuc_kind kind, long long (*read)(void),
  struct cpuc_rate (*rate)(void),
  int (*open)(const struct cpuc_services *, struct cpuc_diagnosis *))
{
  struct cpuc_backend backend = { .kind = kind,
    .scope = CPUC_SCOPE_CORE,
    .width = 64,
    .register_name = "register",
    .unit = "ticks",
    .open = open,
    .read = read,
    .rate = rate };
  static const struct cpuc_backend clock = { .kind = CPUC_KIND_CLOCK,
    .scope = CPUC_SCOPE_SYSTEM, .width = 64, .register_name = "c", .unit = "ticks", .read = read_up,
    .rate = rate_of_clock };
  const struct cpuc_table_entry table[2] = { { "counter", "", &backend }, { "clock", "", &clock } };
  static struct cpuc_candidate candidates[2];
  static struct cpuc_selection selection;

  enter_guard();
  cpuc_select(table, 2, candidates, &selection);
  leave_guard();
  ck_assert_str_eq(selection.selected->info.name, "clock");
  info = candidates[0].info;
}

static void by_constant_count(void)
{
  select_counter(CPUC_KIND_CORE, read_constant, NULL, NULL);
}

static void by_falling_count(void)
{
  select_counter(CPUC_KIND_CORE, read_down, NULL, NULL);
}

static volatile char *forbidden; /* a page without access */

static long long read_forbidden(void)
{
  return suite_read(forbidden);
}

static void by_forbidden_page(void)
{
  forbidden = suite_forbidden_page();
  select_counter(CPUC_KIND_CORE, read_forbidden, NULL, NULL);
  ck_assert_int_ne(info.signal_number, 0);
}

static int error;

static int open_with_error(const struct cpuc_services *services, struct cpuc_diagnosis *diagnosis)
{
  (void)services, (void)diagnosis;
  return error;
}

static void by_errno(void)
{
  select_counter(CPUC_KIND_CORE, read_up, NULL, open_with_error);
  ck_assert_int_eq(info.error_number, error);
}

static void by_clock_without_rate(void)
{
  select_counter(CPUC_KIND_CLOCK, read_up, NULL, NULL);
}

static void by_odd_rate(void)
{
  select_counter(CPUC_KIND_SCALED, read_time, NULL, NULL);
}

static struct cpuc_rate report_too_high_rate(void)
{
  return cpuc_exact_rate(1400000000);
}

static void by_wrong_rate(void)
{
  select_counter(CPUC_KIND_SCALED, read_time, report_too_high_rate, NULL);
}

/* Runs the trial of a counter against a fake clock, because the OS clock does not step back or
   stop when a test needs it. */
static void drop_by_clock(long long (*now)(void))
{
  static const struct cpuc_backend scaled = { .kind = CPUC_KIND_SCALED,
    .scope = CPUC_SCOPE_SYSTEM, .width = 64, .register_name = "s", .unit = "ticks",
    .read = read_up };
  const struct cpuc_table_entry entry = { "counter", "", &scaled };
  struct cpuc_candidate_context trial = { .persecond = 1000000000, .now = now };
  struct cpuc_candidate candidate;

  enter_guard();
  cpuc_candidate_begin(&candidate, &entry, &trial);
  cpuc_candidate_try(&candidate, 0);
  leave_guard();
  info = candidate.info;
}

static long long now_and_then_back(void)
{
  static long long time, calls;

  time += 1000;
  return ++calls % 50 == 0 ? time - 100000 : time;
}

static long long now_constant(void)
{
  return 5;
}

static void by_decreasing_clock(void)
{
  drop_by_clock(now_and_then_back);
}

static void by_constant_clock(void)
{
  drop_by_clock(now_constant);
}

/* In place of sys/dependent-add.c. The adds of this suite advance no count. */
int cpuc_dependent_add_run(long passes)
{
  (void)passes;
  return requested_name ? -1 : 0;
}

static void by_count_of_something_else(void)
{
  select_counter(CPUC_KIND_CORE, read_up, NULL, NULL);
}

static void by_request_for_another(void)
{
  requested_name = "clock";
  select_counter(CPUC_KIND_CORE, read_up, NULL, NULL);
}

/* Notes a reason of the selected counter, which stays selected. */
static void note(const char *code)
{
  memset(&info, 0, sizeof info);
  info.state = CPUCYCLES_SELECTED;
  cpuc_reasons_note_selected(&info, code);
  ck_assert_int_eq(info.state, CPUCYCLES_SELECTED);
}

static void by_noting_by_read(void)
{
  note("by-read");
}

static void by_noting_by_fallback(void)
{
  note("by-fallback");
  cpuc_reasons_note_selected(&info, "by-read"); /* less severe, so it is ignored */
}

static const struct {
  const char *code;
  void (*provoke)(void);
  int error;
} reasons[] = {
  { "not-increasing", by_constant_count, 0 },
  { "decreasing", by_falling_count, 0 },
  { "signal", by_forbidden_page, 0 },
  { "refused", by_errno, EACCES },
  { "refused", by_errno, EPERM },
  { "absent", by_errno, ENOENT },
  { "absent", by_errno, ENODEV },
  { "absent", by_errno, ENOSYS },
  { "absent", by_errno, EOPNOTSUPP },
  { "absent", by_errno, ENOTSUP },
  { "exhausted", by_errno, EMFILE },
  { "exhausted", by_errno, ENFILE },
  { "exhausted", by_errno, ENOMEM },
  { "failed", by_errno, EIO },
  { "no-rate", by_clock_without_rate, 0 },
  { "no-multiple", by_odd_rate, 0 },
  { "rate-mismatch", by_wrong_rate, 0 },
  { "clock-decreasing", by_decreasing_clock, 0 },
  { "clock-not-increasing", by_constant_clock, 0 },
  { "not-core-cycles", by_count_of_something_else, 0 },
  { "not-asked", by_request_for_another, 0 },
  { "by-read", by_noting_by_read, 0 },
  { "by-fallback", by_noting_by_fallback, 0 },
};

TEST(every_reason_is_given_to_a_counter_it_applies_to)
{
  size_t i, j;
  const char *sentences[sizeof reasons / sizeof reasons[0]];

  skip_where_the_clock_steps_are_long();
  for (i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
    int is_note = strncmp(reasons[i].code, "by-", 3) == 0;
    int is_usable = strcmp(reasons[i].code, "not-core-cycles") == 0;

    sentences[i] = reasons[i].code;
    if (is_usable && !cpuc_dependent_add_takes_one_cycle())
      continue; /* the chain proves nothing on this CPU */
    requested_name = NULL;
    error = reasons[i].error;
    reasons[i].provoke();
    ck_assert_str_eq(info.reason, reasons[i].code);
    ck_assert_int_eq(info.score > 0, is_usable);
    ck_assert(info.state == (is_usable ? CPUCYCLES_USABLE : is_note ? CPUCYCLES_SELECTED : CPUCYCLES_DROPPED));
    ck_assert_ptr_nonnull(info.explanation);
    ck_assert_ptr_null(info.remedy);
    sentences[i] = info.explanation;
    for (j = 0; j < i; j++)
      ck_assert_int_eq(strcmp(sentences[i], sentences[j]) == 0,
        strcmp(reasons[i].code, reasons[j].code) == 0);
  }
}

#ifdef CPUCYCLES_POSIX

enum { NOTED = 1000 };

static struct cpucycles_counter_info noted[NOTED];
static int arrivals;

static void *note_all(void *code)
{
  int i, tries;

  for (i = 0; i < NOTED; i++) {
    __atomic_add_fetch(&arrivals, 1, __ATOMIC_RELAXED);
    /* waits until both threads have arrived here, and thus have noted the previous reason */
    for (tries = 0; __atomic_load_n(&arrivals, __ATOMIC_RELAXED) < 2 * i + 2; tries++)
      if (tries > 1000)
        sched_yield();
    cpuc_reasons_note_selected(&noted[i], code);
  }
  return NULL;
}

TEST(worst_reason_remains_if_two_threads_note_reasons)
{
  struct suite_repeat repeat = suite_repeat(50);
  pthread_t thread;
  int i;

  note("by-fallback");
  while (suite_again(&repeat)) {
    memset(noted, 0, sizeof noted);
    arrivals = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, note_all, (void *)"by-fallback"), 0);
    note_all((void *)"by-read");
    pthread_join(thread, NULL);
    for (i = 0; i < NOTED; i++) {
      ck_assert_str_eq(noted[i].reason, "by-fallback");
      ck_assert_str_eq(noted[i].explanation, info.explanation);
    }
  }
}

#endif

SUITE("reasons")
