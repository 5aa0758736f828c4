/* SPDX-License-Identifier: 0BSD OR MIT */
/* The fault guard for POSIX: signal handlers turn faults of the calling thread into returned signal
   numbers. No other file of the library changes signal dispositions. */

#include "config.h"
#ifdef CPUCYCLES_POSIX

#include "sys/guard.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

/* number of elements of cpuc_os_thread_fault_signals */
enum { FAULTS = CPUC_OS_THREAD_FAULT_SIGNALS };

/* Global, because the signal handler reads it. */
static struct {
  uintptr_t thread; /* the thread between cpuc_guard_enter() and _leave(); 0: none */
  sigjmp_buf *volatile escape; /* of the innermost body that runs; NULL: none */
  volatile sig_atomic_t caught;
  volatile sig_atomic_t deferred[FAULTS]; /* 1 if leave must send this signal again */
  /* The dispositions of the program. They stay valid after leave, because a thread that has found
     our handler during the guard may call or install it at any time. */
  struct sigaction program[FAULTS];
} guard;

static int index_of(int signal)
{
  int i = 0;

  while (cpuc_os_thread_fault_signals[i] != signal)
    i++;
  return i;
}

/* Returns 1 if a call such as kill() sent the signal, or if the kernel found an error in memory
   that the thread has not accessed yet; 0 if an instruction of the thread caused the signal.
   SI_USER exceeds all codes of faults, or, as on Linux (sigaction(2)), is at most 0, and they are
   above. */
static int was_sent(const siginfo_t *info)
{
#ifdef SI_KERNEL
  if (info->si_code == SI_KERNEL)
    return 0;
#endif
#ifdef BUS_MCEERR_AO
  if (info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO)
    return 1;
#endif
  return SI_USER > 0 ? info->si_code >= SI_USER : info->si_code <= 0;
}

/* Makes the process end when the handler returns, with the siginfo of this signal if the system
   allows it. An access to memory faults again by itself, and qemu takes such a signal that is sent
   for a fault of its own. Other signals are sent again: s390x continues after the instruction, and
   no system repeats a system call that a filter has answered with SIGSYS. */
static void take_default_action(siginfo_t *info)
{
  signal(info->si_signo, SIG_DFL);
  if ((info->si_signo == SIGSEGV || info->si_signo == SIGBUS) && !was_sent(info))
    return;
#if defined(SYS_rt_tgsigqueueinfo) && defined(SYS_gettid)
  if (syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), info->si_signo, info) == 0)
    return;
#endif
  pthread_kill(pthread_self(), info->si_signo);
}

/* No system ignores a fault. */
void cpuc_guard_pass_on(const struct sigaction *program, siginfo_t *info, void *context)
{
  if (program->sa_handler == SIG_IGN && was_sent(info))
    return;
  if (program->sa_handler == SIG_DFL || program->sa_handler == SIG_IGN)
    take_default_action(info);
  else if (program->sa_flags & SA_SIGINFO)
    program->sa_sigaction(info->si_signo, info, context);
  else
    program->sa_handler(info->si_signo);
}

/* Returns 1 in the thread between cpuc_guard_enter() and cpuc_guard_leave(). */
static int is_guarded(void)
{
  return __atomic_load_n(&guard.thread, __ATOMIC_ACQUIRE) == cpuc_os_thread_id();
}

/* Defers signals that are sent to the guarded thread until leave, because the program's handlers
   for them may jump out of the guarded code. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
  int saved_errno = errno, i = index_of(signal), is_ours_to_handle = is_guarded();
  sigjmp_buf *escape = is_ours_to_handle ? guard.escape : NULL;

  if (is_ours_to_handle && was_sent(info))
    guard.deferred[i] = 1;
  else if (escape) {
    guard.escape = NULL;
    guard.caught = signal;
    siglongjmp(*escape, 1);
  } else
    cpuc_guard_pass_on(&guard.program[i], info, context);
  errno = saved_errno;
}

static int is_ours(const struct sigaction *action)
{
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_fault;
}

/* Installs our handler with the mask and flags of the program's. SA_RESTART is added if the program
   has no handler, because an ignored signal does not interrupt system calls. */
static void install(int i)
{
  struct sigaction ours = guard.program[i];

  if (ours.sa_handler == SIG_DFL || ours.sa_handler == SIG_IGN)
    ours.sa_flags |= SA_RESTART;
  ours.sa_flags = (ours.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
  ours.sa_sigaction = on_fault;
  sigaction(cpuc_os_thread_fault_signals[i], &ours, NULL);
}

/* Restores the dispositions of the program. A handler that the program has installed since
   cpuc_guard_enter() stays, as does a disposition that is not replaced yet. */
static void restore_dispositions(void)
{
  struct sigaction found;
  int i;

  for (i = 0; i < FAULTS; i++)
    if (sigaction(cpuc_os_thread_fault_signals[i], &guard.program[i], &found) == 0
      && !is_ours(&found))
      sigaction(cpuc_os_thread_fault_signals[i], &found, NULL);
}

/* SIG_UNBLOCK: because a blocked fault ends the process. SIG_BLOCK: blocks faults again. */
static void mask_faults(int how)
{
  sigset_t faults;
  int i;

  sigemptyset(&faults);
  for (i = 0; i < FAULTS; i++)
    sigaddset(&faults, cpuc_os_thread_fault_signals[i]);
  pthread_sigmask(how, &faults, NULL);
}

void cpuc_guard_enter(void)
{
  struct sigaction found;
  int i;

  guard.escape = NULL;
  for (i = 0; i < FAULTS; i++) {
    guard.deferred[i] = 0;
    if (sigaction(cpuc_os_thread_fault_signals[i], NULL, &found) == 0 && !is_ours(&found))
      guard.program[i] = found;
  }
  __atomic_store_n(&guard.thread, cpuc_os_thread_id(), __ATOMIC_RELEASE);
  for (i = 0; i < FAULTS; i++)
    install(i);
  mask_faults(SIG_UNBLOCK);
}

void cpuc_guard_leave(void)
{
  int i;

  mask_faults(SIG_BLOCK);
  restore_dispositions();
  __atomic_store_n(&guard.thread, 0, __ATOMIC_RELEASE);
  for (i = 0; i < FAULTS; i++)
    if (guard.deferred[i])
      pthread_kill(pthread_self(), cpuc_os_thread_fault_signals[i]);
}

int cpuc_guard_run(void (*body)(void *), void *argument)
{
  sigjmp_buf escape, *outer;

  if (!is_guarded()) {
    body(argument);
    return 0;
  }
  outer = guard.escape;
  if (sigsetjmp(escape, 0)) {
    mask_faults(SIG_UNBLOCK); /* blocked by the mask of the handler */
    guard.escape = outer;
    return guard.caught;
  }
  guard.escape = &escape;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  body(argument);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  guard.escape = outer;
  return 0;
}

void cpuc_guard_forked(void)
{
  if (guard.thread != 0)
    restore_dispositions();
  guard.thread = 0;
}
#endif
