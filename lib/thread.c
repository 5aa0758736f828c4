/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the library asks of the operating system, where that is POSIX. */

#include "config.h"

#include "lib/thread.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* A number or a pointer on all systems that there are; the compiler would refuse anything else. */
uintptr_t cpucycles_thread_self(void)
{
  return (uintptr_t)pthread_self();
}

int cpucycles_process_self(void)
{
  return (int)getpid();
}

void cpucycles_wait_a_little(void)
{
  const struct timespec pause = { 0, 20000 };

  nanosleep(&pause, NULL);
}
