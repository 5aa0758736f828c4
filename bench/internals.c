/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench/internals: measures the library's own measurements: the error of the reference counter's
   measured rate against the reported rate, the variation of the core frequency, and the time that
   each of these two measurements takes. Uses hidden functions of the library, because
   cpucycles_rate() returns the reported rate instead of the measured rate if the two agree. */

#include "config.h"

#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/calibrate.h"
#include "lib/table.h"
#include "sys/file.h"
#include "sys/os-clock.h"
#include "sys/quantile.h"

#include <stdio.h>
#include <string.h>

enum { TRIES = 25 };

static const double ppm_bound = 50;
static const double variation_bound = 2; /* percent */

static int check_bound(double value, double bound)
{
  printf("; bound %.0f: %s\n", bound, value > bound ? "not met" : "met");
  return value > bound;
}

/* The selected counter's backend, if it is a reference counter. */
static const struct cpuc_backend *selected_reference_counter(void)
{
  int i;

  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (cpucycles_counter(i)->state == CPUCYCLES_SELECTED
      && cpuc_table[i].backend->kind == CPUC_KIND_REFERENCE)
      return cpuc_table[i].backend;
  return NULL;
}

/* Returns the counter's reported rate. If the counter has none, returns the CPU's frequency in
   /proc/cpuinfo, because kernels of virtual machines have one figure for both. Returns 0 if neither
   is reported. */
static long long reported_rate(const struct cpuc_backend *backend, const char **source)
{
  long long reported = cpuc_reported_rate(backend).hz;

  *source = reported ? "reported rate" : cpucycles_frequency_source();
  if (reported)
    return reported;
  return strcmp(*source, "/proc/cpuinfo") == 0 ? cpucycles_persecond() : 0;
}

/* Sorts the values. */
static double sort_for_median(double *values, int count)
{
  cpuc_quantile_sort(values, count);
  return cpuc_quantile(values, count, 0.5);
}

static double microseconds_since(long long begin)
{
  return (double)(cpuc_os_clock_raw() - begin) / 1000;
}

static int bench_rate(const struct cpuc_backend *backend)
{
  double ppm[TRIES], times[TRIES], rates[TRIES], median;
  const char *source;
  long long reported = reported_rate(backend, &source);
  int i, unmet = 0;

  for (i = 0; i < TRIES; i++) {
    long long begin = cpuc_os_clock_raw();

    rates[i] = (double)cpuc_calibrate_rate(backend->read, 64);
    times[i] = microseconds_since(begin);
    ppm[i] = reported ? (rates[i] / (double)reported - 1) * 1e6 : 0;
    if (ppm[i] < 0)
      ppm[i] = -ppm[i];
  }
  printf("rate of the reference counter, measured: median %.0f Hz\n",
    sort_for_median(rates, TRIES));
  if (reported) {
    median = sort_for_median(ppm, TRIES);
    printf("  against %lld Hz (%s): off by %.1f ppm, %.1f at worst of %d", reported, source, median,
      ppm[TRIES - 1], TRIES);
    unmet += check_bound(median, ppm_bound);
  } else {
    printf("  not reported: nothing to compare with\n");
  }
  median = sort_for_median(times, TRIES);
  printf("  takes %.0f us, %.0f at worst\n", median, times[TRIES - 1]);
  return unmet;
}

/* The kernel's current frequency of cpu0 in Hz; 0 if it reports none. */
static double kernel_frequency(void)
{
  static const char path[] = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq";
  long long hz = cpuc_file_read_number(path, 1000);

  return hz < 0 ? 0 : (double)hz;
}

/* Needs a quiet host, because other programs change the core frequency. */
static int bench_core(void)
{
  double values[TRIES], times[TRIES], median, variation, kernel;
  int i, unmet;

  for (i = 0; i < TRIES; i++) {
    long long begin = cpuc_os_clock_raw();

    values[i] = (double)cpucycles_core_persecond();
    times[i] = microseconds_since(begin);
    if (values[i] <= 0)
      return printf("the core frequency cannot be measured here\n"), 0;
  }
  median = sort_for_median(values, TRIES);
  variation = (values[TRIES - 1] / values[0] - 1) * 100;
  kernel = kernel_frequency();
  printf("the core frequency: median %.0f Hz; the estimate is %lld Hz (%s); %s counts %lld per "
         "second", median, cpucycles_persecond(), cpucycles_frequency_source(),
    cpucycles_implementation(), cpucycles_rate());
  if (kernel > 0)
    printf("; the kernel reports %.0f Hz for cpu0", kernel);
  printf("\n  %d calls are %.2f %% apart", TRIES, variation);
  unmet = check_bound(variation, variation_bound);
  median = sort_for_median(times, TRIES);
  printf("  takes %.0f us, %.0f at worst\n", median, times[TRIES - 1]);
  return unmet;
}

int main(int argc, char **argv)
{
  const struct cpuc_backend *backend;
  int unmet = 0;

  cpucycles();
  backend = selected_reference_counter();
  if (backend)
    unmet += bench_rate(backend);
  else
    printf("%s is not a reference counter\n", cpucycles_implementation());
  unmet += bench_core();
  return argc == 2 && strcmp(argv[1], "--strict") == 0 && unmet > 0;
}
