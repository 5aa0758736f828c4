/* SPDX-License-Identifier: 0BSD OR MIT */
/* Random command lines for cpucycles-info: the input is the arguments, with a zero byte after each.
   Whatever is wrong ends with status 2, a complaint on standard error and nothing on standard
   output; whatever is right does what it asks for. What is right is decided a second time here,
   from the usage. Who measures and prints stands behind a seam. For libFuzzer: make check-fuzz. */

#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

/* What the tool says, for this file to look at. */
static FILE *said, *complained;
static int closed;

static int close_said(void)
{
  closed++;
  return fflush(said);
}

#undef stdout
#undef stderr
#define stdout said
#define stderr complained
#define printf(...) fprintf(said, __VA_ARGS__)
#define fclose(stream) ((void)(stream), close_said())
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

/* The seam: two counters, and what was asked of whom. */

static const char *const counters[] = { "amd64-tsc", "default-monotonic" };
static int printed[3], examined, selection_dies;
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

int list_counters_apart(struct counter_list *list)
{
  list_counters(list);
  return selection_dies ? 11 : 0;
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

/* The second opinion. */

struct wish {
  int forms, values;   /* how many were given */
  const char *form;    /* the last one; or 0 */
  const char *counter; /* or 0 */
  double seconds;
  int counter_given, observe_given;
};

/* DIGITS[.DIGITS][e[SIGN]DIGITS], with a sign before it; above 0 and up to a day. */
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

/* Does the argument give this setting, here or with the next one? */
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

static int is_report(const struct wish *wish)
{
  return !wish->form || is(wish->form, "--json") || is(wish->form, "--plot");
}

/* Is the command line one of the three of the usage? */
static int is_right(char **arguments, struct wish *wish)
{
  const char *value;
  int i;

  for (i = 1; arguments[i]; i++)
    if (is_form(arguments[i])) {
      wish->forms++;
      wish->form = arguments[i];
    } else if ((value = setting(arguments, &i, "--counter")) != NULL) {
      wish->counter_given++;
      wish->counter = value;
    } else if ((value = setting(arguments, &i, "--observe")) != NULL) {
      wish->observe_given++;
      if (!is_duration(value, &wish->seconds))
        return 0;
    } else
      return 0;
  if (wish->forms > 1 || wish->counter_given > 1 || wish->observe_given > 1)
    return 0;
  if (wish->observe_given && wish->form && !is(wish->form, "--json") && !is(wish->form, "--plot"))
    return 0;
  /* names are known only once the selection was survived */
  if (wish->counter && !(selection_dies && is_report(wish)) && !is(wish->counter, counters[0])
    && !is(wish->counter, counters[1]))
    return 0;
  if (is(wish->form, "--list") || is(wish->form, "--help") || is(wish->form, "--version"))
    return !wish->counter;
  return 1;
}

/* Was what is right done, and nothing else? */
static void expect_done(const struct wish *wish, int status, const char *text)
{
  int report = is_report(wish);

  FUZZ_EXPECT(closed == 1);
  if (selection_dies && report) {
    FUZZ_EXPECT(status == 1 && examined == 0);
    return;
  }
  FUZZ_EXPECT(status == 0);
  FUZZ_EXPECT(printed[0] == (wish->form == NULL) && printed[1] == is(wish->form, "--json")
    && printed[2] == is(wish->form, "--plot"));
  FUZZ_EXPECT(examined == report && (*text != 0) == !report);
  if (!report)
    return;
  FUZZ_EXPECT(examined_only == wish->counter);
  FUZZ_EXPECT(examined_for == (wish->observe_given ? wish->seconds : 0.05));
}

static void run_tool(int argc, char **argv)
{
  char *text = NULL, *complaint = NULL;
  size_t text_size, complaint_size;
  struct wish wish;
  int status, right;

  memset(&wish, 0, sizeof wish);
  memset(printed, 0, sizeof printed);
  examined = closed = 0;
  said = open_memstream(&text, &text_size);
  complained = open_memstream(&complaint, &complaint_size);
  status = tool(argc, argv);
  fclose(said);
  fclose(complained);
  right = is_right(argv, &wish);
  if (right)
    expect_done(&wish, status, text);
  else {
    FUZZ_EXPECT(status == 2);
    FUZZ_EXPECT(text_size == 0 && strncmp(complaint, "cpucycles-info: ", 16) == 0);
    FUZZ_EXPECT(examined == 0 && closed == 0);
  }
  free(text);
  free(complaint);
}

enum { ARGUMENTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *argv[ARGUMENTS + 2], name[] = "cpucycles-info", *text;
  size_t at = 0;
  int argc = 0;

  if (size == 0)
    return 0;
  selection_dies = data[0] == '!';
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
