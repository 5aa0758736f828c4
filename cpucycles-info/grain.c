/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the grain of a counter from differences of reads.

   Many counters move seldom, by a large step each time: a time-stamp counter of 2.6 GHz may be
   moved 100 million times a second, by 26. A greatest common divisor does not find that: some CPUs
   add 1 to a count that would be returned twice, so that 1 and 25 are seen among many 26, and an
   interruption may show any number. Nor does the commonest difference: a counter that moves by 1
   shows 26 again and again if a read takes 26. So the reads are made at intervals that differ by
   single cycles, and a candidate must explain most of what they show, at several multiples of
   it. */

#include "config.h"

#include "cpucycles-info/grain.h"

#include <cpucycles.h>

#include <stddef.h>
#include <stdlib.h>

enum {
  LONGEST = 16,     /* turns of a loop between two reads */
  COMMONEST = 12,   /* values, at most, that candidates are made of; */
  RARE = 128,       /* no value that so many others stand beside, as interruptions do */
  PARTS = 8,        /* of such a value, at most, that are a grain */
  MULTIPLES = 1024, /* of the grain that are looked at */
  LARGEST_PLAIN = 7, /* grains that are tried in any case */
  CANDIDATES = COMMONEST * (PARTS * 2 + COMMONEST) + LARGEST_PLAIN,
  REFINEMENTS = 3
};

static const long long leap = 1LL << 40; /* more is another core's count, no interruption */

static const double least_beyond = 0.7; /* of the differences, beyond chance */
static const double margin = 0.15;      /* of them: what corrections may change */
static const double least_other = 0.06; /* of them: of another multiple than the commonest */
static const double least_fraction = 8; /* a smaller grain is a whole number, or not found */

/* Two loops of which one takes a cycle more a turn, so that together they take any number of
   cycles above some. */
static void pass_time(unsigned int turns, unsigned int longer_turns)
{
  volatile unsigned int sink;
  unsigned int x = turns, i;

  for (i = 0; i < turns; i++) {
    x += i;
#ifdef __GNUC__
    __asm__ volatile("" : "+r"(x));
#endif
  }
  for (i = 0; i < longer_turns; i++) {
    x += i;
#ifdef __GNUC__
    __asm__ volatile("" : "+r"(x));
#endif
    x += i;
#ifdef __GNUC__
    __asm__ volatile("" : "+r"(x));
#endif
  }
  sink = x;
  (void)sink;
}

void read_apart(long long differences[GRAIN_SAMPLES])
{
  unsigned int random = 1;
  long long before = cpucycles(), now;
  int i;

  for (i = 0; i < GRAIN_SAMPLES; i++) {
    random = random * 1664525 + 1013904223;
    pass_time((random >> 16) % LONGEST, (random >> 24) % LONGEST);
    now = cpucycles();
    differences[i] = (long long)((unsigned long long)now - (unsigned long long)before);
    before = now;
  }
}

/* Values that were seen, and how often. */
struct value {
  long long value;
  int times;
};

struct values {
  struct value *value;
  int count, common; /* so many in all; so many, the first ones, are not rare */
  int zeros, all;    /* differences: of 0, and in all */
};

static int compare_counts(const void *a, const void *b)
{
  long long x = *(const long long *)a, y = *(const long long *)b;

  return (x > y) - (x < y);
}

static int compare_times(const void *a, const void *b)
{
  const struct value *x = a, *y = b;

  return (y->times > x->times) - (y->times < x->times);
}

static double round_off(double value)
{
  return (double)(long long)(value + 0.5);
}

static double distance(double a, double b)
{
  return a > b ? a - b : b - a;
}

/* The multiple of the grain that is next to the value, if it is that multiple. A whole grain has
   exact multiples; those of another are cut off, down or up. 0: it is none. */
static int multiple_of(long long value, double grain, int is_whole)
{
  double multiple = (double)value / grain, off;

  if (multiple > MULTIPLES)
    return 0;
  multiple = round_off(multiple);
  off = distance((double)value, multiple * grain);
  return off < (is_whole ? 0.5 : 1) ? (int)multiple : 0;
}

/* By least squares over those of the common values that are multiples. */
static double refine(const struct values *values, double grain)
{
  double products = 0, squares = 0;
  int i;

  for (i = 0; i < values->common; i++) {
    double multiple = multiple_of(values->value[i].value, grain, 0);
    double weight = multiple * values->value[i].times;

    products += weight * (double)values->value[i].value;
    squares += weight * multiple;
  }
  return squares > 0 ? products / squares : grain;
}

