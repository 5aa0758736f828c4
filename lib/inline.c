/* SPDX-License-Identifier: 0BSD OR MIT */
/* The library's own copies of the functions of inline.h, for calls that a compiler does not
   inline. They are not inlined here either, so that the overhead is that of calls, as in the
   program. */

#include "config.h"

#define CPUCYCLES_INLINE_COPIES __attribute__((noinline))
#include "include/cpucycles/inline.h"
