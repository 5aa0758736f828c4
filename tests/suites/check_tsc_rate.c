/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the reported rates of the time-stamp counter, from kernel, CPU and hypervisor, with true
   numbers and with the zeros of virtual machines. Also tests the order of the sources. CPUs other
   than x86 have no such counter. */

#include "config.h"

#include "backends/backend.h"
#include "sys/cpuid.h"

#include "tests/suites/child.h"
#include "tests/suites/machine.h"
#include "tests/suites/suite.h"
#include "tests/suites/tsc-rate.h"

#include <string.h>
#include <unistd.h>
#ifdef HAVE_PERF_EVENTS
#include <linux/perf_event.h>
#endif

#if defined(__x86_64__) || defined(__i386__)

/* The leaves of the simulated CPU. */
static struct {
  struct cpuc_cpuid_leaf leaf_0, leaf_1, leaf_15h, leaf_16h, leaf_40000000h, leaf_40000010h;
  struct cpuc_cpuid_leaf leaf_80000000h, leaf_80000007h, brand[3];
} cpu;

static void set_up(void)
{
  memset(&cpu, 0, sizeof cpu);
}

/* In place of sys/cpuid.c: the simulated CPU. */
struct cpuc_cpuid_leaf cpuc_cpuid_read(unsigned int leaf)
{
  static const struct cpuc_cpuid_leaf nothing;

  switch (leaf) {
  case 0:
    return cpu.leaf_0;
  case 1:
    return cpu.leaf_1;
  case 0x15:
    return cpu.leaf_15h;
  case 0x16:
    return cpu.leaf_16h;
  case 0x40000000:
    return cpu.leaf_40000000h;
  case 0x40000010:
    return cpu.leaf_40000010h;
  case 0x80000000:
    return cpu.leaf_80000000h;
  case 0x80000007:
    return cpu.leaf_80000007h;
  case 0x80000002:
  case 0x80000003:
  case 0x80000004:
    return cpu.brand[leaf - 0x80000002];
  default:
    return nothing;
  }
}

#ifdef HAVE_SYSCTLBYNAME
/* In place of the function of the system, which may report the rate of the real TSC. */
int sysctlbyname(const char *name, void *old, size_t *old_length, void *now, size_t now_length)
{
  (void)name, (void)old, (void)old_length, (void)now, (void)now_length;
  return -1;
}
#endif

/* Expects this rate from the first source that the simulated CPU has. hz 0: no source has a
   rate. */
static void expect_rate(long long hz, const char *source, int is_rounded, int which)
{
  struct cpuc_rate rate = tsc_rate_without_kernel();

  ck_assert_msg(rate.hz == hz, "case %d: %lld", which, rate.hz);
  if (hz == 0)
    return;
  ck_assert_str_eq(rate.source, source);
  ck_assert_int_eq(rate.is_rounded, is_rounded);
}

TEST(crystal_times_ratio_is_the_rate)
{
  static const struct {
    unsigned int highest, denominator, numerator, crystal, base;
    long long hz, rounded; /* from leaf 15H, from leaf 16H */
  } rows[] = {
    { 0x1b, 2, 188, 38400000, 0, 3609600000, 0 },    /* Tiger Lake and later */
    { 0x16, 2, 250, 24000000, 3000, 3000000000, 0 }, /* Skylake with a reported crystal frequency */
    { 0x16, 2, 250, 0, 3000, 0, 3000000000 },        /* and without one */
    { 0x16, 2, 250, 0, 0, 0, 0 },
    { 0x15, 2, 250, 0, 3000, 0, 0 },                 /* leaf 16H is absent */
    { 0x14, 2, 250, 24000000, 3000, 0, 0 },
    { 0x16, 0, 250, 24000000, 3000, 0, 0 },
    { 0x16, 2, 0, 24000000, 3000, 0, 0 },
    { 0x16, 0, 0, 0, 3000, 0, 0 },
    { 0x16, 0, 0, 0, 0, 0, 0 },
    { 0, 2, 250, 24000000, 3000, 0, 0 },
    { 0x16, 0xffffffff, 1, 1, 0, 0, 0 },
    { 0x16, 1, 0xffffffff, 0xffffffff, 0, 0, 0 },
    { 0x16, 2, 250, 0, 0xffff0000, 0, 0 },           /* reserved bits */
  };
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    cpu.leaf_0.a = rows[i].highest;
    cpu.leaf_15h.a = rows[i].denominator;
    cpu.leaf_15h.b = rows[i].numerator;
    cpu.leaf_15h.c = rows[i].crystal;
    cpu.leaf_16h.a = rows[i].base;
    if (rows[i].rounded)
      expect_rate(rows[i].rounded, "CPUID leaf 16H", 1, (int)i);
    else
      expect_rate(rows[i].hz, "CPUID leaf 15H", 0, (int)i);
  }
}

