/* SPDX-License-Identifier: 0BSD OR MIT */
/* Compares two implementations, which count the bits of 100 numbers, after a check that their
   results are equal. The last line is the time of the second divided by that of the first.

   cc -O2 -o compare compare.c $(pkg-config --cflags --libs cpucycles) */

#include <cpucycles/bench.h>

enum { NUMBERS = 100 };

static unsigned int numbers[NUMBERS];

static int bits_one_by_one(unsigned int number)
{
  int i, bits = 0;

  for (i = 0; i < 32; i++)
    bits += (int)(number >> i & 1);
  return bits;
}

/* Adds neighboring bits, then neighboring sums. */
static int bits_in_parallel(unsigned int number)
{
  number -= number >> 1 & 0x55555555;
  number = (number & 0x33333333) + (number >> 2 & 0x33333333);
  number = (number + (number >> 4)) & 0x0f0f0f0f;
  return (int)(number * 0x01010101 >> 24);
}

static void count_one_by_one(void *total)
{
  int i, bits = 0;

  for (i = 0; i < NUMBERS; i++)
    bits += bits_one_by_one(numbers[i]);
  *(int *)total = bits;
}

static void count_in_parallel(void *total)
{
  int i, bits = 0;

  for (i = 0; i < NUMBERS; i++)
    bits += bits_in_parallel(numbers[i]);
  *(int *)total = bits;
}

int main(void)
{
  struct cpucycles_bench_setup first = CPUCYCLES_BENCH_SETUP, second = CPUCYCLES_BENCH_SETUP;
  struct cpucycles_bench_comparison comparison;
  int i, total, expected;

  for (i = 0; i < NUMBERS; i++)
    numbers[i] = (unsigned int)i * 2654435769U;
  count_one_by_one(&expected);
  count_in_parallel(&total);
  if (total != expected) {
    fprintf(stderr, "%d bits instead of %d\n", total, expected);
    return 1;
  }
  first.function = count_one_by_one;
  first.name = "one by one";
  second.function = count_in_parallel;
  second.name = "in parallel";
  first.argument = second.argument = &total;
  if (cpucycles_bench_compare(&comparison, &first, &second) != 0) {
    fprintf(stderr, "%s\n", comparison.f.note);
    return 1;
  }
  cpucycles_bench_print(stdout, first.name, &comparison.f);
  cpucycles_bench_print(stdout, second.name, &comparison.g);
  cpucycles_bench_print_comparison(stdout, &comparison);
  return 0;
}
