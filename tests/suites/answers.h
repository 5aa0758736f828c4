/* SPDX-License-Identifier: 0BSD OR MIT */
/* What each function must answer, on every kind of system. */

#ifndef CPUCYCLES_TESTS_ANSWERS_H
#define CPUCYCLES_TESTS_ANSWERS_H

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/table.h"

#include "tests/suites/counts.h"
#include "tests/suites/suite.h"

#include <errno.h>
#include <limits.h>

/* Is this counter described as documented in the header? The selected counter must have passed its
   trial, and no thread may have lost it. */
static inline int is_described(const struct cpucycles_counter_info *counter)
{
  if (!counter->summary || !counter->kind || !counter->scope || !counter->unit
    || !counter->count_unit)
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
   number of the failed step. */
static inline int check_every_answer(void)
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
  if (cpucycles_section_overhead() < 0 || !*cpucycles_frequency_source())
    return 6;
  if (strcmp(cpucycles_version(), PACKAGE_VERSION) != 0)
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

#endif
