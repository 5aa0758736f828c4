/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the frequency that calls of other systems report: lib/frequency-system.c, and the TSC's
   sysctl in backends/tsc/rate.c. Both files are compiled with the stub headers of
   tests/ports/freq-headers. These objects replace those of the library, and call the functions
   below. */

#include "config.h"

#include "lib/frequency.h"
#include "sys/cpuid.h"

#include "tests/suites/cpuid.h"
#include "tests/suites/suite.h"

#include <libperfstat.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/sysctl.h>

/* The system's answers: numbers of `length` bytes. The only valid lengths are 4 and 8. */
static struct answer {
  const char *name;
  long long number;
  size_t length;
} answers[8];

static long long hw_cpuspeed, processor_hz;
static int clocks[64]; /* MHz by processor; 0: no such processor */

int sysctlbyname(const char *name, void *old, size_t *old_length, void *now, size_t now_length)
{
  size_t i;

  ck_assert(now == NULL && now_length == 0);
  for (i = 0; i < sizeof answers / sizeof answers[0]; i++)
    if (answers[i].name && strcmp(answers[i].name, name) == 0) {
      int number_32 = (int)answers[i].number;

      ck_assert_uint_le(answers[i].length, *old_length);
      *old_length = answers[i].length;
      memset(old, 0, answers[i].length);
      memcpy(old, answers[i].length == 4 ? (void *)&number_32 : (void *)&answers[i].number,
        answers[i].length < 8 ? answers[i].length : 8);
      return 0;
    }
  return -1;
}

int sysctl(const int *name, unsigned int names, void *old, size_t *old_length, void *now,
  size_t now_length)
{
  int number_32 = (int)hw_cpuspeed;

  ck_assert(names == 2 && name[0] == CTL_HW && name[1] == HW_CPUSPEED && now == NULL
    && now_length == 0);
  if (hw_cpuspeed == 0)
    return -1;
  memcpy(old, &number_32, sizeof number_32);
  *old_length = sizeof number_32;
  return 0;
}

int perfstat_cpu_total(perfstat_id_t *name, perfstat_cpu_total_t *total, size_t size, int wanted)
{
  ck_assert(name == NULL && size == sizeof *total && wanted == 1);
  if (processor_hz == 0)
    return -1;
  total->processorHZ = (unsigned long long)processor_hz;
  return 1;
}

int processor_info(processorid_t id, processor_info_t *info)
{
  if (id < 0 || id >= 64 || clocks[id] == 0)
    return -1;
  info->pi_clock = clocks[id];
  return 0;
}

static void expect_frequency(long long hz, const char *source)
{
  struct cpuc_rate found = cpuc_frequency_from_system();

  ck_assert_int_eq(found.hz, hz);
  if (hz)
    ck_assert_str_eq(found.source, source);
}

TEST(sysctl_by_name_reports_the_frequency)
{
  static const struct {
    struct answer answer;
    long long hz;
  } rows[] = {
    { { "hw.cpufrequency_max", 2600000000, 8 }, 2600000000 },
    { { "hw.cpufrequency", 2600000000, 8 }, 2600000000 },
    { { "hw.cpufrequency", 1416666664, 4 }, 1416666664 },
    { { "hw.clockrate", 3400, 4 }, 3400000000 },
    { { "dev.cpu.0.freq", 2200, 4 }, 2200000000 },
    { { "dev.cpu.0.freq", 0, 4 }, 0 },
    { { "dev.cpu.0.freq", -1, 4 }, 0 },
    { { "dev.cpu.0.freq", 2000000, 4 }, 0 },
    { { "hw.cpufrequency", 999, 8 }, 0 },
    { { "hw.cpufrequency", 1000000000001, 8 }, 0 },
    { { "hw.cpufrequency", 0x7fffffffffffffff, 8 }, 0 },
    { { "dev.cpu.0.freq", 2200, 2 }, 0 },
    { { "dev.cpu.0.freq", 2200, 16 }, 0 },
    { { "dev.cpu.0.freq", 0, 0 }, 0 },
  };
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    answers[0] = rows[i].answer;
    expect_frequency(rows[i].hz, rows[i].answer.name);
  }
}

TEST(constant_value_precedes_a_current_one)
{
  answers[0] = (struct answer){ "dev.cpu.0.freq", 800, 4 };
  expect_frequency(800000000, "dev.cpu.0.freq");
  answers[1] = (struct answer){ "hw.clockrate", 3400, 4 };
  expect_frequency(3400000000, "hw.clockrate");
}

TEST(other_calls_report_the_frequency)
{
  clocks[2] = 1593;
  expect_frequency(1593000000, "processor_info");
  processor_hz = 3550000000;
  expect_frequency(3550000000, "perfstat_cpu_total");
  hw_cpuspeed = 2400;
  expect_frequency(2400000000, "hw.cpuspeed");
  hw_cpuspeed = -5;
  processor_hz = -1;
  clocks[2] = -1;
  expect_frequency(0, NULL);
}

#if defined(__x86_64__) || defined(__i386__)

TEST(sysctl_reports_the_rate_of_the_tsc)
{
  ck_assert_int_eq(tsc_rate_without_kernel().hz, 0);
  answers[0] = (struct answer){ "machdep.tsc_freq", 2596132000, 8 };
  ck_assert_int_eq(tsc_rate_without_kernel().hz, 2596132000);
  answers[0] = (struct answer){ "machdep.tsc.frequency", 2600000000, 8 };
  ck_assert_int_eq(tsc_rate_without_kernel().hz, 2600000000);
  answers[0] = (struct answer){ "machdep.tsc_freq", 0, 8 };
  ck_assert_int_eq(tsc_rate_without_kernel().hz, 0);
  answers[0] = (struct answer){ "machdep.tsc_freq", 1416666664, 4 };
  ck_assert_int_eq(tsc_rate_without_kernel().hz, 0);
}

#endif

SUITE("frequency of other systems")
