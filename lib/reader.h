/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads a counter as cpucycles() returns it. */

#ifndef CPUCYCLES_READER_H
#define CPUCYCLES_READER_H

#include "lib/extend32.h"
#include "lib/scale.h"

/* How to read a counter: the backend's read(), extended to 64 bits, then scaled. */
struct cpuc_reader {
  long long (*read)(void);
  struct cpuc_extension *extension; /* NULL: read() counts in 64 bits */
  struct cpuc_scale scale;
};

/* True if the reader is read() and nothing else. */
static inline int cpuc_reader_is_direct(const struct cpuc_reader *reader)
{
  return !reader->extension && !reader->scale.multiplier;
}

static inline long long cpuc_reader_read(const struct cpuc_reader *reader)
{
  long long count = reader->extension ? cpuc_extend32(reader->extension) : reader->read();

  return reader->scale.multiplier ? cpuc_scale_apply(reader->scale, count) : count;
}

#endif
