/* SPDX-License-Identifier: 0BSD OR MIT */
/* cpucycles-info: prints a report that a user can paste into a bug report. This file parses the
   arguments; fill.h and report.h declare the rest. The tool calls only public functions of
   the library, and links some files of sys/. */

#include "config.h"

#include "cpucycles-info/child.h"
#include "cpucycles-info/fill.h"
#include "sys/os-clock.h"
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
#define DEFAULT_SECONDS 0.05
#define LONGEST_SECONDS 86400

struct arguments {
  int mode;            /* the letter of an option, or 't' for the text without --all */
  const char *counter; /* NULL: all */
  double seconds;      /* 0: DEFAULT_SECONDS */
};

static const char usage[]
  = "usage: cpucycles-info [-a | -j | -p] [-c NAME] [-o SECONDS]\n"
    "       cpucycles-info -C [-c NAME]\n"
    "       cpucycles-info -l | -h | -V\n";

static void help(void)
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
}

/* With --counter, returns 0 if the requested counter is in use. Without --counter, returns 0 if the
   kind of the counter in use is neither "clock" nor "none". Returns 1 in all other cases. */
static int check(const char *requested)
{
  const struct cpucycles_counter_info *counter = cpucycles_selected();
  enum cpuc_kind kind = counter ? cpuc_kind_named(counter->kind) : CPUC_KIND_NONE;
  const char *name = cpucycles_implementation(), *ignored = cpucycles_implementation_ignored();

  printf("cpucycles implementation %s\n", name);
  if (!requested)
    return kind == CPUC_KIND_CLOCK || kind == CPUC_KIND_NONE;
  if (strcmp(name, requested) == 0)
    return 0;
  fprintf(stderr, "cpucycles-info: %s is in use, not %s: %s\n", name, requested,
    ignored ? ignored : "CPUCYCLES_IMPLEMENTATION is ignored here");
  return 1;
}

/* Prints the report. If a signal ended the child that made the first call, it would also end this
   process, so only the parts of the report that need no call of the library are printed. */
static int report(const struct arguments *arguments, const struct counter_list *list, int signal)
{
  static struct report report;
  int is_text = arguments->mode == 't' || arguments->mode == 'a';

  if (signal != 0) {
    fprintf(stderr, "cpucycles-info: %s (%d) ended the process that selected a counter\n",
      signal_name(signal), signal);
    fill_surroundings(&report);
    if (is_text)
      print_surroundings(&report);
    return 1;
  }
  fill_report(&report, list, arguments->seconds > 0 ? arguments->seconds : DEFAULT_SECONDS);
  judge_report(&report);
  if (arguments->mode == 'p')
    print_plot(&report);
  else
    print_report(&report, is_text ? WRITE_TEXT : WRITE_JSON, arguments->mode == 'a');
  free(report.results);
  return report.killed_count > 0;
}

static int usage_error(const char *problem, const char *argument)
{
  fprintf(stderr, "cpucycles-info: %s%s\n%s", problem, argument, usage);
  return 2;
}

static int is_report(const struct arguments *arguments)
{
  return strchr("tajp", arguments->mode) != NULL;
}

/* Returns the exit status, if all of the output can be written. */
static int run(const struct arguments *arguments)
{
  static struct counter_list list;
  const char *counter = arguments->counter;
  int i, signal = 0, is_wanted, is_listed = 0;

  if (arguments->mode == 'h' || arguments->mode == 'V') {
    if (arguments->mode == 'h')
      help();
    else
      printf("cpucycles-info (libcpucycles) %s\n"
             "License: 0BSD or MIT, as you choose. There is no warranty.\n", cpucycles_version());
    return 0;
  }
  if (counter && request_counter(counter) != 0)
    return usage_error("no such counter: ", counter);
  if (is_report(arguments))
    signal = list_and_measure_core_in_child(&list);
  else
    list_counters(&list);
  for (i = 0; i < list.count; i++) {
    is_wanted = !counter || strcmp(list.names[i], counter) == 0;
    is_listed |= is_wanted;
    list.is_examined[i] &= is_wanted;
    if (arguments->mode == 'l')
      printf("%s\n", list.names[i]);
  }
  if (signal == 0 && !is_listed)
    return usage_error("no such counter (--list names them): ", counter);
  if (is_report(arguments))
    return report(arguments, &list, signal);
  return arguments->mode == 'C' ? check(counter) : 0;
}

static int parse_seconds(const char *text, double *seconds)
{
  long long microseconds;
  const char *rest = cpuc_parse_decimal(text, 1000000, &microseconds);

  if (!rest || *rest || microseconds == 0 || microseconds > LONGEST_SECONDS * 1000000LL)
    return -1;
  *seconds = (double)microseconds / 1000000;
  return 0;
}

/* Returns 0, or 2 after a message. */
static int parse(int argc, char **argv, struct arguments *arguments)
{
  static const struct option options[] = {
    { "all", no_argument, NULL, 'a' },
    { "check", no_argument, NULL, 'C' },
    { "counter", required_argument, NULL, 'c' },
    { "help", no_argument, NULL, 'h' },
    { "json", no_argument, NULL, 'j' },
    { "list", no_argument, NULL, 'l' },
    { "observe", required_argument, NULL, 'o' },
    { "plot", no_argument, NULL, 'p' },
    { "version", no_argument, NULL, 'V' },
    { NULL, 0, NULL, 0 },
  };
  int letter, conflicts = 0;

  /* "+" keeps getopt_long() from permuting the arguments, whether or not POSIXLY_CORRECT is set.
     The tool has no operands, so it needs no permutation. */
  while ((letter = getopt_long(argc, argv, "+CVac:hjlo:p", options, NULL)) != -1) {
    if (letter == '?') { /* getopt_long() has printed a message */
      fprintf(stderr, "%s", usage);
      return 2;
    }
    if (letter == 'c')
      arguments->counter = optarg;
    else if (letter != 'o') {
      conflicts |= arguments->mode != 't' && arguments->mode != letter;
      arguments->mode = letter;
    } else if (parse_seconds(optarg, &arguments->seconds) != 0)
      return usage_error("not a number of seconds from 0.000001 to 86400: ", optarg);
  }
  if (optind < argc)
    return usage_error("unexpected argument: ", argv[optind]);
  conflicts |= arguments->seconds > 0 && !is_report(arguments);
  conflicts |= arguments->counter && !is_report(arguments) && arguments->mode != 'C';
  return conflicts ? usage_error("conflicting options: ", "use one of the forms below") : 0;
}

int main(int argc, char **argv)
{
  /* Contains the longest report, so that fclose() writes all of it, and errno is that of the
     write. */
  static char output[1 << 18];
  struct arguments arguments = { 't', NULL, 0 };
  fenv_t environment;
  int status, failed;

  feholdexcept(&environment); /* a preloaded library can have enabled floating-point traps */
  setvbuf(stdout, output, _IOFBF, sizeof output);
  cpuc_trapped_call_fail();
  cpuc_os_clock_fall_back_if_forbidden();
  status = parse(argc, argv, &arguments);
  if (status == 0)
    status = run(&arguments);
  failed = ferror(stdout);
  errno = EIO; /* of an earlier write, if the report was longer */
  if (status != 2 && (fclose(stdout) != 0 || failed)) {
    fprintf(stderr, "cpucycles-info: cannot write the output: %s\n", strerror(errno));
    return 1;
  }
  return status;
}
