/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the inline reads, and the library's copies of them, against the library's reads: before and
   after the first call, with each instruction that this CPU has, scaled and unscaled. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/reader.h"
#include "lib/scale.h"
#include "lib/table.h"

#include "tests/suites/one-cpu.h"
#include "tests/suites/suite.h"

#include <stddef.h>
#ifdef CPUCYCLES_POSIX
#include "tests/suites/child.h"
#endif

enum { READS = 100000 };

static const struct cpuc_table_entry *find_selected(void)
{
  int i;

  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (cpucycles_counter(i)->state == CPUCYCLES_SELECTED)
      return &cpuc_table[i];
  return NULL;
}

/* Through these pointers the library's copies are called. */
static long long (*volatile copy_of_inline)(void) = cpucycles_inline;
static long long (*volatile copy_of_begin)(void) = cpucycles_inline_section_begin;
static long long (*volatile copy_of_end)(void) = cpucycles_inline_section_end;
static long long (*volatile copy_of_overhead)(void) = cpucycles_inline_section_overhead;

/* Alternates between inline reads and reads with a call. Returns how often the count decreased. */
static int count_decreases(long reads)
{
  long long last = cpucycles(), now;
  int wrong = 0;
  long i;

  for (i = 0; i < reads; i++) {
    switch (i % 9) {
    case 0: now = cpucycles_inline(); break;
    case 1: now = cpucycles(); break;
    case 2: now = cpucycles_inline_section_begin(); break;
    case 3: now = cpucycles_section_begin(); break;
    case 4: now = cpucycles_inline_section_end(); break;
    case 5: now = copy_of_inline(); break;
    case 6: now = copy_of_begin(); break;
    case 7: now = copy_of_end(); break;
    default: now = cpucycles_section_end(); break;
    }
    wrong += now < last;
    last = now;
  }
  return wrong;
}

static long long read_inline(void)
{
  return cpucycles_inline();
}

static long long begin_inline(void)
{
  return cpucycles_inline_section_begin();
}

static long long end_inline(void)
{
  return cpucycles_inline_section_end();
}

/* _i: the function that makes the first call. */
TEST_LOOP(first_inline_read_selects, 6)
{
  long long (*const reads[])(void)
    = { read_inline, begin_inline, end_inline, copy_of_inline, copy_of_begin, copy_of_end };

  ck_assert_uint_eq(cpucycles_inline_state.method, CPUCYCLES_INLINE_CALL);
  ck_assert_int_gt(reads[_i](), 0);
  ck_assert(cpuc_process_has_selected());
}

TEST(inline_reads_continue_the_count_of_cpucycles)
{
  ck_assert_int_eq(count_decreases(READS), 0);
}

/* The offsets that compiled programs contain may not change. */
TEST(layout_of_the_state_is_unchanged)
{
  ck_assert_uint_eq(offsetof(struct cpucycles_inline_state, method), 0);
  ck_assert_uint_eq(offsetof(struct cpucycles_inline_state, shift), 4);
  ck_assert_uint_eq(offsetof(struct cpucycles_inline_state, multiplier), 8);
  ck_assert_uint_eq(sizeof(struct cpucycles_inline_state), 16);
}

TEST(values_of_the_interface_are_unchanged)
{
  ck_assert_uint_eq(CPUCYCLES_INLINE_CALL, 0);
  ck_assert_uint_eq(CPUCYCLES_INLINE_TSC, 1);
  ck_assert_uint_eq(CPUCYCLES_INLINE_FIXED_COUNTER_1, 2);
  ck_assert_uint_eq(CPUCYCLES_INLINE_APERF, 3);
  ck_assert_uint_eq(CPUCYCLES_INLINE_CNTVCT, 4);
  ck_assert_uint_eq(CPUCYCLES_INLINE_PMCCNTR, 5);
  ck_assert_uint_eq(CPUCYCLES_INLINE_TIME_BASE, 6);
  ck_assert_uint_eq(CPUCYCLES_INLINE_CYCLE, 7);
  ck_assert_uint_eq(CPUCYCLES_INLINE_TIME, 8);
  ck_assert_uint_eq(CPUCYCLES_INLINE_TOD, 9);
  ck_assert_uint_eq(CPUCYCLES_INLINE_TICK, 10);
  ck_assert_uint_eq(CPUCYCLES_INLINE_STABLE_COUNTER, 11);
  ck_assert_uint_eq(CPUCYCLES_INLINE_SCALED, 0x10000);
  ck_assert_int_eq(CPUCYCLES_DROPPED, 0);
  ck_assert_int_eq(CPUCYCLES_USABLE, 1);
  ck_assert_int_eq(CPUCYCLES_SELECTED, 2);
}

