/* SPDX-License-Identifier: 0BSD OR MIT */
/* Draws the distribution of the differences of adjacent reads, as a bar chart for each counter that
   works. */

#include "config.h"

#include "cpucycles-info/print.h"
#include "cpucycles-info/write.h"
#include "sys/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CPUCYCLES_POSIX
#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#endif

enum {
  ROWS = 24, /* highest number, including the row for rare large differences */
  NARROWEST = 40,
  WIDEST = 200,
  EIGHTHS = 8
};

struct style {
  int width, unicode, bold;
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

static int is_terminal(void)
{
#ifdef CPUCYCLES_POSIX
  return isatty(1);
#else
  return 0;
#endif
}

static int chart_width(void)
{
  const char *columns = getenv("COLUMNS");
  long long wanted = columns ? cpuc_parse_number(columns, 1) : 0;
  int width = wanted > WIDEST ? WIDEST : (int)wanted;
#ifdef TIOCGWINSZ
  struct winsize size;

  if (is_terminal() && ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    width = size.ws_col;
#endif
  if (width <= 0)
    width = 80;
  return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
}

static struct style find_style(void)
{
  const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
  struct style style = { chart_width(), 0, 0 };

#ifdef CPUCYCLES_POSIX
  setlocale(LC_CTYPE, "");
  style.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  setlocale(LC_CTYPE, "C");
#endif
  style.bold = is_terminal() && !(no_color && *no_color) && terminal
    && strcmp(terminal, "dumb") != 0;
  return style;
}

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
  }
  for (i = 0; i < chart->used; i++)
    if (chart->rows[i].count > chart->highest)
      chart->highest = chart->rows[i].count;
}

/* Returns 1 for a row that is not printed: an empty row after another empty row. */
static int is_gap(const struct chart *chart, int i)
{
  /* cppcheck-suppress arrayIndexOutOfBoundsCond ; i is below chart->used */
  return i > 0 && chart->rows[i].count == 0 && chart->rows[i - 1].count == 0;
}

static int holds(const struct row *row, long long value)
{
  return value >= row->from && value < row->to;
}

static const char *quartile_label(const struct counter_results *results, const struct row *row)
{
  static const char *const labels[] = { "", "Q1", "median", "Q1 median", "Q3", "Q1 Q3", "median Q3",
    "Q1 median Q3" };

  return labels[holds(row, results->lower_quartile) + 2 * holds(row, results->median)
    + 4 * holds(row, results->upper_quartile)];
}

/* Prints a bar whose length is in eighths of a column. Rounds ASCII bars up to whole columns. */
static void print_bar(int eighths, const struct style *style)
{
  static const char *const parts[EIGHTHS] = { "", "\342\226\217", "\342\226\216", "\342\226\215",
    "\342\226\214", "\342\226\213", "\342\226\212", "\342\226\211" };
  int i;

  if (!style->unicode) {
    for (i = 0; i < (eighths + EIGHTHS - 1) / EIGHTHS; i++)
      putchar('#');
    return;
  }
  for (i = 0; i < eighths / EIGHTHS; i++)
    printf("\342\226\210");
  printf("%s", parts[eighths % EIGHTHS]);
}

static void name_row(char *name, size_t size, const struct row *row)
{
  if (row->to - row->from == 1)
    snprintf(name, size, "%lld", row->from);
  else
    snprintf(name, size, "%lld..%lld", row->from, row->to - 1);
}

static void print_row(const struct counter_results *results, const struct row *row, int name_width,
  int bar_width, int highest, const struct style *style)
{
  const char *label = quartile_label(results, row);
  char name[48];
  int eighths = highest > 0 ? (int)((long long)row->count * bar_width * EIGHTHS / highest) : 0;

  if (eighths == 0 && row->count > 0)
    eighths = 1; /* a row that is not empty has a bar */
  name_row(name, sizeof name, row);
  printf("%*s %6d%s", name_width, name, row->count, eighths > 0 ? " " : "");
  if (style->bold && *label)
    printf("\033[1m");
  print_bar(eighths, style);
  if (*label)
    printf(" %s", label);
  if (style->bold && *label)
    printf("\033[0m");
  printf("\n");
}

static void print_chart(const struct counter_results *results, const struct style *style)
{
  struct chart chart;
  char name[48];
  int i, name_width = 0, bar_width;

  make_chart(&chart, results);
  for (i = 0; i < chart.used; i++) {
    name_row(name, sizeof name, &chart.rows[i]);
    if (!is_gap(&chart, i) && (int)strlen(name) > name_width)
      name_width = (int)strlen(name);
  }
  /* the line of a bar also contains the name, the count and a label */
  bar_width = style->width - name_width - 8 - (int)sizeof " Q1 median Q3";
  if (bar_width < 4)
    bar_width = 4;
  for (i = 0; i < chart.used; i++)
    if (!is_gap(&chart, i))
      print_row(results, &chart.rows[i], name_width, bar_width, chart.highest, style);
}

static void print_counter(const struct counter_results *results, const struct style *style)
{
  char line[160];

  if (*results->failure) {
    snprintf(line, sizeof line, "%s: not examined: %s", results->name, results->failure);
    write_folded(line, style->width);
    return;
  }
  snprintf(line, sizeof line, "%s: %d differences of adjacent reads, in cycles", results->name,
    results->difference_count);
  write_folded(line, style->width);
  snprintf(line, sizeof line, "quartiles %lld %lld %lld, from %lld to %lld",
    results->lower_quartile, results->median, results->upper_quartile, results->lowest,
    results->highest);
  write_folded(line, style->width);
  print_chart(results, style);
}

void print_plot(const struct report *report)
{
  struct style style = find_style();
  int i;

  for (i = 0; i < report->result_count; i++) {
    if (i > 0)
      printf("\n");
    print_counter(&report->results[i], &style);
  }
  if (report->result_count == 0) {
    const char *ignored = report->library.implementation_ignored;

    write_folded(ignored ? ignored : "no counter was examined", style.width);
  }
}
