/* SPDX-License-Identifier: 0BSD OR MIT */
/* Formats results as a line of text, and as JSON. Each call formats the whole line and stores the
   part that the caller wants, so that no line is too long. No number depends on the locale. */

#include "config.h"

#include "lib/bench.h"
#include "lib/process.h"
#include "sys/kind.h"
#include "sys/os-clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_WIDTH = 32 };

struct line {
  char *part;
  int size, from; /* the wanted part */
  int length;     /* of the line so far */
};

static void put_char(struct line *line, char c)
{
  int at = line->length++ - line->from;

  if (at >= 0 && at < line->size - 1)
    line->part[at] = c;
}

static void put_text(struct line *line, const char *text)
{
  for (; *text; text++)
    put_char(line, *text);
}

/* For strings of up to 200 bytes and integers. */
__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
  char text[256];
  va_list arguments;

  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  put_text(line, text);
}

static void put_name(struct line *line, const char *name)
{
  int i;

  put_text(line, name);
  for (i = (int)strlen(name); i <= NAME_WIDTH; i++)
    put_char(line, ' ');
}

/* Returns the length of the part. */
static int end_line(struct line *line)
{
  int length = ++line->length - line->from, most = line->size > 0 ? line->size - 1 : 0;

  if (length > 0 && length <= most)
    line->part[length - 1] = '\n';
  length = length < 0 ? 0 : length < most ? length : most;
  if (line->size > 0)
    line->part[length] = 0;
  return length;
}

struct number {
  char text[24];
};

/* Numbers are not negative, and cut where their digits exceed 10^15. */
static struct number number(double value, int decimals)
{
  struct number number;
  long long units = 1, whole;
  int i;

  for (i = 0; i < decimals; i++)
    units *= 10;
  whole = value * (double)units < 1e15 ? (long long)(value * (double)units + 0.5) : (long long)1e15;
  i = snprintf(number.text, sizeof number.text, "%lld", whole / units);
  if (decimals > 0)
    number.text[i++] = '.';
  for (; units > 1; units /= 10)
    number.text[i++] = (char)('0' + whole / (units / 10) % 10);
  number.text[i] = 0;
  return number;
}

/* Four significant digits. */
static struct number significant(double value)
{
  double scaled = value;
  int decimals = 3;

  while (scaled >= 9.9995 && decimals > 0) {
    scaled /= 10;
    decimals--;
  }
  while (scaled > 0 && scaled < 0.99995 && decimals < 12) {
    scaled *= 10;
    decimals++;
  }
  return number(value, decimals);
}

/* One decimal, where the number has few digits. */
static struct number count(double value)
{
  return number(value, value < 999999.95 ? 1 : 0);
}

static const char *name_of(const char *name, const struct cpucycles_bench_result *result,
  const char *unnamed)
{
  return name ? name : result->name ? result->name : unnamed;
}

int cpucycles_bench_text(char *part, int size, int from, const char *name,
  const struct cpucycles_bench_result *result)
{
  struct line line = { part, size, from, 0 };
  int is_core = result->cycles > 0;
  double value = is_core ? result->cycles : result->median;
  double low = is_core ? result->cycles_low : result->lower_quartile;
  double high = is_core ? result->cycles_high : result->upper_quartile;

  put_name(&line, name_of(name, result, ""));
  if (result->samples == 0) {
    put_text(&line, result->note);
    return end_line(&line);
  }
  put(&line, "%11s %-11s ", count(value).text,
    is_core ? cpuc_kind_facts[CPUC_KIND_CORE].count_unit : result->unit);
  if (result->nanoseconds > 0)
    put(&line, "%11s ns", count(result->nanoseconds).text);
  else
    put(&line, "%14s", "time not known");
  put(&line, "  +-%s %%", number((high - low) / 2 / (value > 0 ? value : 1) * 100, 1).text);
  if (result->bytes > 0)
    put(&line, "%10s per byte", number(value / result->bytes, 3).text);
  if (*result->mark)
    put(&line, "  %s", result->mark);
  return end_line(&line);
}

