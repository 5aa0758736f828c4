/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads a counter and converts its count to the result of cpucycles(). */

#ifndef CPUCYCLES_READER_H
#define CPUCYCLES_READER_H

#include "lib/extend32.h"
#include "lib/scale.h"
#include "sys/chain.h"

/* How to read a counter: call read() of the backend, extend the count to 64 bits, then scale it. */
struct cpuc_reader {
  long long (*read)(void);
  int is_extended; /* 0 if read() counts in 64 bits */
  struct cpuc_scale scale;
};

static inline long long cpuc_reader_read(const struct cpuc_reader *reader)
{
  long long count = reader->is_extended ? cpuc_extend32() : reader->read();

  return reader->scale.multiplier ? cpuc_scale_apply(reader->scale, count) : count;
}

static inline long long cpuc_reader_read_void(const void *reader)
{
  return cpuc_reader_read(reader);
}

/* cpuc_chain_measure() of this counter. */
static inline int cpuc_reader_measure_chain(const struct cpuc_reader *reader, long passes,
  int windows, int parts, long long *advance, long long *longer)
{
  return cpuc_chain_measure(cpuc_reader_read_void, reader, passes, windows, parts, advance, longer);
}

#endif
