/* SPDX-License-Identifier: 0BSD OR MIT */
/* PAPI's timers. */

#include "bench/contender.h"

#include <papi.h>

static const char *prepare(void)
{
  return PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT ? 0 : "PAPI_library_init() fails";
}

BENCH_READS(real, PAPI_get_real_cyc())
BENCH_READS(virtual, PAPI_get_virt_cyc())

const struct bench_contender bench_contenders[] = {
  { "PAPI_get_real_cyc()", "cycles", BENCH_READ, prepare, run_real, sample_real },
  { "PAPI_get_virt_cyc()", "cycles", BENCH_READ, prepare, run_virtual, sample_virtual },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
