/* SPDX-License-Identifier: 0BSD OR MIT */
/* Measures the precision of a counter. select.c adds penalties and chooses. */

#include "config.h"

#include "lib/precision.h"

enum { FULL = 1000, QUICK = 100, TRIES = 10 };

static enum cpucycles_steps try_once(const struct cpucycles_reader *reader, int differences,
  long long *smallest)
{
  long long before = 0, least = 0;
  int i;

  for (i = 0; i <= differences; i++) {
    long long now = cpucycles_reader_read(reader);
    /* modulo 2^64, as programs subtract counts */
    long long step = i > 0 ? (long long)((unsigned long long)now - (unsigned long long)before) : 0;

    if (step < 0)
      return CPUCYCLES_STEPS_DOWN;
    if (step > 0 && (least == 0 || step < least))
      least = step;
    before = now;
  }
  *smallest = least;
  return least > 0 ? CPUCYCLES_STEPS_UP : CPUCYCLES_STEPS_NONE;
}

enum cpucycles_steps cpucycles_precision(const struct cpucycles_reader *reader, int quick,
  long long *smallest)
{
  enum cpucycles_steps steps = CPUCYCLES_STEPS_NONE;
  int i;

  if (quick && try_once(reader, QUICK, smallest) == CPUCYCLES_STEPS_UP)
    return CPUCYCLES_STEPS_UP;
  for (i = 0; i < TRIES && steps != CPUCYCLES_STEPS_UP; i++)
    steps = try_once(reader, FULL, smallest);
  return steps;
}
