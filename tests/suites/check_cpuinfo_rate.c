/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests that the parser of rates in /proc/cpuinfo reads each architecture's own line and no other
   line. */

#include "config.h"

#include "backends/common/cpuinfo-rate.h"

#include "tests/suites/suite.h"

#include <string.h>

typedef long long rate_of_line_function(const char *line);

/* The rate in a whole file that is read in pieces of this length. */
static long long rate_of_file(rate_of_line_function *rate_of, const char *file, int piece)
{
  struct cpuc_cpuinfo_rate_search search = { .rate_of = rate_of };
  int i, length = (int)strlen(file);

  for (i = 0; i < length; i += piece)
    cpuc_cpuinfo_rate_search_add(&search, file + i, length - i < piece ? length - i : piece);
  return search.hz;
}

static const struct {
  rate_of_line_function *rate_of;
  const char *line;
  long long hz;
} rows[] = {
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase\t: 512000000", 512000000 },
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase\t: 16625566", 16625566 },
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase\t: 999", 0 },
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase\t: 1000000000000", 1000000000000 },
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase\t: 1000000000001", 0 },
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase\t: 18446744074221551616",
    0 }, /* 2^64 + 512000000 */
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase\t: 512000000 ", 0 },
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase\t: 512000000.0", 0 },
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase\t: ", 0 },
  { cpuc_cpuinfo_rate_powerpc_timebase, "timebase : 512000000", 0 },
  { cpuc_cpuinfo_rate_powerpc_timebase, "clock\t\t: 3550.000000MHz", 0 },
  { cpuc_cpuinfo_rate_alpha_cycle_frequency, "cycle frequency [Hz]\t: 462962962 est.", 462962962 },
  { cpuc_cpuinfo_rate_alpha_cycle_frequency, "cycle frequency [Hz]\t: 600000000 ", 600000000 },
  { cpuc_cpuinfo_rate_alpha_cycle_frequency, "cycle frequency [Hz]\t: 600000000", 600000000 },
  { cpuc_cpuinfo_rate_alpha_cycle_frequency, "cycle frequency [Hz]\t:  est.", 0 },
  { cpuc_cpuinfo_rate_alpha_cycle_frequency, " ", 0 },
  { cpuc_cpuinfo_rate_alpha_cycle_frequency, " est.", 0 },
  { cpuc_cpuinfo_rate_alpha_cycle_frequency, "timer frequency [Hz]\t: 1024.00", 0 },
  { cpuc_cpuinfo_rate_parisc_cr16, "cpu MHz\t\t: 552.000000", 552000000 },
  { cpuc_cpuinfo_rate_parisc_cr16, "cpu MHz\t\t: 552.000001", 552000001 },
  { cpuc_cpuinfo_rate_parisc_cr16, "cpu MHz\t\t: 2596.132", 0 }, /* a line of x86 */
  { cpuc_cpuinfo_rate_parisc_cr16, "cpu MHz\t\t: 552", 0 },
  { cpuc_cpuinfo_rate_parisc_cr16, "cpu MHz\t\t: .552000", 0 },
  { cpuc_cpuinfo_rate_parisc_cr16, "cpu MHz\t\t: 552.0000000", 0 },
  { cpuc_cpuinfo_rate_ia64_itc, "itc MHz    : 399.937500", 399937500 },
  { cpuc_cpuinfo_rate_ia64_itc, "cpu MHz    : 1595.000", 0 },
  { cpuc_cpuinfo_rate_ia64_itc, "itc MHz    : 399", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu6ClkTck\t: 000000000ec82e00", 248000000 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu127ClkTck\t: 00000000A6E49C00", 2800000000 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu6ClkTck\t: 00000000ec82e00", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu6ClkTck\t: 0000000000ec82e00", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu6ClkTck\t: 000000000ec82e00 ", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu6ClkTck\t: 000000000ec82e0g", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu6ClkTck\t: ffffffffffffffff", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu6ClkTck\t: ", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "CpuClkTck\t: 000000000ec82e00", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "CpuXClkTck\t: 000000000ec82e00", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu6Bogo\t: 494.43", 0 },
  { cpuc_cpuinfo_rate_sparc_clock_tick, "Cpu", 0 },
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* The line comes after lines of other kinds and lengths, and the file is cut into pieces of many
   lengths. */
START_TEST(only_the_architectures_own_line_gives_a_rate)
{
  char file[1024] = "processor\t: 0\n\nflags\t\t: ";
  int piece;

  memset(file + strlen(file), 'x', 500);
  strcat(file, "\nCpu6ClkTck\t: 0\n");
  strcat(file, rows[_i].line);
  strcat(file, "\n\nlast line\t: 1\n");
  for (piece = 1; piece < 600; piece += 13)
    ck_assert_msg(rate_of_file(rows[_i].rate_of, file, piece) == rows[_i].hz, "%s", rows[_i].line);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_loop_test(tests, only_the_architectures_own_line_gives_a_rate, 0, ROWS);
}

int main(void)
{
  return suite_main("rates in /proc/cpuinfo", add);
}
