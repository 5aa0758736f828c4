/* SPDX-License-Identifier: 0BSD OR MIT */
/* Threads of Windows, which has neither signals, nor cancellation, nor fork. */

#include "config.h"

#include "sys/os-thread.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

uintptr_t cpucycles_thread_self(void)
{
  return GetCurrentThreadId();
}

/* The shortest sleep. Sleep(0) would yield, and only to threads of the same priority. */
void cpucycles_sleep_briefly(void)
{
  Sleep(1);
}

void cpucycles_block_signals(struct cpucycles_signal_state *saved)
{
  saved->unused = 0;
}

void cpucycles_restore_signals(const struct cpucycles_signal_state *saved)
{
  (void)saved;
}

void cpuc_unblock_faults(void)
{
}

void cpuc_block_faults(void)
{
}

void cpuc_unblock_faults_of_program(const struct cpucycles_signal_state *saved)
{
  (void)saved;
}

void cpuc_on_fork(void (*child)(void))
{
  (void)child;
}
