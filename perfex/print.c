/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints counts, their costs, and the table of costs, independent of the locale. Each call writes
   all of its lines at once. */

#include "config.h"

#include "include/perfex.h"
#include "perfex/cost.h"
#include "perfex/count.h"
#include "perfex/events.h"
#include "perfex/group.h"

#include <errno.h>
#include <stdarg.h>
#include <limits.h>
#include <stdio.h>

/* Lines to print, cut to size; the table has at most 4500 bytes. write_costs() and write_table()
   are not inlined. Otherwise this buffer would already be on the stack while their callers measure
   costs, and a stack of 16 KiB has no room for both. */
struct output {
  char text[5120];
  int length;
};

__attribute__((format(printf, 2, 3)))
static void append(struct output *output, const char *format, ...)
{
  int room = (int)sizeof output->text - output->length, length;
  va_list arguments;

  va_start(arguments, format);
  length = vsnprintf(output->text + output->length, (size_t)room, format, arguments);
  va_end(arguments);
  if (length > 0)
    output->length += length < room ? length : room - 1;
}

/* Returns the generation number, or -1 with errno if the stream fails. */
static int write_output(const struct output *output, FILE *stream)
{
  int saved_errno = errno;

  if (fwrite(output->text, 1, (size_t)output->length, stream) != (size_t)output->length
    || fflush(stream) != 0)
    return -1;
  errno = saved_errno;
  return pfx_count_generation();
}

static const char *event_text(int event)
{
  const struct pfx_events_entry *row = pfx_events_row(event);

  return row ? row->text : "unknown event";
}

/* Appends number / 10^decimals, right-justified. Uses integers only, because a floating-point
   conversion would print the decimal point of the locale, and the program may trap floating-point
   exceptions. */
static void append_decimals(struct output *output, long long number, int width, int decimals)
{
  unsigned long long unit = 1, size = (unsigned long long)number;
  char text[48];
  int i;

  if (number < 0)
    size = -size;
  for (i = 0; i < decimals; i++)
    unit *= 10;
  snprintf(text, sizeof text, "%s%llu.%0*llu", number < 0 ? "-" : "", size / unit, decimals,
    size % unit);
  append(output, " %*s", width, text);
}

/* Returns the cost of `count` events in nanoseconds. Limits it to 292 years, because a file may
   contain any cost up to a second, and a program may pass any count. */
static long long cost_of(long long count, long long picoseconds)
{
  long long rest = count % 1000 * picoseconds, cost;

  rest = (rest + (rest < 0 ? -500 : 500)) / 1000;
  if (__builtin_mul_overflow(count / 1000, picoseconds, &cost)
    || __builtin_add_overflow(cost, rest, &cost))
    return count < 0 ? LLONG_MIN : LLONG_MAX;
  return cost;
}

int print_counters(int e0, long long c0, int e1, long long c1)
{
  const long long counts[2] = { c0, c1 };
  int events[2] = { e0, e1 }, i;
  struct output output;

  output.length = 0;
  pfx_events_override(events, 0);
  for (i = 0; i < 2; i++)
    append(&output, "%5d %-53s %20lld\n", events[i], event_text(events[i]), counts[i]);
  return write_output(&output, stderr);
}

static int has_cost(const struct pfx_cost_table *table, int event)
{
  return event >= 0 && event < PFX_EVENTS && table->origin[event] != PFX_COST_UNKNOWN;
}

/* Appends a line: a count, and its minimum, typical and maximum cost in seconds. */
static void append_costs(struct output *output, const struct pfx_cost_table *table, int event,
  long long count)
{
  const struct pfx_cost *cost;

  append(output, "%5d %-28.28s %16lld", event, event_text(event), count);
  if (has_cost(table, event)) {
    cost = &table->cost[event];
    append_decimals(output, cost_of(count, cost->minimum), 15, 9);
    append_decimals(output, cost_of(count, cost->typical), 15, 9);
    append_decimals(output, cost_of(count, cost->maximum), 15, 9);
  } else
    append(output, " %15s %15s %15s", "-", "-", "-");
  append(output, "\n");
}

