/* SPDX-License-Identifier: 0BSD OR MIT */
/* Times one function: a hash of 1000 bytes, in core cycles per call and per byte.

   cc -O2 -o time-function time-function.c $(pkg-config --cflags --libs cpucycles) */

#include <cpucycles/bench.h>

struct text {
  unsigned char bytes[1000];
  unsigned int hash;
};

/* Starts from the hash of the last call, so that no call begins before the last one has ended. */
static void find_hash(void *argument)
{
  struct text *text = (struct text *)argument;
  unsigned int hash = text->hash;
  size_t i;

  for (i = 0; i < sizeof text->bytes; i++)
    hash = (hash ^ text->bytes[i]) * 16777619;
  text->hash = hash;
}

int main(void)
{
  static struct text text;
  struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;
  struct cpucycles_bench_result result;

  setup.function = find_hash;
  setup.argument = &text;
  setup.name = "hash";
  setup.bytes = sizeof text.bytes;
  if (cpucycles_bench_run(&result, &setup) != 0) {
    fprintf(stderr, "%s\n", result.note);
    return 1;
  }
  cpucycles_bench_print(stdout, setup.name, &result);
  if (result.note)
    printf("%s\n", result.note);
  return 0;
}
