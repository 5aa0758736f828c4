/* SPDX-License-Identifier: 0BSD OR MIT */
/* Sorts fresh input in each call. The function that makes the input runs before each call, and is
   not timed. With equal input in each call, the CPU learns the branches of the sort, which then
   takes less time than in a program. Numbers that are sorted already take even less.

   cc -O2 -o fresh-input fresh-input.c $(pkg-config --cflags --libs cpucycles) */

#include <cpucycles/bench.h>

enum { NUMBERS = 300 };

struct input {
  unsigned int random;
  unsigned int numbers[NUMBERS];
};

static void make_fresh(void *argument)
{
  struct input *input = (struct input *)argument;
  int i;

  for (i = 0; i < NUMBERS; i++) {
    input->random = input->random * 1664525 + 1013904223;
    input->numbers[i] = input->random >> 8;
  }
}

static void make_equal(void *argument)
{
  ((struct input *)argument)->random = 1;
  make_fresh(argument);
}

/* Sorts by Shell's method. */
static void sort(void *argument)
{
  unsigned int *numbers = ((struct input *)argument)->numbers, number;
  int gap, i, j;

  for (gap = 121; gap > 0; gap /= 3)
    for (i = gap; i < NUMBERS; i++) {
      number = numbers[i];
      for (j = i; j >= gap && numbers[j - gap] > number; j -= gap)
        numbers[j] = numbers[j - gap];
      numbers[j] = number;
    }
}

static int time_sort(const char *name, void (*prepare)(void *argument), void *input)
{
  struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;
  struct cpucycles_bench_result result;

  setup.function = sort;
  setup.prepare = prepare;
  setup.argument = input;
  if (cpucycles_bench_run(&result, &setup) != 0) {
    fprintf(stderr, "%s\n", result.note);
    return 1;
  }
  cpucycles_bench_print(stdout, name, &result);
  return 0;
}

int main(void)
{
  static struct input input;

  return time_sort("fresh input", make_fresh, &input)
    || time_sort("equal input", make_equal, &input) || time_sort("sorted already", NULL, &input);
}
