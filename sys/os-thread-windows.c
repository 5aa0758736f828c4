/* SPDX-License-Identifier: 0BSD OR MIT */
/* Threads and processes of Windows. */

#include "config.h"

#include "sys/os-thread.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

uintptr_t cpucycles_thread_self(void)
{
  return GetCurrentThreadId();
}

/* Without fork, no process inherits the memory of another: all may have the same number. */
int cpucycles_process_self(void)
{
  return 1;
}

int cpucycles_disable_cancellation(void)
{
  return 0;
}

void cpucycles_restore_cancellation(int state)
{
  (void)state;
}

/* The shortest sleep. Sleep(0) would yield, and only to threads of the same priority. */
void cpucycles_sleep_briefly(void)
{
  Sleep(1);
}
