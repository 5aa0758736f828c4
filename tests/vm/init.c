/* SPDX-License-Identifier: 0BSD OR MIT */
/* The first process of a guest of "make check-vm": carries out /steps line by line, and turns the
   machine off. A line is one of
     set FILE VALUE          write a setting of the kernel
     load FILE               load a module
     unload NAME
     show PROGRAM            run a program as an ordinary user, for the log
     root NAME PROGRAM ...   run a test: as root,
     user NAME PROGRAM ...   or as an ordinary user
   Prints the result of each test in a line that begins with "vm:", because the programs print
   to the same console. */

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  WORDS = 16,
  ORDINARY_USER = 65534
};

/* Writes a line at once, because other processes and the kernel write to the same console. */
static void print_line(const char *format, ...)
{
  char line[512];
  va_list arguments;
  int length;

  va_start(arguments, format);
  length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof line)
    length = sizeof line - 1;
  if (write(STDOUT_FILENO, line, (size_t)length) < 0)
    abort();
}

/* Reports a guest that is not as the tests expect. */
static void report_broken(const char *what, const char *which)
{
  print_line("vm: broken: %s %s: %s\n", what, which, strerror(errno));
}

static void set_file(const char *file, const char *value)
{
  int descriptor = open(file, O_WRONLY);

  if (descriptor < 0 || write(descriptor, value, strlen(value)) < 0)
    report_broken("set", file);
  if (descriptor >= 0)
    close(descriptor);
}

static void load_module(const char *file)
{
  int descriptor = open(file, O_RDONLY | O_CLOEXEC);

  if (descriptor < 0 || syscall(SYS_finit_module, descriptor, "", 0) != 0)
    report_broken("load", file);
  if (descriptor >= 0)
    close(descriptor);
}

static void unload_module(const char *name)
{
  if (syscall(SYS_delete_module, name, O_NONBLOCK) != 0)
    report_broken("unload", name);
}

static void exec_as(uid_t user, char **command)
{
  if (user != 0 && (setgid(user) != 0 || setuid(user) != 0))
    _exit(EXIT_FAILURE);
  execv(command[0], command);
  print_line("vm: %s: %s\n", command[0], strerror(errno));
  _exit(EXIT_FAILURE);
}

/* Runs a program, and waits for it. Returns waitpid()'s status. Leaves no process behind. The time
   limit of the guest ends a program that hangs. */
static int run(uid_t user, char **command)
{
  pid_t child = fork(), ended;
  int status = -1;

  if (child == 0)
    exec_as(user, command);
  while ((ended = waitpid(-1, &status, 0)) > 0 && ended != child) /* an orphan has ended */
    continue;
  if (child < 0 || ended != child)
    report_broken("run", command[0]);
  kill(-1, SIGKILL);
  return status;
}

static void test(uid_t user, const char *name, char **command)
{
  int status;

  print_line("vm: begin %s\n", name);
  status = run(user, command);
  if (WIFSIGNALED(status))
    print_line("vm: ERROR %s: %s\n", name, strsignal(WTERMSIG(status)));
  else
    print_line("vm: %s %s\n", WEXITSTATUS(status) == 0 ? "PASS" : "FAIL", name);
}

static void step(char *line)
{
  char *words[WORDS + 1] = { NULL };
  int count = 0;
  char *word;

  for (word = strtok(line, " \n"); word && count < WORDS; word = strtok(NULL, " \n"))
    words[count++] = word;
  if (count == 0)
    return;
  if (strcmp(words[0], "set") == 0 && count == 3)
    set_file(words[1], words[2]);
  else if (strcmp(words[0], "load") == 0 && count == 2)
    load_module(words[1]);
  else if (strcmp(words[0], "unload") == 0 && count == 2)
    unload_module(words[1]);
  else if (strcmp(words[0], "show") == 0 && count >= 2)
    run(ORDINARY_USER, words + 1);
  else if (strcmp(words[0], "root") == 0 && count >= 3)
    test(0, words[1], words + 2);
  else if (strcmp(words[0], "user") == 0 && count >= 3)
    test(ORDINARY_USER, words[1], words + 2);
  else
    print_line("vm: broken: no such step: %s\n", words[0]);
}

int main(void)
{
  char line[512];
  FILE *steps;

  if (mount("proc", "/proc", "proc", 0, NULL) != 0 || mount("sys", "/sys", "sysfs", 0, NULL) != 0
    || mount("dev", "/dev", "devtmpfs", 0, NULL) != 0)
    report_broken("mount", "/proc, /sys or /dev");
  print_line("\n"); /* ends an unfinished line of the firmware */
  steps = fopen("/steps", "re");
  if (!steps)
    report_broken("open", "/steps");
  while (steps && fgets(line, sizeof line, steps))
    step(line);
  print_line("vm: end\n");
  reboot(RB_POWER_OFF);
  return 0;
}
