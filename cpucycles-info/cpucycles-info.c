/* SPDX-License-Identifier: 0BSD OR MIT */
/* cpucycles-info: prints a report that a user can paste into a bug report. This file parses the
   arguments; fill.h and print.h declare the rest. The tool calls only public functions of the
   library, and compiles some files of sys/ itself. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "cpucycles-info/print.h"
#include "sys/parse.h"
#include "sys/trapped-call.h"

#include <errno.h>
#include <fenv.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The duration of an observation without --observe. With this duration, a whole report takes less
   than two seconds. */
static const double default_seconds = 0.05;
static const double longest_seconds = 86400;

/* Each mode except the first has the letter of its option. */
enum mode {
  DO_TEXT,
  DO_CHECK = 'C',
  DO_VERSION = 'V',
  DO_ALL = 'a',
  DO_HELP = 'h',
  DO_JSON = 'j',
  DO_LIST = 'l',
  DO_PLOT = 'p'
};

struct arguments {
  enum mode mode;
  const char *counter; /* NULL: all */
  double seconds;      /* 0: default_seconds */
};

/* Returns 1 and prints a message if any part of the output was not written. */
static int close_output(void)
{
  int failed = ferror(stdout);

  errno = 0;
  if (fclose(stdout) != 0 || failed) {
    fprintf(stderr, "cpucycles-info: cannot write the output: %s\n",
      errno ? strerror(errno) : "an earlier part was lost");
    return 1;
  }
  return 0;
}

static const char usage[]
  = "usage: cpucycles-info [-a | -j | -p] [-c NAME] [-o SECONDS]\n"
    "       cpucycles-info -C [-c NAME]\n"
    "       cpucycles-info -l | -h | -V\n";

static int help(void)
{
  const char *address = PACKAGE_BUGREPORT;

  printf("%s"
         "\n"
         "Prints which CPU cycle counter programs get on this machine, how well it and\n"
         "the others work, and why some do not. Put this report into a bug report.\n"
         "\n"
         "  -a, --all              print every line of every counter, and warnings in full\n"
         "  -j, --json             print the report as one JSON document\n"
         "  -p, --plot             draw how the differences of adjacent reads are\n"
         "                         distributed\n"
         "  -c, --counter NAME     select and examine only this counter\n"
         "  -o, --observe SECONDS  observe each counter for this time, instead of 0.05 s\n"
         "  -C, --check            print which counter is in use; exit with 1 if it is not\n"
         "                         the one of --counter or, without --counter, if its\n"
         "                         kind is clock or if none works\n"
         "  -l, --list             print the names of the counters that were built\n"
         "  -h, --help             print this\n"
         "  -V, --version          print the version of the library in use\n"
         "\n"
         "Exit status: 0 if the output is complete, 1 if not (see also --check), 2 if\n"
         "the arguments are wrong. Details: cpucycles-info(1).\n"
         "\n"
         "Report faults to %s.\n",
    usage, *address ? address : "the tracker of the distribution that this copy is from");
  return close_output();
}

