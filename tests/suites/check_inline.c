/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the inline reads against the library's reads: before, in and after the first call, with
   each instruction that this CPU has, scaled and unscaled. linked.sh tests all kinds of reads in
   programs that are compiled in other ways. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/process.h"
#include "lib/reader.h"
#include "lib/scale.h"
#include "lib/table.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

/* Compiled programs contain these offsets and values. */
_Static_assert(offsetof(struct cpucycles_inline_state, method) == 0
    && offsetof(struct cpucycles_inline_state, shift) == 4
    && offsetof(struct cpucycles_inline_state, multiplier) == 8
    && sizeof(struct cpucycles_inline_state) == 16, "layout");
_Static_assert(CPUCYCLES_INLINE_CALL == 0 && CPUCYCLES_INLINE_TSC == 1
    && CPUCYCLES_INLINE_FIXED_COUNTER_1 == 2 && CPUCYCLES_INLINE_APERF == 3
    && CPUCYCLES_INLINE_CNTVCT == 4 && CPUCYCLES_INLINE_PMCCNTR == 5
    && CPUCYCLES_INLINE_TIME_BASE == 6 && CPUCYCLES_INLINE_CYCLE == 7 && CPUCYCLES_INLINE_TIME == 8
    && CPUCYCLES_INLINE_TOD == 9 && CPUCYCLES_INLINE_TICK == 10
    && CPUCYCLES_INLINE_STABLE_COUNTER == 11 && CPUCYCLES_INLINE_SCALED == 0x10000
    && CPUCYCLES_DROPPED == 0 && CPUCYCLES_USABLE == 1 && CPUCYCLES_SELECTED == 2, "constants");

/* An inline read must lie between two reads with a call. */
static void expect_between(const struct cpuc_reader *reader)
{
  int i;

  (void)stay_on_this_cpu();
  for (i = 0; i < 1000; i++) {
    long long before = cpuc_reader_read(reader), now = cpucycles_inline();

    ck_assert_int_le(before, now);
    ck_assert_int_le(now, cpuc_reader_read(reader));
  }
}

enum { THREADS = 16 };

/* Returns NULL if the count steps back. Half of the threads read inline first. */
static void *call_together(void *name)
{
  static int arrived;
  int is_inline = __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED) % 2;
  long long count, next;

  while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < THREADS)
    sched_yield();
  (void)stay_on_this_cpu(); /* for counters of scope "core" */
  count = is_inline ? cpucycles_inline() : cpucycles();
  next = is_inline ? cpucycles() : cpucycles_inline();
  *(const char **)name = cpucycles_implementation();
  return count < 0 || next < count ? NULL : name;
}

static int processes(void)
{
  int is_slow = suite_under("valgrind") || suite_under("qemu");

  return suite_limit() == 0 ? 1000 : is_slow ? 3 : 60;
}

TEST_LOOP(sixteen_threads_make_the_first_call_together, processes())
{
  pthread_t threads[THREADS];
  const char *names[THREADS];
  void *result;
  int i;

  for (i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, call_together, &names[i]), 0);
  for (i = 0; i < THREADS; i++) {
    pthread_join(threads[i], &result);
    ck_assert_ptr_nonnull(result);
    ck_assert_str_eq(names[i], cpucycles_implementation());
  }
  ck_assert(count_increases());
}

TEST(state_describes_the_selected_counter)
{
  const struct cpuc_candidate *selected;
  unsigned int method;

  ck_assert_uint_eq(cpucycles_inline_state.method, CPUCYCLES_INLINE_CALL);
  ck_assert_int_gt(cpucycles_inline(), 0);
  selected = cpuc_process_select_once()->selected;
  method = selected->backend->inline_method;
  if (method != CPUCYCLES_INLINE_CALL && selected->reader.scale.multiplier)
    method |= CPUCYCLES_INLINE_SCALED;
  ck_assert_uint_eq(cpucycles_inline_state.method, method);
  expect_between(&selected->reader);
}

#ifdef CPUCYCLES_POSIX

static unsigned int method;

static int execute_instruction(void)
{
  unsigned long long count;

  (void)cpucycles_inline_instruction(method, &count);
  return 0;
}

#endif

