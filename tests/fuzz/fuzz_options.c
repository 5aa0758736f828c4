/* SPDX-License-Identifier: 0BSD OR MIT */
/* Random options of cpucycles-info: which of them conflict, and which values are accepted. Their
   syntax is getopt_long(3)'s. The first byte of the input is "!" if the process that selects is
   killed. Then each byte gives an option; the value of an option that has one follows, up to a zero
   byte. Options that conflict, and a wrong value, end with status 2, a message on standard error
   and no output; others do what they request. Fakes replace the functions that measure and print,
   and setenv(). In the object of the tool, fuzz.sh renames main() to tool(), because libFuzzer has
   a main(). For libFuzzer, with glibc: make check-fuzz. */

#define _GNU_SOURCE /* fopencookie() */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "cpucycles-info/print.h"

#include "tests/fuzz/fuzz.h"

#include <getopt.h>
#include <string.h>

int tool(int argc, char **argv);

/* The tool's standard output: the bytes written, and how often it was closed. */
static size_t written;
static int closed;

static ssize_t write_output(void *cookie, const char *bytes, size_t size)
{
  (void)cookie, (void)bytes;
  written += size;
  return (ssize_t)size;
}

static int close_output_file(void *cookie)
{
  (void)cookie;
  closed++;
  return 0;
}

/* The environment stays as it is. */
int setenv(const char *name, const char *value, int replace)
{
  (void)name, (void)replace;
  return strlen(value) > 0x7fffffff;
}

/* The fakes: two counters, and a record of the calls. */

static const char *const counters[] = { "amd64-tsc", "default-monotonic" };
static int printed[3], examined, selection_is_killed;
static const char *examined_only;
static double examined_for;

const char *cpucycles_version(void)
{
  return "20261121";
}

void fill_library(struct library_info *library)
{
  static const struct cpucycles_counter_info selected = { .kind = "reference" };

  library->implementation = counters[0];
  library->selected = &selected;
}

void list_counters(struct counter_list *list)
{
  list->count = 2;
  strcpy(list->names[0], counters[0]);
  strcpy(list->names[1], counters[1]);
}

int list_counters_in_child(struct counter_list *list)
{
  list_counters(list);
  return selection_is_killed ? 11 : 0;
}

void fill_report(struct report *report, const struct counter_list *list, const char *only,
  double seconds)
{
  (void)report, (void)list;
  examined++;
  examined_only = only;
  examined_for = seconds;
}

void fill_surroundings(struct report *report)
{
  (void)report;
}

const char *signal_name(int signal)
{
  (void)signal;
  return "SIGSEGV";
}

void print_text(const struct report *report)
{
  (void)report;
  printed[0]++;
}

void print_text_of_surroundings(const struct report *report)
{
  (void)report;
}

void print_json(const struct report *report)
{
  (void)report;
  printed[1]++;
}

void print_plot(const struct report *report)
{
  (void)report;
  printed[2]++;
}

/* The options given. */
struct command {
  int given[256];      /* how often the option of that letter was given */
  const char *counter; /* or NULL */
  double seconds;
  int is_wrong; /* an argument that is not an option, or a value that is not a duration */
};

/* [SIGN]DIGITS[.DIGITS][e[SIGN]DIGITS], and either side of the point may be empty, but not both;
   above 0 and up to a day. */
static int is_duration(const char *text, double *seconds)
{
  const char *at = text;
  int digits = 0;

  *seconds = strtod(text, NULL);
  at += *at == '+' || *at == '-';
  for (; *at >= '0' && *at <= '9'; at++)
    digits++;
  if (*at == '.')
    for (at++; *at >= '0' && *at <= '9'; at++)
      digits++;
  if (digits == 0)
    return 0;
  if (*at == 'e' || *at == 'E') {
    at++;
    at += *at == '+' || *at == '-';
    if (*at < '0' || *at > '9')
      return 0;
    at += strspn(at, "0123456789");
  }
  return *at == 0 && *seconds > 0 && *seconds <= 86400;
}

static int is(const char *text, const char *other)
{
  return text && strcmp(text, other) == 0;
}

static int wants_report(const struct command *command)
{
  return !command->given['C'] && !command->given['h'] && !command->given['l']
    && !command->given['V'];
}