static int version(void)
{
  printf("cpucycles-info (libcpucycles) %s\n"
         "License: 0BSD or MIT, as you choose. There is no warranty.\n",
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

/* With --counter, returns 0 if the requested counter is in use. Without --counter, returns 0 if the
   kind of the counter in use is neither "clock" nor "none". Returns 1 in all other cases, and if
   the output cannot be written. */
static int check(const char *requested)
{
  static struct library_info library;
  const char *kind;
  int is_requested;

  fill_library(&library);
  kind = library.selected ? library.selected->kind : "none";
  printf("cpucycles implementation %s\n", library.implementation);
  if (close_output() != 0)
    return 1;
  if (!requested)
    return strcmp(kind, "clock") == 0 || strcmp(kind, "none") == 0;
  is_requested = strcmp(library.implementation, requested) == 0;
  if (!is_requested)
    fprintf(stderr, "cpucycles-info: %s is in use, not %s: %s\n", library.implementation, requested,
      library.implementation_ignored ? library.implementation_ignored
                                     : "CPUCYCLES_IMPLEMENTATION is ignored here");
  return !is_requested;
}

/* Called if a signal ended the child that made the first call. The signal would also end this
   process, so this function prints only the parts of the report that need no call of the
   library. */
static int report_signal(const struct arguments *arguments, int signal)
{
  static struct report report;

  fprintf(stderr, "cpucycles-info: %s (%d) ended the process that selected a counter\n",
    signal_name(signal), signal);
  if (arguments->mode == DO_TEXT || arguments->mode == DO_ALL) {
    fill_surroundings(&report);
    print_text_of_surroundings(&report);
  }
  close_output();
  return 1;
}

static int print_report(const struct arguments *arguments, const struct counter_list *list)
{
  static struct report report;

  fill_report(&report, list, arguments->counter,
    arguments->seconds > 0 ? arguments->seconds : default_seconds);
  if (arguments->mode == DO_JSON)
    print_json(&report);
  else if (arguments->mode == DO_PLOT)
    print_plot(&report);
  else
    print_text(&report, arguments->mode == DO_ALL);
  free(report.results);
  return close_output() != 0 || report.killed_count > 0;
}

static int usage_error(const char *problem, const char *argument)
{
  fprintf(stderr, "cpucycles-info: %s%s\n%s", problem, argument, usage);
  return 2;
}

/* Makes the library try this counter first, with an environment variable, which child processes
   inherit. Returns 0 on success. */
static int request_counter(const char *counter)
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

static int is_report(const struct arguments *arguments)
{
  return arguments->mode == DO_TEXT || arguments->mode == DO_ALL || arguments->mode == DO_JSON
    || arguments->mode == DO_PLOT;
}

static int run(const struct arguments *arguments)
{
  static struct counter_list list;
  int signal = 0;

  if (arguments->mode == DO_HELP)
    return help();
  if (arguments->mode == DO_VERSION)
    return version();
  if (arguments->counter && request_counter(arguments->counter) != 0)
    return usage_error("no such counter: ", arguments->counter);
  if (is_report(arguments))
    signal = list_and_measure_core_in_child(&list);
  else
    list_counters(&list);
  if (signal != 0)
    return report_signal(arguments, signal);
  if (arguments->counter && !is_listed(&list, arguments->counter))
    return usage_error("no such counter (--list names them): ", arguments->counter);
  if (arguments->mode == DO_LIST)
    return print_list(&list);
  return is_report(arguments) ? print_report(arguments, &list) : check(arguments->counter);
}

static int parse_seconds(const char *text, double *seconds)
{
  long long microseconds;
  const char *rest = cpuc_parse_decimal(text, 1000000, &microseconds);

  if (!rest || *rest || microseconds == 0)
    return -1;
  *seconds = (double)microseconds / 1000000;
  return *seconds <= longest_seconds ? 0 : -1;
}

/* Returns 0, or 2 after a message. */
static int take_option(int letter, struct arguments *arguments)
{
  switch (letter) {
  case '?': /* getopt_long() has printed a message */
    fprintf(stderr, "%s", usage);
    return 2;
  case 'c':
    if (arguments->counter)
      return usage_error("given more than once: ", "--counter");
    arguments->counter = optarg;
    return 0;
  case 'o':
    if (arguments->seconds > 0)
      return usage_error("given more than once: ", "--observe");
    return parse_seconds(optarg, &arguments->seconds) == 0
      ? 0 : usage_error("not a number of seconds from 0.000001 to 86400: ", optarg);
  default:
    if (arguments->mode != DO_TEXT && arguments->mode != (enum mode)letter)
      return usage_error("conflicting options: ", "use one of the forms below");
    arguments->mode = (enum mode)letter;
    return 0;
  }
}

/* Returns 0, or 2 after a message. */
static int parse(int argc, char **argv, struct arguments *arguments)
{
  static const struct option options[] = {
    { "all", no_argument, NULL, DO_ALL },
    { "check", no_argument, NULL, DO_CHECK },
    { "counter", required_argument, NULL, 'c' },
    { "help", no_argument, NULL, DO_HELP },
    { "json", no_argument, NULL, DO_JSON },
    { "list", no_argument, NULL, DO_LIST },
    { "observe", required_argument, NULL, 'o' },
    { "plot", no_argument, NULL, DO_PLOT },
    { "version", no_argument, NULL, DO_VERSION },
    { NULL, 0, NULL, 0 },
  };
  int letter, status = 0;

  /* "+" keeps getopt_long() from permuting the arguments, whether or not POSIXLY_CORRECT is set.
     The tool has no operands, so it needs no permutation. */
  while (status == 0 && (letter = getopt_long(argc, argv, "+CVac:hjlo:p", options, NULL)) != -1)
    status = take_option(letter, arguments);
  if (status != 0)
    return status;
  if (optind < argc)
    return usage_error("unexpected argument: ", argv[optind]);
  if ((arguments->seconds > 0 && !is_report(arguments))
    || (arguments->counter && !is_report(arguments) && arguments->mode != DO_CHECK))
    return usage_error("conflicting options: ", "use one of the forms below");
  return 0;
}

int main(int argc, char **argv)
{
  struct arguments arguments = { DO_TEXT, NULL, 0 };
  fenv_t environment;
  int status;

  feholdexcept(&environment); /* a preloaded library can have enabled floating-point traps */
  cpuc_trapped_call_fail();
  status = parse(argc, argv, &arguments);
  return status != 0 ? status : run(&arguments);
}