TEST(hypervisor_leaf_is_read_if_it_exists)
{
  static const struct {
    unsigned int flags, highest, khz;
    long long hz;
  } rows[] = {
    { 1u << 31, 0x40000010, 2596132, 2596132000 },
    { 1u << 31, 0x40000081, 2596132, 2596132000 },
    { 1u << 31, 0x40000010, 0, 0 },
    { 1u << 31, 0x4000000f, 2596132, 0 },
    { 1u << 31, 0, 2596132, 0 },
    { 1u << 31, 0xffffffff, 2596132, 0 }, /* no such leaf, so the CPU returns another leaf */
    { 0, 0x40000010, 2596132, 0 },
    { 1u << 31, 0x40000010, 0xffffffff, 0 },
  };
  size_t i;

  cpu.leaf_0.a = 0x16;
  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    cpu.leaf_1.c = rows[i].flags;
    cpu.leaf_40000000h.a = rows[i].highest;
    cpu.leaf_40000010h.a = rows[i].khz;
    expect_rate(rows[i].hz, "CPUID leaf 40000010H", 0, (int)i);
  }
}

TEST(model_name_of_an_intel_cpu_contains_the_nominal_rate)
{
  static const struct {
    const char *name;
    long long hz;
  } rows[] = {
    { "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", 2100000000 },
    { "       Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz", 3400000000 },
    { "Intel(R) Core(TM)2 CPU @ 800MHz", 800000000 },
    { "Genuine Intel(R) CPU 0000 @ 2GHz", 2000000000 },
    { "13th Gen Intel(R) Core(TM) i9-13900K", 0 },
    { "Intel @ 2.1.0GHz", 0 },
    { "Intel @ .10GHz", 0 },
    { "Intel @ GHz", 0 },
    { "Intel @ 2.10", 0 },
    { "Intel @ 2.10G", 0 },
    { "Intel @ 9999999999GHz", 0 },
    { "Intel @ 99999GHz", 0 },
    { "Intel @ 0.00GHz", 0 },
    { "Intel @", 0 },
    { "", 0 },
  };
  static const char vendors[2][13] = { "GenuineIntel", "AuthenticAMD" };
  size_t i, vendor;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (vendor = 0; vendor < 2; vendor++) {
      long long hz = vendor == 0 ? rows[i].hz : 0;

      memset(cpu.brand, 0, sizeof cpu.brand);
      memcpy(cpu.brand, rows[i].name, strlen(rows[i].name)); /* 16 bytes of the name per leaf */
      memcpy(&cpu.leaf_0.b, vendors[vendor], 4);
      memcpy(&cpu.leaf_0.d, vendors[vendor] + 4, 4);
      memcpy(&cpu.leaf_0.c, vendors[vendor] + 8, 4);
      cpu.leaf_80000000h.a = 0x80000008;
      expect_rate(hz, "model name", 1, (int)i);
      cpu.leaf_80000000h.a = 0x80000003;
      expect_rate(0, NULL, 0, (int)i);
    }
  memset(cpu.brand, '9', sizeof cpu.brand); /* unterminated */
  memcpy(&cpu.leaf_0.b, "Genu", 4);
  memcpy(&cpu.leaf_0.d, "ineI", 4);
  memcpy(&cpu.leaf_0.c, "ntel", 4);
  cpu.leaf_80000000h.a = 0x80000008;
  expect_rate(0, NULL, 0, (int)i);
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

#endif

TEST(kernel_factors_give_the_rate)
{
#ifdef HAVE_PERF_EVENTS
  static const long long rates[] = { 800000000, 1000000001, 2596132000, 3609600000, 5500000000 };
  size_t i;

  for (i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    unsigned long long mult = ((1000000000ULL << 31) + (unsigned long long)rates[i] / 2)
      / (unsigned long long)rates[i];

    ck_assert_int_le(llabs(rate_from_factors((unsigned int)mult, 31) - rates[i]),
      rates[i] / 100000000);
  }
  ck_assert_int_eq(rate_from_factors(1, 0), 1000000000);
  page.cap_user_time = 0;
  ck_assert_int_eq(cpuc_tsc_rate_from_page(&page), 0);
  ck_assert_int_eq(rate_from_factors(0, 31), 0);
  ck_assert_int_eq(rate_from_factors(0, 0), 0);
  ck_assert_int_eq(rate_from_factors(1, 63), 0);
  ck_assert_int_eq(rate_from_factors(1, 65535), 0);
  ck_assert_int_eq(rate_from_factors(0xffffffff, 0), 0);
  ck_assert_int_eq(rate_from_factors(1u << 31, 31), 1000000000);
  page.cap_user_time = 0;
  ck_assert_int_eq(cpuc_tsc_rate_from_page(&page), 0);
#else
  SKIP_IF(1, "this system has no perf events");
#endif
}

#if defined(CAN_SINGLE_STEP) && defined(HAVE_PERF_EVENTS)

static struct perf_event_mmap_page changing;
static int steps = -1; /* instructions until the handler changes the page; -1: it has done so */

static void change_page_after_steps(int signal, siginfo_t *info, void *context)
{
  ucontext_t *interrupted = context;

  (void)signal, (void)info;
  if (steps-- > 0)
    return;
  interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
  changing.lock += 2;
  changing.time_mult *= 2;
  changing.time_shift++;
}

TEST(page_that_changes_during_the_read_gives_the_rate)
{
  struct sigaction action = { .sa_sigaction = change_page_after_steps, .sa_flags = SA_SIGINFO };
  long long rate;
  int number;

  skip_without_single_steps();
  sigaction(SIGTRAP, &action, NULL);
  for (number = 0; steps < 0; number++) {
    changing.cap_user_time = 1;
    changing.time_mult = 826933653;
    changing.time_shift = 31;
    steps = number;
    set_single_step(1);
    rate = cpuc_tsc_rate_from_page(&changing);
    set_single_step(0);
    ck_assert_msg(llabs(rate - 2596924000) <= 1000, "instruction %d: %lld", number, rate);
  }
  ck_assert_int_gt(number, 10);
}

#endif

/* The simulated CPU has every source. The test removes one after another, in the order of their
   precedence, and expects the rate of the next source. */
TEST(exact_sources_precede_rounding_ones)
{
  static const char name[] = "Intel @ 2.10GHz";
  struct cpuc_rate rate;

  memcpy(&cpu.leaf_0.b, "Genu", 4);
  memcpy(&cpu.leaf_0.d, "ineI", 4);
  memcpy(&cpu.leaf_0.c, "ntel", 4);
  cpu.leaf_0.a = 0x16;
  cpu.leaf_15h = (struct cpuc_cpuid_leaf) { 2, 176, 24000000, 0 };
  cpu.leaf_16h.a = 2100;
  cpu.leaf_1.c = 1u << 31;
  cpu.leaf_40000000h.a = 0x40000010;
  cpu.leaf_40000010h.a = 2111000;
  cpu.leaf_80000000h.a = 0x80000008;
  memcpy(cpu.brand, name, sizeof name);
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
    ck_assert_str_eq(rate.source, "CPUID leaf 40000010H");
  expect_rate(2111000000, "CPUID leaf 40000010H", 0, 0);
  cpu.leaf_1.c = 0;
  expect_rate(2112000000, "CPUID leaf 15H", 0, 1);
  cpu.leaf_15h.c = 0;
  expect_rate(2100000000, "CPUID leaf 16H", 1, 2);
  cpu.leaf_0.a = 0;
  expect_rate(2100000000, "model name", 1, 3);
  cpu.leaf_80000000h.a = 0;
  expect_rate(0, NULL, 0, 4);
}

TEST(query_leaves_no_descriptor_open)
{
  int before = dup(0), after;

  close(before);
  (void)cpuc_tsc_find_rate();
  after = dup(0);
  close(after);
  ck_assert_int_eq(before, after);
}

TEST(invariance_follows_cpuid)
{
  static const struct {
    unsigned int highest, d;
    int invariant;
  } rows[] = {
    { 0x80000008, 0x100, 1 },
    { 0x80000007, 0x1ff, 1 },
    { 0x80000008, 0xff, 0 },
    { 0x80000006, 0x100, 0 }, /* no such leaf: not invariant */
    { 0, 0x100, -1 },         /* no CPUID, or a CPU without extended leaves */
  };
  const char *source;
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    cpu.leaf_80000000h.a = rows[i].highest;
    cpu.leaf_80000007h.d = rows[i].d;
    ck_assert_int_eq(cpuc_tsc_is_invariant(&source), rows[i].invariant);
  }
}

SUITE_AROUND("TSC rate", set_up, NULL)

#else

TEST(no_other_cpu_has_a_reference_counter)
{
  ck_assert_ptr_null(cpuc_reference_counter());
}

SUITE("TSC rate")

#endif
