/* SPDX-License-Identifier: 0BSD OR MIT */
/* An estimate of the CPU's frequency: a table of sources, asked in order until one answers. Starts no
   process, follows no locale, reads a bounded number of bytes, and skips whatever is malformed. */

#include "config.h"

#include "lib/library.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif
#ifndef O_NOCTTY
#define O_NOCTTY 0
#endif
#ifndef O_NONBLOCK
#define O_NONBLOCK 0
#endif

enum {
  PATH_SIZE = 512,
  LINE_SIZE = 256,           /* of a line, what comes later is not looked at */
  CHUNK_SIZE = 2048,         /* small enough for small stacks */
  CPUINFO_LIMIT = 32 * 1024, /* tens of CPUs say what hundreds would */
  KHZ = 1000,
  MHZ = 1000000,
  GHZ = 1000000000
};

struct search;

struct source {
  const char *name;
  long long (*ask)(struct search *search, const struct source *source); /* Hz, or 0: no answer */
  const char *file;                                                     /* where the answer is one number */
  long long unit;                                                       /* of that number, in Hz */
};

struct search {
  const struct cpucycles_host *host;
  const struct source *source;
  int cpu;  /* the first CPU's number, or -1: not asked yet */
  int file; /* open, or -1: closed by the caller if a signal cut the source short */
  long long answer;
};

static long long plausible(long long hz)
{
  return hz >= CPUCYCLES_FREQUENCY_LOWEST && hz <= CPUCYCLES_FREQUENCY_HIGHEST ? hz : 0;
}

static int is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static int is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* Reads a decimal number, with a point in every locale, times unit (a power of ten). Returns what follows
   it, or 0 if there is no number or it is beyond all plausibility. */
static const char *parse_decimal(const char *text, long long unit, long long *hz)
{
  long long value = 0;

  if (!is_digit(*text))
    return NULL;
  for (; is_digit(*text); text++) {
    value = value * 10 + (*text - '0') * unit;
    if (value > CPUCYCLES_FREQUENCY_HIGHEST)
      return NULL;
  }
  if (*text == '.') {
    if (!is_digit(text[1]))
      return NULL;
    for (text++; is_digit(*text); text++) {
      unit /= 10;
      value += (*text - '0') * unit;
    }
  }
  *hz = value;
  return text;
}

static const char *parse_hexadecimal(const char *text, long long *hz)
{
  const char *start = text;
  long long value = 0;

  for (;; text++) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *digit = *text ? strchr(digits, *text) : NULL;

    if (!digit)
      break;
    value = value * 16 + (digit - digits) % 16;
    if (value > CPUCYCLES_FREQUENCY_HIGHEST)
      return NULL;
  }
  *hz = value;
  return text == start ? NULL : text;
}

/* A text that is one number, and white space around it. */
static long long only_number(const char *text, long long unit)
{
  long long hz;

  while (is_blank(*text))
    text++;
  text = parse_decimal(text, unit, &hz);
  if (!text)
    return 0;
  text += strspn(text, " \t\r\n");
  return *text ? 0 : plausible(hz);
}

/* Opens a regular file below the root: nothing else answers, or answers without waiting. */
static int open_file(struct search *search, const char *path)
{
  char whole[PATH_SIZE];
  struct stat status;
  int length = snprintf(whole, sizeof whole, "%s%s", search->host->root, path);

  if (length < 0 || length >= (int)sizeof whole)
    return -1;
  search->file = open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (search->file < 0)
    return -1;
  if (fstat(search->file, &status) == 0 && S_ISREG(status.st_mode))
    return 0;
  close(search->file);
  search->file = -1;
  return -1;
}

static void close_file(struct search *search)
{
  if (search->file >= 0)
    close(search->file);
  search->file = -1;
}

static ssize_t read_some(struct search *search, char *buffer, size_t size)
{
  ssize_t length;

  do
    length = read(search->file, buffer, size);
  while (length < 0 && errno == EINTR);
  return length;
}