/* Other values than names are short, and need no escapes. */
static void put_json_name(struct line *line, const char *name)
{
  put(line, "{\"name\":\"");
  for (; *name; name++)
    if ((unsigned char)*name < ' ' || *name == '"' || *name == '\\')
      put(line, "\\u%04x", (unsigned int)(unsigned char)*name);
    else
      put_char(line, *name);
  put(line, "\"");
}

static long long first_time; /* microseconds since 1970 */

static void find_first_time(struct cpuc_selection *unused)
{
  (void)unused;
  first_time = cpuc_os_clock_wall_microseconds();
}

/* Processes in several containers can have one process ID, and a child of fork() has the time of
   its parent, so both are needed. */
static void put_process(struct line *line)
{
  static struct cpuc_process_result finding = { find_first_time, 0, 0 };

  (void)cpuc_process_once(&finding);
  put(line, ",\"process\":\"%lld-%lld\"", first_time, (long long)getpid());
}

int cpucycles_bench_json(char *part, int size, int from, const char *name,
  const struct cpucycles_bench_result *result)
{
  struct line line = { part, size, from, 0 };
  const struct {
    const char *key;
    double value;
    int decimals;
  } numbers[] = {
    { "cycles", result->cycles, 3 },
    { "cycles_low", result->cycles_low, 3 },
    { "cycles_high", result->cycles_high, 3 },
    { "minimum", result->minimum, 3 },
    { "lower_quartile", result->lower_quartile, 3 },
    { "median", result->median, 3 },
    { "upper_quartile", result->upper_quartile, 3 },
    { "maximum", result->maximum, 3 },
    { "mean", result->mean, 3 },
    { "nanoseconds", result->nanoseconds, 3 },
    { "core_ratio", result->core_ratio, 6 },
    { "frequency_low", result->frequency_low, 0 },
    { "frequency_high", result->frequency_high, 0 },
    { "empty", result->empty, 3 },
    { "kept", result->kept, 4 },
    { "bytes", result->bytes, 3 },
    { "calls", (double)result->calls, 0 },
    { "samples", result->samples, 0 },
    { "time", (double)result->time, 0 },
  };
  size_t i;

  put_json_name(&line, name_of(name, result, ""));
  put(&line, ",\"counter\":\"%s\",\"unit\":\"%s\",\"version\":\"%s\"", cpucycles_implementation(),
    result->unit, cpucycles_version());
  put_process(&line);
  for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    put(&line, ",\"%s\":%s", numbers[i].key, number(numbers[i].value, numbers[i].decimals).text);
  put(&line, ",\"mark\":\"%s\",\"note\":", result->mark);
  if (result->note)
    put(&line, "\"%s\"}", result->note);
  else
    put(&line, "null}");
  return end_line(&line);
}

static void put_mark(struct line *line, const char *name, const char *mark)
{
  if (!*mark)
    return;
  put(line, "  ");
  put_text(line, name);
  put(line, ": %s", mark);
}

int cpucycles_bench_comparison_text(char *part, int size, int from,
  const struct cpucycles_bench_comparison *comparison)
{
  struct line line = { part, size, from, 0 };
  const char *f = name_of(NULL, &comparison->f, "f"), *g = name_of(NULL, &comparison->g, "g");

  put_text(&line, g);
  put(&line, " takes ");
  if (comparison->f.samples == 0) {
    put(&line, "not known: %s", comparison->f.note);
    return end_line(&line);
  }
  put(&line, "%s", significant(comparison->ratio).text);
  if (comparison->low > 0)
    put(&line, " (%s to %s)", significant(comparison->low).text,
      significant(comparison->high).text);
  put(&line, " times the time of ");
  put_text(&line, f);
  put(&line, ": %s", comparison->verdict);
  put_mark(&line, f, comparison->f.mark);
  put_mark(&line, g, comparison->g.mark);
  return end_line(&line);
}
