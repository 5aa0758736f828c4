/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench/internals: measures the library's own measurements on this machine, which
   check_simulated_clock tests on simulated ones: the error of the reference counter's measured rate
   against the reported rate, the variation of the core frequency, and the time that each of these
   two measurements takes. Uses hidden functions of the library, because cpucycles_rate() returns
   the reported rate instead of the measured rate if the two agree. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/calibrate.h"
#include "lib/table.h"
#include "sys/os-clock.h"
#include "sys/quantile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIES = 25 };

static const double ppm_bound = 50;
static const double variation_bound = 2; /* percent */

/* Measures TRIES times, sorts the results, and prints what is measured, the median, and the time of
   a measurement. */
static void measure(const char *what, long long (*read)(void), double *values)
{
  double times[TRIES];
  int i;

  for (i = 0; i < TRIES; i++) {
    long long begin = cpuc_os_clock_raw();

    values[i] = (double)(read ? cpuc_calibrate_rate(read, 64) : cpucycles_core_persecond());
    times[i] = (double)(cpuc_os_clock_raw() - begin) / 1000;
  }
  cpuc_quantile_sort(values, TRIES);
  cpuc_quantile_sort(times, TRIES);
  printf("%s: median %.0f Hz; takes %.0f us, %.0f at worst of %d\n", what,
    cpuc_quantile(values, TRIES, 0.5), cpuc_quantile(times, TRIES, 0.5), times[TRIES - 1], TRIES);
}

static int check_bound(double value, double bound)
{
  printf("; bound %.0f: %s\n", bound, value > bound ? "not met" : "met");
  return value > bound;
}

/* Compares with the reported rate or, if the counter has none, with the CPU's frequency in
   /proc/cpuinfo, because kernels of virtual machines have one figure for both. */
static int bench_rate(const struct cpuc_backend *backend)
{
  double rates[TRIES], ppm;
  const char *source = "reported rate";
  long long reported = cpuc_reported_rate(backend).hz;

  measure("rate of the reference counter", backend->read, rates);
  if (reported == 0) {
    source = cpucycles_frequency_source();
    if (strcmp(source, "/proc/cpuinfo") != 0)
      return printf("  not reported: nothing to compare with\n"), 0;
    reported = cpucycles_persecond();
  }
  ppm = fabs(cpuc_quantile(rates, TRIES, 0.5) / (double)reported - 1) * 1e6;
  printf("  against %lld Hz (%s): off by %.1f ppm, from %.0f to %.0f Hz", reported, source, ppm,
    rates[0], rates[TRIES - 1]);
  return check_bound(ppm, ppm_bound);
}

/* Needs a quiet host, because other programs change the core frequency. */
static int bench_core(void)
{
  double values[TRIES], variation;

  measure("core frequency", NULL, values);
  if (values[0] <= 0)
    return printf("  it cannot always be measured here\n"), 0;
  variation = (values[TRIES - 1] / values[0] - 1) * 100;
  printf("  the estimate is %lld Hz (%s); %s counts %lld per second\n  %d calls are %.2f %% apart",
    cpucycles_persecond(), cpucycles_frequency_source(), cpucycles_implementation(),
    cpucycles_rate(), TRIES, variation);
  return check_bound(variation, variation_bound);
}

int main(int argc, char **argv)
{
  const struct cpuc_backend *selected = NULL;
  int i, unmet = 0;

  cpucycles();
  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (cpucycles_counter(i)->state == CPUCYCLES_SELECTED)
      selected = cpuc_table[i].backend;
  if (selected && selected->kind == CPUC_KIND_REFERENCE)
    unmet += bench_rate(selected);
  else
    printf("%s is not a reference counter\n", cpucycles_implementation());
  unmet += bench_core();
  return argc == 2 && strcmp(argv[1], "--strict") == 0 && unmet > 0;
}