/* An inline read must lie between two reads with a call. */
static void expect_between(const struct cpuc_reader *reader)
{
  int i;

  for (i = 0; i < 1000; i++) {
    long long before = cpuc_reader_read(reader), now = cpucycles_inline();

    ck_assert_int_le(before, now);
    ck_assert_int_le(now, cpuc_reader_read(reader));
  }
}

TEST(state_describes_the_selected_counter)
{
  const struct cpuc_table_entry *entry;
  struct cpuc_reader reader;
  unsigned int method;

  ck_assert_int_gt(cpucycles_inline(), 0);
  entry = find_selected();
  ck_assert_ptr_nonnull(entry);
  reader = cpuc_process_select_once()->selected->reader;
  method = entry->backend->inline_method;
  if (method != CPUCYCLES_INLINE_CALL && reader.scale.multiplier)
    method |= CPUCYCLES_INLINE_SCALED;
  ck_assert_uint_eq(cpucycles_inline_state.method, method);
  expect_between(&reader);
}

/* An inline read does not extend a count. */
TEST(counter_of_32_bits_has_no_inline_method)
{
  int i, found = 0;

  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (cpuc_table[i].backend->width == 32) {
      found++;
      ck_assert_uint_eq(cpuc_table[i].backend->inline_method, CPUCYCLES_INLINE_CALL);
    }
  SKIP_IF(found == 0, "no counter of 32 bits is built");
}

#ifdef CPUCYCLES_POSIX

static unsigned int method;

/* Executes the instruction of the method, without the library's code. */
static int execute_instruction(void)
{
  unsigned long unused = 0;

  switch (method) {
#if defined(__x86_64__) || defined(__i386__)
  case CPUCYCLES_INLINE_TSC:
    __asm__ volatile("rdtsc" : "=a"(unused) : : "edx");
    break;
  case CPUCYCLES_INLINE_FIXED_COUNTER_1:
    __asm__ volatile("rdpmc" : "=a"(unused) : "c"(0x40000001) : "edx");
    break;
  case CPUCYCLES_INLINE_APERF: /* RDPRU */
    __asm__ volatile(".byte 0x0f,0x01,0xfd" : "=a"(unused) : "c"(1) : "edx");
    break;
#elif defined(__aarch64__)
  case CPUCYCLES_INLINE_CNTVCT: __asm__ volatile("mrs %0, cntvct_el0" : "=r"(unused)); break;
  case CPUCYCLES_INLINE_PMCCNTR: __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(unused)); break;
#elif defined(__arm__) && defined(__ARM_ARCH) && __ARM_ARCH >= 7
  case CPUCYCLES_INLINE_CNTVCT:
    __asm__ volatile("mrrc p15, 1, %0, r3, c14" : "=r"(unused) : : "r3");
    break;
#elif defined(__powerpc64__)
  case CPUCYCLES_INLINE_TIME_BASE: __asm__ volatile("mfspr %0, 268" : "=r"(unused)); break;
#elif defined(__powerpc__)
  case CPUCYCLES_INLINE_TIME_BASE: __asm__ volatile("mftb %0" : "=r"(unused)); break;
#elif defined(__riscv_zicsr)
  case CPUCYCLES_INLINE_CYCLE: __asm__ volatile("rdcycle %0" : "=r"(unused)); break;
  case CPUCYCLES_INLINE_TIME: __asm__ volatile("rdtime %0" : "=r"(unused)); break;
#elif defined(__s390x__)
  case CPUCYCLES_INLINE_TOD: /* STCKF */
    __asm__ volatile(".insn s,0xb27c0000,%0" : "=Q"(unused) : : "cc");
    break;
#elif defined(__sparc_v9__) || defined(__arch64__)
  case CPUCYCLES_INLINE_TICK: __asm__ volatile("rd %%tick, %0" : "=r"(unused)); break;
#elif defined(__loongarch64) || (defined(__loongarch_grlen) && __loongarch_grlen == 64)
  case CPUCYCLES_INLINE_STABLE_COUNTER:
    __asm__ volatile("rdtime.d %0, $zero" : "=r"(unused));
    break;
#endif
  default: break; /* unknown instruction, which only the library's read executes */
  }
  (void)unused;
  return 0;
}

