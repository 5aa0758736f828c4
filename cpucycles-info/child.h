/* SPDX-License-Identifier: 0BSD OR MIT */
/* A child process that measures, and returns its results through a pipe. */

#ifndef CPUCYCLES_INFO_CHILD_H
#define CPUCYCLES_INFO_CHILD_H

#include <stddef.h>

#ifdef HAVE_FORK
#include <sys/types.h>

/* fork.c: fork(2). A test that defines this function is linked without fork.c. */
pid_t start_child(void);
#endif

/* Runs body(argument) in a child, and copies the `size` bytes at `result` from the child to this
   process. Returns 0, the signal that ended the child, or -1 if no child ran or its
   result is incomplete. */
int run_in_child(void (*body)(void *), void *argument, void *result, size_t size);

/* Ends this process if it is such a child and its parent has ended. A long examination calls this
   function at least every second. */
void end_if_parent_has_ended(void);

const char *signal_name(int signal); /* "signal" for a signal that is not listed */

#endif
