/* SPDX-License-Identifier: 0BSD OR MIT */
/* The instruction that reads the target's own counter, written by hand: what a read cannot cost
   less than. Defines BENCH_INLINE, the name of it, where there is one, and the same between
   fences. */

#ifndef BENCH_INLINE_H
#define BENCH_INLINE_H

#if defined(__x86_64__) || (defined(__i386__) && defined(__SSE2__))
#include <x86intrin.h>

#define BENCH_INLINE "inline rdtsc"
#define BENCH_INLINE_FENCED "lfence; rdtsc; lfence, twice"
#define BENCH_INLINE_HALF_FENCED "lfence; rdtsc, twice"

static inline long long inline_read(void)
{
  return (long long)__rdtsc();
}

static inline void inline_fence(void)
{
  _mm_lfence();
}

#elif defined(__aarch64__)

#define BENCH_INLINE "inline mrs cntvct_el0"
#define BENCH_INLINE_FENCED "isb; mrs; isb, twice"
#define BENCH_INLINE_HALF_FENCED "isb; mrs, twice"

static inline long long inline_read(void)
{
  unsigned long long count;

  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
  return (long long)count;
}

static inline void inline_fence(void)
{
  __asm__ volatile("isb" : : : "memory");
}
#endif

#ifdef BENCH_INLINE
/* A section that nothing leaks out of or into. */
static inline long long inline_read_fenced(void)
{
  long long count;

  inline_fence();
  count = inline_read();
  inline_fence();
  return count;
}

/* One that is complete when it is read, while what follows a read may begin before that. */
static inline long long inline_read_half_fenced(void)
{
  inline_fence();
  return inline_read();
}
#endif

#endif