/* Returns 0 and reports it if the instruction of this counter may fault here. */
static int is_readable(const struct cpuc_table_entry *entry)
{
#ifdef CPUCYCLES_POSIX
  method = entry->backend->inline_method;
  if (result_in_child(execute_instruction) == 0)
    return 1;
#else
  if (entry->backend->inline_method == CPUCYCLES_INLINE_TSC)
    return 1;
#endif
  skip_part("(%s) its instruction faults, or may fault on Windows", entry->name);
  return 0;
}

static void expect_inline_reads(const struct cpuc_table_entry *entry, struct cpuc_scale scale)
{
  struct cpuc_reader reader = { entry->backend->read, 0, scale };
  unsigned long long count;

  ck_assert_msg(cpucycles_inline_instruction(entry->backend->inline_method, &count),
    "%s: no instruction", entry->name);
  cpucycles_inline_state.method = entry->backend->inline_method
    | (scale.multiplier ? CPUCYCLES_INLINE_SCALED : 0);
  cpucycles_inline_state.multiplier = scale.multiplier;
  cpucycles_inline_state.shift = scale.shift;
  expect_between(&reader);
}

/* Tests each counter as if it had been selected without scaling and, if its kind is scaled, also as
   if it had been selected with scaling. An inline read does not extend a count of 32 bits. */
TEST(inline_reads_equal_those_of_every_backend_with_an_instruction)
{
  int i, read = 0;

  cpucycles();
  for (i = 0; i < CPUC_TABLE_LENGTH; i++) {
    const struct cpuc_backend *backend = cpuc_table[i].backend;

    if (backend->inline_method == CPUCYCLES_INLINE_CALL)
      continue;
    ck_assert_msg(!backend->is_32_bit, "%s", cpuc_table[i].name);
    if (!is_readable(&cpuc_table[i]))
      continue;
    expect_inline_reads(&cpuc_table[i], (struct cpuc_scale) { 0, 0 });
    if (backend->kind == CPUC_KIND_SCALED) {
      expect_inline_reads(&cpuc_table[i], cpuc_scale_from_to(62500000, 2399987654));
      expect_inline_reads(&cpuc_table[i], cpuc_scale_from_to(3000000000, 2399987654));
    }
    read++;
  }
  SKIP_IF(read == 0, "no counter that one instruction reads works here");
}

/* Durations of six empty sections, from a counter that is read at the beginning and end of each. */
static long long section_durations[6], scripted_count;
static int scripted_reads;

static long long scripted_counter(void)
{
  scripted_count += scripted_reads % 2 ? section_durations[scripted_reads / 2 % 6] : 17;
  scripted_reads++;
  return scripted_count;
}

/* Calls the inline function and the library's copy of it. With an unknown method, an inline read is
   a call: the library is newer than the program, or is for another CPU. */
TEST(overhead_is_the_shortest_empty_section)
{
  static const unsigned int methods[] = { CPUCYCLES_INLINE_CALL, 0xfff0,
    0xfff0 | CPUCYCLES_INLINE_SCALED };
  static const struct {
    long long durations[6], overhead;
  } cases[] = {
    { { 90, 70, 41, 58, 1000000, 44 }, 41 },
    { { 90, -5, 70, -1000000, 41, 58 }, 41 }, /* set back */
    { { 41 }, 0 },                            /* stopped in most sections */
    { { -1, -2, -3, -1, -1, -1 }, 0 },
  };
  long long (*volatile copy_of_overhead)(void) = cpucycles_inline_section_overhead;
  long long found;
  int i;

  ck_assert_int_ge(cpucycles_inline_section_overhead(), 0);
  cpucycles = scripted_counter;
  for (i = 0; i < 24; i++) {
    scripted_reads = 0;
    cpucycles_inline_state.method = methods[i / 8];
    memcpy(section_durations, cases[i / 2 % 4].durations, sizeof section_durations);
    found = i % 2 ? copy_of_overhead() : cpucycles_inline_section_overhead();
    ck_assert_int_eq(found, cases[i / 2 % 4].overhead);
    ck_assert_int_eq(scripted_reads % 2, 0);
    ck_assert_int_eq(cpucycles_inline(), scripted_count);
  }
}

SUITE("inline")
