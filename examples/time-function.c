/* SPDX-License-Identifier: 0BSD OR MIT */
/* Times one function: a hash of 1000 bytes.

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
  struct cpucycles_bench_result result;

  cpucycles_bench(&result, find_hash, &text);
  cpucycles_bench_print(stdout, "hash", &result);
  cpucycles_bench_keep(text.hash);
  printf("%.2f %s per byte\n", result.median / sizeof text.bytes, result.unit);
  if (result.core_ratio > 0)
    printf("%.2f core cycles per byte\n",
      result.median * result.core_ratio / sizeof text.bytes);
  return result.samples == 0;
}
