/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench/internals: measures the library's own measurements: the error of the reference counter's
   measured rate against the reported one, the measured frequency, the time that each of these two
   takes, and the variation of the core frequency. Also measures the cost of scaling. Uses hidden
   functions of the library, because cpucycles_rate() returns a reported rate that agrees with the
   measured one, and because the library scales only the counters that need it. */

#include "config.h"

#include "backends/backend.h"
#include "bench/statistics.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/calibrate.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/scale.h"
#include "lib/select.h"
#include "lib/table.h"
#include "sys/kernel-file.h"
#include "sys/os-clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 25, READS = 65536, CALLS = 20 };

static const double ppm_bound = 50;
static const double rate_bound = 1000;      /* microseconds */
static const double frequency_bound = 2000; /* microseconds */
static const double variation_bound = 2;    /* percent */
static const double scaling_bound = 3;      /* nanoseconds */

static int check_bound(double value, double bound)
{
  printf("; bound %.0f: %s\n", bound, value > bound ? "not met" : "met");
  return value > bound;
}

/* The selected counter's backend, if it is a reference counter. */
static const struct cpuc_backend *reference_counter(void)
{
  int i;

  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (cpucycles_counter(i)->state == CPUCYCLES_SELECTED
      && cpuc_table[i].backend->kind == CPUC_KIND_REFERENCE)
      return cpuc_table[i].backend;
  return NULL;
}

/* The counter's reported rate; without one, the CPU's frequency in /proc/cpuinfo, because kernels
   of virtual machines have one figure for both. 0 if neither is reported. */
static long long reported_rate(const struct cpuc_backend *backend, const char **source)
{
  long long reported = cpuc_reported_rate(backend).hz;

  *source = reported ? "reported rate" : cpucycles_frequency_source();
  if (reported)
    return reported;
  return strcmp(*source, "/proc/cpuinfo") == 0 ? cpucycles_persecond() : 0;
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
  int i, missed = 0;

  for (i = 0; i < TRIES; i++) {
    long long begin = cpuc_os_clock_raw();

    rates[i] = (double)cpuc_calibrate_rate(backend->read);
    times[i] = microseconds_since(begin);
    ppm[i] = reported ? (rates[i] / (double)reported - 1) * 1e6 : 0;
    if (ppm[i] < 0)
      ppm[i] = -ppm[i];
  }
  printf("rate of the reference counter, measured: median %.0f Hz\n", bench_median(rates, TRIES));
  if (reported) {
    median = bench_median(ppm, TRIES);
    printf("  against %lld Hz (%s): off by %.1f ppm, %.1f at worst of %d", reported, source, median,
      ppm[TRIES - 1], TRIES);
    missed += check_bound(median, ppm_bound);
  } else {
    printf("  not reported: nothing to compare with\n");
  }
  median = bench_median(times, TRIES);
  printf("  takes %.0f us, %.0f at worst", median, times[TRIES - 1]);
  return missed + check_bound(median, rate_bound);
}

static int bench_frequency(void)
{
  double values[TRIES], times[TRIES], median;
  int i;

  for (i = 0; i < TRIES; i++) {
    long long begin = cpuc_os_clock_raw();

    values[i] = (double)cpuc_frequency_measure_core();
    times[i] = microseconds_since(begin);
  }
  median = bench_median(values, TRIES);
  printf("frequency, measured: median %.0f Hz, %.0f to %.0f; the estimate is %lld Hz (%s)\n",
    median, values[0], values[TRIES - 1], cpucycles_persecond(), cpucycles_frequency_source());
  median = bench_median(times, TRIES);
  printf("  takes %.0f us, %.0f at worst", median, times[TRIES - 1]);
  return check_bound(median, frequency_bound);
}

/* The kernel's current frequency of cpu0 in Hz; 0 if it reports none. */
static double kernel_frequency(void)
{
  static const char path[] = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq";
  long long hz = cpuc_kernel_file_read_number(path, 1000);

  return hz < 0 ? 0 : (double)hz;
}

/* Needs a quiet host: other programs change the core frequency. */
static int bench_core(void)
{
  double values[CALLS], median, kernel;
  int i;

  for (i = 0; i < CALLS; i++) {
    values[i] = (double)cpucycles_core_persecond();
    if (values[i] <= 0)
      return printf("the core frequency cannot be measured here\n"), 0;
  }
  median = bench_median(values, CALLS);
  kernel = kernel_frequency();
  printf("the core frequency: median %.0f Hz; %s counts %lld per second", median,
    cpucycles_implementation(), cpucycles_rate());
  if (kernel > 0)
    printf("; the kernel reports %.0f Hz for cpu0", kernel);
  printf("\n  %d calls are %.2f %% apart", CALLS, (values[CALLS - 1] / values[0] - 1) * 100);
  return check_bound((values[CALLS - 1] / values[0] - 1) * 100, variation_bound);
}

static double nanoseconds_per_read(long long (*read)(void))
{
  long long begin = cpuc_os_clock_raw();
  int i;

  for (i = 0; i < READS; i++)
    (void)read();
  return (double)(cpuc_os_clock_raw() - begin) / READS;
}

/* Replaces the selected counter by this one, with a scale, before the first call of cpucycles(). */
static int bench_scaling(const struct cpuc_table_entry *entry)
{
  struct cpuc_selection *selection = (struct cpuc_selection *)cpuc_process_selection();
  double bare[TRIES], scaled[TRIES], added;
  int i;

  selection->reader.read = entry->backend->read;
  selection->reader.scale = cpuc_scale_between(1000000000, selection->frequency.persecond);
  cpucycles();
  if (cpucycles == entry->backend->read)
    return 1;
  for (i = 0; i < TRIES; i++) {
    bare[i] = nanoseconds_per_read(entry->backend->read);
    scaled[i] = nanoseconds_per_read(cpucycles);
  }
  added = bench_median(scaled, TRIES) - bench_median(bare, TRIES);
  printf("%s, scaled: %.2f ns per call, %.2f ns above the bare counter", entry->name,
    bench_median(scaled, TRIES), added);
  return check_bound(added, scaling_bound);
}

/* Runs bench_scaling() in a child process, because a process selects only once. */
static int bench_scaling_in_child(const struct cpuc_table_entry *entry)
{
  pid_t child;
  int status;

  fflush(stdout);
  child = fork();
  if (child == 0) {
    int missed = bench_scaling(entry);

    fflush(stdout);
    _exit(missed);
  }
  return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

/* Scales a clock, and the TSC, which is cheap to read and needs no open(). */
static int bench_scalings(void)
{
  int missed = 0, i;

  for (i = 0; i < CPUC_TABLE_LENGTH; i++)
    if (strcmp(cpuc_table[i].name, "default-monotonic") == 0
      || strcmp(cpuc_table[i].name, "amd64-tsc") == 0)
      missed += bench_scaling_in_child(&cpuc_table[i]);
  return missed;
}

int main(int argc, char **argv)
{
  const struct cpuc_backend *backend;
  int missed = bench_scalings();

  cpucycles();
  backend = reference_counter();
  if (backend)
    missed += bench_rate(backend);
  else
    printf("%s is not a reference counter\n", cpucycles_implementation());
  missed += bench_frequency();
  missed += bench_core();
  return argc == 2 && strcmp(argv[1], "--strict") == 0 && missed > 0;
}
