/* SPDX-License-Identifier: 0BSD OR MIT */
/* The frequency that sysctl of the BSDs and Darwin reports. */

#include "config.h"

#include "lib/frequency.h"
#include "sys/emulator.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(HAVE_SYSCTLBYNAME) || defined(HAVE_HW_CPUSPEED)
#include <sys/types.h>

#include <sys/sysctl.h>
#endif

enum { MHZ = 1000000 };

#if defined(HAVE_SYSCTLBYNAME) || defined(HAVE_HW_CPUSPEED)
/* Parses an integer of 4 or 8 bytes in the order of this machine, as sysctl(3) returns it. Returns
   the integer times unit, in Hz; 0 for other lengths, or outside the limits of a frequency. */
static long long from_bytes(const void *bytes, int length, long long unit)
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
#endif

#ifdef HAVE_SYSCTLBYNAME
/* Returns the highest number of a text such as "3800/-1 3766/-1" or "1200 800", times unit; 0 if it
   contains none. Of each word, only the number at its beginning counts. */
static long long highest_in(const char *text, long long unit)
{
  long long highest = 0, number;

  for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
    number = strtoll(text, NULL, 10); /* no locale changes a number without a point */
    if (number > highest && number <= CPUC_RATE_HIGHEST / unit)
      highest = number;
  }
  return cpuc_rate_if_plausible((unsigned long long)(highest * unit));
}

/* Frequencies that are constant on current CPUs come before dev.cpu.0.freq, which can be the
   frequency of an idle core. Darwin on Apple's own CPUs has none of these names, and its
   hw.perflevelN.* are numbers of cores and sizes of caches, so the frequency is measured there.
   Rosetta imitates the names of Darwin on Intel, but not the frequency.
   Source: FreeBSD, cpufreq(4), dev.cpu.%d.freq_levels; NetBSD, sys/dev/fdt/cpufreq_dt.c. */
static const struct {
  const char *name;
  long long unit;
  int is_text;
} names[] = {
  { "hw.cpufrequency_max", 1, 0 },               /* Darwin on Intel */
  { "hw.cpufrequency", 1, 0 },                   /* Darwin on Intel and PowerPC */
  { "hw.clockrate", MHZ, 0 },                    /* FreeBSD on x86 */
  { "dev.cpu.4.freq_levels", MHZ, 1 },           /* FreeBSD: big cores of RK3399 and RK3588 */
  { "dev.cpu.0.freq_levels", MHZ, 1 },           /* FreeBSD: MHz and mW, descending */
  { "machdep.cpu.frequency.available", MHZ, 1 }, /* NetBSD on Arm: MHz */
  { "dev.cpu.0.freq", MHZ, 0 },                  /* FreeBSD */
};

struct cpuc_rate cpuc_frequency_from_sysctlbyname(void)
{
  struct cpuc_rate reported = cpuc_rate_exact(0);
  size_t i;

  if (cpuc_emulator_is_rosetta())
    return reported;
  for (i = 0; i < sizeof names / sizeof names[0] && reported.hz == 0; i++) {
    char value[1024];
    size_t length = sizeof value - 1;

    if (sysctlbyname(names[i].name, value, &length, NULL, 0) != 0)
      continue;
    value[length] = 0;
    reported.hz = names[i].is_text ? highest_in(value, names[i].unit)
                                   : from_bytes(value, (int)length, names[i].unit);
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
    reported.hz = from_bytes(bytes, (int)length, MHZ);
  return reported;
}
#endif
