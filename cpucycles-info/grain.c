/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the grain of a counter in the differences of adjacent reads.

   Many counters advance in large amounts: a time-stamp counter of 2.6 GHz may advance 100 million
   times per second, by 26. The greatest common divisor of the differences is not the grain, because
   some CPUs add 1 to a count that would be returned twice, so that 1 and 25 appear among many 26,
   and because an interruption can cause any difference. The most frequent difference is not the
   grain either, because a counter that advances by 1 shows only differences of 26 if each read
   takes 26. Therefore the reads are at intervals that differ by single cycles, and most of the
   differences must be multiples of a possible grain, but not all of them the same multiple. */

#include "config.h"

#include "cpucycles-info/grain.h"

#include <cpucycles.h>

#include <stddef.h>
#include <stdlib.h>

enum {
  ITERATIONS = 16,   /* each of the two loops between two reads has fewer than this */
  FREQUENT = 12,     /* possible grains come from at most this many values */
  RARE = 128,        /* a value in at most 1/RARE of the differences is taken for interruptions */
  PARTS = 8,         /* possible grains are values divided by 1 to PARTS */
  MULTIPLES = 1024,  /* highest multiple of a grain that is recognized */
  LARGEST_ALWAYS_TRIED = 7, /* grains from 2 to this one are tried for any differences */
  POSSIBLE_GRAINS = FREQUENT * (PARTS * 2 + FREQUENT) + LARGEST_ALWAYS_TRIED,
  REFINEMENTS = 3
};

/* A larger difference does not come from an interruption, but from a move of the thread to a core
   with another count. */
static const long long largest_difference = 1LL << 40;

/* Limits for shares of the differences. The excess of a grain is (share - chance) / (1 - chance),
   where chance is the share of random differences that are multiples of the grain. */
static const double least_excess = 0.7;
static const double excess_margin = 0.15; /* counts that are 1 too high change it by this much */
static const double least_outside = 0.06; /* share outside of the most frequent multiple */

static const double least_fractional_grain = 8; /* smaller grains must be whole numbers */

/* Runs two loops. An iteration of the second loop takes one cycle more, so that both together can
   take any number of cycles above a minimum. */
static void pass_time(unsigned int turns, unsigned int longer_turns)
{
  volatile unsigned int sink;
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
  sink = x;
  (void)sink;
}

void read_at_varied_intervals(long long differences[GRAIN_SAMPLES])
{
  unsigned int random = 1;
  long long before = cpucycles(), now;
  int i;

  for (i = 0; i < GRAIN_SAMPLES; i++) {
    random = random * 1664525 + 1013904223;
    pass_time((random >> 16) % ITERATIONS, (random >> 24) % ITERATIONS);
    now = cpucycles();
    differences[i] = (long long)((unsigned long long)now - (unsigned long long)before);
    before = now;
  }
}

/* A nonzero difference, and how often it occurs. */
struct value {
  long long difference;
  int occurrences;
};

struct values {
  struct value *value;
  int count;    /* number of values */
  int frequent; /* number of values that are not rare, with which the sorted array begins */
  int zeros;    /* number of differences that are 0 */
  int all;      /* number of plausible differences, zeros included */
};

static int compare_numbers(const void *a, const void *b)
{
  long long x = *(const long long *)a, y = *(const long long *)b;

  return (x > y) - (x < y);
}

void sort_ascending(long long *numbers, int count)
{
  qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
}

static int compare_occurrences_descending(const void *a, const void *b)
{
  const struct value *x = a, *y = b;

  return (y->occurrences > x->occurrences) - (y->occurrences < x->occurrences);
}

static double round_off(double value)
{
  return (double)(long long)(value + 0.5);
}

static double distance(double a, double b)
{
  return a > b ? a - b : b - a;
}

/* Returns n if the value is the n-th multiple of the grain, else 0. Multiples of a whole grain must
   be exact, but multiples of other grains can be rounded down or up. */
static int multiple_of(long long value, double grain, int is_whole)
{
  double multiple = (double)value / grain, off;

  if (multiple > MULTIPLES)
    return 0;
  multiple = round_off(multiple);
  off = distance((double)value, multiple * grain);
  return off < (is_whole ? 0.5 : 1) ? (int)multiple : 0;
}

/* Fits the grain by least squares to the frequent values that are multiples of it. */
static double refine(const struct values *values, double grain)
{
  double products = 0, squares = 0;
  int i;

  for (i = 0; i < values->frequent; i++) {
    double multiple = multiple_of(values->value[i].difference, grain, 0);
    double weight = multiple * values->value[i].occurrences;

    products += weight * (double)values->value[i].difference;
    squares += weight * multiple;
  }
  return squares > 0 ? products / squares : grain;
}

struct possible_grain {
  double grain;
  double share;  /* share of differences that are multiples of the grain */
  double excess; /* share beyond chance, scaled so that 1 is the maximum */
};

/* Returns how many nonzero differences are multiples of the grain. If nearly all differences are
   the same multiple, which can be 0, returns 0, because any grain fits if each read takes the same
   time. */
