/* SPDX-License-Identifier: 0BSD OR MIT */
/* The file of costs. A line is an event, by its number or its name, and what one costs, in
   nanoseconds: at the least, typically and at the most. What follows a # is not read. A name is
   that of all numbers which have it. No locale has a say in it. */

#include "config.h"

#include "sys/kernel-file.h"
#include "perfex/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is left of a line. */
struct words {
  const char *at, *end;
};

static int is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

/* Copies the next word. Returns its length, 0 at the end, or -1: it is too long for one. */
static int next_word(struct words *words, char *word, int size)
{
  int length = 0;

  while (words->at < words->end && is_blank(*words->at))
    words->at++;
  while (words->at < words->end && !is_blank(*words->at)) {
    if (length == size - 1)
      return -1;
    word[length++] = *words->at++;
  }
  word[length] = 0;
  return length;
}

static int is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Nanoseconds with at most three decimals, as picoseconds; -1: it is none, or above the limit. */
static long long cost_of(const char *word)
{
  long long picoseconds = 0;
  int digits = 0, decimals = -1;

  /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): next_word() has ended it with a 0 */
  for (; is_digit(*word) || (*word == '.' && decimals < 0); word++) {
    if (*word == '.') {
      decimals = 0;
      continue;
    }
    if (picoseconds > PERFEX_COST_LIMIT || decimals == 3)
      return -1;
    picoseconds = 10 * picoseconds + (*word - '0');
    digits++;
    decimals += decimals >= 0;
  }
  if (*word || digits == 0)
    return -1;
  for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
    picoseconds *= 10;
  return picoseconds > PERFEX_COST_LIMIT ? -1 : picoseconds;
}

/* Returns 0, or what is wrong with the costs. */
static const char *parse_costs(struct words *words, struct perfex_cost *cost)
{
  long long costs[3];
  char word[32];
  int i;

  for (i = 0; i < 3; i++) {
    int length = next_word(words, word, sizeof word);

    if (length == 0)
      return "three costs are needed";
    costs[i] = length < 0 ? -1 : cost_of(word);
    if (costs[i] < 0)
      return "a cost is no number of nanoseconds, up to 1000000000 and with up to three decimals";
  }
  if (next_word(words, word, sizeof word) != 0)
    return "there is more than an event and three costs";
  if (costs[0] > costs[1] || costs[1] > costs[2])
    return "the costs are not in order: minimum, typical, maximum";
  cost->minimum = costs[0];
  cost->typical = costs[1];
  cost->maximum = costs[2];
  return NULL;
}

/* Is the word this event's number or name? */
static int is_event(const char *word, int event)
{
  const struct perfex_event_row *row = perfex_row(event);
  char number[3] = { (char)('0' + event / 10), (char)('0' + event % 10), 0 };

  if (strcmp(word, event < 10 ? number + 1 : number) == 0)
    return 1;
  return row->name && (strcmp(word, row->name) == 0 || strcmp(word, row->also) == 0);
}

/* Returns 0, or what is wrong with the line. */
static const char *parse_line(struct words words, struct perfex_file *file)
{
  struct perfex_cost cost = { 0, 0, 0 };
  char event[64];
  const char *wrong;
  int length = next_word(&words, event, sizeof event), i, found = 0;

  if (length == 0)
    return NULL;
  wrong = parse_costs(&words, &cost);
  for (i = 0; length > 0 && i < PERFEX_EVENTS; i++) {
    if (!is_event(event, i))
      continue;
    if (file->stated[i])
      return "the event has costs in an earlier line";
    found = 1;
    file->cost[i] = cost;
    file->stated[i] = 1;
  }
  return found ? wrong : "no event has that number or name";
}

int perfex_parse(const char *text, size_t length, struct perfex_file *file, const char **what)
{
  const char *end = text + length;
  int line;

  memset(file, 0, sizeof *file);
  for (line = 1; text < end; line++) {
    const char *next = memchr(text, '\n', (size_t)(end - text));
    const char *stop = next ? next : end, *comment = memchr(text, '#', (size_t)(stop - text));
    struct words words = { text, comment ? comment : stop };

    *what = memchr(text, 0, (size_t)(stop - text)) ? "there is a byte 0, which no text has"
                                                   : parse_line(words, file);
    if (*what)
      return line;
    text = next ? next + 1 : end;
  }
  return PERFEX_NO_LINE;
}

/* Reads it whole, if it is a file. Returns its length, or -1 with errno. */
static int read_whole(const char *path, char *text)
{
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), length = 0, more = -1, error;
  struct stat about;

  if (descriptor < 0)
    return -1;
  if (fstat(descriptor, &about) == 0 && !S_ISREG(about.st_mode))
    errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
  else
    while ((more = read_some(descriptor, text + length,
              (size_t)(PERFEX_FILE_LIMIT + 1 - length))) > 0)
      length += more;
  error = errno;
  close(descriptor);
  errno = error;
  return more < 0 ? -1 : length;
}

int perfex_read_file(const char *path, struct perfex_file *file)
{
  char *text = malloc(PERFEX_FILE_LIMIT + 1);
  const char *what = "";
  int length, line, error = 0;

  if (!text)
    return ENOMEM;
  length = read_whole(path, text);
  if (length < 0)
    error = errno;
  else if (length > PERFEX_FILE_LIMIT) {
    perfex_say("%.300s: longer than %d bytes", path, PERFEX_FILE_LIMIT);
    error = EINVAL;
  } else if ((line = perfex_parse(text, (size_t)length, file, &what)) != PERFEX_NO_LINE) {
    perfex_say("%.300s: line %d: %s", path, line, what);
    error = EINVAL;
  }
  free(text);
  return error;
}
