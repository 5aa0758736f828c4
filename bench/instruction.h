/* SPDX-License-Identifier: 0BSD OR MIT */
/* Hand-written reads of the target's own counter, without and with fences. Their cost is the lower
   bound of the cost of a read. BENCH_INLINE is the name of the contender without fences, and is
   defined if this file has reads for the target. */

#ifndef BENCH_INSTRUCTION_H
#define BENCH_INSTRUCTION_H

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
/* If a section begins and ends with this read, the CPU moves no instruction into the section, and
   none out of it, as far as the fence guarantees this: cpucycles-internals(7), FENCES. */
static inline long long inline_read_fenced(void)
{
  long long count;

  inline_fence();
  count = inline_read();
  inline_fence();
  return count;
}

/* Instructions before the read are complete, as far as the fence guarantees this, but instructions
   after the read may begin before it. */
static inline long long inline_read_half_fenced(void)
{
  inline_fence();
  return inline_read();
}
#endif

#endif
