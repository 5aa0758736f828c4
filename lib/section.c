/* SPDX-License-Identifier: 0BSD OR MIT */
/* Timed sections: reads the count between fences, and measures the overhead of an empty section and
   of a pair of reads without fences. */

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

static long long section_overhead, read_overhead; /* in cycles, once they are measured */

static void find_section_overhead(struct cpuc_selection *unused)
{
  (void)unused;
  section_overhead
    = cpucycles_inline_smallest_section(cpucycles_section_begin, cpucycles_section_end);
}

static void find_read_overhead(struct cpuc_selection *unused)
{
  (void)unused;
  read_overhead = cpucycles_inline_smallest_section(cpucycles, cpucycles);
}

static long long measured(struct cpuc_process_result *measurement, const long long *overhead)
{
  (void)cpucycles(); /* a first call prints requested lines, which must happen without the lock */
  return cpuc_process_once(measurement) ? *overhead : 0;
}

long long cpucycles_section_overhead(void)
{
  static struct cpuc_process_result measurement = { find_section_overhead, 0, 0 };

  return measured(&measurement, &section_overhead);
}

long long cpucycles_read_overhead(void)
{
  static struct cpuc_process_result measurement = { find_read_overhead, 0, 0 };

  return measured(&measurement, &read_overhead);
}
