/* SPDX-License-Identifier: 0BSD OR MIT */
/* This library as programs use it: the public interface of the shared library. */

#include "bench/contender.h"

#include <cpucycles/inline.h>

BENCH_READS(call, cpucycles())
BENCH_READS(inline, cpucycles_inline())
BENCH_SECTIONS(section, cpucycles_section_begin(), cpucycles_section_end())
BENCH_SECTIONS(inline_section, cpucycles_inline_section_begin(), cpucycles_inline_section_end())

const struct bench_contender bench_contenders[] = {
  { "cpucycles()", "cycles", BENCH_READ, 0, run_call, sample_call },
  { "cpucycles_inline()", "cycles", BENCH_READ, 0, run_inline, sample_inline },
  { "section_begin() + section_end()", "cycles", BENCH_FENCED, 0, run_section, sample_section },
  { "inline_section_begin() + _end()", "cycles", BENCH_FENCED, 0, run_inline_section,
    sample_inline_section },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
