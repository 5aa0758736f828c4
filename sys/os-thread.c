/* SPDX-License-Identifier: 0BSD OR MIT */
/* Threads of POSIX. */

#include "config.h"
#ifdef CPUCYCLES_POSIX

#include "sys/os-thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

const int cpuc_os_thread_fault_signals[CPUC_OS_THREAD_FAULT_SIGNALS]
  = { SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS };

/* pthread_t is a number or a pointer on all known systems. The compiler rejects the cast of any
   other type. */
uintptr_t cpuc_os_thread_id(void)
{
  return (uintptr_t)pthread_self();
}

void cpuc_os_thread_sleep_briefly(void)
{
  const struct timespec pause = { 0, 20000 };

  nanosleep(&pause, NULL);
}

void cpuc_os_thread_block_signals_and_cancellation(struct cpuc_os_thread_saved *saved)
{
  sigset_t all;

  sigfillset(&all);
  sigemptyset(&saved->mask); /* stays empty if a filter refuses the next call */
  pthread_sigmask(SIG_SETMASK, &all, &saved->mask);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved->cancel_state);
}

void cpuc_os_thread_restore_signals_and_cancellation(const struct cpuc_os_thread_saved *saved)
{
  int ignored;

  pthread_setcancelstate(saved->cancel_state, &ignored);
  pthread_sigmask(SIG_SETMASK, &saved->mask, NULL); /* last, because a handler may jump out */
}

void cpuc_os_thread_unblock_fault_signals_as_saved(const struct cpuc_os_thread_saved *saved)
{
  sigset_t mask;
  int i;

  sigfillset(&mask);
  for (i = 0; i < CPUC_OS_THREAD_FAULT_SIGNALS; i++)
    if (!sigismember(&saved->mask, cpuc_os_thread_fault_signals[i]))
      sigdelset(&mask, cpuc_os_thread_fault_signals[i]);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void cpuc_os_thread_on_fork(void (*child)(void))
{
  pthread_atfork(NULL, NULL, child);
}
#endif
