/* SPDX-License-Identifier: 0BSD OR MIT */
/* What is printed: counts, what they cost, and the table of costs. Each call prints its lines in
   one piece, and no locale has a say in them. */

#include "config.h"

#include "perfex/library.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* Lines to be printed; what does not fit is cut. */
struct page {
  char text[8192];
  int length;
};

static void add(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct page *page, const char *format, ...)
{
  int room = (int)sizeof page->text - page->length, length;
  va_list arguments;

  va_start(arguments, format);
  length = vsnprintf(page->text + page->length, (size_t)room, format, arguments);
  va_end(arguments);
  if (length > 0)
    page->length += length < room ? length : room - 1;
}

/* Returns the generation number, or -1 with errno. */
static int print(const struct page *page, FILE *stream)
{
  int saved_errno = errno;

  if (fwrite(page->text, 1, (size_t)page->length, stream) != (size_t)page->length
    || fflush(stream) != 0)
    return -1;
  errno = saved_errno;
  return perfex_generation();
}

static const char *text_of(int event)
{
  const struct perfex_event_row *row = perfex_row(event);

  return row ? row->text : "no event of the R10000";
}

/* Decimals after a full stop, whatever the locale's is; blanks in front, to the width. */
static void add_decimals(struct page *page, double value, int width, int decimals)
{
  unsigned long long unit = 1, whole;
  const char *sign = value < 0 ? "-" : "";
  char text[48];
  int i;

  for (i = 0; i < decimals; i++)
    unit *= 10;
  value = value < 0 ? -value : value;
  if (value * (double)unit > 9e18)
    snprintf(text, sizeof text, "%s%.0f", sign, value);
  else {
    whole = (unsigned long long)(value * (double)unit + 0.5);
    snprintf(text, sizeof text, "%s%llu.%0*llu", sign, whole / unit, decimals, whole % unit);
  }
  add(page, " %*s", width, text);
}

static void add_picoseconds(struct page *page, long long picoseconds)
{
  add(page, " %lld.%03lld", picoseconds / 1000, picoseconds % 1000);
}

int print_counters(int e0, long long c0, int e1, long long c1)
{
  const long long counts[2] = { c0, c1 };
  int events[2] = { e0, e1 }, i;
  struct page page;

  page.length = 0;
  perfex_override(events, 0);
  for (i = 0; i < 2; i++)
    add(&page, "%5d %-53s %20lld\n", events[i], text_of(events[i]), counts[i]);
  return print(&page, stderr);
}

static int knows(const struct perfex_table *table, int event)
{
  return event >= 0 && event < PERFEX_EVENTS && table->origin[event] != PERFEX_UNKNOWN;
}

/* A count, and the seconds that it stands for. */
static void add_costs(struct page *page, const struct perfex_table *table, int event,
  long long count)
{
  const struct perfex_cost *cost;

  add(page, "%5d %-28.28s %16lld", event, text_of(event), count);
  if (knows(table, event)) {
    cost = &table->cost[event];
    add_decimals(page, (double)count * (double)cost->minimum * 1e-12, 15, 9);
    add_decimals(page, (double)count * (double)cost->typical * 1e-12, 15, 9);
    add_decimals(page, (double)count * (double)cost->maximum * 1e-12, 15, 9);
  } else
    add(page, " %15s %15s %15s", "-", "-", "-");
  add(page, "\n");
}

/* What was measured, in the table's unit. */
static void add_measured(struct page *page, const struct perfex_measured *measured)
{
  int i;

  add(page, "here in");
  add_decimals(page, (double)measured->nanoseconds * 1e-6, 0, 1);
  add(page, " ms; ns: cycle");
  add_picoseconds(page, measured->cycle.typical);
  add(page, ", mispredicted branch");
  add_picoseconds(page, measured->branch_miss.typical);
  for (i = 0; i < measured->levels; i++) {
    int is_memory = measured->has_memory && i == measured->levels - 1;

    add(page, ", load from");
    if (is_memory)
      add(page, " memory");
    else if (i == 0)
      add(page, " L1");
    else
      add(page, " L%d (%ld KiB)", i + 1, measured->level[i].bytes >> 10);
    add_picoseconds(page, measured->level[i].load.typical);
  }
  if (!measured->has_memory)
    add(page, measured->is_hidden ? "; memory cannot be told from the next cache here"
                                  : "; memory was not reached");
}

static void add_origin(struct page *page, const struct perfex_table *table, int event)
{
  switch (knows(table, event) ? table->origin[event] : PERFEX_UNKNOWN) {
  case PERFEX_MEASURED:
    add(page, "measured ");
    add_measured(page, &table->measured);
    break;
  case PERFEX_ETC:
    add(page, "/etc/perfex.costs");
    break;
  case PERFEX_LOADED_EARLIER:
    add(page, "a file loaded earlier");
    break;
  case PERFEX_LOADED:
    add(page, "%s", table->loaded);
    break;
  default:
    add(page, "not known");
    break;
  }
}

int print_costs(int e0, long long c0, int e1, long long c1)
{
  const long long counts[2] = { c0, c1 };
  int events[2] = { e0, e1 }, i;
  struct perfex_table table;
  struct page page;

  page.length = 0;
  perfex_override(events, 0);
  perfex_table(&table);
  add(&page, "%51s %15s %15s %15s\n", "count", "minimum s", "typical s", "maximum s");
  for (i = 0; i < 2; i++)
    add_costs(&page, &table, events[i], counts[i]);
  for (i = 0; i < 2; i++) {
    if (i == 1 && knows(&table, events[0]) && knows(&table, events[1])
      && table.origin[events[0]] == table.origin[events[1]])
      break; /* the same is said already */
    add(&page, "costs of %d: ", events[i]);
    add_origin(&page, &table, events[i]);
    add(&page, "\n");
  }
  return print(&page, stderr);
}

int perfex_print_table(void)
{
  static const char *const origins[]
    = { "not known", "measured", "/etc/perfex.costs", "loaded earlier", "loaded" };
  struct perfex_table table;
  struct page page;
  int i;

  page.length = 0;
  perfex_table(&table);
  add(&page, "# event, and nanoseconds that one costs: minimum, typical, maximum\n");
  if (table.measured.levels > 0) {
    add(&page, "# measured ");
    add_measured(&page, &table.measured);
    add(&page, "\n");
  }
  for (i = 0; i < PERFEX_EVENTS; i++) {
    if (!knows(&table, i)) {
      add(&page, "# %d: %s: not %s\n", i, text_of(i), perfex_row(i)->name ? "known" : "counted");
      continue;
    }
    add(&page, "%d", i);
    add_picoseconds(&page, table.cost[i].minimum);
    add_picoseconds(&page, table.cost[i].typical);
    add_picoseconds(&page, table.cost[i].maximum);
    add(&page, " # %s: %s\n", text_of(i), origins[table.origin[i]]);
  }
  return print(&page, stdout);
}
