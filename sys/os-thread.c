/* SPDX-License-Identifier: 0BSD OR MIT */
/* Threads and processes of POSIX. */

#include "config.h"

#include "sys/os-thread.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* pthread_t is a number or a pointer on all known systems. The compiler would refuse another
   type. */
uintptr_t cpucycles_thread_self(void)
{
  return (uintptr_t)pthread_self();
}

/* A seccomp filter can refuse even getpid(). All processes then have the same number. */
int cpucycles_process_self(void)
{
  pid_t process = getpid();

  return process > 0 ? (int)process : 1;
}

int cpucycles_disable_cancellation(void)
{
  int state;

  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  return state;
}

void cpucycles_restore_cancellation(int state)
{
  int ignored;

  pthread_setcancelstate(state, &ignored);
}

/* nanosleep() is a cancellation point, and a signal handler may wait here. */
void cpucycles_sleep_briefly(void)
{
  const struct timespec pause = { 0, 20000 };
  int state = cpucycles_disable_cancellation();

  nanosleep(&pause, NULL);
  cpucycles_restore_cancellation(state);
}
