/* SPDX-License-Identifier: 0BSD OR MIT */
/* Draws the distribution of the differences of adjacent reads, as a bar chart of 80 columns for
   each counter that works. */

#include "config.h"

#include "cpucycles-info/report.h"

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
  char name[48];
};

/* Makes rows of equal width, in whole cycles, for the lower 99 % of the differences, and one row
   for the rest. Leaves out empty rows. Returns the number of rows. */
static int make_rows(struct row rows[ROWS], const struct counter_results *results)
{
  int count = results->difference_count, used = 0;
  const long long *value = results->differences, *end = value + count; /* sorted */
  long long high = end[-1 - count / 100], width = (high - *value) / (ROWS - 1) + 1;
  long long from = *value, to;

  for (; value < end; from = to) {
    struct row *row = &rows[used];

    to = from <= high ? from + width : end[-1] + 1;
    row->from = from;
    row->to = to;
    for (row->count = 0; value < end && *value < to; value++)
      row->count++;
    if (to - from == 1)
      snprintf(row->name, sizeof row->name, "%lld", from);
    else
      snprintf(row->name, sizeof row->name, "%lld..%lld", from, to - 1);
    used += row->count > 0;
  }
  return used;
}

static const char *label_if(const struct row *row, long long quartile, const char *label)
{
  return quartile >= row->from && quartile < row->to ? label : "";
}

static void print_chart(const struct counter_results *results)
{
  static const char bar[] = "########################################"
                            "########################################";
  struct row rows[ROWS], *row;
  int used = make_rows(rows, results), highest = 1, longest, length, name_width = 0;

  for (row = rows; row < rows + used; row++) {
    length = (int)strlen(row->name);
    name_width = length > name_width ? length : name_width;
    highest = row->count > highest ? row->count : highest;
  }
  /* the line of a bar also contains the name, the count and labels */
  longest = COLUMNS - name_width - 8 - (int)sizeof " Q1 median Q3";
  for (row = rows; row < rows + used; row++) {
    length = (int)(((long long)row->count * longest + highest - 1) / highest);
    printf("%*s %6d %.*s%s%s%s\n", name_width, row->name, row->count, length, bar,
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
