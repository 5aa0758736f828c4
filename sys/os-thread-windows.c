/* SPDX-License-Identifier: 0BSD OR MIT */
/* Threads of Windows, which has no signals, cancellation or fork(). */

#include "config.h"
#ifndef CPUCYCLES_POSIX

#include "sys/os-thread.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

uintptr_t cpuc_os_thread_id(void)
{
  return GetCurrentThreadId();
}

/* Sleep(1) is the shortest sleep. Sleep(0) does not wait, so a thread of lower priority might never
   run. */
void cpuc_os_thread_sleep_briefly(void)
{
  Sleep(1);
}

void cpuc_os_thread_block_signals_and_cancellation(struct cpuc_os_thread_saved *saved)
{
  saved->unused = 0;
}

void cpuc_os_thread_restore_signals_and_cancellation(const struct cpuc_os_thread_saved *saved)
{
  (void)saved;
}

void cpuc_os_thread_unblock_fault_signals_as_saved(const struct cpuc_os_thread_saved *saved)
{
  (void)saved;
}

void cpuc_os_thread_on_fork(void (*child)(void))
{
  (void)child;
}
#endif
