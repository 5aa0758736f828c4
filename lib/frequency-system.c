/* SPDX-License-Identifier: 0BSD OR MIT */
/* Calls with which operating systems other than Linux report the CPU frequency: sysctl of the BSDs
   and Darwin, perfstat of AIX, processor_info of Solaris. (_system_configuration of AIX contains
   only the rate of the time base.) configure finds the calls; Linux has none. */

#include "config.h"

#include "lib/frequency.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(HAVE_SYSCTLBYNAME) || defined(HAVE_HW_CPUSPEED)
#include <sys/types.h>

#include <sys/sysctl.h>
#endif
#ifdef HAVE_LIBPERFSTAT
#include <libperfstat.h>
#endif
#ifdef HAVE_PROCESSOR_INFO
#include <sys/types.h>

#include <sys/processor.h>
#endif

enum { MHZ = 1000000 };

long long cpuc_frequency_from_bytes(const void *bytes, int length, long long unit)
{
  int64_t number = 0;
  int32_t narrow;

  if (length == (int)sizeof number) {
    memcpy(&number, bytes, sizeof number);
  } else if (length == (int)sizeof narrow) {
    memcpy(&narrow, bytes, sizeof narrow);
    number = narrow;
  }
  if (number <= 0 || number > CPUC_RATE_HIGHEST / unit)
    return 0;
  return cpuc_rate_if_plausible((unsigned long long)(number * unit));
}

#ifdef HAVE_SYSCTLBYNAME
/* Frequencies that are constant on current CPUs come before dev.cpu.0.freq, which can be the
   frequency of an idle core. Darwin on Apple's own CPUs has none of these names, and its
   hw.perflevelN.* are numbers of cores and sizes of caches, so the frequency is measured there. */
static const struct {
  const char *name;
  long long unit;
} names[] = {
  { "hw.cpufrequency_max", 1 }, /* Darwin on Intel */
  { "hw.cpufrequency", 1 },     /* Darwin on Intel and PowerPC */
  { "hw.clockrate", MHZ },      /* FreeBSD */
  { "dev.cpu.0.freq", MHZ },    /* FreeBSD */
};

static struct cpuc_rate from_sysctlbyname(void)
{
  struct cpuc_rate reported = cpuc_exact_rate(0);
  size_t i;

  for (i = 0; i < sizeof names / sizeof names[0] && reported.hz == 0; i++) {
    char bytes[16];
    size_t length = sizeof bytes;

    if (sysctlbyname(names[i].name, bytes, &length, NULL, 0) == 0)
      reported.hz = cpuc_frequency_from_bytes(bytes, (int)length, names[i].unit);
    reported.source = names[i].name;
  }
  return reported;
}
#endif

#ifdef HAVE_HW_CPUSPEED
static struct cpuc_rate from_sysctl(void)
{
  struct cpuc_rate reported = { .source = "hw.cpuspeed" };
  int name[2] = { CTL_HW, HW_CPUSPEED };
  char bytes[16];
  size_t length = sizeof bytes;

  if (sysctl(name, 2, bytes, &length, NULL, 0) == 0)
    reported.hz = cpuc_frequency_from_bytes(bytes, (int)length, MHZ);
  return reported;
}
#endif

#ifdef HAVE_LIBPERFSTAT
static struct cpuc_rate from_perfstat(void)
{
  struct cpuc_rate reported = { .source = "perfstat_cpu_total" };
  perfstat_cpu_total_t total;

  if (perfstat_cpu_total(NULL, &total, sizeof total, 1) == 1)
    reported.hz = cpuc_frequency_from_bytes(&total.processorHZ, (int)sizeof total.processorHZ, 1);
  return reported;
}
#endif

#ifdef HAVE_PROCESSOR_INFO
/* The first processor need not be number 0. */
static struct cpuc_rate from_processor_info(void)
{
  struct cpuc_rate reported = { .source = "processor_info" };
  processor_info_t info;
  int i;

  for (i = 0; i < 64 && reported.hz == 0; i++)
    if (processor_info(i, &info) == 0)
      reported.hz = cpuc_frequency_from_bytes(&info.pi_clock, (int)sizeof info.pi_clock, MHZ);
  return reported;
}
#endif

static struct cpuc_rate (*const calls[])(void) = {
#ifdef HAVE_SYSCTLBYNAME
  from_sysctlbyname,
#endif
#ifdef HAVE_HW_CPUSPEED
  from_sysctl,
#endif
#ifdef HAVE_LIBPERFSTAT
  from_perfstat,
#endif
#ifdef HAVE_PROCESSOR_INFO
  from_processor_info,
#endif
  NULL
};

struct cpuc_rate cpuc_frequency_from_system(void)
{
  struct cpuc_rate reported = cpuc_exact_rate(0);
  int i;

  for (i = 0; calls[i] && reported.hz == 0; i++)
    reported = calls[i]();
  return reported;
}
