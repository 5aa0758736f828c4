/* SPDX-License-Identifier: 0BSD OR MIT */
/* Draws the distribution of the differences of adjacent reads, as a bar chart of 80 columns for
   each counter that works. */

#include "config.h"

#include "cpucycles-info/report.h"
#include "cpucycles-info/write.h"

#include <stdio.h>
#include <string.h>

enum {
  ROWS = 24, /* highest number, including the row for rare large differences */
  COLUMNS = 80
};

/* A row for differences from `from` to `to` - 1. */
struct row {
  long long from, to;
  int count;
};

struct chart {
  struct row rows[ROWS];
  int used;    /* number of rows */
  int highest; /* highest count of a row */
};

/* Makes rows of equal width, in whole cycles, for the lower 99 % of the differences, and one row
   for the rest. */
static void make_chart(struct chart *chart, const struct counter_results *results)
{
  const long long *values = results->differences;
  int count = results->difference_count;
  long long low = values[0], high = values[count - 1 - count / 100];
  long long span = (high - low) / (ROWS - 1) + 1;
  int i, row = 0;

  memset(chart, 0, sizeof *chart);
  chart->used = (int)((high - low) / span) + 1;
  for (i = 0; i < chart->used; i++) {
    chart->rows[i].from = low + i * span;
    chart->rows[i].to = low + (i + 1) * span;
  }
  for (i = 0; i < count; i++) { /* values are sorted */
    while (row < chart->used && values[i] >= chart->rows[row].to)
      row++;
    if (row == chart->used) {
      chart->rows[row].from = chart->rows[row - 1].to;
      chart->rows[row].to = values[count - 1] + 1;
      chart->used++;
    }
    chart->rows[row].count++;
    if (chart->rows[row].count > chart->highest)
      chart->highest = chart->rows[row].count;
  }
}

static const char *label_if(const struct row *row, long long quartile, const char *label)
{
  return quartile >= row->from && quartile < row->to ? label : "";
}

/* Returns the width of the name. */
static int name_row(char *name, size_t size, const struct row *row)
{
  return row->to - row->from == 1 ? snprintf(name, size, "%lld", row->from)
    : snprintf(name, size, "%lld..%lld", row->from, row->to - 1);
}

static void print_chart(const struct counter_results *results)
{
  static const char bar[] = "########################################"
                            "########################################";
  struct chart chart;
  char name[48];
  int i, length, longest, name_width = 0;

  make_chart(&chart, results);
  for (i = 0; i < chart.used; i++) {
    length = chart.rows[i].count > 0 ? name_row(name, sizeof name, &chart.rows[i]) : 0;
    name_width = length > name_width ? length : name_width;
  }
  /* the line of a bar also contains the name, the count and labels */
  longest = COLUMNS - name_width - 8 - (int)sizeof " Q1 median Q3";
  for (i = 0; i < chart.used; i++) {
    const struct row *row = &chart.rows[i];

    if (row->count == 0)
      continue;
    name_row(name, sizeof name, row);
    length = (int)(((long long)row->count * longest + chart.highest - 1) / chart.highest);
    printf("%*s %6d %.*s%s%s%s\n", name_width, name, row->count, length, bar,
      label_if(row, results->lower_quartile, " Q1"), label_if(row, results->median, " median"),
      label_if(row, results->upper_quartile, " Q3"));
  }
}

static void print_counter(const struct counter_results *results)
{
  char line[160];

  if (*results->failure) {
    snprintf(line, sizeof line, "%s: not examined: %s", results->name, results->failure);
    write_folded(line, COLUMNS);
    return;
  }
  printf("%s: %d differences of adjacent reads, in cycles\n", results->name,
    results->difference_count);
  printf("quartiles %lld %lld %lld, from %lld to %lld\n", results->lower_quartile,
    results->median, results->upper_quartile, results->lowest, results->highest);
  print_chart(results);
}

void print_plot(const struct report *report)
{
  const char *ignored = report->library.implementation_ignored;
  int i;

  for (i = 0; i < report->result_count; i++) {
    if (i > 0)
      printf("\n");
    print_counter(&report->results[i]);
  }
  if (report->result_count == 0)
    write_folded(ignored ? ignored : "no counter was examined", COLUMNS);
}