struct candidate {
  double grain, share;
  double beyond; /* the share, less what any other grain of that size would explain by chance */
};

/* How many differences are multiples; 0 if nearly all are the same multiple (0 is one, too), which
   a counter of any grain shows where a read always takes as long. */
static int explained_by(const struct values *values, double grain, int is_whole)
{
  int times[MULTIPLES + 1] = { 0 }, sum = 0, most = values->zeros, i;

  for (i = 0; i < values->count; i++)
    times[multiple_of(values->value[i].value, grain, is_whole)] += values->value[i].times;
  for (i = 1; i <= MULTIPLES; i++) {
    sum += times[i];
    if (times[i] > most)
      most = times[i];
  }
  return values->zeros + sum - most >= (values->all - values->zeros) * least_other
    ? sum : 0;
}

static struct candidate judge(const struct values *values, double grain, int is_whole)
{
  struct candidate candidate = { grain, 0, 0 };
  double chance;

  if (grain < (is_whole ? 2 : least_fraction))
    return candidate;
  chance = (is_whole ? 1 : 2) / grain;
  candidate.share = (double)explained_by(values, grain, is_whole) / (values->all - values->zeros);
  candidate.beyond = (candidate.share - chance) / (1 - chance);
  return candidate;
}

/* Where a whole number will do, corrections are what makes it look like a fraction. */
static struct candidate try_grain(const struct values *values, double grain)
{
  struct candidate candidate;
  int i;

  for (i = 0; i < REFINEMENTS; i++)
    grain = refine(values, grain);
  candidate = judge(values, round_off(grain), 1);
  return candidate.beyond >= least_beyond ? candidate : judge(values, grain, 0);
}

/* Parts of the grain explain what it does, and nothing more but by chance; multiples of it explain
   less. So it is the largest of those that explain the most. */
static struct grain choose(const struct candidate *candidates, int count)
{
  const struct candidate *best = NULL;
  struct grain grain = { 1, 1 };
  double most = least_beyond;
  int i;

  for (i = 0; i < count; i++)
    if (candidates[i].beyond > most)
      most = candidates[i].beyond;
  for (i = 0; i < count; i++)
    if (candidates[i].beyond >= least_beyond && candidates[i].beyond >= most - margin
      && (!best || candidates[i].grain > best->grain))
      best = &candidates[i];
  if (best) {
    grain.counts = best->grain;
    grain.share = best->share;
  }
  return grain;
}

static struct grain find_among(struct values *values)
{
  struct candidate candidates[CANDIDATES];
  int i, part, other, count = 0;

  qsort(values->value, (size_t)values->count, sizeof *values->value, compare_times);
  while (values->common < values->count && values->common < COMMONEST
    && values->value[values->common].times > (values->all - values->zeros) / RARE)
    values->common++;
  for (i = 0; i < values->common; i++)
    for (part = 1; part <= PARTS; part++) {
      double value = (double)values->value[i].value;

      candidates[count++] = try_grain(values, value / part);
      candidates[count++] = try_grain(values, (value + 0.5) / part); /* 41 and 42 */
    }
  /* where a read takes many grains, by how much the values differ */
  for (i = 0; i < values->common; i++)
    for (other = 0; other < i; other++)
      candidates[count++] = try_grain(values,
        distance((double)values->value[i].value, (double)values->value[other].value));
  for (i = 2; i <= LARGEST_PLAIN; i++)
    candidates[count++] = try_grain(values, i);
  return choose(candidates, count);
}

/* Takes away what made counts unique: those that are 1 above the one before are that one. */
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
  qsort(differences, (size_t)count, sizeof *differences, compare_counts);
  for (i = 0; i < count; i++) {
    if (differences[i] < 0 || differences[i] > leap)
      continue;
    values.all++;
    values.zeros += differences[i] == 0;
    if (differences[i] == 0)
      continue;
    if (values.count == 0 || values.value[values.count - 1].value != differences[i]) {
      values.value[values.count].value = differences[i];
      values.value[values.count++].times = 0;
    }
    values.value[values.count - 1].times++;
  }
  if (values.count > 0)
    grain = find_among(&values);
  free(values.value);
  return grain;
}