/* Reads a small file whole, as a string. Returns its length; -1 if it cannot be read, is empty, does not
   fit, or is no text. */
static int read_small(struct search *search, const char *path, char *text, int size)
{
  int length = 0;
  ssize_t more = 1;

  if (open_file(search, path) != 0)
    return -1;
  while (more > 0 && length < size) {
    more = read_some(search, text + length, (size_t)(size - length));
    if (more > 0)
      length += (int)more;
  }
  close_file(search);
  if (more < 0 || length == 0 || length == size || memchr(text, 0, (size_t)length))
    return -1;
  text[length] = 0;
  return length;
}

/* One number in a file of the administrator's. */
static long long from_setting(struct search *search, const struct source *source)
{
  char text[64];

  if (read_small(search, source->file, text, sizeof text) < 0)
    return 0;
  return only_number(text, source->unit);
}

static int first_cpu(struct search *search)
{
  char text[64];
  int cpu = 0, i;

  if (read_small(search, "/sys/devices/system/cpu/present", text, sizeof text) > 0)
    for (i = 0; is_digit(text[i]) && cpu < 100000; i++)
      cpu = cpu * 10 + (text[i] - '0');
  return cpu;
}

/* One number in a file of the kernel's, below the first CPU's folder. Without a line's end it was cut
   short, and could be any number's beginning. */
static long long from_sysfs(struct search *search, const struct source *source)
{
  static const char folder[] = "/sys/devices/system/cpu/";
  char text[64], path[128];
  int length;

  if (search->cpu < 0)
    search->cpu = first_cpu(search);
  snprintf(path, sizeof path, "%scpu%d/%s", folder, search->cpu, source->file);
  length = read_small(search, path, text, sizeof text);
  if (length <= 0 || text[length - 1] != '\n')
    return 0;
  return only_number(text, source->unit);
}

static int key_is(const char *key, int length, const char *wanted)
{
  return length == (int)strlen(wanted) && memcmp(key, wanted, (size_t)length) == 0;
}

/* Sparc numbers its keys: Cpu6ClkTck. */
static int key_is_clock_tick(const char *key, int length)
{
  int i = 3;

  if (length < 10 || memcmp(key, "Cpu", 3) != 0 || memcmp(key + length - 6, "ClkTck", 6) != 0)
    return 0;
  while (i < length - 6 && is_digit(key[i]))
    i++;
  return i == length - 6;
}

/* "Model @ 2.80GHz": the frequency that the maker gave the CPU. */
static long long from_model_name(const char *value)
{
  const char *at = strstr(value, "@ ");
  const char *unit;
  long long hz;

  if (!at)
    return 0;
  unit = parse_decimal(at + 2, GHZ, &hz);
  if (unit && strncmp(unit, "GHz", 3) == 0)
    return plausible(hz);
  unit = parse_decimal(at + 2, MHZ, &hz);
  if (unit && strncmp(unit, "MHz", 3) == 0)
    return plausible(hz);
  return 0;
}

/* What one line of /proc/cpuinfo, "key : value", says; 0 if nothing. */
static long long from_cpuinfo_line(const char *line)
{
  const char *colon = strchr(line, ':'), *value, *rest = NULL;
  long long hz;
  int length;

  if (!colon)
    return 0;
  length = (int)(colon - line);
  while (length > 0 && is_blank(line[length - 1]))
    length--;
  for (value = colon + 1; is_blank(*value);)
    value++;

  if (key_is(line, length, "model name"))
    return from_model_name(value);
  if (key_is(line, length, "cpu MHz") || key_is(line, length, "CPU MHz") ||
      key_is(line, length, "cpu MHz static"))
    rest = parse_decimal(value, MHZ, &hz);
  else if (key_is(line, length, "clock")) {
    rest = parse_decimal(value, MHZ, &hz);
    if (rest && strncmp(rest, "MHz", 3) == 0)
      rest += 3;
    else
      rest = NULL;
  } else if (key_is(line, length, "cycle frequency [Hz]")) {
    rest = parse_decimal(value, 1, &hz);
    if (rest && strncmp(rest, " est.", 5) == 0)
      rest += 5;
  } else if (key_is_clock_tick(line, length))
    rest = parse_hexadecimal(value, &hz);
  if (!rest || rest[strspn(rest, " \t\r")])
    return 0;
  return plausible(hz);
}

