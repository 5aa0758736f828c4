/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the programs for libFuzzer share: an input is eaten from its beginning, zeros follow its
   end. */

#ifndef CPUCYCLES_FUZZ_H
#define CPUCYCLES_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_food {
  const uint8_t *bytes;
  size_t size;
};

static inline uint64_t fuzz_eat(struct fuzz_food *food, int bytes)
{
  uint64_t value = 0;
  int i;

  for (i = 0; i < bytes; i++) {
    value = value << 8 | (food->size > 0 ? *food->bytes : 0);
    if (food->size > 0) {
      food->bytes++;
      food->size--;
    }
  }
  return value;
}

/* From 1 to limit, of any magnitude: a byte says how many bits, up to eight follow. */
static inline uint64_t fuzz_eat_magnitude(struct fuzz_food *food, uint64_t limit)
{
  unsigned int bits = (unsigned int)fuzz_eat(food, 1) % 64 + 1;
  uint64_t value = fuzz_eat(food, (int)(bits + 7) / 8);

  if (bits < 64)
    value &= (1ULL << bits) - 1;
  return 1 + value % limit;
}

/* For what must hold. */
#define FUZZ_EXPECT(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)

#endif
