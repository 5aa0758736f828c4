/* SPDX-License-Identifier: 0BSD OR MIT */
/* Timed sections: reads the count between fences, and measures the overhead of an empty section. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/process.h"

/* Not inlined into the measurement, whose empty section then contains the same calls as a section
   of a program: direct ones in a static library, ones through the linkage table in a shared
   library. */
#define CALLED __attribute__((noinline))

CALLED long long cpucycles_section_begin(void)
{
  return cpucycles_inline_count_fenced();
}

CALLED long long cpucycles_section_end(void)
{
  return cpucycles_inline_count_fenced();
}

static long long overhead; /* in cycles, once it is measured */

static void find_overhead(struct cpuc_selection *unused)
{
  (void)unused;
  overhead = cpucycles_inline_smallest_section(cpucycles_section_begin, cpucycles_section_end);
}

long long cpucycles_section_overhead(void)
{
  static struct cpuc_process_result measurement = { find_overhead, 0, 0 };

  (void)cpucycles(); /* a first call prints requested lines, which must happen without the lock */
  if (!cpuc_process_select_once() || !cpuc_process_once(&measurement))
    return 0;
  return overhead;
}
