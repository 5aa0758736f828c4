/* SPDX-License-Identifier: 0BSD OR MIT */
/* cpucycles-info: prints the report that a user pastes into a bug report about a cycle count. This
   file parses the arguments; fill.h and print.h have the rest. The tool uses the library by its
   public interface alone, and compiles some files of sys/ itself. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "cpucycles-info/print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Duration of an observation without --observe. A whole report then takes well below two
   seconds. */
static const double default_seconds = 0.05;
static const double longest_seconds = 86400;

enum mode { DO_TEXT, DO_JSON, DO_PLOT, DO_LIST, DO_CHECK, DO_HELP, DO_VERSION };

struct request {
  enum mode mode;
  const char *counter; /* NULL: all */
  double seconds;
  /* how often each kind of option was given */
  int mode_options, counter_options, observe_options;
};

/* Returns 1, with a message, if anything printed was not written. */
static int close_output(void)
{
  int failed = ferror(stdout);

  errno = 0;
  if (fclose(stdout) != 0 || failed) {
    fprintf(stderr, "cpucycles-info: cannot write the report: %s\n",
      errno ? strerror(errno) : "an earlier part was lost");
    return 1;
  }
  return 0;
}

static const char usage[]
  = "usage: cpucycles-info [--json | --plot] [--counter NAME] [--observe SECONDS]\n"
    "       cpucycles-info --check [--counter NAME]\n"
    "       cpucycles-info --list | --help | --version\n";

static int help(void)
{
  printf("%s"
         "\n"
         "Prints which CPU cycle counter programs get on this machine, how well it and\n"
         "the others work, and why some do not: what to put into a bug report.\n"
         "\n"
         "  --json             print the report as one JSON document\n"
         "  --plot             draw how the differences of adjacent reads are distributed\n"
         "  --counter NAME     report as if there were only this counter\n"
         "  --observe SECONDS  observe each counter for this time, instead of 0.05 s\n"
         "  --check            print which counter is in use; exit with 1 if it is a\n"
         "                     clock of the operating system or if none works\n"
         "  --list             print the names of the counters that were built\n"
         "  --help             print this\n"
         "  --version          print the version of the library in use\n"
         "\n"
         "Exit status: 0 if the output is complete, 1 if not (see also --check), 2 if\n"
         "the arguments are wrong. Details: cpucycles-info(1).\n",
    usage);
  return close_output();
}

static int version(void)
{
  printf("cpucycles-info (libcpucycles) %s\n"
         "Licence: 0BSD or MIT, as you choose. There is no warranty.\n",
    cpucycles_version());
  return close_output();
}

static int print_list(const struct counter_list *list)
{
  int i;

  for (i = 0; i < list->count; i++)
    printf("%s\n", list->names[i]);
  return close_output();
}

static int check(void)
{
  static struct library_info library;
  const char *kind;

  fill_library(&library);
  kind = library.selected ? library.selected->kind : "none";
  printf("cpucycles implementation %s\n", library.implementation);
  return close_output() != 0 || strcmp(kind, "clock") == 0 || strcmp(kind, "none") == 0;
}

/* A signal ended the child that called the library first, and would end this process too. Prints
   only the parts of the report that need no call of the library. */
static int report_signal(const struct request *request, int signal)
{
  static struct report report;

  fprintf(stderr, "cpucycles-info: %s (%d) ended the process that selected a counter\n",
    signal_name(signal), signal);
  if (request->mode == DO_TEXT) {
    fill_machine(&report);
    print_text_of_machine(&report);
  }
  close_output();
  return 1;
}

static int print_report(const struct request *request, const struct counter_list *list)
{
  static struct report report;

  fill_report(&report, list, request->counter, request->seconds);
  if (request->mode == DO_JSON)
    print_json(&report);
  else if (request->mode == DO_PLOT)
    print_plot(&report);
  else
    print_text(&report);
  free(report.timer);
  return close_output() != 0 || report.killed > 0;
}

static int usage_error(const char *problem, const char *argument)
{
  fprintf(stderr, "cpucycles-info: %s%s\n%s", problem, argument, usage);
  return 2;
}

/* Makes the library try this counter alone: by an environment variable, which child processes
   inherit. Returns 0 on success. */
