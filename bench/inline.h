/* SPDX-License-Identifier: 0BSD OR MIT */
/* The instruction that reads the target's own counter, inline: what a read cannot cost less than. Defines
   BENCH_INLINE, the name of it, where there is one. */

#ifndef BENCH_INLINE_H
#define BENCH_INLINE_H

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>

#define BENCH_INLINE "inline rdtsc"

static inline long long inline_read(void)
{
  return (long long)__rdtsc();
}
#endif

#endif
