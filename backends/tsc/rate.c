/* SPDX-License-Identifier: 0BSD OR MIT */
/* The rate of the time-stamp counter that the kernel, the CPU or the hypervisor reports, whether it
   is constant, and the remedy for counters that read it. In virtual machines all sources of the
   rate can be 0, which means "not reported".
   Source: Linux, arch/x86/kernel/tsc.c; perf_event_open(2), "cap_user_time"; Intel SDM volume
   2A, CPUID, leaves 15H and 16H; Linux, arch/x86/include/asm/vmware.h and
   Documentation/virt/kvm/x86/cpuid.rst, "Hypervisor timing information leaf". */

#include "config.h"

#if defined(__x86_64__) || defined(__i386__)

#include "backends/tsc/counter.h"
#include "sys/cpuid.h"
#include "sys/emulator.h"
#include "sys/file.h"
#include "sys/guard.h"
#include "sys/parse.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifdef HAVE_PERF_EVENTS
#include "sys/perf/event.h"
#endif
#ifdef HAVE_SYSCTLBYNAME
#include <sys/types.h>

#include <sys/sysctl.h>
#endif

static unsigned long long from_file(void)
{
  static const char path[] = "/sys/devices/system/cpu/cpu0/tsc_freq_khz";

  return (unsigned long long)cpuc_file_read_number(path, 1000);
}

#ifdef HAVE_PERF_EVENTS

/* Computes the rate from the factors with which the kernel converts counts to nanoseconds: count *
   mult / 2^shift. Rounds to the nearest integer. Works in two steps: 10^9 takes 30 bits, so a shift
   of up to 34 bits fits into 64 bits, and the rest of the shift follows in the second step. */
static long long rate_from_factors(unsigned int mult, unsigned int shift)
{
  unsigned int first = shift < 34 ? shift : 34, rest = shift - first;
  unsigned long long quotient, remainder, limit = CPUC_RATE_HIGHEST;

  if (mult == 0 || shift > 63)
    return 0;
  quotient = (1000000000ULL << first) / mult;
  remainder = ((1000000000ULL << first) % mult) << rest;
  if (quotient > limit >> rest)
    return 0;
  quotient = (quotient << rest) + remainder / mult;
  return cpuc_rate_if_plausible(quotient + (2 * (remainder % mult) >= mult));
}

long long cpuc_tsc_rate_from_page(const volatile struct perf_event_mmap_page *page)
{
  unsigned int lock, has_time, mult, shift;

  do { /* repeats if the kernel has changed the page during the read */
    lock = page->lock;
    has_time = page->cap_user_time;
    mult = page->time_mult;
    shift = page->time_shift;
  } while (page->lock != lock);
  return has_time ? rate_from_factors(mult, shift) : 0;
}

static void note_rate(const volatile struct perf_event_mmap_page *page, void *rate)
{
  *(unsigned long long *)rate = (unsigned long long)cpuc_tsc_rate_from_page(page);
}

static unsigned long long from_perf(void)
{
  unsigned long long rate = 0;

  cpuc_perf_event_visit_page(note_rate, &rate);
  return rate;
}

#endif

/* The crystal frequency in ECX of leaf 15H, times EBX / EAX. CPUs on which ECX is 0 do not report
   the rate there. */
static unsigned long long from_cpuid15(void)
{
  struct cpuc_cpuid_leaf ratio;

  if (cpuc_cpuid_read(0).a < 0x15)
    return 0;
  ratio = cpuc_cpuid_read(0x15);
  /* the product of two 32-bit numbers fits into 64 bits */
  return ratio.a ? (unsigned long long)ratio.c * ratio.b / ratio.a : 0;
}

/* The base frequency in leaf 16H, in whole MHz. It is the rounded rate of the TSC if leaf 15H
   contains a ratio without a crystal frequency. */
static unsigned long long from_cpuid16(void)
{
  struct cpuc_cpuid_leaf ratio;

  if (cpuc_cpuid_read(0).a < 0x16)
    return 0;
  ratio = cpuc_cpuid_read(0x15);
  if (ratio.a == 0 || ratio.b == 0 || ratio.c != 0)
    return 0;
  return (cpuc_cpuid_read(0x16).a & 0xffff) * 1000000ULL;
}

/* The nominal frequency in the brand string of CPUs of Intel, which is near the rate of the TSC.
   Brand strings of AMD contain no frequency, and those of emulators can contain anything. */
