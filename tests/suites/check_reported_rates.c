/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the frequency that calls of other systems report (lib/frequency-system.c and the
   files that it calls), and the rate of the time-stamp counter that kernel, sysctl, CPU and
   hypervisor report (backends/tsc/rate.c), with true numbers and with the zeros of virtual
   machines. Also tests the order of the sources. All these files are compiled with the stub
   headers of tests/ports/freq-headers. These objects replace those of the library, and call the
   functions below. CPUs other than x86 have no such counter. */

#include "config.h"

#include "backends/backend.h"
#include "lib/frequency.h"
#include "sys/cpuid.h"

#include "tests/suites/child.h"
#include "tests/suites/cpuid.h"
#include "tests/suites/machine.h"
#include "tests/suites/suite.h"

#include <libperfstat.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/sysctl.h>
#ifdef HAVE_PERF_EVENTS
#include <linux/perf_event.h>
#endif

/* The system's answers: numbers of `length` bytes. The only valid lengths are 4 and 8. */
static struct answer {
  const char *name;
  long long number;
  size_t length;
  const char *text; /* in place of the number */
} answers[8];

static long long hw_cpuspeed, processor_hz;
static int clocks[64]; /* MHz by processor; 0: no such processor */

int sysctlbyname(const char *name, void *old, size_t *old_length, void *now, size_t now_length)
{
  const struct answer *answer = answers;
  size_t length;
  int number_32;

  ck_assert(now == NULL && now_length == 0);
  while (!answer->name || strcmp(answer->name, name) != 0)
    if (++answer == answers + sizeof answers / sizeof answers[0])
      return -1;
  number_32 = (int)answer->number;
  length = answer->text ? strlen(answer->text) + 1 : answer->length;
  ck_assert_uint_le(length, *old_length);
  *old_length = length;
  memset(old, 0, length);
  if (answer->text)
    memcpy(old, answer->text, length);
  else
    memcpy(old, length == 4 ? (const void *)&number_32 : &answer->number, length < 8 ? length : 8);
  return 0;
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

/* `tsc` is the rate of the time-stamp counter. */
TEST_LOOP(sysctl_by_name_reports_the_frequency_or_the_rate_of_the_tsc, 21)
{
  static const struct {
    struct answer answer;
    long long hz, tsc;
  } rows[] = {
    { { "hw.cpufrequency_max", 2600000000, 8, NULL }, 2600000000, 0 },
    { { "hw.cpufrequency", 2600000000, 8, NULL }, 2600000000, 0 },
    { { "hw.cpufrequency", 1416666664, 4, NULL }, 1416666664, 0 },
    { { "hw.clockrate", 3400, 4, NULL }, 3400000000, 0 },
    { { "dev.cpu.0.freq", 2200, 4, NULL }, 2200000000, 0 },
    { { "dev.cpu.0.freq", -1, 4, NULL }, 0, 0 },
    { { "dev.cpu.0.freq", 2000000, 4, NULL }, 0, 0 },
    { { "hw.cpufrequency", 999, 8, NULL }, 0, 0 },
    { { "hw.cpufrequency", 1000000000001, 8, NULL }, 0, 0 },
    { { "dev.cpu.0.freq", 2200, 2, NULL }, 0, 0 },
    { { "dev.cpu.0.freq", 2200, 16, NULL }, 0, 0 },
    /* the highest number of a text, without the power behind it */
    { { "dev.cpu.0.freq_levels", 0, 0, "3800/-1 3766/65000 2166/-1" }, 3800000000, 0 },
    { { "dev.cpu.0.freq_levels", 0, 0, "2601/99999999" }, 2601000000, 0 },
    { { "dev.cpu.0.freq_levels", 0, 0, "" }, 0, 0 },
    { { "dev.cpu.0.freq_levels", 0, 0, "x -5 99999999999999999999" }, 0, 0 },
    { { "machdep.cpu.frequency.available", 0, 0, "600 816 1416 1200" }, 1416000000, 0 },
    { { "machdep.cpu.frequency.available", 0, 0, "1200" }, 1200000000, 0 },
    { { "machdep.cpu.frequency.available", 0, 0, "fast" }, 0, 0 },
    { { "machdep.tsc_freq", 2596132000, 8, NULL }, 0, 2596132000 },
    { { "machdep.tsc.frequency", 2600000000, 8, NULL }, 0, 2600000000 },
    { { "machdep.tsc_freq", 1416666664, 4, NULL }, 0, 0 },
  };

  answers[0] = rows[_i].answer;
  expect_frequency(rows[_i].hz, rows[_i].answer.name);
#if defined(__x86_64__) || defined(__i386__)
  ck_assert_int_eq(tsc_rate_without_kernel().hz, rows[_i].tsc);
#endif
}

/* A constant frequency precedes a current one. */
TEST(calls_report_the_frequency_in_their_order)
{
  clocks[2] = 1593;
  expect_frequency(1593000000, "processor_info");
  processor_hz = 3550000000;
  expect_frequency(3550000000, "perfstat_cpu_total");
  hw_cpuspeed = 2400;
  expect_frequency(2400000000, "hw.cpuspeed");
  answers[0] = (struct answer) { "dev.cpu.0.freq", 800, 4, NULL };
  expect_frequency(800000000, "dev.cpu.0.freq");
  answers[1] = (struct answer) { "dev.cpu.0.freq_levels", 0, 0, "3300/-1 800/-1" };
  expect_frequency(3300000000, "dev.cpu.0.freq_levels");
  answers[5] = (struct answer) { "dev.cpu.4.freq_levels", 0, 0, "3500/-1 800/-1" };
  expect_frequency(3500000000, "dev.cpu.4.freq_levels");
  answers[2] = (struct answer) { "hw.clockrate", 3400, 4, NULL };
  expect_frequency(3400000000, "hw.clockrate");
  answers[3] = (struct answer) { "hw.cpufrequency", 2400000000, 8, NULL };
  expect_frequency(2400000000, "hw.cpufrequency");
  /* Rosetta imitates hw.cpufrequency */
  answers[4] = (struct answer) { "sysctl.proc_translated", 1, 4, NULL };
  expect_frequency(2400000000, "hw.cpuspeed");
  memset(answers, 0, sizeof answers);
  hw_cpuspeed = -5;
  processor_hz = -1;
  clocks[2] = -1;
  expect_frequency(0, NULL);
}

/* The time-stamp counter. */

#if defined(__x86_64__) || defined(__i386__)

/* CPUs, and the rate that their CPUID reports first; 0: none. */
static const struct {
  unsigned int leaves[5];     /* the highest; EAX, EBX and ECX of leaf 15H; EAX of leaf 16H */
  unsigned int hypervisor[3]; /* ECX of leaf 1; EAX of leaves 40000000H and 40000010H */
  const char *name;           /* of a CPU of Intel */
  long long hz;
  const char *source;
} rows[] = {
#define EXACT "CPUID leaf 15H"
  { { 0x1b, 2, 188, 38400000, 0 }, { 0 }, "", 3609600000, EXACT }, /* Tiger Lake and later */
  { { 0x16, 2, 250, 24000000, 3000 }, { 0 }, "", 3000000000, EXACT }, /* Skylake */
  { { 0x16, 2, 250, 0, 3000 }, { 0 }, "", 3000000000, "CPUID leaf 16H" }, /* without the crystal */
  { { 0x16, 2, 250, 0, 0 }, { 0 }, "", 0, NULL },
  { { 0x15, 2, 250, 0, 3000 }, { 0 }, "", 0, NULL }, /* leaf 16H is absent */
  { { 0x14, 2, 250, 24000000, 3000 }, { 0 }, "", 0, NULL },
  { { 0x16, 0, 250, 24000000, 3000 }, { 0 }, "", 0, NULL },
  { { 0x16, 2, 0, 24000000, 3000 }, { 0 }, "", 0, NULL },
  { { 0x16, 0, 0, 0, 3000 }, { 0 }, "", 0, NULL },
  { { 0x16, 1, 0xffffffff, 0xffffffff, 0 }, { 0 }, "", 0, NULL },
  { { 0x16, 2, 250, 0, 0xffff0000 }, { 0 }, "", 0, NULL }, /* reserved bits */
#define HYPERVISOR "CPUID leaf 40000010H"
  { { 0x16 }, { 1u << 31, 0x40000010, 2596132 }, "", 2596132000, HYPERVISOR },
  { { 0x16 }, { 1u << 31, 0x40000081, 2596132 }, "", 2596132000, HYPERVISOR },
  { { 0x16 }, { 1u << 31, 0x40000010, 0 }, "", 0, NULL },
  { { 0x16 }, { 1u << 31, 0x4000000f, 2596132 }, "", 0, NULL },
  { { 0x16 }, { 1u << 31, 0xffffffff, 2596132 }, "", 0, NULL }, /* no such leaf: another leaf */
  { { 0x16 }, { 0, 0x40000010, 2596132 }, "", 0, NULL },
  { { 0x16 }, { 1u << 31, 0x40000010, 0xffffffff }, "", 0, NULL },
#define NAMED { 0 }, { 0 }
  { NAMED, "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", 2100000000, "model name" },
  { NAMED, "       Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz", 3400000000, "model name" },
  { NAMED, "           Intel(R) Xeon(TM) CPU 2.80GHz", 2800000000, "model name" },
  { NAMED, "13th Gen Intel(R) Core(TM) i9-13900K", 0, NULL },
  { NAMED, "Intel @ 99999GHz", 0, NULL },
  { NAMED, "Intel @", 0, NULL },
  /* all sources, then without the first one, and so on */
#define NAME "Intel @ 2.10GHz"
  { { 0x16, 2, 176, 24000000, 2100 }, { 1u << 31, 0x40000010, 2111000 }, NAME, 2111000000,
    HYPERVISOR },
  { { 0x16, 2, 176, 24000000, 2100 }, { 0 }, NAME, 2112000000, EXACT },
  { { 0x16, 2, 176, 0, 2100 }, { 0 }, NAME, 2100000000, "CPUID leaf 16H" },
};

enum { ROWS = sizeof rows / sizeof rows[0], ALL_SOURCES = ROWS - 3 };

static void simulate(int row, const char *vendor, unsigned int highest_extended)
{
  const unsigned int *leaves = rows[row].leaves, *hypervisor = rows[row].hypervisor;
  const struct simulated_leaf simulated[] = { { 0, { leaves[0], 0, 0, 0 } },
    { 1, { 0, 0, hypervisor[0], 0 } }, { 0x15, { leaves[1], leaves[2], leaves[3], 0 } },
    { 0x16, { leaves[4], 0, 0, 0 } }, { 0x40000000, { hypervisor[1], 0, 0, 0 } },
    { 0x40000010, { hypervisor[2], 0, 0, 0 } }, { 0x80000000, { highest_extended, 0, 0, 0 } },
    { 0x80000002, { 0 } }, { 0x80000003, { 0 } }, { 0x80000004, { 0 } } };
  int i;

  memcpy(cpu, simulated, sizeof simulated);
  memcpy(&cpu[0].leaf.b, vendor, 4);
  memcpy(&cpu[0].leaf.d, vendor + 4, 4);
  memcpy(&cpu[0].leaf.c, vendor + 8, 4);
  for (i = 0; i < 3; i++) /* 16 bytes of the name per leaf */
    strncpy((char *)&cpu[7 + i].leaf, rows[row].name + strnlen(rows[row].name, 16 * (size_t)i), 16);
}

static void expect_rate(long long hz, const char *source)
{
  struct cpuc_rate rate = tsc_rate_without_kernel();

  ck_assert_int_eq(rate.hz, hz);
  if (hz == 0)
    return;
  ck_assert_str_eq(rate.source, source);
  ck_assert_int_eq(rate.is_rounded, strcmp(source, EXACT) != 0 && strcmp(source, HYPERVISOR) != 0);
}

TEST_LOOP(leaves_of_cpuid_report_the_rate, ROWS)
{
  int has_leaf = rows[_i].source && strcmp(rows[_i].source, "model name") != 0;

  simulate(_i, "GenuineIntel", 0x80000008);
  expect_rate(rows[_i].hz, rows[_i].source);
  simulate(_i, "GenuineIntel", 0x80000003); /* without the name */
  expect_rate(has_leaf ? rows[_i].hz : 0, rows[_i].source);
  simulate(_i, "AuthenticAMD", 0x80000008);
  expect_rate(has_leaf ? rows[_i].hz : 0, rows[_i].source);
  simulate(ROWS - 1, "GenuineIntel", 0x80000008);
  cpu[0].leaf.a = 0;
  memset(&cpu[7], '9', 3 * sizeof cpu[7]); /* an unterminated name */
  cpu[7].number = 0x80000002, cpu[8].number = 0x80000003, cpu[9].number = 0x80000004;
  expect_rate(0, NULL);
}

#ifdef HAVE_PERF_EVENTS

static struct perf_event_mmap_page page;

static long long rate_from_factors(unsigned int mult, unsigned short shift)
{
  page.cap_user_time = 1;
  page.time_mult = mult;
  page.time_shift = shift;
  return cpuc_tsc_rate_from_page(&page);
}

TEST(kernel_factors_give_the_rate)
{
  static const long long rates[] = { 800000000, 1000000001, 2596132000, 3609600000, 5500000000 };
  size_t i;

  for (i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    unsigned long long mult = ((1000000000ULL << 31) + (unsigned long long)rates[i] / 2)
      / (unsigned long long)rates[i];

    ck_assert_int_le(llabs(rate_from_factors((unsigned int)mult, 31) - rates[i]),
      rates[i] / 100000000);
  }
  ck_assert_int_eq(rate_from_factors(1, 0), 1000000000);
  ck_assert_int_eq(rate_from_factors(0, 31), 0);
  ck_assert_int_eq(rate_from_factors(1, 63), 0);
  ck_assert_int_eq(rate_from_factors(1, 65535), 0);
  ck_assert_int_eq(rate_from_factors(0xffffffff, 0), 0);
  ck_assert_int_eq(rate_from_factors(1u << 31, 31), 1000000000);
  ck_assert_int_eq(rate_from_factors(0xffffffff, 35), 8000000002); /* in two steps */
  page.cap_user_time = 0;
  ck_assert_int_eq(cpuc_tsc_rate_from_page(&page), 0);
}

#ifdef CAN_SINGLE_STEP

static int steps = -1; /* instructions until the handler changes the page; -1: it has done so */

static void change_page_after_steps(int signal, siginfo_t *info, void *context)
{
  ucontext_t *interrupted = context;

  (void)signal, (void)info;
  if (steps-- > 0)
    return;
  interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
  page.lock += 2;
  page.time_mult *= 2;
  page.time_shift++;
}

TEST(page_that_changes_during_the_read_gives_the_rate)
{
  struct sigaction action = { .sa_sigaction = change_page_after_steps, .sa_flags = SA_SIGINFO };
  long long rate;
  int number;

  skip_without_single_steps();
  sigaction(SIGTRAP, &action, NULL);
  for (number = 0; steps < 0; number++) {
    page.cap_user_time = 1;
    page.time_mult = 826933653;
    page.time_shift = 31;
    steps = number;
    set_single_step(1);
    rate = cpuc_tsc_rate_from_page(&page);
    set_single_step(0);
    ck_assert_msg(llabs(rate - 2596924000) <= 1000, "instruction %d: %lld", number, rate);
  }
  ck_assert_int_gt(number, 10);
}

#endif
#else

SUITE_WITHOUT(kernel_factors, "this system has no perf events")

#endif

/* Where the kernel reports no rate, the hypervisor is asked next. */
TEST(exact_sources_precede_rounding_ones)
{
  struct cpuc_rate rate;

  simulate(ALL_SOURCES, "GenuineIntel", 0x80000008);
#ifdef CPUCYCLES_POSIX /* Windows does not have the file */
  make_machine();
  write_file("/sys/devices/system/cpu/cpu0/tsc_freq_khz", "2113000\n");
  rate = cpuc_tsc_find_rate();
  ck_assert_int_eq(rate.hz, 2113000000);
  ck_assert_str_eq(rate.source, "tsc_freq_khz");
  ck_assert(!rate.is_rounded);
  remove_machine();
#endif
  rate = cpuc_tsc_find_rate();
  if (strcmp(rate.source, "tsc_freq_khz") != 0 && strcmp(rate.source, "perf time_mult") != 0)
    ck_assert_str_eq(rate.source, HYPERVISOR);
}

TEST_LOOP(invariance_follows_cpuid, 7)
{
  static const struct {
    unsigned int highest, d;
    int invariant;
    const char *signature, *brand; /* of an emulator, which is not believed */
  } cpus[] = {
    { 0x80000008, 0x100, -1, "FEXIFEXIEMU", "" },
    { 0x80000008, 0x100, -1, "", "      Box64 on X" },
    { 0x80000008, 0x100, 1, "", "" },
    { 0x80000007, 0x1ff, 1, "", "" },
    { 0x80000008, 0xff, 0, "", "" },
    { 0x80000006, 0x100, 0, "", "" }, /* no such leaf: not invariant */
    { 0, 0x100, -1, "", "" },         /* no CPUID, or a CPU without extended leaves */
  };
  const char *source;

  cpu[0] = (struct simulated_leaf) { 0x80000000, { cpus[_i].highest, 0, 0, 0 } };
  cpu[1] = (struct simulated_leaf) { 0x80000007, { 0, 0, 0, cpus[_i].d } };
  cpu[2] = (struct simulated_leaf) { 0, { 1, 0, 0, 0 } };
  cpu[3] = (struct simulated_leaf) { 0x40000000, { 0 } };
  memcpy(&cpu[3].leaf.b, cpus[_i].signature, strlen(cpus[_i].signature));
  cpu[4] = (struct simulated_leaf) { 0x80000002, { 0 } };
  memcpy(&cpu[4].leaf, cpus[_i].brand, strlen(cpus[_i].brand));
  ck_assert_int_eq(cpuc_tsc_is_invariant(&source), cpus[_i].invariant);
}

#else

TEST(no_other_cpu_has_a_reference_counter)
{
  ck_assert_ptr_null(cpuc_reference_counter());
}

#endif

SUITE("reported rates")
