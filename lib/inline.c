/* SPDX-License-Identifier: 0BSD OR MIT */
/* The library's copies of the functions of inline.h, for calls that a compiler does not inline.
   The copies are not inlined into each other, so that cpucycles_inline_section_overhead() includes
   the calls, like the sections of a program that calls the copies. */

#include "config.h"

#define CPUCYCLES_INLINE_COPY_ATTRIBUTE __attribute__((noinline))
#include "include/cpucycles/inline.h"