static unsigned long long from_brand_string(void)
{
  char brand[49];
  long long hz;

  if (!cpuc_cpuid_vendor_is("GenuineIntel"))
    return 0;
  cpuc_cpuid_copy_brand(brand);
  return cpuc_parse_nominal_frequency(brand, &hz) ? (unsigned long long)hz : 0;
}

/* The rate in kHz in leaf 40000010H, which VMware introduced and other hypervisors also have. */
static unsigned long long from_hypervisor(void)
{
  unsigned int highest;

  /* If the hypervisor is hidden, reads of its leaves would only cause exits to it. */
  if (!(cpuc_cpuid_read(1).c >> 31))
    return 0;
  highest = cpuc_cpuid_read(0x40000000).a;
  if (highest < 0x40000010 || highest > 0x4000ffff)
    return 0;
  return cpuc_cpuid_read(0x40000010).a * 1000ULL;
}

#ifdef HAVE_SYSCTLBYNAME
static unsigned long long from_sysctl(void)
{
  static const char *const names[] = {
    "machdep.tsc_freq",      /* FreeBSD, NetBSD */
    "machdep.tsc.frequency", /* Darwin */
  };
  unsigned int i;

  for (i = 0; i < sizeof names / sizeof names[0]; i++) {
    uint64_t hz = 0;
    size_t length = sizeof hz;

    if (sysctlbyname(names[i], &hz, &length, NULL, 0) == 0 && length == sizeof hz)
      return hz;
  }
  return 0;
}
#endif

static void find_emulator(void *name)
{
  *(const char **)name = cpuc_emulator_find();
}

/* What an emulator reports is not believed. Source: Intel SDM volume 3, "Invariant TSC"; AMD APM
   volume 3, CPUID Fn8000_0007. */
int cpuc_tsc_is_invariant(const char **source)
{
  unsigned int highest = cpuc_cpuid_read(0x80000000).a;
  const char *emulator = NULL;

  *source = "CPUID 80000007H EDX[8]";
  if (highest < 0x80000000)
    return -1;
  if (highest < 0x80000007 || !(cpuc_cpuid_read(0x80000007).d >> 8 & 1))
    return 0;
  cpuc_guard_run(find_emulator, &emulator); /* a filter may raise SIGSYS where it opens files */
  return emulator ? -1 : 1;
}

/* The sources in the order in which they are asked, the most exact first. Under a hypervisor, leaf
   15H can be that of the host, although the hypervisor scales the TSC, so leaf 40000010H precedes
   it. Each source returns the rate in Hz, or a number that is not plausible, such as 0, if it does
   not report the rate. */
static const struct source {
  const char *name;
  unsigned long long (*run)(void);
  int is_rounded;
} sources[] = {
  { "tsc_freq_khz", from_file, 0 },
#ifdef HAVE_PERF_EVENTS
  { "perf time_mult", from_perf, 0 },
#endif
  { "CPUID leaf 40000010H", from_hypervisor, 0 },
  { "CPUID leaf 15H", from_cpuid15, 0 },
#ifdef HAVE_SYSCTLBYNAME
  { "sysctl of the TSC", from_sysctl, 0 },
#endif
  { "CPUID leaf 16H", from_cpuid16, 1 },
  { "model name", from_brand_string, 1 },
};

struct query {
  const struct source *source;
  long long hz;
};

static void run_source(void *argument)
{
  struct query *query = argument;

  query->hz = cpuc_rate_if_plausible(query->source->run());
}

/* In the first call, a filter that raises SIGSYS at a system call of one source must not hide the
   other sources, so each source is guarded alone. */
struct cpuc_rate cpuc_tsc_find_rate(void)
{
  size_t i;

  for (i = 0; i < sizeof sources / sizeof sources[0]; i++) {
    struct query query = { &sources[i], 0 };

    if (cpuc_guard_run(run_source, &query) == 0 && query.hz != 0)
      return (struct cpuc_rate) { query.hz, sources[i].name, sources[i].is_rounded };
  }
  return cpuc_rate_exact(0);
}

/* On Linux, SIGSEGV has one cause, which the program can undo. */
void cpuc_tsc_explain(int error, int signal, struct cpuc_diagnosis *diagnosis)
{
  (void)error;
#ifdef PR_TSC_ENABLE
  if (signal == SIGSEGV)
    diagnosis->remedy
      = "call prctl(PR_SET_TSC, PR_TSC_ENABLE) in the program before its first call of "
        "this library";
#else
  (void)signal, (void)diagnosis;
#endif
}

#endif
