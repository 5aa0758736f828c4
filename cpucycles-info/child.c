/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs a function in a child process, which ends within a second after its parent. */

#include "config.h"

#include "cpucycles-info/child.h"
#include "cpucycles-info/fill.h"

#ifdef HAVE_FORK

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_all(int to, const char *bytes, size_t size)
{
  ssize_t written;

  while (size > 0) {
    written = write(to, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return -1;
    bytes += written;
    size -= (size_t)written;
  }
  return 0;
}

static int read_all(int from, char *bytes, size_t size)
{
  ssize_t length = 1;

  while (size > 0 && length != 0) {
    length = read(from, bytes, size);
    if (length < 0 && errno != EINTR)
      return -1;
    if (length > 0) {
      bytes += length;
      size -= (size_t)length;
    }
  }
  return size == 0 ? 0 : -1;
}

static int wait_for(pid_t child)
{
  int status;

  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return status;
}

/* In a child, the write end of the pipe to its parent; in the parent, -1. */
static int to_parent = -1;

/* Uses poll(2) and not getppid(), which is always 0 in some PID namespaces. On a pipe without a
   reader, poll() reports POLLERR on Linux and POLLHUP on other systems. */
void end_if_parent_has_ended(void)
{
  struct pollfd pipe_end = { .fd = to_parent };

  if (to_parent >= 0 && poll(&pipe_end, 1, 0) > 0 && pipe_end.revents & (POLLERR | POLLHUP))
    _exit(1);
}

int run_in_child(void (*body)(void *), void *argument, void *result, size_t size)
{
  int pipes[2], status, failed;
  pid_t child;

  if (pipe(pipes) != 0)
    return -1;
  signal(SIGCHLD, SIG_DFL); /* with an ignored SIGCHLD, waitpid() returns no status */
  child = start_child();
  if (child == 0) {
    close(pipes[0]);
    to_parent = pipes[1];
    body(argument);
    _exit(write_all(pipes[1], result, size) == 0 ? 0 : 1);
  }
  close(pipes[1]);
  failed = child < 0 || read_all(pipes[0], result, size) != 0;
  close(pipes[0]);
  status = child < 0 ? -1 : wait_for(child);
  if (failed)
    return status == 0 ? -1 : status;
  return status < 0 ? 0 : status; /* the result is complete, even if a filter refuses wait4(2) */
}

#else

void end_if_parent_has_ended(void)
{
}

#endif