/* Returns 1 if the options have one of the three forms of the usage. */
static int is_valid(const struct command *command)
{
  static const char modes[] = "CVhjlp";
  int kinds = 0;
  size_t i;

  for (i = 0; modes[i]; i++)
    kinds += command->given[(int)modes[i]] > 0;
  if (command->is_wrong || kinds > 1 || command->given['c'] > 1 || command->given['o'] > 1)
    return 0;
  if (command->given['o'] && !wants_report(command))
    return 0;
  /* the tool knows the names only after the selection */
  if (command->given['c'] && !(selection_is_killed && wants_report(command))
    && !is(command->counter, counters[0]) && !is(command->counter, counters[1]))
    return 0;
  return !command->given['c'] || wants_report(command) || command->given['C'];
}

/* Expects the requested action and no other. */
static void expect_done(const struct command *command, int status)
{
  int report = wants_report(command);

  if (selection_is_killed && report) {
    FUZZ_EXPECT(status == 1 && examined == 0);
    return;
  }
  /* the fakes have selected the first counter */
  FUZZ_EXPECT(status == (command->given['C'] && is(command->counter, counters[1])));
  FUZZ_EXPECT(printed[0] == (report && !command->given['j'] && !command->given['p'])
    && printed[1] == (command->given['j'] > 0) && printed[2] == (command->given['p'] > 0));
  FUZZ_EXPECT(examined == report && (written != 0) == !report);
  if (!report)
    return;
  FUZZ_EXPECT(examined_only == command->counter);
  FUZZ_EXPECT(examined_for == (command->given['o'] ? command->seconds : 0.05));
}

static void run_tool(int argc, char **argv, const struct command *command)
{
  const cookie_io_functions_t functions = { .write = write_output, .close = close_output_file };
  FILE *const output = stdout, *const errors = stderr;
  char *error_text = NULL;
  int status, closed_by_tool;
  size_t error_size;

  memset(printed, 0, sizeof printed);
  written = 0;
  examined = closed = 0;
  optind = 0; /* in glibc, getopt_long() begins again */
  stdout = fopencookie(NULL, "w", functions);
  stderr = open_memstream(&error_text, &error_size);
  status = tool(argc, argv);
  closed_by_tool = closed;
  if (!closed)
    fclose(stdout);
  fclose(stderr);
  stdout = output;
  stderr = errors;
  FUZZ_EXPECT(closed_by_tool == is_valid(command));
  if (is_valid(command))
    expect_done(command, status);
  else {
    FUZZ_EXPECT(status == 2);
    FUZZ_EXPECT(written == 0 && strncmp(error_text, "cpucycles-info: ", 16) == 0);
    FUZZ_EXPECT(examined == 0);
  }
  free(error_text);
}

/* Makes arguments from the input, and notes what they request. Returns their number. */
static int make_arguments(char *at, const char *end, char **argv, int most,
  struct command *command)
{
  static char options[][3] = { "-C", "-V", "-c", "-h", "-j", "-l", "-o", "-p", "x" };
  enum { OPTIONS = sizeof options / sizeof options[0] };
  int argc = 1, letter;

  while (at < end && argc + 2 <= most) {
    argv[argc] = options[(unsigned char)*at++ % OPTIONS];
    letter = argv[argc++][1];
    command->given[letter]++;
    command->is_wrong |= letter == 0;
    if (letter != 'c' && letter != 'o')
      continue;
    argv[argc++] = at;
    if (letter == 'c')
      command->counter = at;
    else
      command->is_wrong |= !is_duration(at, &command->seconds);
    at += strlen(at) + 1;
  }
  argv[argc] = NULL;
  return argc;
}

enum { ARGUMENTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *argv[ARGUMENTS + 1], name[] = "cpucycles-info", *text;
  struct command command;
  int argc;

  if (size == 0)
    return 0;
  selection_is_killed = data[0] == '!';
  text = malloc(size);
  memcpy(text, data + 1, size - 1);
  text[size - 1] = 0;
  memset(&command, 0, sizeof command);
  argv[0] = name;
  argc = make_arguments(text, text + size - 1, argv, ARGUMENTS, &command);
  run_tool(argc, argv, &command);
  free(text);
  return 0;
}
