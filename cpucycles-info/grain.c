/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the grain of a counter in the differences of adjacent reads.

   A counter of grain 26 that is read at varied intervals shows 52, 78 and 104, so the grain is the
   distance of two frequent differences. The largest distance counts of which nearly all differences
   are multiples, because half of them are not multiples of twice the grain. The greatest common
   divisor would be 1, because interruptions cause any difference. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "sys/quantile.h"
#include "sys/step.h"

enum {
  SAMPLES = 4096,
  ITERATIONS = 16, /* each of the two loops between two reads has fewer than this */
  RARE = 64,       /* a value is frequent if more than 1/RARE of the differences have it */
  ROUNDED = 8      /* a grain from this on can be rounded: 41.67 shows 41 and 42, 83 and 84 */
};

static const double least_share = 0.8;

/* A larger difference does not come from an interruption, but from a move of the thread to a core
   with another count. */
static const long long largest_difference = 1LL << 40;

/* Runs two loops. An iteration of the second loop takes one cycle more, so that both together can
   take any number of cycles above a minimum. */
static void pass_time(unsigned int turns, unsigned int longer_turns)
{
  unsigned int x = turns, i;

  for (i = 0; i < turns; i++) {
    x += i;
    __asm__ volatile("" : "+r"(x));
  }
  for (i = 0; i < longer_turns; i++) {
    x += i;
    __asm__ volatile("" : "+r"(x));
    x += i;
    __asm__ volatile("" : "+r"(x));
  }
}

/* Reads cpucycles() at intervals of many different lengths, and stores the differences of adjacent
   reads. */
static void read_at_varied_intervals(long long differences[SAMPLES])
{
  unsigned int random = 1;
  long long before = cpucycles(), now;
  int i;

  for (i = 0; i < SAMPLES; i++) {
    random = random * 1664525 + 1013904223;
    pass_time((random >> 16) % ITERATIONS, (random >> 24) % ITERATIONS);
    now = cpucycles();
    differences[i] = cpuc_step_between(before, now);
    before = now;
  }
}

/* Some CPUs add 1 to a count that would be returned twice, so that 1, 1 and 24 appear in place of
   0, 0 and 26. Adds each difference of 1 to the next difference that is not 1. */
static void merge_ones(long long *differences, int count)
{
  int i, ones = 0;

  for (i = 0; i < count; i++)
    if (differences[i] == 1 && i + 1 < count) {
      ones++;
      differences[i] = 0;
    } else {
      if (differences[i] < largest_difference)
        differences[i] += ones;
      ones = 0;
    }
}

/* Returns the grain whose nearest multiples are most like the differences, which are positive, with
   the share of them that are multiples. */
static struct grain fit(const long long *differences, int count, long long grain)
{
  long long sum = 0, multiples = 0, multiple, off;
  struct grain fitted = { grain, 0 };
  int i, fits = 0;

  for (i = 0; i < count; i++) {
    multiple = (differences[i] + grain / 2) / grain;
    off = differences[i] - multiple * grain;
    if (multiple == 0 || off * off > (grain >= ROUNDED))
      continue;
    sum += differences[i];
    multiples += multiple;
    fits++;
  }
  fitted.share = (double)fits / count;
  if (multiples > 0)
    fitted.units = (sum + multiples / 2) / multiples;
  return fitted;
}

/* Stores the frequent values of sorted differences. Returns their number. */
static int find_frequent(const long long *differences, int count, long long values[RARE])
{
  int i, first = 0, found = 0;

  for (i = 1; i <= count; i++)
    if (i == count || differences[i] != differences[first]) {
      if (i - first > count / RARE && found < RARE)
        values[found++] = differences[first];
      first = i;
    }
  return found;
}

/* Finds the grain in differences of adjacent reads, which are in the order of the reads. Changes
   and sorts the differences. */
static struct grain find_grain(long long *differences, int count)
{
  struct grain grain = { 1, 1 }, fitted;
  long long values[RARE], distance, tried = 1;
  int frequent, zeros = 0, i, j;

  merge_ones(differences, count);
  cpuc_quantile_sort_counts(differences, count);
  while (count > 0 && differences[count - 1] > largest_difference)
    count--;
  while (count > 0 && *differences <= 0) {
    zeros += *differences++ == 0;
    count--;
  }
  frequent = find_frequent(differences, count, values);
  for (i = 0; i < frequent; i++)
    for (j = zeros > count / RARE ? -1 : 0; j < i; j++) { /* 0 is a value, too */
      distance = values[i] - (j < 0 ? 0 : values[j]);
      if (distance <= tried)
        continue;
      fitted = fit(differences, count, distance);
      if (fitted.share < least_share)
        continue;
      tried = distance;
      grain = fitted;
    }
  return grain;
}

struct grain measure_grain(double scaling)
{
  static long long differences[SAMPLES];
  int i;

  read_at_varied_intervals(differences);
  for (i = 0; i < SAMPLES; i++)
    differences[i] = (long long)((double)differences[i] / scaling
      + (differences[i] < 0 ? -0.5 : 0.5));
  return find_grain(differences, SAMPLES);
}
