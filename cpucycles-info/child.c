/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs a function in a child process, which ends within a second after its parent, or with a
   signal. */

#include "config.h"

#include "cpucycles-info/child.h"

#include <signal.h>

const char *signal_name(int signal)
{
#define NAME(signal) { signal, #signal }
  static const struct {
    int number;
    const char *name;
  } names[] = { NAME(SIGABRT), NAME(SIGILL), NAME(SIGFPE), NAME(SIGSEGV),
#ifdef CPUCYCLES_POSIX
    NAME(SIGBUS), NAME(SIGKILL), NAME(SIGSYS),
#endif
  };
  size_t i;

  for (i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].number == signal)
      return names[i].name;
  return "signal";
}

#ifdef HAVE_FORK

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* No signal handler of the tool returns from a call, so no call fails with EINTR. */
int run_in_child(void (*body)(void *), void *argument, void *result, size_t size)
{
  char *bytes = result;
  int pipes[2], status;
  ssize_t length = 0;
  pid_t child;

  if (pipe(pipes) != 0)
    return -1;
  signal(SIGCHLD, SIG_DFL); /* with an ignored SIGCHLD, waitpid() returns no status */
  child = start_child();
  if (child == 0) {
    close(pipes[0]);
    to_parent = pipes[1];
    body(argument);
    _exit(write(to_parent, result, size) == (ssize_t)size ? 0 : 1);
  }
  close(pipes[1]);
  while (child > 0 && size > 0 && (length = read(pipes[0], bytes, size)) > 0) {
    bytes += length;
    size -= (size_t)length;
  }
  close(pipes[0]);
  if (child < 0 || waitpid(child, &status, 0) < 0)
    status = -1;
  if (length < 0) /* a filter refuses read(2), and SIGPIPE has ended the child */
    return -1;
  if (status > 0 && WIFSIGNALED(status))
    return WTERMSIG(status);
  /* a result is complete even if a filter refuses wait4(2) */
  return child > 0 && size == 0 && status <= 0 ? 0 : -1;
}

#else

void end_if_parent_has_ended(void)
{
}

int run_in_child(void (*body)(void *), void *argument, void *result, size_t size)
{
  (void)body, (void)argument, (void)result, (void)size;
  return -1;
}

#endif
