/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints the report of the benchmark. */

#include "config.h"

#include "bench/print.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The CPU's name from /proc/cpuinfo, or the system's name for its architecture. */
static const char *cpu_model(void)
{
  static char line[256];
  static struct utsname system;
  FILE *file = fopen("/proc/cpuinfo", "r");
  char *value = NULL;

  while (file && !value && fgets(line, sizeof line, file))
    if (strncmp(line, "model name", 10) == 0 && (value = strchr(line, ':')) != NULL)
      value[strcspn(value, "\n")] = '\0';
  if (file)
    fclose(file);
  if (value)
    return value + 2;
  uname(&system);
  return system.machine;
}

/* The system and its release number, without the builder's suffix. */
static const char *system_name(void)
{
  static struct utsname system;
  static char name[2 * sizeof system.sysname + 2];

  uname(&system);
  system.release[strspn(system.release, "0123456789.")] = 0;
  snprintf(name, sizeof name, "%s %s", system.sysname, system.release);
  return name;
}

/* Prints a ratio; one decimal suffices from 10 on. */
static void print_ratio(double ratio)
{
  printf("%6.*f", ratio < 10 ? 2 : 1, ratio);
}

static void print_row(const struct result *result)
{
  printf("%-31s%8.2f%8.3f", result->contender->name, result->time.median,
    result->time.median / result->baseline->time.median);
  print_ratio(result->ratio.lower);
  print_ratio(result->ratio.upper);
  printf("%5lld %-6s%5.1f%%", result->step, result->contender->unit, result->equal * 100);
  if (result->contender->kind == BENCH_POINTER)
    printf("\n");
  else
    printf("%8.*f%6.0f%6.0f\n", result->first.median < 1000 ? 1 : 0, result->first.median,
      result->resident, result->size / 1024);
}

static void print_kind(const struct bench_report *report, int kind, const char *title)
{
  int i, rows = 0;

  for (i = 0; i < report->result_count; i++) {
    if ((int)report->results[i].contender->kind != kind)
      continue;
    if (rows++ == 0) {
      printf("\n%-31s%8s%8s%12s%12s%6s", title, "ns", "ratio", "quartiles", "step", "equal");
      if (kind != BENCH_POINTER)
        printf("%8s%6s%6s", "first", "mem", "text");
      printf("\n");
    }
    print_row(&report->results[i]);
  }
}

static void print_bound(const struct bound_check *check)
{
  printf("%-48s %9.3f; bound %.2f: %s\n", check->what, check->ratio, check->bound,
    bench_missed(check) ? "not met" : "met");
}

static void print_machine(const struct bench_report *report)
{
  printf("libcpucycles %s, counter %s, on %s, %s\n", report->version, report->counter, cpu_model(),
    system_name());
}

void bench_print(const struct bench_report *report)
{
  int i;

  print_machine(report);
  printf("medians of %d rounds, in each of which each contender runs for %d us or more, %s.\n"
         "ratio: time divided by that of the first row; quartiles: those of the ratios of single "
         "rounds;\nstep: smallest positive difference of adjacent reads; equal: share of adjacent "
         "reads that are\nequal; first: time of the first use in a fresh process, in us; mem: KiB "
         "of resident memory that\nthe contender and its first use add; text: KiB of text and data "
         "of the shared objects that\nit loads\n",
    BENCH_ROUNDS, BENCH_RUN_NANOSECONDS / 1000,
    report->is_pinned ? "pinned to one CPU" : "not pinned to one CPU");
  print_kind(report, BENCH_READ, "one read");
  print_kind(report, BENCH_FENCED, "a section: two reads and fences");
  print_kind(report, BENCH_POINTER, "a read through a pointer");
  printf("\n");
  for (i = 0; i < report->check_count; i++)
    print_bound(&report->checks[i]);
  if (!report->read_is_instruction)
    printf("(%s is not read by the inline instruction: no bounds for the costs of reads)\n",
      report->counter);
}
