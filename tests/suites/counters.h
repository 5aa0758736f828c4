/* SPDX-License-Identifier: 0BSD OR MIT */
/* The selected counter, what each function must answer, the guard in which counters are tried, and
   random numbers. */

#ifndef CPUCYCLES_COUNTERS_H
#define CPUCYCLES_COUNTERS_H

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/table.h"
#include "sys/guard.h"
#include "sys/os-thread.h"

#include "tests/suites/one-cpu.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* xorshift64: Marsaglia, "Xorshift RNGs", 2003. */
static inline uint64_t random64(void)
{
  static uint64_t state = 88172645463325252ULL;

  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* Enters and leaves the fault guard as the selection does. */
static struct cpuc_os_thread_saved outside_guard;

static inline void enter_guard(void)
{
  cpuc_os_thread_block_signals_and_cancellation(&outside_guard);
  cpuc_guard_enter();
}

static inline void leave_guard(void)
{
  cpuc_guard_leave();
  cpuc_os_thread_restore_signals_and_cancellation(&outside_guard);
}

/* A function without an argument, for cpuc_guard_run(). Not inlined, so that its fault always has
   the same address. */
#define BODY(name, code) \
  __attribute__((noinline)) static void name(void *unused) \
  { \
    (void)unused; \
    code; \
  }

static inline void set_done(void *done)
{
  *(int *)done = 1;
}

/* Returns 1 if the count increases within 10^8 reads, and does not decrease before. The thread
   stays on its CPU. */
static inline int count_increases(void)
{
  long long begin;
  int i;

  (void)stay_on_this_cpu();
  begin = cpucycles();
  for (i = 0; i < 100000000; i++) {
    long long difference = cpucycles() - begin;

    if (difference < 0)
      return 0;
    if (difference > 0)
      return 1;
  }
  return 0;
}

/* The smallest step is the score without the penalty of the kind. */
static inline int has_smallest_step(const struct cpucycles_counter_info *counter)
{
  int penalty = strcmp(counter->kind, "core") == 0 ? 0
    : strcmp(counter->kind, "clock") == 0          ? 200
                                                   : 100;

  return counter->smallest_step == (counter->score ? counter->score - penalty : 0);
}

/* Is this counter described as documented in the header? The selected counter must have passed its
   trial, and no thread may have lost it. */
static inline int is_described(const struct cpucycles_counter_info *counter)
{
  if (!counter->summary || !counter->kind || !counter->scope || !counter->unit
    || !counter->count_unit || !has_smallest_step(counter))
    return 0;
  if ((counter->state == CPUCYCLES_SELECTED)
    != (strcmp(counter->name, cpucycles_implementation()) == 0))
    return 0;
  if (counter->state == CPUCYCLES_DROPPED)
    return counter->reason && counter->explanation && counter->score == 0;
  if (counter->reason && strcmp(counter->reason, "not-core-cycles") != 0)
    return 0;
  return counter->score > 0;
}

/* Is each answer, except those of cpucycles_tracesetup() and of the two functions on ignored
   settings, in the range that the header documents, and is errno unchanged? Returns 0, or the
   number of the failed step. All of these answers are found without floating-point arithmetic. */
static inline int check_every_integer(void)
{
  const struct cpucycles_counter_info *counter;
  int i, selected = 0;
  long long begin;

  errno = ERANGE;
  if (!count_increases())
    return 1;
  if (cpucycles_persecond() < CPUC_RATE_LOWEST || cpucycles_persecond() > CPUC_RATE_HIGHEST)
    return 2;
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++) {
    if (!is_described(counter))
      return 3;
    selected += counter->state == CPUCYCLES_SELECTED && counter == cpucycles_selected();
  }
  if (i != CPUC_TABLE_LENGTH || selected != 1 || cpucycles_counter(-1)
    || cpucycles_counter(INT_MAX))
    return 4;
  if (!cpucycles_timer() || cpucycles_rate() < 0)
    return 5;
  if (cpucycles_section_overhead() < 0 || cpucycles_read_overhead() < 0
    || !*cpucycles_frequency_source())
    return 6;
  if (strcmp(cpucycles_version(), PACKAGE_VERSION) != 0
    || atol(PACKAGE_VERSION) != CPUCYCLES_VERSION)
    return 7;
  begin = cpucycles_section_begin();
  if (cpucycles_section_end() < begin || cpucycles_core_persecond() < 0)
    return 8;
  begin = cpucycles_inline_section_begin();
  if (cpucycles_inline_section_end() < begin || cpucycles_inline() < begin
    || cpucycles_inline_section_overhead() < 0)
    return 9;
  (void)cpucycles_implementation_ignored();
  (void)cpucycles_frequency_ignored();
  if (!count_increases())
    return 10;
  return errno == ERANGE ? 0 : 11;
}

static inline int check_every_answer(void)
{
  int failed = check_every_integer();

  return failed ? failed : cpucycles_core_ratio() < 0 || errno != ERANGE ? 12 : 0;
}

#endif
