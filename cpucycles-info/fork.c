/* SPDX-License-Identifier: 0BSD OR MIT */
/* The start of a child process, in a file of its own so that a test can replace it. */

#include "config.h"

#include "cpucycles-info/child.h"

#ifdef HAVE_FORK

#include <unistd.h>

pid_t start_child(void)
{
  return fork();
}

#endif
