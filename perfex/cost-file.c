/* SPDX-License-Identifier: 0BSD OR MIT */
/* Parses cost files, independent of the locale. A line consists of an event (its number or its
   name) and its minimum, typical and maximum cost in nanoseconds; # begins a comment. If several
   events have one name, a line with this name applies to all of them. */

#include "config.h"

#include "perfex/cost.h"
#include "perfex/why.h"
#include "sys/file.h"
#include "sys/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parses nanoseconds with at most three decimals. Returns picoseconds, or -1 if the word is not
   such a number or exceeds the limit. */
static long long parse_cost(const char *word)
{
  const char *point = strchr(word, '.'), *rest;
  long long picoseconds;

  rest = cpuc_parse_decimal(word, 1000, &picoseconds);
  if (!rest || *rest || (point && strlen(point) > sizeof ".000" - 1))
    return -1;
  return picoseconds > PFX_COST_LIMIT ? -1 : picoseconds;
}

#define BLANKS " \t\r"

/* Parses the three costs in the rest of a line. Returns NULL, or a sentence on the mistake. */
static const char *parse_costs(char **rest, struct pfx_cost *cost)
{
  long long costs[3];
  int i;

  for (i = 0; i < 3; i++) {
    const char *word = strtok_r(NULL, BLANKS, rest);

    if (!word)
      return "an event needs three costs: minimum, typical, maximum";
    costs[i] = parse_cost(word);
    if (costs[i] < 0)
      return "a cost must be a number of nanoseconds from 0 to 1000000000 with at most three "
             "decimal places";
  }
  if (strtok_r(NULL, BLANKS, rest))
    return "the line continues after the three costs";
  if (costs[0] > costs[1] || costs[1] > costs[2])
    return "the costs are not in order: minimum, typical, maximum";
  *cost = (struct pfx_cost) { costs[0], costs[1], costs[2] };
  return NULL;
}

/* Returns 1 if the word is the number or the name of the event. */
static int is_event(const char *word, int event)
{
  const struct pfx_events_entry *row = pfx_events_row(event);
  char number[3] = { (char)('0' + event / 10), (char)('0' + event % 10), 0 };

  if (strcmp(word, event < 10 ? number + 1 : number) == 0)
    return 1;
  return row->name && (strcmp(word, row->name) == 0 || strcmp(word, row->other_name) == 0);
}

/* Parses a line. Returns NULL, or a sentence on the mistake. */
static const char *parse_line(char *line, struct pfx_costs *costs)
{
  struct pfx_cost cost = { 0, 0, 0 };
  char *rest;
  const char *mistake, *event = strtok_r(line, BLANKS, &rest);
  int i, found = 0;

  if (!event)
    return NULL;
  mistake = parse_costs(&rest, &cost);
  for (i = 0; i < PFX_EVENTS; i++) {
    if (!is_event(event, i))
      continue;
    if (costs->has_cost[i])
      return "an earlier line contains costs of this event";
    found = 1;
    costs->cost[i] = cost;
    costs->has_cost[i] = 1;
  }
  return found ? mistake : "no event has that number or name";
}

int pfx_cost_file_parse(char *text, size_t length, struct pfx_costs *costs, const char **mistake)
{
  char *end = text + length, *stop;
  int line;

  memset(costs, 0, sizeof *costs);
  *end = 0;
  for (line = 1; text < end; line++, text = stop + 1) {
    stop = memchr(text, '\n', (size_t)(end - text));
    stop = stop ? stop : end;
    *mistake = "the line contains a byte 0";
    if (!memchr(text, 0, (size_t)(stop - text))) {
      *stop = 0;
      text[strcspn(text, "#")] = 0;
      *mistake = parse_line(text, costs);
    }
    if (*mistake)
      return line;
  }
  return 0;
}

/* Reads a regular file, up to one byte more than the limit. Returns the length, or -1 with errno.
   With O_NONBLOCK, a FIFO is refused without waiting for its writer. */
static int read_regular_file(const char *path, char *text)
{
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), length = -1, error;
  struct stat status;

  if (descriptor < 0)
    return -1;
  if (fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode)) {
    pfx_why_print("%.300s is not a regular file", path);
    errno = EINVAL;
  } else
    length = cpuc_file_read_rest(descriptor, text, PFX_COST_FILE_LIMIT + 1);
  error = errno;
  close(descriptor);
  errno = error;
  return length;
}

int pfx_cost_file_read(const char *path, struct pfx_costs *costs)
{
  char *text = malloc(PFX_COST_FILE_LIMIT + 1);
  const char *mistake = "";
  int length, line, error = 0;

  if (!text)
    return ENOMEM;
  length = read_regular_file(path, text);
  if (length < 0)
    error = errno;
  else if (length > PFX_COST_FILE_LIMIT) {
    pfx_why_print("%.300s is longer than %d bytes", path, PFX_COST_FILE_LIMIT);
    error = EINVAL;
  } else if ((line = pfx_cost_file_parse(text, (size_t)length, costs, &mistake)) != 0) {
    pfx_why_print("%.300s: line %d: %s", path, line, mistake);
    error = EINVAL;
  }
  free(text);
  return error;
}