static int force_counter(const char *counter)
{
#ifdef CPUCYCLES_POSIX
  return setenv("CPUCYCLES_IMPLEMENTATION", counter, 1);
#else
  char setting[64];

  return snprintf(setting, sizeof setting, "CPUCYCLES_IMPLEMENTATION=%s", counter)
      < (int)sizeof setting
      ? putenv(strdup(setting)) : -1;
#endif
}

static int is_listed(const struct counter_list *list, const char *counter)
{
  int i;

  for (i = 0; i < list->count; i++)
    if (strcmp(list->names[i], counter) == 0)
      return 1;
  return 0;
}

static int run(const struct request *request)
{
  static struct counter_list list;
  int signal = 0;

  if (request->mode == DO_HELP)
    return help();
  if (request->mode == DO_VERSION)
    return version();
  if (request->counter && force_counter(request->counter) != 0)
    return usage_error("no such counter: ", request->counter);
  if (request->mode >= DO_LIST)
    list_counters(&list);
  else
    signal = list_counters_in_child(&list);
  if (signal != 0)
    return report_signal(request, signal);
  if (request->counter && !is_listed(&list, request->counter))
    return usage_error("no such counter (--list names them): ", request->counter);
  if (request->mode == DO_LIST)
    return print_list(&list);
  return request->mode == DO_CHECK ? check() : print_report(request, &list);
}

static int parse_seconds(const char *text, double *seconds)
{
  char *end;

  /* strtod(3) accepts more: 0x1, spaces, infinity */
  if (strspn(text, "0123456789.eE+-") != strlen(text))
    return -1;
  *seconds = strtod(text, &end);
  return end > text && *end == 0 && *seconds > 0 && *seconds <= longest_seconds ? 0 : -1;
}

/* Returns the value of an option: after "=", or the next argument. NULL if there is no value or
   arguments[*i] is another option. */
static const char *value_of(const char *option, char **arguments, int *i)
{
  size_t length = strlen(option);

  if (strncmp(arguments[*i], option, length) != 0)
    return NULL;
  if (arguments[*i][length] == '=')
    return arguments[*i] + length + 1;
  return arguments[*i][length] == 0 && arguments[*i + 1] ? arguments[++*i] : NULL;
}

static int parse_mode(const char *argument, struct request *request)
{
  static const struct {
    const char *option;
    enum mode mode;
  } modes[] = {
    { "--json", DO_JSON },
    { "--plot", DO_PLOT },
    { "--list", DO_LIST },
    { "--check", DO_CHECK },
    { "--help", DO_HELP },
    { "--version", DO_VERSION },
  };
  size_t i;

  for (i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (strcmp(argument, modes[i].option) == 0) {
      request->mode = modes[i].mode;
      request->mode_options++;
      return 1;
    }
  return 0;
}

static int parse(char **arguments, struct request *request)
{
  const char *value;
  int i, settings = 0;

  for (i = 1; arguments[i]; i++) {
    const char *argument = arguments[i];

    if (parse_mode(argument, request))
      continue;
    settings++;
    if ((value = value_of("--counter", arguments, &i)) != NULL) {
      request->counter = value;
      request->counter_options++;
    } else if ((value = value_of("--observe", arguments, &i)) == NULL)
      return usage_error(strcmp(argument, "--counter") == 0 || strcmp(argument, "--observe") == 0
          ? "missing value: " : "unknown argument: ", argument);
    else if (parse_seconds(value, &request->seconds) != 0)
      return usage_error("not a number of seconds, above 0 and up to 86400: ", value);
    else
      request->observe_options++;
  }
  if (request->counter_options > 1 || request->observe_options > 1)
    return usage_error("given more than once: ",
      request->counter_options > 1 ? "--counter" : "--observe");
  if (request->mode_options > 1)
    return usage_error("conflicting arguments: ", "use one of the forms below");
  if (request->mode == DO_CHECK && request->counter && settings == 1)
    return 0;
  if (settings > 0 && request->mode >= DO_LIST)
    return usage_error("conflicting arguments: ", "use one of the forms below");
  return 0;
}

int main(int argc, char **argv)
{
  struct request request = { .mode = DO_TEXT };
  int status;

  (void)argc;
  request.seconds = default_seconds;
  status = parse(argv, &request);
  return status != 0 ? status : run(&request);
}
