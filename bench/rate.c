/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench/rate: how near the measured rate of the reference counter is to what the kernel says of
   it, how alike the core's own frequency is measured each time, how long the library's
   measurements take, and what scaling adds to a call. Reaches into the library, to measure also
   what somebody states, and to scale what needs no scaling. */

#include "config.h"

#include "sys/kernel-file.h"
#include "backends/backend.h"
#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "lib/frequency.h"
#include "lib/process.h"
#include "lib/rate.h"
#include "lib/scale.h"
#include "lib/select.h"
#include "lib/table.h"
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
static const double apart_bound = 2;        /* per cent */

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double median_of(double *values)
{
  qsort(values, TRIES, sizeof values[0], compare);
  return values[TRIES / 2];
}

static const double scaling_bound = 3; /* nanoseconds */

static int judge(double value, double bound)
{
  printf("; bound %.0f: %s\n", bound, value > bound ? "missed" : "reached");
  return value > bound;
}

/* The selected counter's backend, if it is a reference counter. */
static const struct cpucycles_backend *reference_counter(void)
{
  int i;

  for (i = 0; i < CPUCYCLES_TABLE_LENGTH; i++)
    if (cpucycles_counter(i)->state == CPUCYCLES_SELECTED
      && cpucycles_table[i].backend->kind == CPUCYCLES_KIND_REFERENCE)
      return cpucycles_table[i].backend;
  return NULL;
}

/* What the kernel says of the counter; or of the CPU, where a virtual machine's kernel has one
   figure for both. */
static long long kernels_figure(const struct cpucycles_backend *backend, const char **source)
{
  long long stated = backend->rate ? backend->rate() : 0;

  *source = stated ? "stated rate" : cpucycles_frequency_source();
  if (stated)
    return stated;
  return strcmp(*source, "/proc/cpuinfo") == 0 ? cpucycles_persecond() : 0;
}

static double microseconds_since(long long begin)
{
  return (double)(cpucycles_osclock_raw() - begin) / 1000;
}

static int bench_rate(const struct cpucycles_backend *backend)
{
  double ppm[TRIES], times[TRIES], rates[TRIES], time;
  const char *source;
  long long figure = kernels_figure(backend, &source);
  int i, missed = 0;

  for (i = 0; i < TRIES; i++) {
    long long begin = cpucycles_osclock_raw();

    rates[i] = (double)cpucycles_measured_rate(backend->read);
    times[i] = microseconds_since(begin);
    ppm[i] = figure ? (rates[i] / (double)figure - 1) * 1e6 : 0;
    if (ppm[i] < 0)
      ppm[i] = -ppm[i];
  }
  printf("rate of the reference counter, measured: median %.0f Hz\n", median_of(rates));
  if (figure) {
    time = median_of(ppm);
    printf("  beside %lld Hz (%s): off by %.1f ppm, %.1f at worst of %d", figure, source, time,
      ppm[TRIES - 1], TRIES);
    missed += judge(time, ppm_bound);
  } else {
    printf("  nobody states it: nothing to compare with\n");
  }
  time = median_of(times);
  printf("  takes %.0f us, %.0f at worst", time, times[TRIES - 1]);
  return missed + judge(time, rate_bound);
}

static int bench_frequency(void)
{
  double values[TRIES], times[TRIES], time;
  int i;

  for (i = 0; i < TRIES; i++) {
    long long begin = cpucycles_osclock_raw();

    values[i] = (double)cpucycles_measured_frequency();
    times[i] = microseconds_since(begin);
  }
  time = median_of(values);
  printf("frequency, measured: median %.0f Hz, %.0f to %.0f; the estimate is %lld Hz (%s)\n", time,
    values[0], values[TRIES - 1], cpucycles_persecond(), cpucycles_frequency_source());
  time = median_of(times);
  printf("  takes %.0f us, %.0f at worst", time, times[TRIES - 1]);
  return judge(time, frequency_bound);
}

/* What the kernel says of this moment, where it does; Hz, or 0. */
static double momentary_frequency(void)
{
  static const char path[] = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq";
  char text[32];

  return read_kernel_text("", path, text, sizeof text) > 0 ? atof(text) * 1000 : 0;
}

/* Of a quiet host. */
static int bench_core(void)
{
  double values[TRIES], momentary;
  int i;

  for (i = 0; i < CALLS; i++) {
    values[i] = (double)cpucycles_core_persecond();
    if (values[i] <= 0)
      return printf("the core's own frequency cannot be said here\n"), 0;
  }
  qsort(values, CALLS, sizeof values[0], compare);
  momentary = momentary_frequency();
  printf("the core's own frequency: median %.0f Hz; %s counts %lld a second", values[CALLS / 2],
    cpucycles_implementation(), cpucycles_rate());
  if (momentary > 0)
    printf("; cpu0 has %.0f Hz, says the kernel", momentary);
  printf("\n  %d calls are %.2f %% apart", CALLS, (values[CALLS - 1] / values[0] - 1) * 100);
  return judge((values[CALLS - 1] / values[0] - 1) * 100, apart_bound);
}

static double nanoseconds_a_read(long long (*read)(void))
{
  long long begin = cpucycles_osclock_raw();
  int i;

  for (i = 0; i < READS; i++)
    (void)read();
  return (double)(cpucycles_osclock_raw() - begin) / READS;
}

/* The library, before its first call, is told that this counter was selected, and is to be
   scaled. */
static int bench_scaling(const struct cpucycles_entry *entry)
{
  struct cpucycles_selection *selection = (struct cpucycles_selection *)cpucycles_selected();
  double bare[TRIES], scaled[TRIES], more;
  int i;

  selection->reader.read = entry->backend->read;
  selection->reader.scale = cpucycles_scale_between(1000000000, selection->frequency.persecond);
  cpucycles();
  if (cpucycles == entry->backend->read)
    return 1;
  for (i = 0; i < TRIES; i++) {
    bare[i] = nanoseconds_a_read(entry->backend->read);
    scaled[i] = nanoseconds_a_read(cpucycles);
  }
  more = median_of(scaled) - median_of(bare);
  printf("%s, scaled: %.2f ns a call, %.2f ns above the bare counter", entry->name,
    median_of(scaled), more);
  return judge(more, scaling_bound);
}

/* In a process of its own, as a selection is made once. */
static int bench_scaling_apart(const struct cpucycles_entry *entry)
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

/* A clock; and a counter that costs little, if there is one that needs nothing to be opened. */
static int bench_scalings(void)
{
  int missed = 0, i;

  for (i = 0; i < CPUCYCLES_TABLE_LENGTH; i++)
    if (strcmp(cpucycles_table[i].name, "default-monotonic") == 0
      || strcmp(cpucycles_table[i].name, "amd64-tsc") == 0)
      missed += bench_scaling_apart(&cpucycles_table[i]);
  return missed;
}

int main(int argc, char **argv)
{
  const struct cpucycles_backend *backend;
  int missed = bench_scalings();

  cpucycles();
  backend = reference_counter();
  if (backend)
    missed += bench_rate(backend);
  else
    printf("%s is no reference counter\n", cpucycles_implementation());
  missed += bench_frequency();
  missed += bench_core();
  return argc == 2 && strcmp(argv[1], "--strict") == 0 && missed > 0;
}