/* Appends the measured times, in nanoseconds. */
static void append_measured(struct output *output, const struct pfx_cost_measured *measured)
{
  int i;

  append(output, "here within");
  append_decimals(output, (measured->nanoseconds + 50000) / 100000, 0, 1);
  append(output, " ms; nanoseconds: cycle");
  append_decimals(output, measured->cycle.typical, 0, 3);
  append(output, ", mispredicted branch");
  append_decimals(output, measured->branch_miss.typical, 0, 3);
  for (i = 0; i < measured->levels; i++) {
    append(output, ", load from");
    if (i == 0)
      append(output, " L1");
    else
      append(output, " %ld KiB in L%d", measured->level[i].bytes >> 10, i + 1);
    append_decimals(output, measured->level[i].load.typical, 0, 3);
  }
}

static const char *const origins[] = {
  [PFX_COST_UNKNOWN] = "not known",
  [PFX_COST_BUILT_IN] = "built in",
  [PFX_COST_MEASURED] = "measured",
  [PFX_COST_SYSTEM_FILE] = PFX_COST_SYSTEM_PATH,
  [PFX_COST_LOADED_EARLIER] = "loaded earlier",
  [PFX_COST_LOADED] = "loaded",
};

static void append_origin(struct output *output, const struct pfx_cost_table *table, int event)
{
  int origin = has_cost(table, event) ? table->origin[event] : PFX_COST_UNKNOWN;

  append(output, "%s", origin == PFX_COST_LOADED ? table->loaded : origins[origin]);
  if (origin == PFX_COST_MEASURED) {
    append(output, " ");
    append_measured(output, &table->measured);
  }
}

static __attribute__((noinline)) int write_costs(const struct pfx_cost_table *table,
  const int *events, const long long *counts)
{
  struct output output;
  int i;

  output.length = 0;
  append(&output, "%51s %15s %15s %15s\n", "count", "minimum s", "typical s", "maximum s");
  for (i = 0; i < 2; i++)
    append_costs(&output, table, events[i], counts[i]);
  for (i = 0; i < 2; i++) {
    append(&output, "costs of %d: ", events[i]);
    append_origin(&output, table, events[i]);
    append(&output, "\n");
  }
  return write_output(&output, stderr);
}

int print_costs(int e0, long long c0, int e1, long long c1)
{
  const long long counts[2] = { c0, c1 };
  int events[2] = { e0, e1 };
  struct pfx_cost_table table;

  pfx_events_override(events, 0);
  pfx_cost_table_get(&table);
  return write_costs(&table, events, counts);
}

static __attribute__((noinline)) int write_table(const struct pfx_cost_table *table)
{
  struct output output;
  int i;

  output.length = 0;
  append(&output, "# event, and nanoseconds that one costs: minimum, typical, maximum\n");
  if (table->measured.levels > 0) {
    append(&output, "# measured ");
    append_measured(&output, &table->measured);
    append(&output, "\n");
  }
  for (i = 0; i < PFX_EVENTS; i++) {
    if (!has_cost(table, i)) {
      append(&output, "# %d: %s: not %s\n", i, event_text(i),
        pfx_events_row(i)->name ? "known" : "counted");
      continue;
    }
    append(&output, "%d", i);
    append_decimals(&output, table->cost[i].minimum, 0, 3);
    append_decimals(&output, table->cost[i].typical, 0, 3);
    append_decimals(&output, table->cost[i].maximum, 0, 3);
    append(&output, " # %s: %s\n", event_text(i), origins[table->origin[i]]);
  }
  return write_output(&output, stdout);
}

int perfex_print_table(void)
{
  struct pfx_cost_table table;

  pfx_cost_table_get(&table);
  return write_table(&table);
}

/* Appends a number that is not negative, with two decimals. */
static void append_hundredths(struct output *output, double number)
{
  if (number < 9e15)
    append_decimals(output, (long long)(number * 100 + 0.5), 0, 2);
  else
    append(output, " %.0f", number);
}

int perfex_print_bench(const struct perfex_group *group, const double counts[])
{
  struct output output;
  int i;

  if (!group) {
    errno = EINVAL;
    return -1;
  }
  output.length = 0;
  for (i = 0; i < perfex_group_size(group); i++) {
    append(&output, "%s%s", i ? "  " : "", group->names[i].name);
    append_hundredths(&output, counts[i]);
  }
  if (group->instructions_per_cycle > 0) {
    append(&output, "  instructions/cycle");
    append_hundredths(&output, group->instructions_per_cycle);
  }
  append(&output, "\n");
  return write_output(&output, stdout) < 0 ? -1 : 0;
}
