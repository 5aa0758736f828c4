/* SPDX-License-Identifier: 0BSD OR MIT */
/* Timed sections: reads between fences, and what an empty section takes. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/process.h"

enum { EMPTY_SECTIONS = 1000, NOT_FOUND = -1 };

/* Apart, so that the way without a call needs no stack. The first fence is done. */
__attribute__((noinline)) static long long call_before_a_fence(void)
{
  long long cycles = cpucycles();

  cpucycles_inline_fence();
  return cycles;
}

long long cpucycles_begin(void)
{
  long long cycles;

  return cpucycles_inline_read_fenced(&cycles) ? cycles : call_before_a_fence();
}

long long cpucycles_end(void)
{
  long long cycles;

  return cpucycles_inline_read_fenced(&cycles) ? cycles : call_before_a_fence();
}

/* By calls that no compiler makes shorter than a program's. Less than 0 is a counter that was
   set back, or another core's. */
static long long smallest_section(void)
{
  long long (*volatile begin)(void) = cpucycles_begin, (*volatile end)(void) = cpucycles_end;
  long long smallest = 0;
  int i, found = 0;

  for (i = 0; i < EMPTY_SECTIONS; i++) {
    unsigned long long from = (unsigned long long)begin();
    long long section = (long long)((unsigned long long)end() - from);

    if (section >= 0 && (!found || section < smallest)) {
      smallest = section;
      found = 1;
    }
  }
  return smallest;
}

/* No thread waits for another that measures: where several do, the first to be ready is right
   for all. So a signal handler may measure, too, whatever it interrupts. */
long long cpucycles_overhead(void)
{
  static intptr_t overhead = NOT_FOUND;
  intptr_t known = __atomic_load_n(&overhead, __ATOMIC_RELAXED), measured;

  if (known != NOT_FOUND)
    return known;
  if (!cpucycles_selected())
    return 0;
  measured = (intptr_t)smallest_section();
  if (__atomic_compare_exchange_n(&overhead, &known, measured, 0,
        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return measured;
  return known;
}
