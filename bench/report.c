/* SPDX-License-Identifier: 0BSD OR MIT */
/* The findings of the benchmark, as a table, as JSON, and as a plot. */

#include "config.h"

#include "bench/bench.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* What the system calls the CPU. */
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

/* With the release's number alone: what follows that is the builder's. */
static const char *system_name(void)
{
  static struct utsname system;
  static char name[2 * sizeof system.sysname + 2];

  uname(&system);
  system.release[strspn(system.release, "0123456789.")] = 0;
  snprintf(name, sizeof name, "%s %s", system.sysname, system.release);
  return name;
}

/* A ratio as it fits: quartiles of what costs ten times as much matter less. */
static void print_ratio(double ratio)
{
  printf("%6.*f", ratio < 10 ? 2 : 1, ratio);
}

static void print_row(const struct entry *entry)
{
  printf("%-31s%8.2f%8.3f", entry->contender->name, entry->time.median,
    entry->time.median / entry->base->time.median);
  print_ratio(entry->ratio.lower);
  print_ratio(entry->ratio.upper);
  printf("%5lld %-6s%5.1f%%", entry->step, entry->contender->unit, entry->equal * 100);
  if (entry->contender->kind == BENCH_SCALED)
    printf("\n");
  else
    printf("%8.*f%6.0f%6.0f\n", entry->first.median < 1000 ? 1 : 0, entry->first.median,
      entry->resident, entry->size / 1024);
}

static void print_kind(const struct findings *findings, int kind, const char *title)
{
  int i, rows = 0;

  for (i = 0; i < findings->count; i++) {
    if ((int)findings->entries[i].contender->kind != kind)
      continue;
    if (rows++ == 0) {
      printf("\n%-31s%8s%8s%12s%12s%6s", title, "ns", "ratio", "quartiles", "step", "equal");
      if (kind != BENCH_SCALED)
        printf("%8s%6s%6s", "first", "mem", "text");
      printf("\n");
    }
    print_row(&findings->entries[i]);
  }
}

static void print_bound(const struct judgement *judgement)
{
  printf("%-48s %9.*f%s; bound %.*f: %s\n", judgement->what, judgement->decimals, judgement->value,
    judgement->unit, judgement->decimals == 3 ? 2 : 0, judgement->bound,
    bench_missed(judgement) ? "missed" : "reached");
}

static void print_machine(const struct findings *findings)
{
  printf("libcpucycles %s, counter %s, on %s, %s\n", findings->version, findings->counter,
    cpu_model(), system_name());
}

void bench_print_table(const struct findings *findings)
{
  int i;

  print_machine(findings);
  printf("medians of %d rounds of %d us or more, in turn, %s; ratio to the first of its\n"
         "kind, with its quartiles within a round; step: the smallest nonzero difference of "
         "adjacent\nreads, and how many of these are equal; first: its first use in a fresh "
         "process, in us, and\n"
         "what that adds, in KiB: resident memory, and text and data of shared objects\n",
    BENCH_ROUNDS, BENCH_ROUND_NANOSECONDS / 1000,
    findings->pinned ? "pinned to one CPU" : "not pinned to one CPU");
  print_kind(findings, BENCH_READ, "one read");
  print_kind(findings, BENCH_FENCED, "a section: two reads and fences");
  print_kind(findings, BENCH_SCALED, "a read by a pointer");
  printf("\n");
  for (i = 0; i < findings->judged; i++)
    print_bound(&findings->judgements[i]);
  if (!findings->instruction)
    printf("(%s is not read by the inline instruction: no bounds of ratios)\n", findings->counter);
  printf("selected:");
  for (i = 0; i < findings->tallied; i++)
    printf("%s %s %d times", i ? "," : "", findings->tallies[i].name, findings->tallies[i].count);
  printf("\n");
}

static void print_spread(const char *name, struct spread spread)
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

static void print_contender(const struct entry *entry)
{
  static const char *const kinds[] = { "read", "section", "scaled" };

  printf("{");
  print_string("name", entry->contender->name);
  printf(", \"kind\": \"%s\", ", kinds[entry->contender->kind]);
  print_string("compared_with", entry->base->contender->name);
  print_spread("nanoseconds", entry->time);
  print_spread("ratio", entry->ratio);
  printf(", \"ratio_of_medians\": %.4f, \"reads_a_round\": %ld, \"step\": %lld, ",
    entry->time.median / entry->base->time.median, entry->reads, entry->step);
  print_string("unit", entry->contender->unit);
  printf(", \"step_nanoseconds\": %.4f, \"equal\": %.5f", entry->step_nanoseconds, entry->equal);
  if (entry->contender->kind != BENCH_SCALED) {
    print_spread("first_use_microseconds", entry->first);
    printf(", \"resident_kib\": %.0f, \"shared_object_bytes\": %.0f", entry->resident, entry->size);
  }
  printf("}");
}

void bench_print_json(const struct findings *findings)
{
  int i;

  printf("{");
  print_string("version", findings->version);
  printf(", ");
  print_string("counter", findings->counter);
  printf(", ");
  print_string("cpu", cpu_model());
  printf(", ");
  print_string("system", system_name());
  printf(", \"pinned\": %s, \"rounds\": %d,\n\"contenders\": [",
    findings->pinned ? "true" : "false", BENCH_ROUNDS);
  for (i = 0; i < findings->count; i++) {
    printf("%s\n", i ? "," : "");
    print_contender(&findings->entries[i]);
  }
  printf("],\n\"bounds\": [");
  for (i = 0; i < findings->judged; i++) {
    const struct judgement *judgement = &findings->judgements[i];

    printf("%s\n{", i ? "," : "");
    print_string("what", judgement->what);
    printf(", \"value\": %.4f, \"bound\": %.4f, \"reached\": %s}", judgement->value,
      judgement->bound, bench_missed(judgement) ? "false" : "true");
  }
  printf("],\n\"selected\": [");
  for (i = 0; i < findings->tallied; i++) {
    printf("%s{", i ? ", " : "");
    print_string("counter", findings->tallies[i].name);
    printf(", \"times\": %d}", findings->tallies[i].count);
  }
  printf("]}\n");
}

/* Where a cost is on an axis on which each column is 10^(1/12) of the one before it, beginning
   at 1 ns. */
static int column(double cost)
{
  enum { COLUMNS = 52 };
  int i = 0;

  for (; cost > 1 && i < COLUMNS; cost /= 1.2115277)
    i++;
  return i;
}

/* One contender's rounds: how they are spread. */
static void plot_costs(const struct entry *entry)
{
  int lower = column(entry->time.lower), median = column(entry->time.median);
  int upper = column(entry->time.upper), least = column(entry->time.least);
  int most = column(entry->times[BENCH_ROUNDS - 1]), k;

  printf("%-31s", entry->contender->name);
  for (k = 0; k <= most; k++)
    putchar(k == median ? '#' : k >= lower && k <= upper ? '=' : k >= least ? '-' : ' ');
  printf("\n");
}

void bench_print_plot(const struct findings *findings)
{
  int i, k;

  print_machine(findings);
  printf("\n%-31s1 ns        10 ns       100 ns      1 us        10 us\n%-31s", "cost of a read",
    "");
  for (k = 0; k < 52; k++)
    putchar(k % 12 == 0 ? '|' : '-');
  printf("\n");
  for (i = 0; i < findings->count; i++)
    plot_costs(&findings->entries[i]);
  printf("# median, = quartiles, - all %d rounds\n", BENCH_ROUNDS);
}