/* Returns 0 and reports it if the instruction of this counter faults here. */
static int is_readable(const struct cpuc_table_entry *entry)
{
  method = entry->backend->inline_method;
  if (result_in_child(execute_instruction) == 0)
    return 1;
  skip_part("(%s) its instruction faults", entry->name);
  return 0;
}

#else

static int is_readable(const struct cpuc_table_entry *entry)
{
  if (entry->backend->inline_method == CPUCYCLES_INLINE_TSC)
    return 1;
  skip_part("(%s) Windows may forbid its instruction", entry->name);
  return 0;
}

#endif

static void expect_inline_reads(const struct cpuc_table_entry *entry, struct cpuc_scale scale)
{
  struct cpuc_reader reader = { entry->backend->read, NULL, scale };
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
   if it had been selected with scaling. */
TEST(inline_reads_equal_those_of_every_backend_with_an_instruction)
{
  const struct cpuc_scale unscaled = { 0, 0 };
  int i, read = 0;

  cpucycles();
  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (cpuc_table[i].backend->inline_method != CPUCYCLES_INLINE_CALL) {
      if (!is_readable(&cpuc_table[i]))
        continue;
      expect_inline_reads(&cpuc_table[i], unscaled);
      if (cpuc_table[i].backend->kind == CPUC_KIND_SCALED) {
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

/* The library is newer than the program, or is for another CPU. */
TEST_LOOP(unknown_method_is_a_call, 2)
{
  int reads;

  cpucycles();
  cpucycles = scripted_counter;
  cpucycles_inline_state.method = _i ? 0xfff0 | CPUCYCLES_INLINE_SCALED : 0xfff0;
  reads = scripted_reads;
  cpucycles_inline();
  ck_assert_int_eq(scripted_reads, reads + 1);
  cpucycles_inline_section_begin();
  cpucycles_inline_section_end();
  ck_assert_int_eq(scripted_reads, reads + 3);
}

/* Expects the inline function, and its copy, to find this overhead. */
static void expect_overhead(const long long *durations, long long overhead)
{
  memcpy(section_durations, durations, sizeof section_durations);
  scripted_reads = 0;
  ck_assert_int_eq(cpucycles_inline_section_overhead(), overhead);
  ck_assert_int_eq(scripted_reads % 2, 0);
  ck_assert_int_ge(scripted_reads / 2, 6);
  scripted_reads = 0;
  ck_assert_int_eq(copy_of_overhead(), overhead);
  ck_assert_int_eq(scripted_reads % 2, 0);
  ck_assert_int_ge(scripted_reads / 2, 6);
}

TEST(overhead_is_the_shortest_empty_section)
{
  static const long long usual[6] = { 90, 70, 41, 58, 1000000, 44 };
  static const long long set_back[6] = { 90, -5, 70, -1000000, 41, 58 };
  static const long long stopped_in_most[6] = { 41 };
  static const long long never[6] = { -1, -2, -3, -1, -1, -1 };

  ck_assert_int_ge(cpucycles_inline_section_overhead(), 0);
  cpucycles_inline_state.method = CPUCYCLES_INLINE_CALL;
  cpucycles = scripted_counter;
  expect_overhead(usual, 41);
  expect_overhead(set_back, 41);
  expect_overhead(stopped_in_most, 0);
  expect_overhead(never, 0);
}

static void set_up(void)
{
  (void)stay_on_this_cpu();
}

SUITE_AROUND("inline", set_up, NULL)
