/* SPDX-License-Identifier: 0BSD OR MIT */
/* The cost of scaling: the selected counter, read through a pointer to its read(), and with a
   cpucycles() that scales the counter. The module links the library statically and changes its
   selection. */

#include "config.h"

#include "bench/contender.h"
#include "include/cpucycles/inline.h"
#include "lib/process.h"
#include "lib/reader.h"
#include "lib/scale.h"
#include "lib/select.h"

static long long (*volatile bare)(void);

/* Sets a scale before the first call of cpucycles(). Both contenders call this function; the second
   call finds the scale that the first call has set. */
static const char *prepare(void)
{
  struct cpuc_reader *reader = &cpuc_process_select_once()->selected->reader;

  if (reader->is_extended || reader->scale.multiplier)
    return bare ? 0 : "the selected counter is scaled or extended already";
  bare = reader->read;
  reader->scale = cpuc_scale_from_to(62500000, 2399987654);
  cpucycles();
  return 0;
}

BENCH_READS(bare, bare())
BENCH_READS(scaled, cpucycles())

const struct bench_contender bench_contenders[] = {
  { "bare counter, through a pointer", "units", BENCH_POINTER, prepare, run_bare, sample_bare },
  { "scaled counter", "cycles", BENCH_POINTER, prepare, run_scaled, sample_scaled },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