/* A momentary value can be that of an idle core: the highest of all that is said counts. The last line,
   cut short by the limit or by anything else, does not. */
static long long from_cpuinfo(struct search *search, const struct source *source)
{
  char chunk[CHUNK_SIZE], line[LINE_SIZE];
  long long highest = 0;
  ssize_t length, i;
  int used = 0, total = 0;

  if (open_file(search, source->file) != 0)
    return 0;
  while (total < CPUINFO_LIMIT && (length = read_some(search, chunk, sizeof chunk)) > 0) {
    total += (int)length;
    for (i = 0; i < length; i++) {
      if (chunk[i] == '\n') {
        long long hz;

        line[used] = 0;
        hz = from_cpuinfo_line(line);
        if (hz > highest)
          highest = hz;
        used = 0;
      } else if (used < LINE_SIZE - 1) {
        line[used++] = chunk[i];
      }
    }
  }
  close_file(search);
  return highest;
}

static long long from_environment(struct search *search, const struct source *source)
{
  const char *value = search->host->environment(source->name);

  return value ? only_number(value, 1) : 0;
}

static const struct source sources[] = {
  { "/etc/cpucyclespersecond", from_setting, "/etc/cpucyclespersecond", 1 },
  { "cpufreq/scaling_setspeed", from_sysfs, "cpufreq/scaling_setspeed", KHZ },
  { "cpufreq/scaling_max_freq", from_sysfs, "cpufreq/scaling_max_freq", KHZ },
  { "cpufreq/base_frequency", from_sysfs, "cpufreq/base_frequency", KHZ },
  { "acpi_cppc/nominal_freq", from_sysfs, "acpi_cppc/nominal_freq", MHZ },
  { "clock_tick", from_sysfs, "clock_tick", 1 },
  { "/proc/cpuinfo", from_cpuinfo, "/proc/cpuinfo", 1 },
  { "cpucyclespersecond", from_environment, NULL, 1 },
};

enum { SOURCES = sizeof sources / sizeof sources[0] };

static void ask(void *argument)
{
  struct search *search = argument;

  search->answer = search->source->ask(search, search->source);
}

static void tidy(void *argument)
{
  close_file(argument);
}

struct cpucycles_frequency cpucycles_frequency(const struct cpucycles_host *host)
{
  struct cpucycles_frequency found = { CPUCYCLES_FREQUENCY_DEFAULT, "default" };
  struct search search = { host, NULL, -1, -1, 0 };
  int i;

  for (i = 0; i < SOURCES; i++) {
    search.source = &sources[i];
    search.answer = 0;
    if (cpucycles_trial(ask, &search) != 0) {
      cpucycles_trial(tidy, &search);
      search.file = -1;
    } else if (search.answer > 0) {
      found.persecond = search.answer;
      found.source = sources[i].name;
      break;
    }
  }
  return found;
}

/* Set-user-ID programs obey no environment. */
static const char *environment(const char *name)
{
#ifdef HAVE_SECURE_GETENV
  return secure_getenv(name);
#else
#ifdef HAVE_ISSETUGID
  if (issetugid())
    return NULL;
#else
  if (getuid() != geteuid() || getgid() != getegid())
    return NULL;
#endif
  return getenv(name);
#endif
}

const struct cpucycles_host cpucycles_host = { "", environment };
