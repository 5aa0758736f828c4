/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs code in child processes, in which the library has not been called unless the test has called
   it before. */

#ifndef CPUCYCLES_FRESH_PROCESS_H
#define CPUCYCLES_FRESH_PROCESS_H

#include "tests/suites/counts.h"
#include "tests/suites/suite.h"

#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

/* Runs body() in a child process, and expects that it returns 0. */
static inline void in_child_process(int (*body)(void))
{
  const struct timespec pause = { 0, 200000 };
  pid_t child = fork(), ended;
  time_t end = time(NULL) + 60;
  int status = 0;

  ck_assert_int_ge(child, 0);
  if (child == 0)
    suite_exit(body());
  /* Polls with a time limit, because a child may hang with all signals blocked. */
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && time(NULL) < end)
    nanosleep(&pause, NULL);
  if (ended == 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ck_abort_msg("the child did not end within 60 s");
  }
  ck_assert_int_eq(ended, child);
  ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
  ck_assert_int_eq(WEXITSTATUS(status), 0);
}

#endif
