/* SPDX-License-Identifier: 0BSD OR MIT */
/* Shared by the programs for libFuzzer. */

#ifndef CPUCYCLES_FUZZ_H
#define CPUCYCLES_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts if the condition does not hold. */
#define FUZZ_EXPECT(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)

#endif
