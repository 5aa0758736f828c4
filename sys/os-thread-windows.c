/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the library asks of the operating system, where that is Windows. */

#include "config.h"

#include "sys/os-thread.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

uintptr_t cpucycles_thread_self(void)
{
  return GetCurrentThreadId();
}

/* There is no fork: no process ever finds what another had under way. */
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

/* The shortest sleep that there is: 0 would yield, and to threads of the same priority only. */
void cpucycles_sleep_briefly(void)
{
  Sleep(1);
}
