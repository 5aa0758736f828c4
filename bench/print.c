/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints the report of the benchmark as a table, as JSON or as a plot. */

#include "config.h"

#include "bench/bench.h"

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
  if (result->contender->kind == BENCH_SCALED)
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
      if (kind != BENCH_SCALED)
        printf("%8s%6s%6s", "first", "mem", "text");
      printf("\n");
    }
    print_row(&report->results[i]);
  }
}

static void print_bound(const struct bound_check *check)
{
  printf("%-48s %9.*f%s; bound %.*f: %s\n", check->what, check->decimals, check->value, check->unit,
    check->decimals == 3 ? 2 : 0, check->bound, bench_missed(check) ? "not met" : "met");
}

static void print_machine(const struct bench_report *report)
{
  printf("libcpucycles %s, counter %s, on %s, %s\n", report->version, report->counter, cpu_model(),
    system_name());
}

void bench_print_table(const struct bench_report *report)
{
  int i;

  print_machine(report);
  printf("medians of %d rounds of %d us or more; the contenders take turns, %s.\n"
         "ratio: time divided by that of the first row; quartiles: those of the ratios of single "
         "rounds;\nstep: smallest nonzero difference of adjacent reads; equal: share of adjacent "
         "reads that are\nequal; first: time of the first use in a fresh process, in us; mem: KiB "
         "of resident memory that\nthe first use adds; text: KiB of text and data of the shared "
         "objects that it loads\n",
    BENCH_ROUNDS, BENCH_ROUND_NANOSECONDS / 1000,
    report->is_pinned ? "pinned to one CPU" : "not pinned to one CPU");
  print_kind(report, BENCH_READ, "one read");
  print_kind(report, BENCH_FENCED, "a section: two reads and fences");
  print_kind(report, BENCH_SCALED, "a read through a pointer");
  printf("\n");
  for (i = 0; i < report->check_count; i++)
    print_bound(&report->checks[i]);
  if (!report->reads_instruction)
    printf("(%s is not read by the inline instruction: no bounds of ratios)\n", report->counter);
  printf("selected:");
  for (i = 0; i < report->tally_count; i++)
    printf("%s %s %d times", i ? "," : "", report->tallies[i].name, report->tallies[i].count);
  printf("\n");
}

static void print_spread(const char *name, struct bench_spread spread)
{
  printf(", \"%s\": {\"median\": %.4f, \"lower_quartile\": %.4f, \"upper_quartile\": %.4f, "
    "\"least\": %.4f}", name, spread.median, spread.lower, spread.upper, spread.least);
}

static void print_string(const char *name, const char *value)
{
  printf("\"%s\": \"", name);
  for (; *value; value++)
    if (*value == '"' || *value == '\\')
      printf("\\%c", *value);
    else if ((unsigned char)*value >= ' ')
      putchar(*value);
  printf("\"");
}

static void print_contender(const struct result *result)
{
  static const char *const kinds[] = { "read", "section", "scaled" };

  printf("{");
  print_string("name", result->contender->name);
  printf(", \"kind\": \"%s\", ", kinds[result->contender->kind]);
  print_string("compared_with", result->baseline->contender->name);
  print_spread("nanoseconds", result->time);
  print_spread("ratio", result->ratio);
  printf(", \"ratio_of_medians\": %.4f, \"reads_per_round\": %ld, \"step\": %lld, ",
    result->time.median / result->baseline->time.median, result->reads, result->step);
  print_string("unit", result->contender->unit);
  printf(", \"equal\": %.5f", result->equal);
  if (result->contender->kind != BENCH_SCALED) {
    print_spread("first_use_microseconds", result->first);
    printf(", \"resident_kib\": %.0f, \"shared_object_bytes\": %.0f", result->resident,
      result->size);
  }
  printf("}");
}

void bench_print_json(const struct bench_report *report)
{
  int i;

  printf("{");
  print_string("version", report->version);
  printf(", ");
  print_string("counter", report->counter);
  printf(", ");
  print_string("cpu", cpu_model());
  printf(", ");
  print_string("system", system_name());
  printf(", \"pinned\": %s, \"rounds\": %d,\n\"contenders\": [",
    report->is_pinned ? "true" : "false", BENCH_ROUNDS);
  for (i = 0; i < report->result_count; i++) {
    printf("%s\n", i ? "," : "");
    print_contender(&report->results[i]);
  }
  printf("],\n\"bounds\": [");
  for (i = 0; i < report->check_count; i++) {
    const struct bound_check *check = &report->checks[i];

    printf("%s\n{", i ? "," : "");
    print_string("what", check->what);
    printf(", \"value\": %.4f, \"bound\": %.4f, \"reached\": %s}", check->value, check->bound,
      bench_missed(check) ? "false" : "true");
  }
  printf("],\n\"selected\": [");
  for (i = 0; i < report->tally_count; i++) {
    printf("%s{", i ? ", " : "");
    print_string("counter", report->tallies[i].name);
    printf(", \"times\": %d}", report->tallies[i].count);
  }
  printf("]}\n");
}

/* Returns the column of a cost on a logarithmic axis, which begins at 1 ns. Each column stands for
   10^(1/12) times the cost of the one before. */
static int column(double cost)
{
  enum { COLUMNS = 52 };
  int i = 0;

  for (; cost > 1 && i < COLUMNS; cost /= 1.2115277)
    i++;
  return i;
}

/* Plots the spread of one contender's rounds. */
static void plot_costs(const struct result *result)
{
  int lower = column(result->time.lower), median = column(result->time.median);
  int upper = column(result->time.upper), least = column(result->time.least);
  int most = column(result->times[BENCH_ROUNDS - 1]), k;

  printf("%-31s", result->contender->name);
  for (k = 0; k <= most; k++)
    putchar(k == median ? '#' : k >= lower && k <= upper ? '=' : k >= least ? '-' : ' ');
  printf("\n");
}

void bench_print_plot(const struct bench_report *report)
{
  int i, k;

  print_machine(report);
  printf("\n%-31s1 ns        10 ns       100 ns      1 us        10 us\n%-31s", "cost of a read",
    "");
  for (k = 0; k < 52; k++)
    putchar(k % 12 == 0 ? '|' : '-');
  printf("\n");
  for (i = 0; i < report->result_count; i++)
    plot_costs(&report->results[i]);
  printf("# median, = quartiles, - all %d rounds\n", BENCH_ROUNDS);
}
