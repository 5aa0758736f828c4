/* SPDX-License-Identifier: 0BSD OR MIT */
/* FFTW's getticks(). Its header is not installed, so BENCH_CPPFLAGS must have -I and the directory
   kernel of the sources of FFTW. */

#include "bench/contender.h"

#include <sys/time.h>
#include <time.h>

#include <cycle.h>

#ifndef HAVE_TICK_COUNTER
#error "FFTW has no getticks() for this target"
#endif

BENCH_READS(getticks, getticks())

const struct bench_contender bench_contenders[] = {
  { "FFTW getticks()", "units", BENCH_READ, 0, run_getticks, sample_getticks },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