static int count_multiples(const struct values *values, double grain, int is_whole)
{
  int times[MULTIPLES + 1] = { 0 }, sum = 0, most = values->zeros, i;

  for (i = 0; i < values->count; i++)
    times[multiple_of(values->value[i].difference, grain, is_whole)]
      += values->value[i].occurrences;
  for (i = 1; i <= MULTIPLES; i++) {
    sum += times[i];
    if (times[i] > most)
      most = times[i];
  }
  return values->zeros + sum - most >= (values->all - values->zeros) * least_outside ? sum : 0;
}

static struct possible_grain evaluate(const struct values *values, double grain, int is_whole)
{
  struct possible_grain possible_grain = { grain, 0, 0 };
  double chance;

  if (grain < (is_whole ? 2 : least_fractional_grain))
    return possible_grain;
  chance = (is_whole ? 1 : 2) / grain;
  possible_grain.share = (double)count_multiples(values, grain, is_whole)
    / (values->all - values->zeros);
  possible_grain.excess = (possible_grain.share - chance) / (1 - chance);
  return possible_grain;
}

/* Evaluates the grain after refinement. Prefers a whole number if it explains enough differences,
   because counts that are 1 too high can make a whole grain look like a fraction. */
static struct possible_grain try_grain(const struct values *values, double grain)
{
  struct possible_grain possible_grain;
  int i;

  for (i = 0; i < REFINEMENTS; i++)
    grain = refine(values, grain);
  possible_grain = evaluate(values, round_off(grain), 1);
  return possible_grain.excess >= least_excess ? possible_grain : evaluate(values, grain, 0);
}

/* Returns the largest of the possible grains that explain the most differences. A fraction of the
   grain explains the same differences, and more differences only by chance. A multiple of the grain
   explains fewer differences. */
static struct grain choose_largest(const struct possible_grain *possible, int count)
{
  const struct possible_grain *best = NULL;
  struct grain grain = { 1, 1 };
  double most = least_excess;
  int i;

  for (i = 0; i < count; i++)
    if (possible[i].excess > most)
      most = possible[i].excess;
  for (i = 0; i < count; i++)
    if (possible[i].excess >= least_excess && possible[i].excess >= most - excess_margin
      && (!best || possible[i].grain > best->grain))
      best = &possible[i];
  if (best) {
    grain.units = best->grain;
    grain.share = best->share;
  }
  return grain;
}

static struct grain find_in_values(struct values *values)
{
  struct possible_grain possible[POSSIBLE_GRAINS];
  int i, part, other, count = 0;

  qsort(values->value, (size_t)values->count, sizeof *values->value,
    compare_occurrences_descending);
  while (values->frequent < values->count && values->frequent < FREQUENT
    && values->value[values->frequent].occurrences > (values->all - values->zeros) / RARE)
    values->frequent++;
  for (i = 0; i < values->frequent; i++)
    for (part = 1; part <= PARTS; part++) {
      double difference = (double)values->value[i].difference;

      possible[count++] = try_grain(values, difference / part);
      possible[count++] = try_grain(values, (difference + 0.5) / part); /* 41.5 shows 41 and 42 */
    }
  /* differences between values, in case a read takes many grains */
  for (i = 0; i < values->frequent; i++)
    for (other = 0; other < i; other++)
      possible[count++] = try_grain(values,
        distance((double)values->value[i].difference, (double)values->value[other].difference));
  for (i = 2; i <= LARGEST_ALWAYS_TRIED; i++)
    possible[count++] = try_grain(values, i);
  return choose_largest(possible, count);
}

/* Undoes the addition of 1 that makes each count unique: adds each difference of 1 to the next
   difference. */
static void merge_ones(long long *differences, int count)
{
  long long ones = 0;
  int i;

  for (i = 0; i < count; i++)
    if (i < count - 1 && differences[i] == 1) {
      ones++;
      differences[i] = 0;
    } else {
      differences[i] = (long long)((unsigned long long)differences[i] + (unsigned long long)ones);
      ones = 0;
    }
}

struct grain find_grain(long long *differences, int count)
{
  struct values values = { malloc((size_t)count * sizeof *values.value), 0, 0, 0, 0 };
  struct grain grain = { 1, 1 };
  int i;

  if (!values.value)
    return grain;
  merge_ones(differences, count);
  sort_ascending(differences, count);
  for (i = 0; i < count; i++) {
    if (differences[i] < 0 || differences[i] > largest_difference)
      continue;
    values.all++;
    values.zeros += differences[i] == 0;
    if (differences[i] == 0)
      continue;
    if (values.count == 0 || values.value[values.count - 1].difference != differences[i]) {
      values.value[values.count].difference = differences[i];
      values.value[values.count++].occurrences = 0;
    }
    values.value[values.count - 1].occurrences++;
  }
  if (values.count > 0)
    grain = find_in_values(&values);
  free(values.value);
  return grain;
}
