/* SPDX-License-Identifier: 0BSD OR MIT */
/* Timed sections: reads the count between fences, and measures the overhead of an empty section. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/process.h"

enum { EMPTY_SECTIONS = 1000 };

/* Not inlined into the measurement, whose empty section then contains the same calls as a section
   of a program: direct ones in a static library, ones through the linkage table in a shared
   library. A pointer would not do, because a CPU that does not predict indirect calls takes longer
   for them. */
#define CALLED __attribute__((noinline))

CALLED long long cpucycles_section_begin(void)
{
  return cpucycles_inline_count_fenced();
}

CALLED long long cpucycles_section_end(void)
{
  return cpucycles_inline_count_fenced();
}

/* Ignores negative sections, in which the counter was set back or the thread moved to another core.
*/
static long long measure_smallest_section(void)
{
  long long smallest = 0;
  int i, found = 0;

  for (i = 0; i < EMPTY_SECTIONS; i++) {
    unsigned long long from = (unsigned long long)cpucycles_section_begin();
    long long section = (long long)((unsigned long long)cpucycles_section_end() - from);

    if (section >= 0 && (!found || section < smallest)) {
      smallest = section;
      found = 1;
    }
  }
  return smallest;
}

static long long overhead; /* in cycles, once it is measured */

static void find_overhead(struct cpuc_selection *unused)
{
  (void)unused;
  overhead = measure_smallest_section();
}

long long cpucycles_section_overhead(void)
{
  static struct cpuc_process_result measurement = { find_overhead, 0, 0 };

  (void)cpucycles(); /* a first call prints requested lines, which must happen without the lock */
  if (!cpuc_process_select_once() || !cpuc_process_once(&measurement))
    return 0;
  return overhead;
}
