/* SPDX-License-Identifier: 0BSD OR MIT */
/* Shared by the programs for libFuzzer. An input is consumed from its beginning, and zeros follow
   its end. */

#ifndef CPUCYCLES_FUZZ_H
#define CPUCYCLES_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_input {
  const uint8_t *bytes;
  size_t size;
};

static inline uint64_t fuzz_consume(struct fuzz_input *input, int bytes)
{
  uint64_t value = 0;
  int i;

  for (i = 0; i < bytes; i++) {
    value = value << 8 | (input->size > 0 ? *input->bytes : 0);
    if (input->size > 0) {
      input->bytes++;
      input->size--;
    }
  }
  return value;
}

/* Aborts if the condition does not hold. */
#define FUZZ_EXPECT(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)

#endif
