/* SPDX-License-Identifier: 0BSD OR MIT */
/* The frequency that sysctl of the BSDs and Darwin reports. */

#include "config.h"

#include "lib/frequency.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(HAVE_SYSCTLBYNAME) || defined(HAVE_HW_CPUSPEED)
#include <sys/types.h>

#include <sys/sysctl.h>
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

struct cpuc_rate cpuc_frequency_from_sysctlbyname(void)
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
struct cpuc_rate cpuc_frequency_from_sysctl(void)
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
