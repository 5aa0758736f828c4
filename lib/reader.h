/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads a counter as cpucycles() returns it. */

#ifndef CPUCYCLES_READER_H
#define CPUCYCLES_READER_H

#include "lib/extend32.h"
#include "lib/scale.h"

/* How to read a counter: the backend's read(), extended to 64 bits, then scaled. */
struct cpucycles_reader {
  long long (*read)(void);
  struct cpucycles_extension *extension; /* NULL: read() counts in 64 bits */
  struct cpucycles_scale scale;
};

/* True if the reader is read() and nothing else. */
static inline int cpucycles_reader_is_direct(const struct cpucycles_reader *reader)
{
  return !reader->extension && !reader->scale.multiplier;
}

static inline long long cpucycles_reader_read(const struct cpucycles_reader *reader)
{
  long long count = reader->extension ? cpucycles_extend32(reader->extension) : reader->read();

  return reader->scale.multiplier ? cpucycles_scale_apply(reader->scale, count) : count;
}

#endif
