/* SPDX-License-Identifier: 0BSD OR MIT */
/* Random command lines for cpucycles-info: the first byte of the input is "!" if the process that
   selects is killed; the rest is the arguments, with a zero byte after each. An invalid command
   line ends with status 2, a message on standard error and no output; a valid one does what it
   requests. A second parser here decides from the usage which lines are valid. Fakes replace the
   functions that measure and print. For libFuzzer: make check-fuzz. */

#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

/* The tool's standard output and standard error. */
static FILE *output, *errors;
static int closed;

static int close_output_file(void)
{
  closed++;
  return fflush(output);
}

#undef stdout
#undef stderr
#define stdout output
#define stderr errors
#define printf(...) fprintf(output, __VA_ARGS__)
#define fclose(stream) ((void)(stream), close_output_file())
#define setenv(name, value, replace) (strlen(value) > 0x7fffffff)
#define main tool
#include "cpucycles-info/cpucycles-info.c"
#undef main
#undef setenv
#undef fclose
#undef printf
#undef stderr
extern FILE *stderr;

int tool(int argc, char **argv);

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

void fill_machine(struct report *report)
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

void print_text_of_machine(const struct report *report)
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

/* The second parser. */

struct command {
  int forms, values;   /* how many were given */
  const char *form;    /* the last one, or NULL */
  const char *counter; /* or NULL */
  double seconds;
  int counter_given, observe_given;
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

static int is_form(const char *argument)
{
  static const char *const forms[] = { "--json", "--plot", "--check", "--list", "--help",
    "--version" };
  size_t i;

  for (i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (strcmp(argument, forms[i]) == 0)
      return 1;
  return 0;
}

/* Returns the value of this option, from the argument or the next one, or NULL. */
static const char *setting(char **arguments, int *i, const char *name)
{
  size_t length = strlen(name);

  if (strncmp(arguments[*i], name, length) == 0 && arguments[*i][length] == '=')
    return arguments[*i] + length + 1;
  if (strcmp(arguments[*i], name) == 0 && arguments[*i + 1])
    return arguments[++*i];
  return NULL;
}

static int is(const char *text, const char *other)
{
  return text && strcmp(text, other) == 0;
}

static int is_report(const struct command *command)
{
  return !command->form || is(command->form, "--json") || is(command->form, "--plot");
}

/* Returns 1 if the command line has one of the three forms of the usage. */
static int is_valid(char **arguments, struct command *command)
{
  const char *value;
  int i;

  for (i = 1; arguments[i]; i++)
    if (is_form(arguments[i])) {
      command->forms++;
      command->form = arguments[i];
    } else if ((value = setting(arguments, &i, "--counter")) != NULL) {
      command->counter_given++;
      command->counter = value;
    } else if ((value = setting(arguments, &i, "--observe")) != NULL) {
      command->observe_given++;
      if (!is_duration(value, &command->seconds))
        return 0;
    } else
      return 0;
  if (command->forms > 1 || command->counter_given > 1 || command->observe_given > 1)
    return 0;
  if (command->observe_given && !is_report(command))
    return 0;
  /* the tool knows the names only after the selection */
  if (command->counter && !(selection_is_killed && is_report(command))
    && !is(command->counter, counters[0]) && !is(command->counter, counters[1]))
    return 0;
  if (is(command->form, "--list") || is(command->form, "--help") || is(command->form, "--version"))
    return !command->counter;
  return 1;
}

/* Expects the requested action and no other. */
static void expect_done(const struct command *command, int status, const char *text)
{
  int report = is_report(command);

  FUZZ_EXPECT(closed == 1);
  if (selection_is_killed && report) {
    FUZZ_EXPECT(status == 1 && examined == 0);
    return;
  }
  FUZZ_EXPECT(status == 0);
  FUZZ_EXPECT(printed[0] == (command->form == NULL) && printed[1] == is(command->form, "--json")
    && printed[2] == is(command->form, "--plot"));
  FUZZ_EXPECT(examined == report && (*text != 0) == !report);
  if (!report)
    return;
  FUZZ_EXPECT(examined_only == command->counter);
  FUZZ_EXPECT(examined_for == (command->observe_given ? command->seconds : 0.05));
}

static void run_tool(int argc, char **argv)
{
  char *text = NULL, *error_text = NULL;
  size_t text_size, error_size;
  struct command command;
  int status, valid;

  memset(&command, 0, sizeof command);
  memset(printed, 0, sizeof printed);
  examined = closed = 0;
  output = open_memstream(&text, &text_size);
  errors = open_memstream(&error_text, &error_size);
  status = tool(argc, argv);
  fclose(output);
  fclose(errors);
  valid = is_valid(argv, &command);
  if (valid)
    expect_done(&command, status, text);
  else {
    FUZZ_EXPECT(status == 2);
    FUZZ_EXPECT(text_size == 0 && strncmp(error_text, "cpucycles-info: ", 16) == 0);
    FUZZ_EXPECT(examined == 0 && closed == 0);
  }
  free(text);
  free(error_text);
}

enum { ARGUMENTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *argv[ARGUMENTS + 2], name[] = "cpucycles-info", *text;
  size_t at = 0;
  int argc = 0;

  if (size == 0)
    return 0;
  selection_is_killed = data[0] == '!';
  text = malloc(size);
  memcpy(text, data + 1, size - 1);
  text[size - 1] = 0;
  argv[argc++] = name;
  while (at < size - 1 && argc <= ARGUMENTS) {
    argv[argc++] = text + at;
    at += strlen(text + at) + 1;
  }
  argv[argc] = NULL;
  run_tool(argc, argv);
  free(text);
  return 0;
}
