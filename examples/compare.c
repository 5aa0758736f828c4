/* SPDX-License-Identifier: 0BSD OR MIT */
/* Compares two implementations, which count the bits of 100 numbers, after a check that their
   results are equal.

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
  struct cpucycles_bench_result slow, fast;
  int i, total, expected;

  for (i = 0; i < NUMBERS; i++)
    numbers[i] = (unsigned int)i * 2654435769U;
  count_one_by_one(&expected);
  count_in_parallel(&total);
  if (total != expected) {
    fprintf(stderr, "%d bits instead of %d\n", total, expected);
    return 1;
  }
  cpucycles_bench(&slow, count_one_by_one, &total);
  cpucycles_bench(&fast, count_in_parallel, &total);
  cpucycles_bench_print(stdout, "one by one", &slow);
  cpucycles_bench_print(stdout, "in parallel", &fast);
  if (fast.median > 0)
    printf("The second is faster by a factor of %.1f.\n", slow.median / fast.median);
  return 0;
}
